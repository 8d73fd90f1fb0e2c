"""Densities: two normal approximations of a density with two peaks (V12), and the normal density itself (V16)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from separatrix.base.normal import two_sided
from separatrix.base.theme import BAND
from separatrix.plots.figures.canvas import MATHEMATICS_TEXT, canvas, write
from separatrix.plots.style import DASHED, DOTTED, REFERENCE, STRONG, THIN
from separatrix.textbook.information import Mixture, Normal, best_normal

# The two-peaked density, and normals of several widths.
TWO_PEAKS = Mixture((0.6, 0.4), (Normal(-2.2, 0.7), Normal(2.2, 0.7)))
NORMALS: dict[Normal, Any] = {Normal(0.0, 1.0): "-", Normal(0.0, 0.25): DASHED, Normal(1.0, 4.0): DOTTED}


def kl_both_ways(*, theme: str | None = None) -> Figure:
    """V12: a two-peaked density p with the normal q that minimises KL(p‖q) and the one that minimises KL(q‖p).

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
    >>> [line.get_label() for line in sx.plots.figures.kl_both_ways(theme="light").axes[0].lines]
    ['p', 'p||q', 'q||p']
    """
    x = np.linspace(-7.0, 7.0, 801)
    cover, seek = best_normal(TWO_PEAKS, "p||q"), best_normal(TWO_PEAKS, "q||p")
    with canvas(5.8, 3.6, theme) as (figure, look):
        ax = figure.subplots()
        ax.fill_between(x, TWO_PEAKS.pdf(x), color=look.ink, alpha=BAND, linewidth=0)
        ax.plot(x, TWO_PEAKS.pdf(x), color=look.ink, linewidth=THIN, label="p")
        ax.plot(x, cover.q.pdf(x), color=look.ink, linewidth=1.3 * STRONG, linestyle=DASHED, label="p||q")
        ax.plot(x, seek.q.pdf(x), color=look.ink, linewidth=1.3 * STRONG, label="q||p")
        at = -3.6
        write(ax, look, (2.2, float(TWO_PEAKS.pdf(2.2))), "$p$, two peaks", offset=(40, 4))
        write(ax, look, (0.7, float(cover.q.pdf(0.7))), "covers both:", offset=(-4, 27))
        write(ax, look, (0.7, float(cover.q.pdf(0.7))), r"smallest KL$(p\,\|\,q)$", offset=(-4, 15))
        write(ax, look, (at, float(seek.q.pdf(at))), "seeks one peak:", offset=(-10, 42), ha="right")
        write(ax, look, (at, float(seek.q.pdf(at))), r"smallest KL$(q\,\|\,p)$", offset=(-10, 30), ha="right")
        ax.set_xlim(-7.0, 7.0)
        ax.set_ylim(0.0, None)
        ax.set_xlabel("$x$", fontsize=MATHEMATICS_TEXT)
        ax.set_ylabel("density")
    return figure


def normal_density(*, theme: str | None = None) -> Figure:
    """V16: the normal density for three pairs of mean and variance, with the shares within one and two σ.

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
    >>> drawn = sx.plots.figures.normal_density(theme="light")
    >>> sum(line.get_label() == "density" for line in drawn.axes[0].lines)
    3
    """
    x = np.linspace(-5.0, 6.0, 801)
    standard = next(iter(NORMALS))
    names = {0: ((-0.95, "μ = 0, σ² = 1"), (-12, 12, "right")), 1: ((0.35, "σ² = ¼"), (9, 12, "left"))}
    names[2] = ((3.3, "μ = 1, σ² = 4"), (8, 10, "left"))
    with canvas(5.8, 3.6, theme) as (figure, look):
        ax = figure.subplots()
        for width in (2.0, 1.0):
            inside = np.abs(x - standard.mu) <= width * standard.sigma
            ax.fill_between(x[inside], standard.pdf(x[inside]), color=look.ink, alpha=BAND, linewidth=0)
        for k, (normal, pattern) in enumerate(NORMALS.items()):
            ax.plot(x, normal.pdf(x), color=look.ink, linewidth=1.3 * STRONG, linestyle=pattern, label="density")
            (at, text), (right, up, side) = names[k]
            write(ax, look, (at, float(normal.pdf(at))), text, offset=(right, up), ha=side)
        one, two = (1.0 - float(two_sided(np.array([width]))[0]) for width in (1.0, 2.0))
        write(ax, look, (0.0, 0.06), f"{100 * one:.0f} % within σ", offset=(0, 0))
        write(ax, look, (-1.5, 0.02), f"{100 * two:.0f} % within 2σ", offset=(-38, 24), ha="right", color=look.muted)
        ax.plot([-3.1, -1.6], [0.115, 0.04], color=look.muted, linewidth=THIN, linestyle=REFERENCE, label="leader")
        ax.set_xlim(-5.0, 6.0)
        ax.set_ylim(0.0, 0.86)
        ax.set_xlabel("$x$", fontsize=MATHEMATICS_TEXT)
        ax.set_ylabel("density")
    return figure
