"""Figures as files: SVG with the sentence as its description, and PNG."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from separatrix.base.atomic_files import replace_file
from separatrix.plots.figures.canvas import MATHEMATICS

# SVG files have the letters as paths, so that they look the same everywhere, and the same file each time.
SVG: dict[Any, Any] = {"svg.fonttype": "path", "svg.hashsalt": "separatrix", **MATHEMATICS}
# The dots per inch of PNG files.
DPI = 200


def save(figure: Figure, path: str | Path, *, title: str = "", dpi: int = DPI) -> None:
    """Write a figure to a file, whole or not at all. Equal figures give equal files.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure.
    path : str or Path
        A file that ends in .svg or .png.
    title : str, default ""
        A sentence for readers who do not see the picture, which is stored in the file.
    dpi : int, default 200
        The dots per inch of a PNG file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from separatrix.plots import figures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     figures.save(figures.margin_losses(theme="dark"), f"{folder}/V3.svg", title="Five losses.")
    ...     "Five losses." in pathlib.Path(folder, "V3.svg").read_text()
    True
    """
    path = Path(path)
    replace_file(path, as_bytes(figure, path.suffix[1:].lower(), title=title, dpi=dpi))


def as_bytes(figure: Figure, kind: str, *, title: str = "", dpi: int = DPI) -> bytes:
    """The content of the file that ``save`` writes; ``kind`` is "svg" or "png"."""
    out = io.BytesIO()
    stamp: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(SVG):
        figure.savefig(out, format=kind, dpi=dpi, metadata=stamp | {"Title": title})
    return out.getvalue()
