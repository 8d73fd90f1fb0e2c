"""The command line. Heavy modules are imported only when a verb runs, so that ``--help`` is fast."""

from __future__ import annotations

import os

import click

from separatrix._version import __version__
from separatrix.cli.exits import Verbs
from separatrix.core.base.lazy import declared_keys

__all__ = ["main"]


_EXAMPLES = """\b
Examples:
  separatrix fit demo:breast-cancer --out model.json --report report.html
  separatrix show model.json
  separatrix fit people.csv --target smoker --drop id --out model.json
  separatrix predict model.json new.csv --proba > answers.csv
  separatrix evaluate model.json test.csv
  separatrix export model.json --to sql --table customers
"""


_DEMOS = ", ".join(f"demo:{name}" for name in declared_keys("separatrix.tables.formats.demos", "DEMOS"))
_HELP = f"""Fit linear classifiers with certificates that can be checked independently.

DATA is a file (.csv, .tsv, .parquet, .arrow or .libsvm; text files may be compressed as .gz or .zst), a folder of such
files, a glob pattern, - for standard input, or an example data set: {_DEMOS}.

Results are written to standard output, notes and errors to standard error. A command does not write to a file that it
reads, nor two outputs to one file. Exit codes: 0 success, 1 a check failed, 2 usage error, 3 invalid data, 4 invalid
model file, 5 a cluster without scheduler or workers, 130 interrupted, 143 terminated. Set NO_COLOR=1 to disable
colours.
"""


@click.group(
    cls=Verbs,
    help=_HELP,
    subcommand_metavar="VERB ...",
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="separatrix", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Run a verb of ``cli.exits``. ``--help`` prints ``_HELP``."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
