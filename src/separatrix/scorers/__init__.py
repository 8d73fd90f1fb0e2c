"""Fitted models without scikit-learn: scores, links, classes, and the votes of several two-class models."""
