"""The directive ``session``: shell commands with what they print, run while the site is built.

Each line of the body that starts with ``$ `` is run by bash in a temporary folder of the page, which holds a copy of
``docs/data``. So a command can read what another one wrote. ``exit`` is the exit code that the last command must have
(0); ``lines`` is the most lines of each command's output to show.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives

DATA = Path(__file__).parents[1] / "data"
PROMPT = "$ "
# Characters in a line that fit the column of text in a window of 1280 pixels.
WIDTH = 80


class Session(Directive):
    """A literal block of commands and their output."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"exit": int, "lines": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        """Run the commands in the page's folder."""
        env = self.state.document.settings.env
        folder = _folder(env)
        shown: list[str] = []
        for number, line in enumerate(self.content):
            shown.append(line)
            if line.startswith(PROMPT):
                last = number == len(self.content) - 1
                shown += self._output(line.removeprefix(PROMPT), folder, self.options.get("exit", 0) if last else 0)
        text = "\n".join(shown)
        return [nodes.literal_block(text, text, language="none")]

    def _output(self, command: str, folder: Path, expected: int) -> list[str]:
        """What a command prints to both streams, cut to ``lines``."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        settings = os.environ | {"PATH": path, "NO_COLOR": "1", "COLUMNS": str(WIDTH)}
        ran = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=settings,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if ran.returncode != expected:
            raise self.error(f"{command!r} ended with exit code {ran.returncode}:\n{ran.stdout}")
        lines = ran.stdout.splitlines()
        most = self.options.get("lines", len(lines))
        return lines if len(lines) <= most else [*lines[:most], "…"]


def _folder(env: Any) -> Path:
    """The folder of the page that is being read, made at its first command."""
    if "session_folder" not in env.temp_data:
        env.temp_data["session_folder"] = TemporaryDirectory()
        shutil.copytree(DATA, env.temp_data["session_folder"].name, dirs_exist_ok=True)
    return Path(env.temp_data["session_folder"].name)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("session", Session)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
