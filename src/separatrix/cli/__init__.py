"""The command line. Nothing heavy is imported before a verb runs, so that ``--help`` answers at once."""

from __future__ import annotations

import click

from separatrix._version import __version__
from separatrix.cli.exits import Verbs
from separatrix.cli.fit import fit
from separatrix.cli.predict import predict
from separatrix.cli.show import show

__all__ = ["main"]


_EXAMPLES = """\b
Examples:
  separatrix fit demo:breast-cancer --out model.json
  separatrix show model.json
  separatrix predict model.json new.csv --proba > answers.csv
  separatrix fit people.csv --target smoker --drop id --out model.json
  cat people.csv | separatrix fit - --target smoker --json
"""


@click.group(
    cls=Verbs,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="separatrix", message="%(prog)s %(version)s")
def main() -> None:
    """Linear classification you can check: every fit carries a certificate.

    DATA is a .csv, .tsv, .parquet or .pq file with a header, - for CSV on standard input, or one of
    scikit-learn's bundled sets: demo:breast-cancer, demo:iris, demo:wine, demo:digits.

    Exit codes: 0 fine, 1 a check failed, 2 wrong usage, 3 bad data, 4 bad model file.
    """


for verb in (fit, predict, show):
    main.add_command(verb)
