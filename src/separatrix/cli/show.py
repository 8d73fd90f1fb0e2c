"""``separatrix show``: show a model file, the changes between two, or the settings for another package.

A model of text has too many n-grams to print all their weights, so those with the largest weights are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from separatrix.classifiers import describe
from separatrix.cli import terminal
from separatrix.cli.file_arguments import READ
from separatrix.cli.model_options import read_model
from separatrix.cli.table_options import json_option
from separatrix.cli.terminal import in_shell, item
from separatrix.core.base.errors import ParameterError, printable
from separatrix.core.base.messages import Message, Setting, number_text

if TYPE_CHECKING:
    from separatrix.classifiers.model_file import ModelFile
    from separatrix.output.model_changes import Difference
    from separatrix.tables.encoder import Encoded, Encoder, Scaling

# A copy of ``separatrix.output.other_packages.PACKAGES``, which is imported only when it is needed.
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

    known = read_model(model, other)
    if package is not None:
        show_translation(known, package, as_json)
    elif other is not None:
        show_changes(known, read_model(other, model), as_json)
    elif stats:
        show_statistics(known, as_json)
    elif as_json:
        terminal.document(terminal.json_text(known.content()))
    else:
        show_model(known)


def short(value: Any) -> str:
    """A setting or another fact in a few words."""
    if isinstance(value, list | tuple):
        if not value:
            return "none"
        return terminal.some([item(short(one)) for one in value], MOST_ITEMS)
    if isinstance(value, float):
        return number_text(value, 6)
    return str(value)


# --- The whole model

# The output lists at most this many columns of a kind, and levels of a category.
MOST_COLUMNS_SHOWN, MOST_LEVELS_SHOWN = 30, 8
# Settings that are accepted only for compatibility with scikit-learn, with the values at which they have no effect.
_WITHOUT_EFFECT = {
    "dual": False,
    "intercept_scaling": 1,
    "multi_class": "deprecated",
    "penalty": "deprecated",
    "verbose": 0,
    "warm_start": False,
}
_MISSING = {
    "error": "missing values are refused",
    "impute": "missing values are filled with the training means (categories: the most frequent levels)",
    "indicator": "missing numbers are filled with the training means and marked; in a category, missing is a level",
    "drop": "rows with missing values get no prediction",
}
# In files of version 6 and older.
_MISSING_AVERAGED = {
    "impute": "missing values are filled with the training means (categories: the shares of the levels)",
    "indicator": "missing values are filled with the training means (categories: the shares of the levels), and marked",
}
_UNSEEN = {"error": "refused", "average": "encoded as the training average"}


def show_model(known: ModelFile) -> None:
    """Print the whole model."""
    classes = [str(label) for label in known.scorer.classes.tolist()]
    about = describe(known.classifier).about.partition(";")[0]
    terminal.line("model", f"{known.classifier} ({about}), written by separatrix {known.made_by}")
    if known.target is not None:
        terminal.line("target", known.target)
    terminal.line("classes", terminal.some([*map(item, classes)], MOST_COLUMNS_SHOWN))
    _show_settings(known)
    _show_columns(known)
    if known.certificate is not None:
        terminal.say()
        terminal.certificate(known.certificate)
    _show_training(known.training, classes)
    terminal.say()
    _WEIGHTS.get(type(known.scorer).__name__, _show_no_weights)(known)


def _show_settings(known: ModelFile) -> None:
    settings = [(name, value) for name, value in _flat(known.parameters) if value is not None]
    # The name of a setting of a part begins with the name of the part and "__".
    said = [f"{name}={short(value)}" for name, value in settings if _WITHOUT_EFFECT.get(name.split("__")[-1]) != value]
    if said:
        terminal.line("settings", ", ".join(said))
    if known.left_out:
        terminal.line("", f"left out of the file, which holds plain values only: {', '.join(known.left_out)}")


def _flat(parameters: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Settings by name. The settings of a part follow the part itself."""
    flat: list[tuple[str, Any]] = []
    for name, value in parameters.items():
        inner = isinstance(value, dict) and set(value) == {"classifier", "parameters"}
        flat.append((name, value["classifier"] if inner else value))
        flat += [(f"{name}__{deep}", setting) for deep, setting in _flat(value["parameters"])] if inner else []
    return flat


