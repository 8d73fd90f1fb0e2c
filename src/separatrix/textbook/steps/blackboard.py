"""Updates written as on a blackboard: the numbers in the formula, then the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.number_text import number_text

if TYPE_CHECKING:
    from separatrix.textbook.steps.step import Step

# The most columns and rows that are written out; of more, the first and the last ones are.
MOST_PRINTED_TERMS, MOST_ROWS = 6, 8


def written(step: Step) -> str:
    """The step as text of several lines."""
    if step.kind == "start":
        lines = [f"Start: {_weights(step.w, step.b)}"]
    elif step.kind == "answer":
        lines = [f"Answer: {_weights(step.w, step.b)}", f"  {step.status}"]
    else:
        lines = BOARDS.get(step.method, _descent)(step)
    return "\n".join([*lines, f"  {_summary(step)}"])


def number(value: float) -> str:
    """A number with a proper minus sign, and powers of ten instead of exponents.

    >>> number(-0.30000001), number(2.5e-7)
    ('−0.3', '2.5·10⁻⁷')
    """
    digits, _, exponent = number_text(float(value)).replace("-", "−").partition("e")
    return digits if not exponent else f"{digits}·10{_raised(exponent)}"


def _raised(exponent: str) -> str:
    """An exponent such as "−07" as a superscript."""
    size = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(abs(int(exponent.replace("−", "-")))))
    return f"⁻{size}" if exponent.startswith("−") else size


def factor(value: float) -> str:
    """A number inside a product: in parentheses if it is negative.

    >>> factor(-2.0), factor(2.0)
    ('(−2)', '2')
    """
    return f"({number(value)})" if value < 0 else number(value)


def vector(values: Array) -> str:
    """A vector; of many entries the first ones and the last one.

    >>> vector(np.array([1.0, -2.5])), vector(np.arange(9.0))
    ('(1, −2.5)', '(0, 1, 2, 3, 4, …, 8)')
    """
    return f"({', '.join(_some([number(value) for value in values], MOST_PRINTED_TERMS))})"


def _some(texts: list[str], most: int) -> list[str]:
    return texts if len(texts) <= most else [*texts[: most - 1], "…", texts[-1]]


def _weights(w: Array, b: Any) -> str:
    if w.ndim == 1:
        return f"w = {vector(w)}, b = {number(b)}"
    return "; ".join(_some([f"w{_sub(k)} = {vector(w[k])}, b{_sub(k)} = {number(b[k])}" for k in range(len(w))], 3))


def _sub(k: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(k + 1))


def _sign(t: float) -> str:
    return "+1" if t > 0 else "−1"


def _score(step: Step) -> str:
    """Z = w·x + b, written out."""
    assert step.x is not None
    terms = [f"{factor(w)}·{factor(x)}" for w, x in zip(step.w_before, step.x, strict=True)]
    return (
        f"  z = w·x + b = {' + '.join(_some(terms, MOST_PRINTED_TERMS))} + {factor(step.b_before)} = {number(step.z)}"
    )


def _margin(step: Step) -> str:
    return f"  m = t z = ({_sign(step.t)})·{factor(step.z)} = {number(step.m or 0.0)}"


def _single_row(step: Step) -> list[str]:
    """A perceptron's update by one row."""
    assert step.x is not None
    assert step.eta is not None
    title = f"Step {step.number}: row {step.row}, x = {vector(step.x)}, t = {_sign(step.t)}"
    lines = [title, _score(step), f"{_margin(step)}: {'wrong' if step.mistake else 'right, nothing is added'}"]
    size, of = _size(step)
    lines.append(
        f"  w ← w + {of} x = {vector(step.w_before)} + {number(size)}·({_sign(step.t)})·{vector(step.x)} "
        f"= {vector(step.w)}"
    )
    if step.b_added:
        lines.append(f"  b ← b + {of} = {number(step.b_before)} + {number(size)}·({_sign(step.t)}) = {number(step.b)}")
    return lines


def _size(step: Step) -> tuple[float, str]:
    """η and its name; with class weights s, η s."""
    assert step.x is not None
    assert step.eta is not None
    largest = int(np.argmax(np.abs(step.x)))
    size = step.eta
    if step.b_added:
        size = abs(step.b_added)
    elif step.x[largest]:
        size = abs(step.w_added[largest] / step.x[largest])
    return (step.eta, "η t") if np.isclose(size, step.eta, rtol=1e-12) else (size, "η s t")


