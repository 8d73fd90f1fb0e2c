"""``separatrix lab``: interactive pages in the browser."""

from __future__ import annotations

from importlib.util import find_spec

import click

from separatrix.base.errors import ParameterError
from separatrix.cli import terminal

# The packages of the extra "lab".
NEEDED = ("starlette", "uvicorn", "websockets")
DEFAULT_PORT = 8157

_EXAMPLES = """\b
Examples:
  separatrix lab
  separatrix lab --port 0 --no-browser
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
def lab(port: int, no_browser: bool) -> None:
    """Open pages on which points can be dragged and classifiers followed step by step.

    The server answers only to this machine, under the address that it prints. Press Ctrl+C to end it.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        problem = f"it needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise ParameterError("lab", problem, "install separatrix[lab]")
    from separatrix.lab.serve import serve

    serve(port, not no_browser, lambda address: terminal.say(address, head="The lab is at "))
