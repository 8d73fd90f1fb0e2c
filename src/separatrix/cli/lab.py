"""``separatrix lab``: interactive pages in the browser, and recordings of them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from separatrix.cli import file_arguments, terminal
from separatrix.cli.file_arguments import READ, WRITTEN
from separatrix.core.base.errors import ParameterError, TableError

# The packages of the extra "lab".
NEEDED = ("starlette", "uvicorn", "websockets")
DEFAULT_PORT = 8157
# What is recorded if no link is given: the page Plane, with the point that least squares follows.
DEFAULT_LINK = "#plane"

_EXAMPLES = """\b
Examples:
  separatrix lab
  separatrix lab people.csv --target smoker
  separatrix lab demo:iris
  separatrix lab --port 0 --no-browser
  separatrix lab --record drag.html
  separatrix lab --record run.html --link "#step?m=perceptron&p=separable"
  separatrix lab --record svm.html --link "#plane?m=linear-svc" --drag 3
"""


@click.command(epilog=_EXAMPLES, short_help="Open interactive pages in the browser.")
@click.argument("data", type=READ, required=False)
@click.option("--target", metavar="COL", help="The column of DATA to predict. The page asks for it if it is not given.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    metavar="N",
    help=f"The port to listen on; {DEFAULT_PORT} by default, 0 for any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address only, and open no browser.")
@click.option(
    "--record",
    type=WRITTEN,
    metavar="FILE",
    help="Start no server. Write a page to this HTML file, with recorded answers; it opens without a network.",
)
@click.option(
    "--link",
    metavar="LINK",
    help="With --record: what to record, as a link copied from the lab. By default the page Plane as it opens.",
)
@click.option(
    "--drag",
    type=int,
    metavar="ROW",
    help="With --record: the row number of the point that can be dragged. By default the page chooses one.",
)
@click.option(
    "--places",
    nargs=2,
    type=int,
    metavar="N N",
    help="With --record: how many positions the point can be dragged to, across and up. By default 43 28, or fewer "
    "if the file would be larger than 1.5 MB.",
)
def lab(
    data: str | None,
    target: str | None,
    port: int,
    no_browser: bool,
    record: str | None,
    link: str | None,
    drag: int | None,
    places: tuple[int, int] | None,
) -> None:
    """Open interactive pages in the browser, on which you can drag points and follow classifiers step by step.

    With DATA (a file, a folder, a glob pattern or demo:NAME), the page "Your data" opens with that table. There
    you can check the table, fit a model, see its picture and its accuracy on held-out rows, compare all classifiers,
    and make the report. Without DATA, you can drop a file on that page. Tables stay on this machine.

    The server answers only requests from this machine, at the address that it prints. Press Ctrl+C to stop it.
    """
    if record is not None:
        if data is not None:
            raise ParameterError("--record", "rows of a table are not recorded", "leave DATA out")
        _record(record, link, drag, places)
        return
    for option, value in (("--link", link), ("--drag", drag), ("--places", places)):
        if value is not None:
            raise ParameterError(option, "nothing is recorded", "give --record FILE, too, or leave it out")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        problem = f"it needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise ParameterError("lab", problem, "install separatrix[lab]")
    _refuse_unreadable(data, target)
    from separatrix.teach.lab.serve import serve

    serve(port, not no_browser, lambda address: terminal.say(address, head="The lab is at "), data, target)


def _refuse_unreadable(data: str | None, target: str | None) -> None:
    """Refuse a table that cannot be opened, is too large for memory, or lacks the target, before the server starts."""
    if data is None:
        if target is not None:
            raise ParameterError("--target", "there is no DATA that it could be a column of", "give DATA, too")
        return
    from separatrix.cli.table_options import too_large
    from separatrix.tables.formats.opening import STDIN, open_source
    from separatrix.tables.selection import refuse_unknown

    if data == STDIN:
        raise ParameterError("DATA", "the lab cannot read standard input", "give a file")
    source = open_source(data)
    large = too_large(source, None)
    if large is not None:
        problem = f"the lab needs it in memory, where it would take about {large.needed / 1e9:.2g} GB"
        raise TableError(data, problem, "give a part of its rows, or use separatrix fit, which reads it in batches")
    if target is not None:
        refuse_unknown(source, target)


def _record(out: str, link: str | None, drag: int | None, places: tuple[int, int] | None) -> None:
    file_arguments.refuse_unwritable("--record", out)
    from separatrix.teach.lab.recorder import recorded_page

    options = {"link": "--link", "drag": "--drag", "places": "--places"}
    with terminal.working("recording"), terminal.as_options(options):
        page = recorded_page(DEFAULT_LINK if link is None else link, drag, places)
    file_arguments.write("--record", out, page.encode())
    terminal.say(f"{Path(out)}, {len(page.encode()) / 1000:.0f} kB", head="recording: ")