def _batch(step: Step) -> list[str]:
    """The batch perceptron's update by all mistakes."""
    assert step.rows is not None
    assert step.eta is not None
    rows = ", ".join(_some([str(row) for row in step.rows], MOST_ROWS))
    verb = "is" if len(step.rows) == 1 else "are"
    title = f"Step {step.number}: {len(step.rows)} of {step.n_rows} rows {verb} wrong{': ' if rows else ''}{rows}"
    of = "s t" if step.weighted else "t"
    return [
        title,
        f"  w ← w + η Σ {of} x = {vector(step.w_before)} + {number(step.eta)}·{vector(step.w_added / step.eta)} "
        f"= {vector(step.w)}",
        f"  b ← b + η Σ {of} = {number(step.b_before)} + {number(step.eta)}·{factor(step.b_added / step.eta)} "
        f"= {number(step.b)}",
    ]


def _kozinec(step: Step) -> list[str]:
    """A point of a hull moves towards a row."""
    assert step.hull is not None
    assert step.x is not None
    assert step.eta is not None
    alpha, beta, times = step.hull.alpha, step.hull.beta, step.hull.factor
    name, point = ("α", alpha) if step.t > 0 else ("β", beta)
    difference = "α − β" if times == 1 else f"{number(times)}·(α − β)"
    return [
        f"Step {step.number}: row {step.row}, x = {vector(step.x)}, t = {_sign(step.t)}, is the furthest from {name} "
        "towards the other class",
        f"  {name} ← (1 − k) {name} + k x = {vector(point)} with k = {number(step.eta)}",
        f"  w = {difference} = {vector(step.w)}, b = {number(step.b)}: the bisector of "
        f"α = {vector(alpha)} and β = {vector(beta)}",
    ]


def _descent(step: Step) -> list[str]:
    """A step of a method that minimises E."""
    used = "all rows"
    if step.rows is not None:
        used = f"row{'s' * (len(step.rows) != 1)} {', '.join(_some([str(row) for row in step.rows], MOST_ROWS))}"
    if step.x is not None:
        used += f", x = {vector(step.x)}"
    if step.w.ndim > 1:
        return [f"Step {step.number}: {used}", f"  {_weights(step.w, step.b)}"]
    lines = [f"Step {step.number}: {used}{'' if step.t is None else f', t = {_sign(step.t)}'}"]
    if step.x is not None:
        lines += [_score(step), _margin(step)]
    if step.w_gradient is not None:
        lines.append(f"  ∇E = {vector(step.w_gradient)}, ∂E/∂b = {number(step.b_gradient)}")
    return [*lines, *_moved(step)]


def _moved(step: Step) -> list[str]:
    """The old weights, what is added, the new weights."""
    w, b, eta = vector(step.w_before), number(step.b_before), step.eta
    if step.method == "newton" and eta is not None:
        rule, add_w, add_b = f" + α v, v = −(∇²E)⁻¹∇E, α = {number(eta)}:", vector(step.w_added), factor(step.b_added)
    elif eta is not None and step.w_gradient is not None and _is_plain(step):
        rule = " − η ∇E ="
        add_w, add_b = (f"{number(eta)}·{vector(-step.w_gradient)}", f"{number(eta)}·{factor(-step.b_gradient)}")
    else:
        rule, add_w, add_b = " + step =", vector(step.w_added), factor(step.b_added)
        if step.method == "gradient-descent":  # the rule "normalised"
            rule = " − η ∇E/‖∇E‖ ="
    return [f"  w ← w{rule} {w} + {add_w} = {vector(step.w)}", f"  b ← {b} + {add_b} = {number(step.b)}"]


def _is_plain(step: Step) -> bool:
    """Whether the step is −η times the gradient."""
    assert step.w_gradient is not None
    assert step.eta is not None
    return np.allclose(step.w_added, -step.eta * step.w_gradient, rtol=1e-6, atol=1e-12)


def _summary(step: Step) -> str:
    """The cost, the rows on the wrong side, and what is proven."""
    found = f"{step.cost_name} = {number(step.cost)}, {step.wrong} of {step.n_rows} rows wrong"
    if step.bound_name == "margin" and step.margin is not None:
        found = f"smallest distance {number(step.margin)}, {step.wrong} of {step.n_rows} rows wrong"
    return found if step.bound is None else f"{found}; {BOUNDS[step.bound_name](step.bound)}"


def most_mistakes(bound: float) -> int:
    """The most mistakes that a bound allows.

    The bound is attained in some examples, where rounding may put it just below a whole number.
    """
    return int(np.floor(bound * (1.0 + 1e-9)))


def _mistakes(bound: float) -> str:
    most = most_mistakes(bound)
    return f"at most {number(most)} mistake{'s' * (most != 1)}"


BOUNDS: dict[str, Callable[[float], str]] = {
    "mistakes": _mistakes,
    "gap": lambda bound: f"at most {number(bound)} above the minimum",
    "margin": lambda bound: f"no margin exceeds {number(bound)}",
}

# How a solver's updates are written, by its name. Others are written as steps of descent.
BOARDS: dict[str, Callable[[Step], list[str]]] = {
    "online perceptron": _single_row,
    "worst-example perceptron": _single_row,
    "batch perceptron": _batch,
    "kozinec": _kozinec,
}
