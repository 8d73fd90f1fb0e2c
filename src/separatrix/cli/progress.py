"""What is drawn on standard error while work goes on: what is being done, for how long, and a bar a stage.

    ⠹ 0:00:07 fitting logistic
      ━━━━━━━━━━━━━━━━━━ fold 3 of 10
      ━━━━━━━━━━━━━━━━━━ sampled-newton: iteration 4, gap 3.2e-05 (1e-08 asked)

A stage without a known end has no bar. Drawn by a thread of rich's, ten times a second, from what was told last, so
that work which tells of a thousand stages a second is not slowed down. Imported once something has been drawn for.
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

from separatrix.base.errors import printable

if TYPE_CHECKING:
    from separatrix.base.watching import Stage
    from separatrix.cli.terminal import Work

# Columns of a bar on a screen of so many, of the least bar or text, and of the clock; draws a second.
BAR, SCREEN, FEWEST, CLOCK, DRAWS = 18, 80, 4, 7, 10


class Drawn:
    """Work as it stands whenever it is rendered."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.spinners = {ascii_only: Spinner("line" if ascii_only else "dots") for ascii_only in (True, False)}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        text, path = self.work.said
        elapsed = timedelta(seconds=int(time.monotonic() - self.work.begun))
        clock = Text(str(elapsed), "progress.elapsed")
        yield _line(options, self.spinners[options.ascii_only], clock, CLOCK, text)
        for stage in path:
            yield _staged(options, stage, max(FEWEST, BAR * options.max_width // SCREEN))


def _staged(options: ConsoleOptions, stage: Stage, width: int) -> Table:
    share, text = stage.share, printable(str(stage))
    if share is None:
        return _line(options, "", "", 0, text)
    return _line(options, "", ProgressBar(total=1.0, completed=share, width=width), width, text)


def _line(options: ConsoleOptions, mark: RenderableType, left: RenderableType, width: int, text: str) -> Table:
    """One line: a mark, what is on the left, so wide, and a text, cut where it is too long."""
    line = Table.grid(padding=(0, 1, 0, 0))
    cells: list[RenderableType] = [mark, left] if width else [mark]
    for _ in cells:
        line.add_column(no_wrap=True, min_width=1)
    said = Text(text, no_wrap=True)
    said.truncate(max(FEWEST, options.max_width - width - 4), overflow="crop" if options.ascii_only else "ellipsis")
    line.add_row(*cells, said)
    return line


def drawing(work: Work) -> Live:
    """Of work, on standard error; nothing is left of it when it stops. What goes to standard output is left alone."""
    return Live(
        Drawn(work),
        console=Console(stderr=True),
        refresh_per_second=DRAWS,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
