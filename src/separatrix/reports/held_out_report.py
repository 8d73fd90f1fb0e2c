"""The report on a fit to some rows of a table, measured on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from separatrix.checks import Checks
from separatrix.evaluation.held_out_fit import HeldOutFit
from separatrix.reports.assemble import report


def held_out_report(
    fit: HeldOutFit, checks: Checks, missing: Mapping[str, int], notes: Sequence[str], **more: Any
) -> str:
    """The page on a fit. ``checks`` are the findings about its table; ``more`` are other arguments of ``report``.

    ``missing``: the number of missing values by column, before they were filled.
    """
    table, held = fit.table, fit.held
    training = fit.training()
    about = {"table": str(training["source"]), "rows in the table": f"{training['rows']:,}"}
    if fit.test_size:
        about["held out"] = f"{fit.test_size:g} of each class"
    if more.get("validated") is not None:
        about["cross-validation"] = more["validated"]
    return report(
        fit.model,
        *fit.rows(~held),
        names=table.names,
        test=fit.rows(held) if held.any() else None,
        notes=notes,
        checks=checks.for_report(),
        title=f"{table.target}, predicted from {training['source']}",
        rows=table.row_names[~held],
        test_rows=table.row_names[held],
        missing=missing if table.encoder is not None else None,
        about={**about, "random seed": str(fit.seed)},
        scaling=table.scaling,
        encoder=table.encoder,
        **more,
    )