def _show_columns(known: ModelFile) -> None:
    encoder = known.encoder
    if encoder is None:
        unnamed = "" if known.features else ", identified by their order"
        terminal.line("columns", f"{terminal.count(known.columns, 'number')}{unnamed}")
        return
    kinds = dict.fromkeys(column.kind for column in encoder.columns)
    for k, kind in enumerate(kinds):
        terminal.line("" if k else "columns", _columns_of_kind(encoder, kind))
        if kind == "category":
            _show_categories(encoder)
    terminal.line("policies", _policies(encoder))


def _policies(encoder: Encoder) -> str:
    """What is done with missing values and with levels that no training row had."""
    kinds = {column.kind for column in encoder.columns}
    averaged = any(column.kind == "category" and not column.average for column in encoder.columns)
    missing = (_MISSING | _MISSING_AVERAGED if averaged else _MISSING)[encoder.missing]
    filled = "words" in kinds and encoder.missing in ("impute", "indicator")
    empty = "; a missing text counts as empty" if filled else ""
    unseen = f"; levels that no training row had are {_UNSEEN[encoder.unseen]}" if "category" in kinds else ""
    return missing + empty + unseen


def _columns_of_kind(encoder: Encoder, kind: str) -> str:
    """The number of columns of a kind and their names. Categories are listed separately, with their levels."""
    names = [column.name for column in encoder.columns if column.kind == kind]
    singular = {"words": "free text"}.get(kind, kind)
    plural = {"category": "categories"}.get(kind, f"{singular}s")
    unit = ", in days since 1970-01-01" if kind == "date" else ""
    number = f"{len(names)} {singular if len(names) == 1 else plural}{unit}"
    return number if kind == "category" else f"{number}: {terminal.some([*map(item, names)], MOST_COLUMNS_SHOWN)}"


def _show_categories(encoder: Encoder) -> None:
    for column in [one for one in encoder.columns if one.kind == "category"][:MOST_COLUMNS_SHOWN]:
        reference, *others = map(item, column.levels)
        against = ", each against" if len(others) > 1 else " against"
        terminal.line("", f"  {column.name}: {terminal.some(others, MOST_LEVELS_SHOWN)}{against} {reference}")


def _show_training(training: Mapping[str, Any], classes: list[str]) -> None:
    if not training:
        return
    terminal.say()
    got: Callable[[str], Any] = training.get
    rows = f"{got('rows')} rows, {got('rows_fitted')} fitted, {got('rows_held_out')} held out (seed {got('seed')})"
    terminal.line("training", f"{got('source')}: {rows}")
    counts = got("class_counts")
    if isinstance(counts, list | tuple) and len(counts) == len(classes):
        pairs = [
            f"{item(label)} ({terminal.count(count, 'row')})" for label, count in zip(classes, counts, strict=True)
        ]
        terminal.line("", terminal.some(pairs, MOST_COLUMNS_SHOWN))
    for key, label in (("held_out", "held out"), ("validated", "validated")):
        if got(f"{key}_accuracy") is not None:
            loss = got(f"{key}_log_loss")
            more = "" if loss is None else f", log loss {loss:.4g} nats"
            always = f" (always the majority: {got(f'{key}_null_accuracy'):.3f})"
            terminal.line(label, f"accuracy {got(f'{key}_accuracy'):.3f}{always}{more}")


# --- Weights and statistics


def _show_linear(known: ModelFile) -> None:
    from separatrix.cli.weight_lines import show_no_hyperplane, show_weights
    from separatrix.statistics.weights_and_odds_ratios import weight_table

    found = weight_table(known.scorer, known.names, known.scaling, known.encoder)
    if known.certificate is not None:
        show_no_hyperplane(known.certificate.code)
    show_weights(found, known.encoder)
    classes = [printable(str(label)) for label in known.scorer.classes.tolist()]
    two_sided = len(found.per_unit) == 1
    heads = [f"for {label}" for label in classes] if two_sided else classes
    for column, place in text_places(known.encoder):
        show_words(column, heads, found.per_unit[:, 1 + place.start : 1 + place.stop].T.tolist(), two_sided)


