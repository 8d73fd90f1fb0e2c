"""``python -m separatrix`` and the ``separatrix`` command."""

import os
import signal
import sys
from types import FrameType


def _ended(signum: int, frame: FrameType | None) -> None:
    """End at once: nothing has begun yet, and a KeyboardInterrupt inside an import would print a traceback."""
    sys.stderr.write(f"separatrix: {'interrupted' if signum == signal.SIGINT else 'terminated'}\n")
    sys.stderr.flush()
    os._exit(128 + signum)


def main() -> None:
    """Run the command line. Until its modules are loaded, Ctrl-C or SIGTERM ends the process quietly.

    A SIGTERM that the caller has chosen to ignore stays ignored.
    """
    usual, ends = signal.signal(signal.SIGINT, _ended), signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ends:
        signal.signal(signal.SIGTERM, _ended)
    from separatrix.cli import main as command
    from separatrix.cli.exits import terminate

    if usual is not None:
        signal.signal(signal.SIGINT, usual)
    if ends:
        signal.signal(signal.SIGTERM, terminate)
    command(prog_name="separatrix")


if __name__ == "__main__":
    main()
