"""The directive ``command-help VERB``: what ``separatrix VERB --help`` prints, run while the site is built."""

from __future__ import annotations

from typing import Any

import click
from click.testing import CliRunner
from docutils import nodes
from docutils.parsers.rst import Directive

from separatrix.cli import main


class CommandHelp(Directive):
    """A literal block with the help of one verb, or without an argument of the whole command."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Run the command in this process."""
        result = CliRunner().invoke(main, [*self.arguments, "--help"], prog_name="separatrix", terminal_width=80)
        if result.exit_code:
            raise self.error(f"separatrix {' '.join(self.arguments)} --help: {result.output}")
        text = click.unstyle(result.output)
        return [nodes.literal_block(text, text, language="none")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
