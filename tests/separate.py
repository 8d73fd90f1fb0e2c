"""Code run in a process of its own with a time limit, so that a deadlock fails a test and does not hang the suite."""

import subprocess
import sys

# Far more than any of these programs takes; a program that hangs says where before it is ended.
SECONDS = 240


def printed(code: str, *arguments: object, seconds: float = SECONDS) -> str:
    """What the program prints; it fails the test where it raises or does not end in time."""
    limited = f"import faulthandler; faulthandler.dump_traceback_later({seconds}, exit=True)\n{code}"
    command = [sys.executable, "-W", "ignore", "-c", limited, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * seconds, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
