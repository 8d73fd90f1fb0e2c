"""The verbs and their short help. ``separatrix VERB`` runs the command VERB of the module ``separatrix.cli.VERB``.

A verb's module is imported only when the verb runs, so ``--help`` imports none of them. A new verb is one file and one
line here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

VERBS: dict[str, str] = {
    "fit": "Fit a model to a table and certify the fit.",
    "predict": "Predict the class of every row of a table.",
    "evaluate": "Evaluate a model on a table with labels.",
    "show": "Show a model file, or the differences between two.",
    "export": "Write a model as SQL, ONNX or Python.",
    "check": "Look for problems in a table before fitting.",
    "compare": "Cross-validate every classifier on a table.",
    "figures": "Draw the pictures of the lectures.",
    "lab": "Open interactive pages in the browser.",
    "completion": "Print a shell completion script.",
}


class LazyGroup(click.Group):
    """A group whose commands are ``VERBS``, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs, in the order of the registry."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, imported from its module."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"separatrix.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """As click does, with a suggestion for an unknown verb."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = get_close_matches(args[0], VERBS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(VERBS)}"
            ctx.fail(f"there is no verb {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs with their short help, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


class Sectioned(click.Command):
    """A command whose help groups options. ``sections`` gives parameter names by title; all others come last."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, grouped by title."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {param.name: param.get_help_record(ctx) for param in options}
        named = {name for names in self.sections.values() for name in names}
        rest = [name for name in records if name not in named]
        for title, names in {**self.sections, "Other": rest}.items():
            rows = [record for name in names if (record := records[name]) is not None]
            with formatter.section(title):
                formatter.write_dl(rows, col_max=24)
