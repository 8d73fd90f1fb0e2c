"""Computations of the lectures besides classifiers: mistake bounds, margins and error surfaces."""
