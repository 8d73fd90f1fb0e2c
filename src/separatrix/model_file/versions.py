"""Convert files of older versions of the format to the current one, step by step.

Files of all older versions are read. Files of newer versions are refused, with the version that wrote them. A change of
the format is a new version number and one more step here; existing steps never change. The digests of versions 1 to 4
do not cover the version number, so a newer file that was relabelled as an older one passes them. Each step therefore
refuses keys that its version did not have, which would otherwise be overwritten or dropped silently.

    1    logistic regression: weights, classes, link, certificate
    2    the claim has l1_ratio; it may be Firth's
    3    every classifier: kinds of scorer and claim, the fit's attributes, an encoder; the digest is of the raw bytes
    4    the scaling of the columns; proofs of overlap may have rounded multipliers
    5    the type of the training rows; iterations of a logistic regression as a list; certificates bound the error of
         the weights; the digest covers the whole file, including the version
    6    a quasi-complete separation has all directions that cause it
    7    an encoder has separate replacements for missing values and for unseen levels of a category; its columns may be
         free text, with n-grams; statistics
    8    whether the fit had sample weights
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from separatrix.base.errors import ModelFileError

VERSION = 8
Content = dict[str, Any]


def up_to_date(version: int, content: Content) -> Content:
    """The content of a file of this version in the form of the newest version.

    >>> sorted(up_to_date(6, {"classes": [], "encoder": None, "scorer": {}}))
    ['classes', 'encoder', 'scorer', 'statistics']
    """
    for number in range(version, VERSION):
        try:
            content = _CONVERSIONS[number](content)
        except (KeyError, TypeError, AttributeError):
            raise ModelFileError(f"its content is not that of a file of version {number}") from None
    return content


def _refuse_newer(version: int, found: Content, *keys: str) -> None:
    """Refuse keys that were introduced after this version: the file was relabelled."""
    newer = [key for key in keys if key in found]
    if newer:
        problem = f"its version is {version}, and it has the key {newer[0]} of a newer version"
        raise ModelFileError(f"{problem}: the version was altered since it was written")


def _from_1(content: Content) -> Content:
    """Version 1 had only the penalty ½ Σ f_j w_j²/C."""
    if content["certificate"] is not None:
        claim = content["certificate"]["claim"]
        _refuse_newer(1, claim, "l1_ratio", "bias_reduction")
        claim["l1_ratio"] = 0.0
    return content


def _from_2(content: Content) -> Content:
    """Version 2 had one kind of scorer, two kinds of claim, and no other attributes of a fit."""
    _refuse_newer(2, content, "columns", "encoder", "fitted", "left_out", "scorer")
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
    _refuse_newer(2, claim, "kind", "scorer")
    claim = claim | {"scorer": {"same": "scorer"}}
    reduced = claim.pop("bias_reduction", None)
    if reduced is None:
        return claim | {"kind": "likelihood"}
    if reduced != "firth":
        raise ModelFileError(f"its claim's bias_reduction is unknown: {reduced!r:.60}")
    return {key: claim[key] for key in ("class_weights", "fit_intercept", "scorer")} | {"kind": "firth"}


def _from_3(content: Content) -> Content:
    """Version 3 had no scaling of columns and no rounded multipliers in proofs."""
    _refuse_newer(3, content, "scaling")
    return {key: _with_near(value) for key, value in content.items()} | {"scaling": None}


def _with_near(found: Any) -> Any:
    """The content with ``near`` added to every proof in it."""
    if isinstance(found, list):
        return [_with_near(item) for item in found]
    if not isinstance(found, dict):
        return found
    proof = found.get("kind") in ("inseparable", "quasi-separable")
    if proof:
        _refuse_newer(3, found, "near")
    near = {"near": None} if proof else {}
    return {key: _with_near(item) for key, item in found.items()} | near


def _from_4(content: Content) -> Content:
    """Version 4 had predictions in float64 only, one number of iterations, and no bound on the error of the weights."""
    _with_dtype(content)
    return {key: _with_weight_error(value) for key, value in content.items()}


def _with_dtype(content: Content) -> None:
    """Update the attributes of the fit in place, in the model and in the models inside it."""
    for part in _models_in(content):
        fitted = part.get("fitted", {})
        _refuse_newer(4, fitted, "_dtype")
        if fitted:
            fitted["_dtype"] = "float64"
            if part["classifier"] == "logistic":
                fitted["n_iter_"] = [fitted["n_iter_"]]


def _models_in(content: Content) -> Iterator[Content]:
    """The model, and the models inside it."""
    yield content
    inner = [*content.get("fitted", {}).get("estimators_", []), *content["scorer"].get("estimators", [])]
    for part in inner:
        if "fitted" in part:  # Otherwise it is a reference to the place of the same model.
            yield from _models_in(part)


def _with_weight_error(found: Any) -> Any:
    """The content with the error of the weights added to every certificate and bound in it."""
    if isinstance(found, list):
        return [_with_weight_error(item) for item in found]
    if not isinstance(found, dict):
        return found
    lacking: Content = {}
    if {"bound_reason", "claim", "facts"} <= set(found):
        _refuse_newer(4, found, "weight_error", "weight_error_unit", "weight_error_reason")
        lacking = {"weight_error": None, "weight_error_unit": "", "weight_error_reason": ""}
    elif set(found) == {"value", "kind", "reason"}:
        lacking = {"resolved": None, "weights": {"value": None, "unit": "", "reason": ""}}
    return lacking | {key: _with_weight_error(item) for key, item in found.items()}


def _from_5(content: Content) -> Content:
    """Version 5 had one direction of a quasi-complete separation."""
    return {key: _with_further(value) for key, value in content.items()}


def _with_further(found: Any) -> Any:
    """The content with ``further`` added to every quasi-complete separation in it."""
    if isinstance(found, list):
        return [_with_further(item) for item in found]
    if not isinstance(found, dict):
        return found
    further: Content = {}
    if found.get("kind") == "quasi-separable":
        _refuse_newer(5, found, "further")
        further = {"further": []}
    return {key: _with_further(item) for key, item in found.items()} | further


def _from_6(content: Content) -> Content:
    """Version 6 had one replacement for missing values and unseen levels, which serves for both.

    It had no columns of free text and no statistics.
    """
    _refuse_newer(6, content, "statistics")
    if content["encoder"] is not None:
        for column in content["encoder"]["columns"]:
            _refuse_newer(6, column, "average", "text")
            column |= {"average": [], "text": None}
    return content | {"statistics": None}


def _from_7(content: Content) -> Content:
    """Version 7 did not say whether the fit had sample weights, so it is not known."""
    for part in _models_in(content):
        fitted = part.get("fitted", {})
        _refuse_newer(7, fitted, "has_sample_weight_")
        if fitted:
            fitted["has_sample_weight_"] = None
    return content


_CONVERSIONS: dict[int, Callable[[Content], Content]] = {
    1: _from_1,
    2: _from_2,
    3: _from_3,
    4: _from_4,
    5: _from_5,
    6: _from_6,
    7: _from_7,
}
