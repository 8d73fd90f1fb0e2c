"""Losses as functions of the margin, and the logistic function with three heads of one signal (V3, V13)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from separatrix.losses import LOSSES, sigmoid
from separatrix.losses.links import LINKS
from separatrix.plots.figures.canvas import WIDE, canvas, write
from separatrix.plots.style import DASHED, DOTTED, REFERENCE, STRONG, THIN

# Each loss with its pattern, and where its name stands: the margin, and the offset from the curve in points.
CURVES: dict[str, tuple[Any, float, tuple[float, float]]] = {
    "zero-one": ("-", -2.25, (0.0, -8.0)),
    "squared": (DOTTED, 2.55, (-22.0, 2.0)),
    "perceptron": (DASHED, -1.35, (-30.0, -9.0)),
    "logistic": ((0, (6.0, 1.5, 1.0, 1.5)), 1.9, (8.0, 9.0)),
    "hinge": ((0, (3.5, 1.2)), -1.6, (-22.0, 4.0)),
}


def margin_losses(*, theme: str | None = None) -> Figure:
    """V3: the 0–1, squared, perceptron, logistic and hinge losses as functions of the margin m = tz.

    Parameters
    ----------
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> drawn = sx.plots.figures.margin_losses(theme="light")
    >>> sorted(line.get_label() for line in drawn.axes[0].lines if line.get_label() in sx.losses.LOSSES)
    ['hinge', 'logistic', 'perceptron', 'squared', 'zero-one']
    """
    m = np.linspace(-2.5, 3.0, 1101)
    with canvas(5.4, 3.9, theme) as (figure, look):
        ax = figure.subplots()
        ax.axvspan(-2.5, 0.0, color=look.surface, zorder=0)
        ax.axvline(0.0, color=look.muted, linewidth=THIN, label="m = 0")
        for name, (pattern, at, offset) in CURVES.items():
            value = LOSSES[name].value(np.ones_like(m), m)
            drawn = np.where(np.abs(m) < 1e-9, np.nan, value) if name == "zero-one" else value
            ax.plot(m, drawn, color=look.ink, linestyle=pattern, linewidth=1.15 * STRONG, label=name)
            there = float(LOSSES[name].value(np.ones(1), np.array([at]))[0])
            write(ax, look, (at, min(there, 3.35)), "0–1" if name == "zero-one" else name, offset=offset)
        ax.set_xlim(-2.5, 3.0)
        ax.set_ylim(-0.12, 3.6)
        write(ax, look, (-0.06, 3.45), "wrong", ha="right", color=look.muted)
        write(ax, look, (0.06, 3.45), "right", ha="left", color=look.muted)
        ax.set_xlabel("margin $m = tz$")
        ax.set_ylabel("loss of the row")
    return figure


def sigmoid_and_heads(*, theme: str | None = None) -> Figure:
    """V13: σ with its derivative, and the three heads sign(s), s and σ(s) of one signal.

    Parameters
    ----------
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> [ax.get_title(loc="left") for ax in sx.plots.figures.sigmoid_and_heads(theme="light").axes]
    ['σ and its slope σ′ = σ(1 − σ)', 'three heads of one signal']
    """
    s = np.linspace(-6.0, 6.0, 601)
    p = sigmoid(s)
    with canvas(WIDE, 3.2, theme) as (figure, look):
        left, right = figure.subplots(1, 2)
        left.plot(s, p, color=look.ink, linewidth=1.2 * STRONG, label="sigmoid")
        left.plot(s, p * (1 - p), color=look.ink, linestyle=DASHED, label="slope")
        left.plot([-2, 2], [0.0, 1.0], color=look.muted, linewidth=THIN, linestyle=REFERENCE, label="tangent")
        write(left, look, (2.7, float(sigmoid(np.array([2.7]))[0])), r"$\sigma(s)$", offset=(4, -11), fontsize=12)
        write(left, look, (1.6, 0.14), "σ′($s$)", offset=(17, 5), fontsize=11)
        write(left, look, (1.6, 0.9), "slope ¼ at 0", offset=(-3, 4), ha="right", color=look.muted)
        left.set_title("σ and its slope σ′ = σ(1 − σ)")
        left.set_ylim(-0.05, 1.08)
        heads: dict[str, tuple[Any, str, tuple[float, float], tuple[float, float]]] = {
            "sign": (DASHED, "sign$(s)$ decides", (-3.9, -1.0), (0, -8)),
            "identity": (DOTTED, "$s$ regresses", (-1.75, -1.75), (40, -1)),
            "logit": ("-", r"$\sigma(s)$ is a probability", (-3.9, 0.0), (0, 10)),
        }
        for name, (pattern, text, place, offset) in heads.items():
            value = LINKS[name].activation(s)
            value = np.where(np.abs(s) < 1e-9, np.nan, value) if name == "sign" else value
            right.plot(s, value, color=look.ink, linestyle=pattern, linewidth=1.2 * STRONG, label=name)
            write(right, look, place, text, offset=offset)
        right.set_title("three heads of one signal")
        right.set_ylim(-2.2, 2.2)
        for ax in (left, right):
            ax.set_xlim(-6.0, 6.0)
            ax.set_xlabel("signal $s = w\\cdot x + b$")
            ax.grid(True)
    return figure
