"""``separatrix show``: what a model file holds, for people. Needs no scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import terminal
from separatrix.cli.terminal import printable

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile


_EXAMPLES = """\b
Examples:
  separatrix show model.json
  separatrix show model.json --json | python -m json.tool
"""


@click.command(epilog=_EXAMPLES, short_help="Show what a model file holds.")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print the content as one JSON object.")
def show(model: str, as_json: bool) -> None:
    """Show what MODEL is: classes, certificate, what it was fitted on, every weight."""
    from separatrix import model_file

    known = model_file.read(model)
    if as_json:
        click.echo(terminal.json_text(known.content()))
        return
    _show_model(known)
    if known.certificate is not None:
        click.echo()
        terminal.lines(str(known.certificate))
    click.echo()
    _show_weights(known)


def _show_model(known: ModelFile) -> None:
    classes = [str(label) for label in known.scorer.classes.tolist()]
    d = known.scorer.n_features
    what = f"{known.classifier}, {len(classes)} classes, {d} column{'s' * (d > 1)}"
    terminal.line("model", f"{what}, written by separatrix {known.made_by}")
    if known.target is not None:
        terminal.line("target", known.target)
    terminal.line("classes", ", ".join(classes))
    if known.parameters:
        terminal.line("settings", _pairs(known.parameters))
    if known.training:
        source = known.training.get("source", "")
        rest = {key: value for key, value in known.training.items() if key != "source"}
        terminal.line("training", f"{source}: {_pairs(rest)}")


def _pairs(values: Any) -> str:
    return ", ".join(f"{key.replace('_', ' ')} {_short(value)}" for key, value in values.items() if value is not None)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else terminal.clipped(str(value), 60)


def _show_weights(known: ModelFile) -> None:
    scorer = known.scorer
    classes = [printable(str(label)) for label in scorer.classes.tolist()]
    names = known.features or tuple(f"column {j + 1}" for j in range(scorer.n_features))
    if len(scorer.W) == 1:
        terminal.line("weights", f"of the score, positive for {classes[1]}, negative for {classes[0]}")
        heads = ["weight"]
    else:
        terminal.line("weights", "of each class's score; the largest score wins")
        heads = classes
    terminal.matrix(["intercept", *(printable(name) for name in names)], heads, scorer.W.T.tolist())
