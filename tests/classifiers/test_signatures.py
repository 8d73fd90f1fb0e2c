"""The hyperparameters that signatures and docstrings give: true, and read from a class written by somebody else."""

import inspect

import pytest

from separatrix.classifiers import CLASSIFIERS, OFFERED, hyperparameters
from separatrix.classifiers.signatures import read_hyperparameters

WRITTEN = '''
class Other:
    """No parameters."""

    def method(self): ...


class Made(
    Other,
):
    """A classifier.

    Parameters
    ----------
    depth : int, default 3
        How deep in
        levels. More is slower.
    rate : float or "auto" or None, default None
        The rate.
    kind : "a" or "b", default "b"
        The kind.
    name : str, default "x"
        The name.
    on : bool, default True
        Whether it is on.
    weights : array or None, default None
        Not a word.

    Other Parameters
    ----------------
    n_jobs : int
        For Python only.
    """

    def __init__(
        self,
        depth: int = 3,
        *,
        rate: float | Literal["auto"] | None = None,
        kind: Literal["a", "b"] = "b",
        name: str = "x",
        on: bool = True,
        weights: Any = None,
        n_jobs: int = 1,
    ) -> None:
        self.depth = depth

    def fit(self, X, y): ...
'''


@pytest.mark.parametrize("name", OFFERED)
def test_what_is_read_from_the_source_is_what_the_class_takes(name):
    signature = inspect.signature(CLASSIFIERS[name]).parameters
    for one in hyperparameters(name).values():
        assert one.default == signature[one.name].default
        assert one.about.endswith(".")


def test_a_class_from_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "made_elsewhere.py").write_text(WRITTEN)
    monkeypatch.syspath_prepend(tmp_path)
    found = read_hyperparameters("made_elsewhere", "Made")
    assert [(one.name, one.kind, one.default, one.words) for one in found] == [
        ("depth", "integer", 3, ()),
        ("rate", "number", None, ("auto",)),
        ("kind", "choice", "b", ("a", "b")),
        ("name", "text", "x", ()),
        ("on", "switch", True, ()),
    ]
    assert [one.exclusive for one in found if one.kind in ("choice", "text")] == [True, False]
    assert read_hyperparameters("made_elsewhere", "Other") == ()
    with pytest.raises(AttributeError, match="does not define a class 'Absent'"):
        read_hyperparameters("made_elsewhere", "Absent")
