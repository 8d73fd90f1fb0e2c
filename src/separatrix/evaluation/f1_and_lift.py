r"""Confidence intervals for F₁ and for lift, from the counts of one class.

Let a be the number of rows that belong to the class and are predicted to belong to it, and b the number of rows for
which only one of these is true. Then

    F₁ = 2a/(2a + b) = 2F*/(1 + F*),     F* = a/(a + b) .

Given a + b, a is binomial with the share F*. F₁ increases with F*, so the ends of Wilson's interval for F* give the
ends of an interval for F₁. F*: Hand, Christen and Kirielle, F*: an interpretable transformation of the F-measure,
Machine Learning 110 (2021). The interval: Lam, Gopal and Qian, Confidence intervals for the F1 score: a comparison of
four methods, arXiv:2309.14621 (2023), where it is called "Wilson indirect".

Let r of all n rows belong to the class, and let p be predicted to belong to it. For multinomial counts the delta method
(Agresti, Categorical Data Analysis, 3rd edition, 2013, section 16.1) gives

    lift = a n/(p r) ,     Var(log lift) ≈ 1/a − 1/p − 1/r + (2 lift − 1)/n ,

and the interval is symmetric for log lift, like that of Katz et al. for a risk ratio (Biometrics 34, 1978). If a is 0,
½ is added to each of the four counts of the table (Haldane, Annals of Human Genetics 20, 1956), and the interval begins
at 0.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

from separatrix.base.normal import quantile
from separatrix.evaluation.proportions import Interval, check_level, wilson_interval


def f1_interval(n_rows: int, n_predicted: int, n_right: int, level: float = 0.95) -> Interval:
    """The interval for F₁; (0, 1) if the class neither occurs nor is predicted.

    >>> [round(end, 3) for end in f1_interval(n_rows=10, n_predicted=8, n_right=6)]
    [0.405, 0.855]
    """
    low, high = wilson_interval(n_right, n_rows + n_predicted - n_right, level)
    return Interval(2 * low / (1 + low), 2 * high / (1 + high))


def lift_interval(n_rows: int, n_predicted: int, n_right: int, n_total: int, level: float = 0.95) -> Interval:
    """The interval for lift; (0, ∞) if the class does not occur or is not predicted.

    >>> [round(end, 2) for end in lift_interval(n_rows=10, n_predicted=8, n_right=6, n_total=40)]
    [1.81, 4.98]
    """
    check_level(level)
    if not n_rows or not n_predicted:
        return Interval(0.0, inf)
    none = n_right == 0
    a, p, r, n = n_right + 0.5 * none, n_predicted + none, n_rows + none, n_total + 2 * none
    lift = a * n / (p * r)
    variance = max(0.0, 1 / a - 1 / p - 1 / r + (2 * lift - 1) / n)
    half = quantile(level) * sqrt(variance)
    return Interval(0.0 if none else exp(log(lift) - half), exp(log(lift) + half))
