"""The list of what a model file holds, which follows from the declarations of the dataclasses.

``python -m tests.classifiers.model_file.test_fields`` writes it into docs/model-files.md.
"""

import re
from pathlib import Path

from separatrix.classifiers import OFFERED
from separatrix.classifiers.model_file import ABOUT, HEAD, SCORERS, every_claim, fitted_of, parts_of
from separatrix.core.base.codec import Keyed, Kinds, Maybe, RecordForm, Several, in_words

PAGE = Path(__file__).parents[3] / "docs" / "model-files.md"
FIELDS = "<!-- fields -->\n"


def collect(form, found):
    """Collect the records that a form contains, by name."""
    match form:
        case Maybe() | Several():
            collect(form.form, found)
        case RecordForm() if form.name in found:
            return
        case RecordForm():
            found[form.name] = form
            collect(Keyed(form.forms), found)
        case Keyed() | Kinds():
            for inner in (form.forms if isinstance(form, Keyed) else form.records).values():
                collect(inner, found)


def table(head, rows):
    lines = [head, "|---|---|", *(f"| `{name}` | {words} |" for name, words in rows.items())]
    return "\n".join(lines) + "\n"


def described():
    """Tables of the whole file, of the attributes that classifiers store, and of every dataclass in a file."""
    whole = {**HEAD, **parts_of("logistic", of_two=True), **ABOUT} | {"scorer": SCORERS}
    fitted = {name: fitted_of(name, of_two=True) for name in OFFERED}
    found = {}
    for form in [*whole.values(), every_claim(), *(form for forms in fitted.values() for form in forms.values())]:
        collect(form, found)
    content = {name: in_words(form) for name, form in whole.items()} | {"fitted": "the attributes below"}
    attributes = {}
    for attribute, form in (pair for forms in fitted.values() for pair in forms.items()):
        attributes.setdefault(attribute, {})[in_words(form)] = None
    classes = {
        name.partition(":")[2]: "; ".join(f"`{field}`: {in_words(form)}" for field, form in record.forms.items())
        for name, record in sorted(found.items(), key=lambda pair: pair[0].partition(":")[2])
    }
    return "\n".join(
        [
            table("| key of the content | what it holds |", content),
            table(
                "| attribute in `fitted` | what it holds |", {name: " or ".join(of) for name, of in attributes.items()}
            ),
            table("| class | its fields |", classes),
        ]
    )


def updated(text):
    return re.sub(f"{FIELDS}.*{FIELDS}", lambda _: f"{FIELDS}\n{described()}\n{FIELDS}", text, flags=re.DOTALL)


def test_the_document_lists_every_field():
    text = PAGE.read_text()
    assert text.count(FIELDS) == 2
    assert text == updated(text), "run python -m tests.classifiers.model_file.test_fields"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text()))
