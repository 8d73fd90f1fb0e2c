"""The verbs, and how each ends: with an exit code, and for an error one line on standard error, never a traceback.

Each verb is a command in the module of ``separatrix.cli`` that has its name. The module is imported only when the verb
runs, so ``--help`` imports none of them. A new verb is one file and one line in ``VERBS``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from types import FrameType
from typing import Any

import click

from separatrix.cli import terminal
from separatrix.cli.terminal import in_shell, option_words
from separatrix.core.base.errors import ClusterError, InputError, ModelFileError, ParameterError
from separatrix.core.base.messages import Message

# The verbs and their short help.
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
# Where a context keeps the words of the command.
_WORDS = "separatrix.words"
FINE, CHECK_FAILED, USAGE, BAD_DATA, BAD_MODEL, NO_CLUSTER = 0, 1, 2, 3, 4, 5
# The exit codes that a shell reports for a program ended by a closed pipe, by Ctrl-C or by SIGTERM.
CLOSED_PIPE, INTERRUPTED, TERMINATED = 141, 130, 143


class Verbs(click.Group):
    """A group whose commands are ``VERBS``, which may return an exit code, or raise the package's errors."""

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

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a verb and exit with its code."""
        for stream in (sys.stdout, sys.stderr):  # Characters that the terminal cannot show are escaped.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = USAGE
        except click.UsageError as error:
            where = error.ctx.command_path if error.ctx else _verb_of(kwargs.get("args", *args[:1]))
            complain(f"{error.format_message().rstrip('.')} (see: {where} --help)")
            code = USAGE
        except click.Abort as error:
            terminated = isinstance(error.__cause__, Terminated)
            if terminated:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Python removes temporary files when it exits, too.
            complain("terminated" if terminated else "interrupted")
            code = TERMINATED if terminated else INTERRUPTED
        except OSError as error:  # Errors of a verb are handled in ``invoke``; this is help or the version.
            code = _unwritten(error)
        sys.exit(code if isinstance(code, int) else FINE)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; keeps the words, to repeat them in advice."""
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; turn errors into their exit codes."""
        try:
            code = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return code
        except ParameterError as error:
            complain(error.message)
            return USAGE
        except InputError as error:
            complain(Message(error.message, *self._solution(ctx, error)))
            return BAD_DATA
        except ModelFileError as error:
            complain(str(error))
            return BAD_MODEL
        except ClusterError as error:
            complain(str(error))
            return NO_CLUSTER
        except OSError as error:  # Errors of named files are handled where they are opened; this is standard output.
            return _unwritten(error)
        except MemoryError:
            complain("there is not enough memory for this table; give fewer rows or columns")
            return BAD_DATA

    def _solution(self, ctx: click.Context, error: InputError) -> list[str]:
        """The whole command with the settings that solve the error; nothing if the verb does not have them."""
        words: list[str] = ctx.meta.get(_WORDS, [])
        verb = self.get_command(ctx, words[0]) if words else None
        known = set() if verb is None else {option.name for option in verb.params}
        if not error.solving or not {setting.name for setting in error.solving} <= known:
            return []
        more = [word for setting in error.solving for word in option_words(setting)]
        return [f" Try: {terminal.command_line(['separatrix', *words, *more])}"]


def _unwritten(error: OSError) -> int:
    """The exit code when standard output cannot be written.

    What is still buffered is discarded. Otherwise Python would try to write it again at exit and print an error.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    complain(f"the output cannot be written ({error.strerror})")
    return USAGE


class Terminated(KeyboardInterrupt):
    """SIGTERM has arrived. It ends a verb as Ctrl-C does, so that unfinished files and caches are removed."""


def terminate(signum: int, frame: FrameType | None) -> None:
    """Handle SIGTERM. Another one does not interrupt the removal of files that the first one has begun.

    ``timeout`` of GNU sends every signal twice, to the process and to its group. A SIGTERM is not simply ignored after
    the first one: Python drops an exception that is raised in a finaliser, and the process must still be able to end.
    """
    if not _ends_by_sigterm(sys.exception()):
        raise Terminated


def _ends_by_sigterm(handled: BaseException | None) -> bool:
    """Whether this exception is a termination, or was raised while one was handled."""
    seen: set[int] = set()
    while handled is not None and id(handled) not in seen:
        if isinstance(handled, Terminated):
            return True
        seen.add(id(handled))
        handled = handled.__cause__ or handled.__context__
    return False


def complain(text: str) -> None:
    """Print an error or a warning as one line on standard error."""
    terminal.say(f"separatrix: {' '.join(in_shell(text).split())}", err=True)


def note(text: str) -> None:
    """Print a note as one line on standard error."""
    terminal.say(f"note: {' '.join(in_shell(text).split())}", err=True)


def _verb_of(words: Sequence[str] | None = None) -> str:
    """The command that a usage error is about, if click raises the error without a context.

    >>> _verb_of(["fit", "rows.csv", "--target"])
    'separatrix fit'
    """
    first = (sys.argv[1:] if words is None else words)[:1]
    return " ".join(["separatrix", *(word for word in first if word in VERBS)])


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
