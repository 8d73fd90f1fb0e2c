"""Modules that every other package may use: arrays, errors, labels, threads, progress, files, normal quantiles."""