def _show_quadratic(known: ModelFile) -> None:
    model = known.scorer.gaussians
    terminal.line("means", "of each class; the boundary is quadratic, so columns have no weights")
    means = model.frame.center + model.means * model.frame.scale
    if known.scaling is not None:
        means = means * known.scaling.scale + known.scaling.center
    heads = [printable(str(label)) for label in known.scorer.classes.tolist()]
    _show_rows(known, heads, [model.priors.tolist(), *means.T.tolist()], "prior")


def _show_parts(known: ModelFile) -> None:
    scorer = known.scorer
    if scorer.W is None:
        _show_no_weights(known)
        return
    labels = [printable(str(label)) for label in scorer.classes.tolist()]
    import numpy as np

    parts = scorer.scheme.parts(np.arange(len(labels)), len(labels))
    heads = [f"{labels[i]}/{'rest' if j is None else labels[j]}" for i, j in (part.names for part in parts)]
    from separatrix.statistics.weights_and_odds_ratios import in_units

    W = scorer.W if known.scaling is None else in_units(scorer.W, known.scaling)
    terminal.line("weights", "of each model's score, per unit of a column, positive for the first class")
    _show_rows(known, heads, W.T.tolist())


def _show_no_weights(known: ModelFile) -> None:
    terminal.line("weights", "none: the scores are not linear in the columns")


def _show_rows(known: ModelFile, heads: list[str], values: list[list[float]], first: str = "intercept") -> None:
    """A row of numbers for each column, and for columns of text the heaviest n-grams."""
    names, words = known.names, list(text_places(known.encoder))
    grams = {j for _, place in words for j in place}
    kept = [j for j in range(len(names)) if j not in grams] if grams else range(len(names))
    terminal.matrix([first, *(printable(names[j]) for j in kept)], heads, [values[0], *(values[1 + j] for j in kept)])
    for column, place in words:
        show_words(column, heads, values[1 + place.start : 1 + place.stop], False)


_WEIGHTS: dict[str, Callable[[ModelFile], None]] = {
    "Scorer": _show_linear,
    "QuadraticScorer": _show_quadratic,
    "PartsScorer": _show_parts,
}


def text_places(encoder: Encoder | None) -> Iterator[tuple[Encoded, range]]:
    """The columns of text, each with the columns of X that are its n-grams."""
    start = 0
    for column in () if encoder is None else encoder.columns:
        if column.text is not None:
            yield column, range(start, start + column.values)
        start += column.width


def show_words(column: Encoded, heads: Sequence[str], values: Sequence[Sequence[float]], two_sided: bool) -> None:
    """The n-grams with the largest weights, one line for each head.

    ``values`` has for each n-gram of the column a weight for each head. With ``two_sided`` there are two heads and one
    weight, which is positive for the second.
    """
    assert column.text is not None
    terminal.say()
    if column.text.settings.hashed:
        what = f"{column.text.about}, so that n-grams have no weights of their own"
        terminal.line("text", f"{item(column.name)}: {what}")
        return
    terminal.line("text", f"{item(column.name)}, the heaviest of {column.text.about}")
    for k, head in enumerate(heads):
        weights = [(1 if k else -1) * row[0] if two_sided else row[k] for row in values]
        # Twelve n-grams of each class are printed.
        order = sorted(range(len(weights)), key=lambda j: -weights[j])[:12]
        shown = [f"{column.text.terms[j]} {number_text(weights[j], 3)}" for j in order if weights[j] > 0]
        terminal.line("", f"{head}: {printable(', '.join(shown)) if shown else 'none'}")


