"""Files of older versions of the format, brought up to date step by step.

The policy: files of every older version are read, files of newer ones are refused, saying which version wrote them. A
change of the format is a new number and one more step here; steps never change.

    1    logistic regression: weights, classes, link, certificate
    2    the claim has l1_ratio; it may be Firth's
    3    every classifier: kinds of scorer and claim, the fit's attributes, an encoder; the digest is of the raw bytes
    4    the columns' units, where they are not their own; proofs of overlap have multipliers to rounding
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from separatrix.errors import ModelFileError

VERSION = 4
Content = dict[str, Any]


def up_to_date(version: int, content: Content) -> Content:
    """The content of a file of this version as the newest would have it.

    >>> sorted(up_to_date(3, {"classes": [], "scorer": {}}))
    ['classes', 'scaling', 'scorer']
    """
    for number in range(version, VERSION):
        try:
            content = _STEPS[number](content)
        except (KeyError, TypeError, AttributeError):
            raise ModelFileError(f"its content is not that of a file of version {number}") from None
    return content


def _from_1(content: Content) -> Content:
    """A penalty was ½ Σ f_j w_j²/C."""
    if content["certificate"] is not None:
        content["certificate"]["claim"]["l1_ratio"] = 0.0
    return content


def _from_2(content: Content) -> Content:
    """One kind of scorer; two kinds of claim, told apart by a key; nothing else of a fit."""
    weights, certificate = content.pop("weights"), content["certificate"]
    content["scorer"] = {
        "W": weights,
        "classes": {"same": "classes"},
        "kind": "linear",
        "link_name": content.pop("link"),
    }
    fitted: Content = {}
    if certificate is not None:
        certificate["claim"] = _claim_from_2(certificate["claim"])
        fitted = {
            "C_": certificate["claim"].get("C", "inf"),
            "n_iter_": certificate["iterations"],
            "n_parameters_": certificate["n_parameters"],
            "penalty_choice_": None,
            "separation_": None,
        }
    columns = len(weights[0]) - 1 if weights else 0
    return content | {"columns": columns, "encoder": None, "fitted": fitted, "left_out": []}


def _claim_from_2(claim: Content) -> Content:
    claim = claim | {"scorer": {"same": "scorer"}}
    reduced = claim.pop("bias_reduction", None)
    if reduced is None:
        return claim | {"kind": "likelihood"}
    if reduced != "firth":
        raise ModelFileError(f"its claim's bias_reduction is unknown: {reduced!r:.60}")
    return {key: claim[key] for key in ("class_weights", "fit_intercept", "scorer")} | {"kind": "firth"}


def _from_3(content: Content) -> Content:
    """Columns were in their own units; proofs had no multipliers to rounding."""
    return {key: _with_near(value) for key, value in content.items()} | {"scaling": None}


def _with_near(found: Any) -> Any:
    """The same, with ``near`` in every proof, wherever it stands."""
    if isinstance(found, list):
        return [_with_near(item) for item in found]
    if not isinstance(found, dict):
        return found
    near = {"near": None} if found.get("kind") in ("inseparable", "quasi-separable") else {}
    return {key: _with_near(item) for key, item in found.items()} | near


_STEPS: dict[int, Callable[[Content], Content]] = {1: _from_1, 2: _from_2, 3: _from_3}
