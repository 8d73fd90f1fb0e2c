"""Start the lab's server, and find a browser."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def started(port=0):
    """A process of ``separatrix lab``, and the address with its token that it has printed."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "separatrix", "lab", "--port", str(port), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    return server, re.search(r"http\S+", server.stdout.readline())[0]
