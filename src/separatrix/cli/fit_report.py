"""The report on a fit that ``fit`` and ``compare`` write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from separatrix.base.errors import ParameterError
from separatrix.cli import output_files, terminal
from separatrix.cli.wording import checks_in_shell

if TYPE_CHECKING:
    from separatrix.cli.fit_output import FitOutput
    from separatrix.evaluation.comparison_result import Comparison


def write_report(
    output: FitOutput,
    path: str,
    missing: dict[str, int],
    cost: dict[str, float] | None = None,
    comparison: Comparison | None = None,
) -> None:
    """Write the report on a fit to the file of --report.

    ``missing``: the number of missing values by column. ``comparison``: of the classifiers, if one chose this fit.
    """
    from separatrix.evaluation.held_out_fit import HeldOutFit
    from separatrix.reports import data_checks
    from separatrix.reports.held_out_report import held_out_report

    table, rows = output.table, output.memory
    with terminal.working("drawing the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warnings about figures.
        page = _named_option(
            held_out_report,
            HeldOutFit(table, output.model, rows.codes, rows.held, output.test_size, output.seed),
            checks_in_shell(data_checks(table, missing)),
            missing,
            output.notes,
            validated=None if output.validation is None else output.validation.sentence,
            cost=cost,
            comparison=comparison,
        )
    output_files.write("--report", path, page.encode())


def _named_option(report: Callable[..., str], *given: Any, **named: Any) -> str:
    """The report; an error about its costs names the option."""
    try:
        return report(*given, **named)
    except ParameterError as error:
        argument = "--cost" if error.argument == "cost" else error.argument
        raise ParameterError(argument, error.problem, error.remedy) from error
