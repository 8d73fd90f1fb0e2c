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
    from separatrix.reports import data_checks, report

    table = output.table
    memory = output.memory
    fitted, held = ~memory.held, memory.held
    title = f"{table.target}, predicted from {output.training()['source']}"
    with terminal.working("drawing the report"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Warnings about figures.
        page = _named_option(
            report,
            output.model,
            *memory.rows(fitted),
            names=table.names,
            test=memory.rows(held) if held.any() else None,
            notes=output.notes,
            checks=checks_in_shell(data_checks(table, missing)).for_report(),
            validated=None if output.validation is None else output.validation.sentence,
            title=title,
            rows=table.row_names[fitted],
            test_rows=table.row_names[held],
            cost=cost,
            missing=missing if table.encoder is not None else None,
            about=_about(output),
            scaling=table.scaling,
            encoder=table.encoder,
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


def _about(output: FitOutput) -> dict[str, str]:
    """What the report says about the origin of the rows: no path of this machine."""
    training = output.training()
    about = {"table": str(training["source"]), "rows in the table": f"{training['rows']:,}"}
    if output.test_size:
        about["held out"] = f"{output.test_size:g} of each class"
    if output.validation is not None:
        about["cross-validation"] = output.validation.sentence
    return {**about, "random seed": str(output.seed)}
