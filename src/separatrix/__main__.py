"""``python -m separatrix`` and the ``separatrix`` command."""

import os
import signal
import sys
from types import FrameType


def _interrupted(signum: int, frame: FrameType | None) -> None:
    """End at once: nothing has begun yet, and a KeyboardInterrupt inside an import would print a traceback."""
    sys.stderr.write("separatrix: interrupted\n")
    sys.stderr.flush()
    os._exit(130)


def main() -> None:
    """Run the command line. Until its modules are loaded, an interrupt ends the process quietly."""
    usual = signal.signal(signal.SIGINT, _interrupted)
    from separatrix.cli import main as command

    if usual is not None:
        signal.signal(signal.SIGINT, usual)
    command(prog_name="separatrix")


if __name__ == "__main__":
    main()
