"""Sentences on how an exported model decides, if not by its own boundary."""

from __future__ import annotations

from separatrix.export.formula import Formula


def decision_notes(formula: Formula) -> list[str]:
    """A sentence on the threshold and one on the class shares, as far as they are set.

    >>> import numpy as np
    >>> from separatrix import Scorer
    >>> from separatrix.evaluation.decision_rule import DecisionRule
    >>> from separatrix.export.formula import formula_of
    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> decision_notes(formula_of(scorer, rule=DecisionRule(threshold=0.2)))
    ["The label is 'yes' where P('yes') is at least 0.2, otherwise 'no'."]
    """
    rule, classes = formula.rule, formula.classes
    if rule is None:
        return []
    notes = []
    if rule.shares is not None:
        pairs = zip(classes, rule.shares, strict=True)
        shares = ", ".join(f"{label!r} {share:.6g}" for label, share in pairs)
        notes.append(f"Probabilities are corrected for these class shares: {shares}.")
    if len(classes) == 2:
        first, second = classes
        threshold = 0.5 if rule.threshold is None else rule.threshold
        notes.append(f"The label is {second!r} where P({second!r}) is at least {threshold:.6g}, otherwise {first!r}.")
    else:
        notes.append("The label is the most probable class.")
    return notes
