"""``separatrix figures``: write the pictures of the lectures as SVG and PNG files."""

from __future__ import annotations

import os
from pathlib import Path

import click

from separatrix.cli import file_arguments, terminal
from separatrix.cli.file_arguments import WRITTEN
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import declared_keys

NAMES = declared_keys("separatrix.teach.figures", "FIGURES")
THEMES, KINDS = ("light", "dark"), ("svg", "png")

_EXAMPLES = """\b
Examples:
  separatrix figures --list
  separatrix figures --out pictures
  separatrix figures V1 V6 --out slides --dpi 300
"""


@click.command(epilog=_EXAMPLES, short_help="Draw the pictures of the lectures.")
@click.argument("names", nargs=-1, type=click.Choice(NAMES, case_sensitive=False), metavar="[NAME]...")
@click.option(
    "--out",
    type=WRITTEN,
    metavar="FOLDER",
    help="Write the files to this folder, which is created if it is missing. Required unless --list is given.",
)
@click.option(
    "--dpi",
    type=click.IntRange(20, 1200),
    default=200,
    show_default=True,
    help="The resolution of PNG files (dots per inch).",
)
@click.option("--list", "listed", is_flag=True, help="List the pictures, with one sentence about each, and exit.")
def figures(names: tuple[str, ...], out: str | None, dpi: int, listed: bool) -> None:
    """Draw the pictures V1 to V17 of the lectures on linear classification.

    Each picture is written to four files: as SVG and as PNG, in a light and in a dark theme, such as V1-light.svg.
    Without NAME, all pictures are written.
    """
    if listed:
        _say_sentences(names or NAMES)
        return
    folder = _folder(out)
    from separatrix.teach.figures import FIGURES
    from separatrix.teach.figures.canvas import as_bytes

    chosen = tuple(dict.fromkeys(names)) or NAMES
    with terminal.working("drawing") as progress:
        for name in chosen:
            progress(f"drawing {name}")
            for theme in THEMES:
                figure = FIGURES[name].draw(theme=theme)
                for kind in KINDS:
                    content = as_bytes(figure, kind, title=FIGURES[name].sentence, dpi=dpi)
                    file_arguments.write("--out", str(folder / f"{name}-{theme}.{kind}"), content)
    files = len(THEMES) * len(KINDS) * len(chosen)
    terminal.say(f"{terminal.count(len(chosen), 'picture')} in {files} files written to {folder}")


def _say_sentences(names: tuple[str, ...]) -> None:
    from separatrix.teach.figures import FIGURES

    for name in names:
        terminal.line(name, FIGURES[name].sentence)


def _folder(out: str | None) -> Path:
    """The folder to write to; created if it is missing."""
    if out is None:
        raise ParameterError("--out", "it is missing", "give the folder for the files, or --list to list the pictures")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError("--out", f"{out!r} is not a folder that can be created", "give another folder") from error
    if not os.access(folder, os.W_OK):
        raise ParameterError("--out", f"{out!r} is not writable", "give another folder")
    return folder