def show_statistics(known: ModelFile, as_json: bool) -> None:
    """Print the standard errors, tests and intervals in a model file."""
    found = known.statistics
    if found is None:
        from separatrix.statistics.fit_statistics import why_none

        # Whether the fit can have any, and the command that stores them.
        why = why_none(None if known.certificate is None else known.certificate.claim)
        problem = f"the model file has no statistics{': ' if why else ''}{in_shell(why)}"
        options = "--model logistic --C inf --stats" if why else "--stats"
        raise ParameterError("--stats", problem, f"fit again with: separatrix fit ... {options} --out FILE")
    if as_json:
        terminal.document(terminal.json_text({"statistics": known.content()["statistics"]}))
        return
    from separatrix.cli import weight_lines

    weight_lines.show_statistics(found, known.encoder)


# --- What changed from one model to another

# The output lists at most this many items of a list, and changed numbers.
MOST_ITEMS, MOST_NUMBERS = 30, 20
# Models with different classifiers or columns differ in almost everything: only this many facts and numbers are shown.
MOST_FACTS_OF_DIFFERENT_MODELS, MOST_NUMBERS_OF_DIFFERENT_MODELS = 8, 8


def show_changes(before: ModelFile, after: ModelFile, as_json: bool) -> None:
    """Print what changed from one model to the other, with the largest changes of numbers first."""
    from separatrix.output.model_changes import differences

    changes = differences(before, after)
    if as_json:
        terminal.document(terminal.json_text({"changes": [change._asdict() for change in changes]}))
    elif not changes:
        terminal.say("nothing changed: both files hold the same model")
    else:
        apart = _apart(before, after)
        if apart:
            terminal.say(f"two different models: {apart}", bold=True)
        _show_differences(changes, apart != "")


def _apart(before: ModelFile, after: ModelFile) -> str:
    """How two models differ in kind: by their classifiers or their columns. Empty if they have the same."""
    parts = []
    if before.classifier != after.classifier:
        parts.append(f"{before.classifier} and {after.classifier}")
    first, second = _columns_of_table(before), _columns_of_table(after)
    if {*first} != {*second}:
        common = len({*first} & {*second})
        parts.append(f"{terminal.count(len(first), 'column')} and {len(second)}, {common or 'none'} in common")
    return "; ".join(parts)


def _columns_of_table(known: ModelFile) -> tuple[str, ...]:
    """The columns of the table that a model reads, or of X if the model knows no table."""
    if known.encoder is not None:
        return tuple(column.name for column in known.encoder.columns)
    return known.names


def _show_differences(changes: list[Difference], apart: bool) -> None:
    """First the changes of settings and other facts, then a table of changed numbers.

    For two models that differ in kind, only the first of them: what only one of the models has comes last.
    """
    facts, numbers = [one for one in changes if not _numeric(one)], [one for one in changes if _numeric(one)]
    if apart:
        facts.sort(key=lambda one: (not one.what.startswith("columns "), _is_of_one(one)))
        numbers.sort(key=_is_of_one)
    _show_facts(facts, MOST_FACTS_OF_DIFFERENT_MODELS if apart else len(facts))
    if numbers:
        _show_numbers(numbers, MOST_NUMBERS_OF_DIFFERENT_MODELS if apart else MOST_NUMBERS)


def _show_facts(facts: list[Difference], most: int) -> None:
    """The first ``most`` of the changes of facts, and the number of others."""
    room = max((len(printable(one.what)) for one in facts[:most]), default=0) + 2
    for one in facts[:most]:
        _show_difference(one, room)
    if len(facts) > most:
        terminal.say(f"and {terminal.count(len(facts) - most, 'difference')} more: see --json")


def _is_of_one(one: Difference) -> bool:
    """Whether only one of the models has this."""
    return one.before is None or one.after is None


def _numeric(one: Difference) -> bool:
    return one.what.startswith(("weight ", "intercept", "mean ", "deviation ", "prior ", "center ", "scale ", "idf "))


