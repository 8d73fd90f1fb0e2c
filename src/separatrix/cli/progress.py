"""The progress display on standard error: what is being done, for how long, and one bar per stage.

    ⠹ 0:00:07 fitting logistic
      ━━━━━━━━━━━━━━━━━━ fold 3 of 10
      ━━━━━━━━━━━━━━━━━━ lbfgs: iteration 4, gap 3.2e-05 (tolerance 1e-08)

A stage without a known end has no bar. A thread of rich draws the latest state ten times a second, so that work which
reports thousands of stages a second is not slowed down. This module is imported only when something is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from separatrix.core.base.errors import printable

if TYPE_CHECKING:
    from separatrix.cli.terminal import Work
    from separatrix.core.base.watching import Stage

# Widths in characters: a bar takes 18 of 80 columns, bars and texts have at least 4, and the clock has 7.
BAR_WIDTH, SCREEN_WIDTH, LEAST_WIDTH, CLOCK_WIDTH = 18, 80, 4, 7


class Drawn:
    """The current state of work, drawn each time it is rendered."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.spinners = {ascii_only: Spinner("line" if ascii_only else "dots") for ascii_only in (True, False)}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        text, path = self.work.said
        elapsed = timedelta(seconds=int(time.monotonic() - self.work.begun))
        clock = Text(str(elapsed), "progress.elapsed")
        yield _line(options, self.spinners[options.ascii_only], clock, CLOCK_WIDTH, text)
        for stage in path:
            yield _staged(options, stage, max(LEAST_WIDTH, BAR_WIDTH * options.max_width // SCREEN_WIDTH))


def _staged(options: ConsoleOptions, stage: Stage, width: int) -> Table:
    share, text = stage.share, printable(str(stage))
    if share is None:
        return _line(options, "", "", 0, text)
    return _line(options, "", ProgressBar(total=1.0, completed=share, width=width), width, text)


def _line(options: ConsoleOptions, mark: RenderableType, left: RenderableType, width: int, text: str) -> Table:
    """One line: a mark, a cell of the given width, and a text that is shortened if it is too long."""
    line = Table.grid(padding=(0, 1, 0, 0))
    cells: list[RenderableType] = [mark, left] if width else [mark]
    for _ in cells:
        line.add_column(no_wrap=True, min_width=1)
    said = Text(text, no_wrap=True)
    said.truncate(
        max(LEAST_WIDTH, options.max_width - width - 4), overflow="crop" if options.ascii_only else "ellipsis"
    )
    line.add_row(*cells, said)
    return line


def drawing(work: Work) -> Live:
    """A live display of work on standard error. It is erased when it stops, and standard output is not touched."""
    return Live(
        Drawn(work),
        console=Console(stderr=True),
        refresh_per_second=10,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
