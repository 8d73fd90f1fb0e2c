"""``separatrix completion``: print a completion script for a shell."""

from __future__ import annotations

import click

from separatrix.cli import terminal

_EXAMPLES = """\b
Examples:
  bash:  eval "$(separatrix completion bash)"         in ~/.bashrc
  zsh:   eval "$(separatrix completion zsh)"          in ~/.zshrc
  fish:  separatrix completion fish | source          in config.fish
"""


@click.command(epilog=_EXAMPLES, short_help="Print a completion script for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options and file names in SHELL."""
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    script = completion_class(ctx.find_root().command, {}, "separatrix", "_SEPARATRIX_COMPLETE")
    terminal.document(script.source_template % script.source_vars() + "\n")
