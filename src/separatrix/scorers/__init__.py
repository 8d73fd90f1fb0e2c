"""Fitted models that do not depend on scikit-learn: scores, links, classes, and the votes of two-class models."""
