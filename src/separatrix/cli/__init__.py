"""The command line. Heavy modules are imported only when a verb runs, so that ``--help`` is fast."""

from __future__ import annotations

import os

import click

from separatrix._version import __version__
from separatrix.base.declarations import declared_keys
from separatrix.cli.exits import Verbs

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


_DEMOS = ", ".join(f"demo:{name}" for name in declared_keys("separatrix.table.formats.demos", "DEMOS"))
_HELP = f"""Linear classification you can check: every fit carries a certificate.

DATA is a file (.csv, .tsv, .parquet, .arrow, .libsvm; text files may be compressed, .gz or .zst), a folder or a
pattern of such files, - for standard input, or a demo table: {_DEMOS}.

Results go to standard output, notes and errors to standard error. Exit codes: 0 success, 1 a check failed,
2 wrong usage, 3 bad data, 4 bad model file, 130 interrupted. NO_COLOR=1 switches colours off.
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
    """Run a verb of ``cli.verbs``. ``--help`` prints ``_HELP``."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
