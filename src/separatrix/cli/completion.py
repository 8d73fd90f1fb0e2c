"""``separatrix completion``: the script by which a shell completes verbs, options and their words."""

from __future__ import annotations

import click

from separatrix.cli import terminal

_EXAMPLES = """\b
Examples:
  bash:  eval "$(separatrix completion bash)"         in ~/.bashrc
  zsh:   eval "$(separatrix completion zsh)"          in ~/.zshrc
  fish:  separatrix completion fish > ~/.config/fish/completions/separatrix.fish
"""


@click.command(epilog=_EXAMPLES, short_help="Print the script that completes words in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options and file names in SHELL."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    script = found(ctx.find_root().command, {}, "separatrix", "_SEPARATRIX_COMPLETE")
    terminal.document(script.source_template % script.source_vars() + "\n")
