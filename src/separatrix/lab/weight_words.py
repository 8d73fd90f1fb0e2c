"""What the page Weight space says: sentences on the slope at w, and the lines of Python that give its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.base.arrays import Array
from separatrix.base.number_text import many
from separatrix.lab.drawing import Box
from separatrix.losses.traits import Traits
from separatrix.solvers import Solver

NAMES = ("b", "w₁", "w₂")
# A gradient shorter than this is called zero. Runs end at about 1e-8.
FLAT = 1e-7


def shown(value: float, digits: int = 3) -> str:
    """A number with a real minus sign; −0.000 is written 0.000.

    >>> shown(-1.5), shown(-1e-9)
    ('−1.500', '0.000')
    """
    return f"{0.0 if abs(value) < 0.5 * 10**-digits else value:.{digits}f}".replace("-", "−")


def wrong_rows(wrong: int, n: int) -> str:
    """How many of n rows are wrong, in words.

    >>> wrong_rows(1, 9), wrong_rows(2, 9)
    ('1 of 9 rows is wrong', '2 of 9 rows are wrong')
    """
    return f"{wrong} of {n} rows {'is' if wrong == 1 else 'are'} wrong"


def slope_sentence(norm: float, wrong: int, n: int, traits: Traits) -> str:
    """Whether there is a slope to follow, given the length ``norm`` of the gradient and the number of wrong rows.

    >>> slope_sentence(0.0, 2, 9, Traits(convex=False, continuous=False))
    'No slope to follow: ∇E is zero here, although 2 of 9 rows are wrong.'
    >>> slope_sentence(1e-9, 2, 9, Traits())
    '∇E is zero here up to 1e-07, as at a minimum. 2 of 9 rows are wrong.'
    """
    if norm >= FLAT:
        return "E falls fastest along the arrow, which is perpendicular to the contours."
    if wrong == 0:
        return "∇E is zero here, and no row is wrong."
    if not traits.continuous:
        return f"No slope to follow: ∇E is zero here, although {wrong_rows(wrong, n)}."
    place = "a minimum" if traits.convex else "a minimum or a saddle point"
    return f"∇E is zero here up to {FLAT:g}, as at {place}. {wrong_rows(wrong, n)}."


def surface_label(loss: str, axes: tuple[int, int], w: Array, value: float, norm: float, wrong: str) -> str:
    """The text alternative of a surface."""
    at = ", ".join(f"{NAMES[axis]} {shown(w[axis], 2)}" for axis in axes)
    return f"{loss}: {at}, E {shown(value)}, length of the gradient {shown(norm)}. {wrong}"


def plane_label(w: Array, n: int, wrong: str) -> str:
    """The text alternative of the plane."""
    line = f"{shown(w[1], 2)} x₁ + {shown(w[2], 2)} x₂ + {shown(w[0], 2)} = 0"
    return f"Plane with {many(n, 'point')} and the line {line}. {wrong}"


def walk_lines(solver: str | Solver, loss: str, start: Array, steps: int, k: int, penalty: str) -> list[str]:
    """The lines that take the run again and choose its step k."""
    return [
        f'path = sx.walk(X, y, {_quoted(solver)}, "{loss}", start={start.tolist()}, steps={steps}{penalty})',
        "print(path.status)",
        f"w = path.W[{k}]",
    ]


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value).replace("'", '"')


def python_lines(
    spec: str, losses: Sequence[str], axes: tuple[int, int], box: Box, points: int, chosen: list[str], penalty: str
) -> str:
    """The lines that give E and ∇E of both losses at w, and both surfaces; ``chosen`` are the lines that make w."""
    names = ", ".join(_quoted(loss) for loss in losses)
    made = [f"from separatrix.solvers import {one}" for one in ("GradientDescent", "StochasticDescent")]
    edges = ", ".join(str(edge).removesuffix(".0") for edge in box)
    return "\n".join(
        [
            "import separatrix as sx",
            *(line for line in made if line.split()[-1] in chosen[0]),
            "",
            f'X, y = sx.lab.points("{spec}")',
            *chosen,
            f"for loss in ({names}):",
            f"    E = sx.objective(X, y, loss{penalty})",
            "    print(loss, E.value(w), E.gradient(w))",
            "    surface = sx.error_surface(",
            f"        X, y, loss, box=({edges}), columns={axes}, at=w, points={points}{penalty}",
            "    )",
        ]
    )
