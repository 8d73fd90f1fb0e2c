"""``separatrix lab``: interactive pages in the browser, and recordings of them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from separatrix.base.errors import ParameterError
from separatrix.cli import output_files, terminal

# The packages of the extra "lab".
NEEDED = ("starlette", "uvicorn", "websockets")
DEFAULT_PORT = 8157
# What is recorded if no link is given: the page Plane, with the point that least squares follows.
DEFAULT_LINK = "#plane"

_EXAMPLES = """\b
Examples:
  separatrix lab
  separatrix lab --port 0 --no-browser
  separatrix lab --record drag.html
  separatrix lab --record run.html --link "#step?m=perceptron&p=separable"
  separatrix lab --record svm.html --link "#plane?m=linear-svc" --drag 3
"""


@click.command(epilog=_EXAMPLES, short_help="Open interactive pages in the browser.")
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
    help="With --record: the point that can be dragged. By default the one that the page invites to drag.",
)
@click.option(
    "--places",
    nargs=2,
    type=int,
    metavar="N N",
    help="With --record: between how many places to the right and upwards it can be dragged; 43 28 by default.",
)
def lab(
    port: int,
    no_browser: bool,
    record: str | None,
    link: str | None,
    drag: int | None,
    places: tuple[int, int] | None,
) -> None:
    """Open pages on which points can be dragged and classifiers followed step by step.

    The server answers only to this machine, under the address that it prints. Press Ctrl+C to end it.
    """
    if record is not None:
        _record(record, link, drag, places)
        return
    for option, value in (("--link", link), ("--drag", drag), ("--places", places)):
        if value is not None:
            raise ParameterError(option, "nothing is recorded", "give --record FILE, too, or leave it out")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        problem = f"it needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise ParameterError("lab", problem, "install separatrix[lab]")
    from separatrix.lab.serve import serve

    serve(port, not no_browser, lambda address: terminal.say(address, head="The lab is at "))


def _record(out: str, link: str | None, drag: int | None, places: tuple[int, int] | None) -> None:
    output_files.refuse_unwritable("--record", out)
    from separatrix.lab.recorder import recorded_page
    from separatrix.lab.recordings import Options

    options = Options() if places is None else Options(places=places)
    try:
        with terminal.working("recording"):
            page = recorded_page(DEFAULT_LINK if link is None else link, drag, options.places)
    except ParameterError as error:
        if error.argument in ("link", "drag", "places"):
            raise ParameterError(f"--{error.argument}", error.problem, error.remedy) from error
        raise
    output_files.write("--record", out, page.encode())
    terminal.say(f"{Path(out)}, {len(page.encode()) / 1000:.0f} kB", head="recording: ")