def _show_numbers(numbers: list[Difference], most: int) -> None:
    shown = numbers[:most]
    few = f"the first {len(shown)}" if most < MOST_NUMBERS else f"the {len(shown)} largest"
    more = "" if len(shown) == len(numbers) else f", {few} changes of {len(numbers)}"
    terminal.say(f"numbers{more}", bold=True)
    values = [[one.before, one.after, None if _is_of_one(one) else one.after - one.before] for one in shown]
    terminal.matrix([printable(one.what) for one in shown], ["before", "after", "change"], values, widest=60)


def _show_difference(one: Difference, room: int) -> None:
    """A change on one line if it fits, otherwise on two."""
    before, after = (("none" if value is None else printable(short(value))) for value in one[1:])
    head = f"{printable(one.what):<{room}}"
    whole = before if one.before == one.after else f"{before} -> {after}"
    if room + len(whole) < terminal.width():
        terminal.say(whole, head=head)
        return
    terminal.say(head=head.rstrip())
    for mark, text in (("-", before), ("+", after)):
        terminal.say(f"  {mark} {terminal.clipped(text, max(20, terminal.width() - 6))}")


# --- The settings for another package


def show_translation(known: ModelFile, package: str, as_json: bool) -> None:
    """Print the code that makes the same fit with another package."""
    from separatrix.output.other_packages import as_settings

    translation = as_settings(**_settings(known))[package]
    if translation.code is not None:
        translation = replace(translation, note="; ".join(filter(None, [translation.note, *_beside(known)])))
    if as_json:
        terminal.document(terminal.json_text(vars(translation)))
        return
    if translation.code is None:
        terminal.line(package, f"there is no equivalent fit: {translation.note}")
        return
    terminal.document(f"{translation.code}\n")
    if translation.note:
        terminal.say(f"({translation.note})", err=True)


def _beside(known: ModelFile) -> list[str]:
    """Notes on what the fit depends on apart from its settings."""
    notes = []
    if known.scaling is not None:
        notes.append(_standardised(known.scaling, known.names))
    if not known.training:  # Fits by the command line have no sample weights and no offset.
        notes.append("sample weights and an offset, if the fit had any, are not in the file: give them here too")
    return notes


def _standardised(scaling: Scaling, names: Sequence[str]) -> str:
    """Which columns the fit had standardised, and how. The shorter list of names is given, without leaving any out."""
    moved = ((scaling.center != 0) | (scaling.scale != 1)).tolist()
    inside = [item(name) for name, one in zip(names, moved, strict=True) if one]
    outside = [item(name) for name, one in zip(names, moved, strict=True) if not one]
    how = "minus its training mean, divided" if scaling.center.any() else "divided"
    by = f"{how} by its standard deviation over the rows of the fit (divisor n)"
    if not outside:
        return f"columns were standardised first: each column of X is {by}"
    if len(inside) <= len(outside):
        which = f"each of these columns of X is {by}, the others stay as they are: {', '.join(inside)}"
    else:
        which = f"each column of X is {by}, except these, which stay as they are: {', '.join(outside)}"
    return f"some columns were standardised first: {which}"


def _settings(known: ModelFile) -> dict[str, Any]:
    """The arguments of ``as_settings``, for a logistic regression."""
    asked = known.parameters
    if known.classifier != "logistic" or known.certificate is None:
        problem = f"the model is {known.classifier}"
        raise ParameterError("--as", problem, "give a logistic regression, which the other packages have too")
    plain = {"bias_reduction": None, "loss": "logistic"}
    for name, usual in plain.items():
        if asked.get(name, usual) != usual or name in known.left_out:
            problem = Message("the model has ", Setting(name, asked.get(name)))
            raise ParameterError("--as", problem, "give a model without it: the other packages have no such setting")
    claim: Any = known.certificate.claim
    classes = known.scorer.classes.tolist()
    return {
        "C": claim.C,
        "l1_ratio": claim.l1_ratio,
        "n_rows": known.certificate.n_rows,
        "fit_intercept": claim.fit_intercept,
        "classes": classes,
        "class_weight": dict(zip(classes, claim.class_weights.tolist(), strict=True)),
        "penalty_factors": claim.penalty_factors.tolist(),
    }
