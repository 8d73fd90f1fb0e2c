"""The certificate of a fit in one sentence for a page."""

from __future__ import annotations

from typing import Any

from separatrix.base.messages import brief


def verdict(certificate: Any) -> dict[str, Any]:
    """Whether the fit met its rule, and the certificate's status in a sentence.

    >>> from separatrix import LogisticRegression
    >>> verdict(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0]).certificate_)["met"]
    True
    """
    status = brief(certificate.status)
    sentence = f"{status[:1].upper()}{status[1:]}."
    if certificate.met and certificate.code == "closed-form" and certificate.bound is not None:
        sentence = f"{sentence[:-1]}; no weights cost less by more than {certificate.bound:.0e}."
    return {"met": bool(certificate.met), "code": certificate.code, "text": sentence}
