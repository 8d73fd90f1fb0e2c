"""The form of a fitted classifier within another: a whole model, of two classes and the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.model_file.places import Form, Reading, Writing


@dataclass(frozen=True)
class FittedModel(Form):
    """A classifier of this package, as it stands in a file of its own."""

    shared: ClassVar[bool] = True

    def plain(self, value: Any, at: Writing) -> Any:
        from separatrix.model_file.body import plain_body
        from separatrix.model_file.model import ModelFile

        return plain_body(ModelFile.of(value), at)

    def read(self, found: Any, at: Reading) -> Any:
        from separatrix.model_file.body import read_body
        from separatrix.model_file.model import ModelFile

        body = read_body(found, at)
        part = ModelFile(**body).estimator()
        self.refit(part, at)
        return part

    def refit(self, value: Any, at: Reading) -> None:
        d = getattr(value, "n_features_in_", None)
        at.require(d == at.sizes["d"], f"is of {d} columns, where the whole is of {at.sizes['d']}")
        at.require(len(value.classes_) == 2, "is not of two classes")
