"""``separatrix show``: show a model file, the changes between two, or the settings for another package."""

from __future__ import annotations

import click

from separatrix.base.errors import ParameterError
from separatrix.cli import terminal
from separatrix.cli.file_arguments import READ
from separatrix.cli.model_arguments import read_model
from separatrix.cli.table_arguments import json_option

# A copy of ``separatrix.export.other_packages.PACKAGES``, which is imported only when it is needed.
PACKAGES = ("sklearn", "glmnet", "statsmodels", "liblinear")

_EXAMPLES = """\b
Examples:
  separatrix show model.json
  separatrix show old.json new.json
  separatrix show model.json --stats
  separatrix show model.json --as glmnet
  separatrix show model.json --json | python -m json.tool
"""


@click.command(epilog=_EXAMPLES, short_help="Show a model file, or the changes between two.")
@click.argument("model", type=READ)
@click.argument("other", type=READ, required=False)
@click.option(
    "--as", "package", type=click.Choice(PACKAGES), help="Print the code that makes the same fit with this package."
)
@click.option(
    "--stats",
    is_flag=True,
    help="Print the standard errors, tests and confidence intervals that fit --stats has stored.",
)
@json_option
def show(model: str, other: str | None, package: str | None, stats: bool, as_json: bool) -> None:
    """Show what is in MODEL: classifier, settings, columns, certificate, the data of the fit, and every weight.

    Weights are per unit of each column; for models of standardised columns also per standard deviation. For models with
    log odds, there are odds ratios as well. With a second model file, OTHER, show what changed from MODEL to OTHER. One
    of the two may be - (standard input).
    """
    for option, given in (("--as", package is not None), ("--stats", stats)):
        if other is not None and given:
            raise ParameterError(option, "it was given with two models", "give one model file")
    from separatrix.cli import show_output

    known = read_model(model, other)
    if package is not None:
        show_output.show_translation(known, package, as_json)
    elif other is not None:
        from separatrix.cli.show_changes import show_changes

        show_changes(known, read_model(other, model), as_json)
    elif stats:
        show_output.show_statistics(known, as_json)
    elif as_json:
        terminal.document(terminal.json_text(known.content()))
    else:
        show_output.show_model(known)
