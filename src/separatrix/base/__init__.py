"""Modules that every other package may use: arrays, errors, labels, threads, pieces, folds, progress, files."""
