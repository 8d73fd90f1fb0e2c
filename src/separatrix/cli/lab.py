"""``separatrix lab``: interactive pages in the browser."""

from __future__ import annotations

from importlib.util import find_spec

import click

from separatrix.base.errors import ParameterError, TableError
from separatrix.cli import terminal
from separatrix.cli.table_arguments import FILE

# The packages of the extra "lab".
NEEDED = ("starlette", "uvicorn", "websockets")
DEFAULT_PORT = 8157

_EXAMPLES = """\b
Examples:
  separatrix lab
  separatrix lab people.csv --target smoker
  separatrix lab demo:iris
  separatrix lab --port 0 --no-browser
"""


@click.command(epilog=_EXAMPLES, short_help="Open interactive pages in the browser.")
@click.argument("data", type=FILE, required=False)
@click.option("--target", metavar="COL", help="The column of DATA to predict. The page asks for it if it is not given.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    metavar="N",
    help=f"The port to listen on; {DEFAULT_PORT} by default, 0 for any free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address only, and open no browser.")
def lab(data: str | None, target: str | None, port: int, no_browser: bool) -> None:
    """Open pages on which points can be dragged and classifiers followed step by step.

    With DATA (a file, a folder, a glob pattern or demo:NAME), the page "Your data" opens on that table: its check, a
    model with its accuracy on held-out rows, its picture, a comparison of all classifiers, and the report. Without
    DATA, the page takes a file that is dropped on it. Tables stay on this machine.

    The server answers only to this machine, under the address that it prints. Press Ctrl+C to end it.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        problem = f"it needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise ParameterError("lab", problem, "install separatrix[lab]")
    _refuse_unreadable(data, target)
    from separatrix.lab.serve import serve

    serve(port, not no_browser, lambda address: terminal.say(address, head="The lab is at "), data, target)


def _refuse_unreadable(data: str | None, target: str | None) -> None:
    """Refuse a table that cannot be opened, is too large for memory, or lacks the target, before the server starts."""
    if data is None:
        if target is not None:
            raise ParameterError("--target", "there is no DATA that it could be a column of", "give DATA, too")
        return
    from separatrix.cli import memory_options
    from separatrix.table import open_source
    from separatrix.table.formats import STDIN
    from separatrix.table.select import refuse_unknown

    if data == STDIN:
        raise ParameterError("DATA", "the lab cannot read standard input", "give a file")
    source = open_source(data)
    large = memory_options.too_large(source, None)
    if large is not None:
        problem = f"the lab needs it in memory, where it would take about {large.needed / 1e9:.2g} GB"
        raise TableError(data, problem, "give a part of its rows, or use separatrix fit, which reads it in batches")
    if target is not None:
        refuse_unknown(source, target)
