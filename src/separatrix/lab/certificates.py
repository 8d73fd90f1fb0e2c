"""The certificate of a fit in one sentence for a page."""

from __future__ import annotations

from typing import Any

from separatrix.base.messages import brief

# A bound on the gap of a closed form up to this is due to rounding alone, and worth a clause.
LARGEST_EXACT_BOUND = 1e-9


def verdict(certificate: Any) -> dict[str, Any]:
    """Whether the fit met its rule, and the certificate's status in a sentence.

    >>> from separatrix import LogisticRegression
    >>> verdict(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0]).certificate_)["met"]
    True
    """
    status = brief(certificate.status)
    sentence = f"{status[:1].upper()}{status[1:]}."
    bound = certificate.bound
    if certificate.met and certificate.code == "closed-form" and bound is not None and bound <= LARGEST_EXACT_BOUND:
        sentence = f"{sentence[:-1]}; no other weights are better by more than {bound:.0e}."
    return {"met": bool(certificate.met), "code": certificate.code, "text": sentence}
