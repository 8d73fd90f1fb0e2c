"""How a verb ends: one line on standard error and an exit code, never a traceback for what a user can mend."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from separatrix.base.errors import InputError, ModelFileError, ParameterError
from separatrix.cli import terminal
from separatrix.cli.verbs import LazyGroup
from separatrix.cli.wording import in_shell

FINE, CHECK_FAILED, USAGE, BAD_DATA, BAD_MODEL = 0, 1, 2, 3, 4
# What a shell reports for a program that a closed pipe or Ctrl-C ended.
CLOSED_PIPE, INTERRUPTED = 141, 130


def complain(text: str) -> None:
    """One line on standard error."""
    terminal.say(f"separatrix: {' '.join(in_shell(text).split())}", err=True)


def note(text: str) -> None:
    """A line on standard error that is no complaint."""
    terminal.say(f"note: {' '.join(in_shell(text).split())}", err=True)


class Verbs(LazyGroup):
    """A group whose verbs may return an exit code, or raise the package's errors."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, then leave with the exit code."""
        for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a letter gets its code instead
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = USAGE
        except click.UsageError as error:
            where = error.ctx.command_path if error.ctx else "separatrix"
            complain(f"{error.format_message().rstrip('.')} (see: {where} --help)")
            code = USAGE
        except click.Abort:
            complain("interrupted")
            code = INTERRUPTED
        except OSError as error:  # a verb's own errors are handled below: this is help or the version
            code = _unwritten(error)
        sys.exit(code if isinstance(code, int) else FINE)

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
            complain(error.message)
            return BAD_DATA
        except ModelFileError as error:
            complain(str(error))
            return BAD_MODEL
        except OSError as error:  # files are opened where their errors get names: this is standard output
            return _unwritten(error)
        except MemoryError:
            complain("there is not enough memory for this table; give fewer rows or columns")
            return BAD_DATA


def _unwritten(error: OSError) -> int:
    """The exit code after standard output could not be written. What is still buffered is discarded, since Python would
    otherwise try again, and complain, when it ends.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    complain(f"the output cannot be written ({error.strerror})")
    return USAGE
