"""The form of a fitted classifier inside another: a whole model with two classes and the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from separatrix.base.arrays import AnyArray, Array
from separatrix.classifiers import describe
from separatrix.model_file.places import Form, Reading, Writing

if TYPE_CHECKING:
    from separatrix.model_file.model import ModelFile


@dataclass(frozen=True)
class StoredModel:
    """A fitted classifier as its file has it. It scores rows as the classifier does, without scikit-learn."""

    model: ModelFile

    @property
    def scorer_(self) -> Any:
        return self.model.scorer

    @property
    def classes_(self) -> AnyArray:
        classes: AnyArray = self.model.scorer.classes
        return classes

    @property
    def n_features_in_(self) -> int:
        return self.model.columns

    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for the second class."""
        scores: Array = self.model.scorer.scores(X)
        return scores


class StoredProbabilities(StoredModel):
    """A stored classifier with probabilities."""

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, (n, 2)."""
        probabilities: Array = self.model.scorer.probabilities(X)
        return probabilities


def stored(part: Any) -> ModelFile:
    """The content of a file of its own for a classifier inside another: an estimator, or a ``StoredModel``."""
    from separatrix.model_file.model import ModelFile

    return part.model if isinstance(part, StoredModel) else ModelFile.of(part)


@dataclass(frozen=True)
class FittedModel(Form):
    """A classifier of this package, with the same content as in a file of its own."""

    shared: ClassVar[bool] = True

    def plain(self, value: Any, at: Writing) -> Any:
        from separatrix.model_file.body import plain_body

        return plain_body(stored(value), at)

    def read(self, found: Any, at: Reading) -> Any:
        from separatrix.model_file.body import read_body
        from separatrix.model_file.model import ModelFile

        model = ModelFile(**read_body(found, at))
        kind = StoredProbabilities if describe(model.classifier).probabilities else StoredModel
        part = model.estimator() if at.estimators else kind(model)
        self.refit(part, at)
        return part

    def refit(self, value: Any, at: Reading) -> None:
        d = getattr(value, "n_features_in_", None)
        at.require(d == at.sizes["d"], f"has {d} columns, where the whole model has {at.sizes['d']}")
        at.require(len(value.classes_) == 2, "does not have two classes")
