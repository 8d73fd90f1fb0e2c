"""An environment for each peer, made where it is missing or its pins have changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".environments"
STAMP = "pins.txt"


class Unavailable(RuntimeError):
    """A peer that cannot be installed here; says why."""


def pins_of(peer: str) -> Path:
    """The peer's requirements file; ours is this tree with what it needs, and nothing that developing it needs."""
    return HERE / "peers" / f"{peer}.txt"


def interpreter(peer: str, here: bool = False, pins: Path | None = None) -> str:
    """The Python that runs this peer, with its environment made if need be.

    ``here``: take the benchmark's own interpreter, whatever the peer. ``pins``: its requirements file, if it is not
    among those of the peers.
    """
    if here:
        return sys.executable
    pins = pins_of(peer) if pins is None else pins
    folder = ENVIRONMENTS / peer
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    stamp = folder / STAMP
    if not (python.exists() and stamp.exists() and stamp.read_text() == pins.read_text()):
        print(f"benchmarks: making an environment for {peer}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(folder)], peer)
        run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(pins)], peer)
        stamp.write_text(pins.read_text())
    return str(python)


def run(command: list[str], peer: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parent)
    if done.returncode:
        said = (
            [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines() or ["no reason"]
        )
        raise Unavailable(f"{peer} cannot be installed: {said[-1].strip()[:200]}")
