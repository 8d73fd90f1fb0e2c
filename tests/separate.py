"""Code run in a process of its own with a time limit, so that a deadlock fails a test and does not hang the suite."""

import os
import signal
import sys
from contextlib import suppress
from subprocess import PIPE, Popen, TimeoutExpired

# Far more than any of these programs takes; a program that hangs says where before it is ended.
SECONDS = 240


def printed(code: str, *arguments: object, seconds: float = SECONDS) -> str:
    """What the program prints; it fails the test where it raises or does not end in time."""
    limited = f"import faulthandler; faulthandler.dump_traceback_later({seconds}, exit=True)\n{code}"
    command = [sys.executable, "-W", "ignore", "-c", limited, *map(str, arguments)]
    with Popen(command, stdout=PIPE, stderr=PIPE, text=True, start_new_session=True) as program:
        try:
            out, err = program.communicate(timeout=seconds + 10)
        except TimeoutExpired:  # children that hang keep its output open
            _end(program)
            out, err = program.communicate()
            raise AssertionError(f"it did not end\n{out}\n{err}") from None
        finally:
            _end(program)
    assert program.returncode == 0, f"{out}\n{err}"
    return out


def _end(program: Popen) -> None:
    """The program, if it still runs, and its children."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
    else:
        program.kill()
