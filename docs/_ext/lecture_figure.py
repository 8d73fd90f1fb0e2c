"""The directive ``lecture-figure V3``: a picture of the lectures, drawn while the site is built, in both themes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from separatrix.teach.figures import FIGURES
from separatrix.teach.figures.canvas import save


class LectureFigure(SphinxDirective):
    """Two images, of which the page shows the one for its theme."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Draw the picture, unless it was drawn for another page."""
        name, shown = self.arguments[0], list[nodes.Node]()
        if name not in FIGURES:
            raise self.error(f"there is no picture {name!r}: use {', '.join(FIGURES)}")
        folder = Path(self.env.srcdir) / "generated" / "figures"
        folder.mkdir(parents=True, exist_ok=True)
        for theme in ("light", "dark"):
            file = folder / f"{name}-{theme}.svg"
            if not file.exists():
                save(FIGURES[name].draw(theme=theme), file, title=FIGURES[name].sentence)
            place = f"/generated/figures/{file.name}"
            shown.append(nodes.image(uri=place, alt=FIGURES[name].sentence, classes=[f"only-{theme}"]))
        return shown


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("lecture-figure", LectureFigure)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
