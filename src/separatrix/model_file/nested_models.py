"""The form of a fitted classifier inside another: a whole model with two classes and the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.model_file.places import Form, Reading, Writing


@dataclass(frozen=True)
class FittedModel(Form):
    """A classifier of this package, with the same content as in a file of its own."""

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
        at.require(d == at.sizes["d"], f"has {d} columns, where the whole model has {at.sizes['d']}")
        at.require(len(value.classes_) == 2, "does not have two classes")
