"""Confidence intervals for proportions, F₁ and lift; a sign test; tails of the normal and the χ² distribution.

Proportions. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927): all p with
|p̂ − p| ≤ z √(p (1 − p)/n). Clopper and Pearson, The use of confidence or fiducial limits illustrated in the case of
the binomial, Biometrika 26 (1934): exact, so never too short. Bonett and Price, Adjusted Wald confidence interval for a
difference of binomial proportions based on paired data, J. Educ. Behav. Stat. 37 (2012).

F₁. Let a be the number of rows that belong to a class and are predicted to belong to it, and b the number of rows for
which only one of these is true. Then

    F₁ = 2a/(2a + b) = 2F*/(1 + F*),     F* = a/(a + b) .

Given a + b, a is binomial with the share F*. F₁ increases with F*, so the ends of Wilson's interval for F* give the
ends of an interval for F₁. F*: Hand, Christen and Kirielle, F*: an interpretable transformation of the F-measure,
Machine Learning 110 (2021). The interval: Lam, Gopal and Qian, Confidence intervals for the F1 score: a comparison of
four methods, arXiv:2309.14621 (2023), where it is called "Wilson indirect".

Lift. Let r of all n rows belong to the class, and let p be predicted to belong to it. For multinomial counts the delta
method (Agresti, Categorical Data Analysis, 3rd edition, 2013, section 16.1) gives

    lift = a n/(p r) ,     Var(log lift) ≈ 1/a − 1/p − 1/r + (2 lift − 1)/n ,

and the interval is symmetric for log lift, like that of Katz et al. for a risk ratio (Biometrics 34, 1978). If a is
0, ½ is added to each of the four counts of the table (Haldane, Annals of Human Genetics 20, 1956), and the interval
begins at 0.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError


class Interval(NamedTuple):
    """From ``low`` to ``high``."""

    low: float
    high: float


def check_level(level: float) -> None:
    """Raise an error if ``level`` is not a number strictly between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError("level", f"got {level!r}", "give a number between 0 and 1, such as 0.95")


def wilson(successes: Any, n: Any, level: float = 0.95) -> tuple[Array, Array]:
    """Wilson's interval for ``successes`` of ``n``, entry by entry; (0, 1) if n is 0.

    >>> low, high = wilson(9, 10)
    >>> round(float(low), 3), round(float(high), 3)
    (0.596, 0.982)
    """
    check_level(level)
    k, m = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64))
    z2 = quantile(level) ** 2
    some = np.where(m > 0, m, 1.0)
    middle = (k + 0.5 * z2) / (some + z2)
    half = np.sqrt(z2 * (k * (some - k) / some + 0.25 * z2)) / (some + z2)
    low = np.where((m > 0) & (k > 0), middle - half, 0.0)
    high = np.where((m > 0) & (k < m), middle + half, 1.0)
    return low, high


def wilson_interval(successes: float, n: int, level: float = 0.95) -> Interval:
    """Wilson's interval for one share.

    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    low, high = wilson(successes, n, level)
    return Interval(float(low), float(high))


def exact(successes: int, n: int, level: float = 0.95) -> Interval:
    """Clopper and Pearson's interval.

    >>> low, high = exact(10, 10)
    >>> round(low, 3), high
    (0.692, 1.0)
    """
    from scipy.special import betaincinv

    check_level(level)
    tail = 0.5 * (1.0 - level)
    low = float(betaincinv(successes, n - successes + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1.0 - tail)) if successes < n else 1.0
    return Interval(low, high)


def paired_difference(gained: int, lost: int, n: int, level: float = 0.95) -> Interval:
    """Bonett and Price's interval for (gained − lost)/n, the difference of two accuracies on the same n rows.

    ``gained`` rows are classified correctly by the first model alone, ``lost`` rows by the second alone.

    >>> low, high = paired_difference(30, 10, 100)
    >>> round(low, 3), round(high, 3)
    (0.078, 0.315)
    """
    check_level(level)
    first, second = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    half = quantile(level) * float(np.sqrt((first + second - (first - second) ** 2) / (n + 2)))
    return Interval(max(first - second - half, -1.0), min(first - second + half, 1.0))


def on_logits(share: float, deviation: float, level: float = 0.95) -> Interval:
    """An interval for a share strictly between 0 and 1, symmetric on the logit scale with this standard deviation.

    >>> low, high = on_logits(0.5, 0.0)
    >>> low, high
    (0.5, 0.5)
    """
    from scipy.special import expit, logit

    check_level(level)
    middle, half = float(logit(share)), quantile(level) * deviation
    return Interval(float(expit(middle - half)), float(expit(middle + half)))


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


# --- Tests, and tails of distributions


def sign_test(gained: int, lost: int) -> float:
    """The exact two-sided P value that ``gained`` rows of ``gained + lost`` are a fair half of them.

    For the rows that only one of two models classifies correctly, this is the exact form of McNemar's test.

    >>> sign_test(2, 0), sign_test(3, 0), sign_test(0, 0)
    (0.5, 0.25, 1.0)
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(gained, lost), gained + lost, 0.5))) if gained + lost else 1.0


def two_sided(z: Array) -> Array:
    """2 Φ(−|z|), accurate over the range of float64.

    >>> two_sided(np.array([0.0, 1.959963984540054])).round(6).tolist()
    [1.0, 0.05]
    """
    from scipy.special import ndtr

    with np.errstate(under="ignore"):
        return np.asarray(2.0 * ndtr(-np.abs(z)))


def quantile(level: float) -> float:
    """The z with P(|Z| ≤ z) = level.

    >>> round(quantile(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(-ndtri(0.5 * (1.0 - level)))


def chi_squared_tail(statistic: float, df: int) -> float:
    """P(χ² ≥ statistic); NaN for no degrees of freedom.

    >>> round(chi_squared_tail(3.841458820694124, 1), 6)
    0.05
    """
    from scipy.special import chdtrc

    return float(chdtrc(df, max(statistic, 0.0))) if df > 0 and np.isfinite(statistic) else float("nan")
