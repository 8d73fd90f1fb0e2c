"""What users fit: scikit-learn estimators, by name. A new classifier is one class and one line here."""

from separatrix.classifiers.logistic import LogisticRegression

CLASSIFIERS = {"logistic": LogisticRegression}

__all__ = ["CLASSIFIERS", "LogisticRegression"]
