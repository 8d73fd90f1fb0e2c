"""How time grows with n, d, K and nnz: ours and the peers that do best, each to the same accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.contest import Settings
from benchmarks.contestant import Task
from benchmarks.data import Maker
from benchmarks.peers import OURS
from benchmarks.rows import BARE, RIDGE, Part
from benchmarks.session import Session

OURSELVES = f"{OURS} LogisticRegression"


@dataclass(frozen=True)
class Sweep:
    """One panel: a size that grows, and who is shown beside ours."""

    name: str
    title: str
    sizes: tuple[int, ...]
    maker: Callable[[int], Maker]
    peers: tuple[str, ...]
    task: Task = RIDGE


SWEEPS = (
    Sweep(
        "n",
        "rows n (× 50 columns)",
        (1_000, 4_000, 16_000, 64_000, 256_000),
        lambda n: data.tall(n, 50),
        ("scikit-learn newton-cholesky", "scikit-learn lbfgs", "scikit-learn-intelex lbfgs", "glum irls-ls"),
    ),
    Sweep(
        "d",
        "columns d (× 20 000 rows)",
        (10, 30, 100, 300, 1000),
        lambda d: data.tall(20_000, d),
        ("scikit-learn newton-cholesky", "scikit-learn lbfgs", "scikit-learn-intelex lbfgs", "glum irls-ls"),
    ),
    Sweep(
        "K",
        "classes K (20 000 × 50)",
        (2, 4, 8, 16, 32),
        lambda K: data.classes(20_000, 50, K),
        ("scikit-learn newton-cholesky", "scikit-learn lbfgs", "scikit-learn-intelex lbfgs"),
    ),
    Sweep(
        "nnz",
        "entries nnz (75 a row, n/2 columns)",
        (75_000, 300_000, 1_200_000, 4_800_000),
        lambda nnz: data.zipf(nnz // 75, max(500, nnz // 150)),
        ("liblinear -s 7", "liblinear -s 0", "scikit-learn lbfgs", "scikit-learn newton-cg"),
        BARE,
    ),
)
# Rounds are few and runs short: the whole is to take some minutes.
SWIFT = Settings(repeats=2, limit=10.0, budget=6.0, patience=50.0, least=3.0)


def run(session: Session) -> dict[str, Any]:
    """Seconds by panel, contestant and size."""
    found: dict[str, Any] = {}
    session.settings = SWIFT
    for sweep in SWEEPS:
        curves: dict[str, list[list[float]]] = {}
        for size in sweep.sizes[: len(sweep.sizes) if session.shrink == 1 else 2]:
            wanted = {OURSELVES, *sweep.peers}
            part = Part(str(size), sweep.maker(size), sweep.task, None)
            shrink, session.shrink = session.shrink, 1
            result, _ = session.part(
                part, f"scaling {sweep.name} = {size}", lambda entry, names=wanted: entry.name in names
            )
            session.shrink = shrink
            for line in result["lines"]:
                if line["status"] == "reached":
                    curves.setdefault(f"{line['peer']} {line['contestant']}", []).append([size, line["seconds"]])
        found[sweep.name] = curves
    return found


COLOURS = {
    OURSELVES: "#c1272d",
    "scikit-learn newton-cholesky": "#0072b2",
    "scikit-learn lbfgs": "#56b4e9",
    "scikit-learn newton-cg": "#7a5195",
    "scikit-learn-intelex lbfgs": "#009e73",
    "glum irls-ls": "#b8860b",
    "liblinear -s 7": "#e69f00",
    "liblinear -s 0": "#555555",
}


def draw(found: dict[str, Any], path: Path) -> None:
    """Four panels, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "separatrix", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
    for axis, sweep in zip(axes.ravel(), SWEEPS, strict=True):
        for name in (*sweep.peers, OURSELVES):
            points = dict(map(tuple, found[sweep.name].get(name, [])))
            if points:
                # Not a number where the accuracy was not reached in time: the line breaks there.
                seconds = [points.get(size, float("nan")) for size in sweep.sizes]
                label = "separatrix" if name == OURSELVES else name
                width = 2.5 if name == OURSELVES else 1.3
                axis.plot(sweep.sizes, seconds, "o-", color=COLOURS[name], lw=width, ms=4, label=label)
        axis.set(xscale="log", yscale="log", xlabel=sweep.title, ylabel="seconds")
        axis.set_xticks(sweep.sizes, [f"{size:,}".replace(",", " ") for size in sweep.sizes])
        axis.minorticks_off()
        axis.grid(alpha=0.3, which="major")
        axis.legend(fontsize=8, frameon=False)
    figure.suptitle("Time to a relative suboptimality of 1e-8 (no point: not reached in the time given)")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
