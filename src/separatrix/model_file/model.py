"""A model and its file: from an estimator, to one, written and read."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from separatrix._version import __version__
from separatrix.base import checksummed_json
from separatrix.base.atomic_files import replace_file
from separatrix.base.errors import InputError, ModelFileError, ParameterError, SeparatrixWarning
from separatrix.certificates.certificate import Certificate, Uncertified
from separatrix.model_file.body import KEYS, plain_body, read_body
from separatrix.model_file.classifier_settings import name_of, plain_settings, unfitted
from separatrix.model_file.fields_by_classifier import kept, restore
from separatrix.model_file.forms import Maybe, Plain
from separatrix.model_file.kinds import SCALING
from separatrix.model_file.places import Reading, Writing
from separatrix.model_file.plain import from_plain, to_plain
from separatrix.model_file.records import require_keys
from separatrix.model_file.versions import VERSION, up_to_date

if TYPE_CHECKING:
    from separatrix.table.encoder import Encoder
    from separatrix.table.scaling import Scaling

FORMAT = "separatrix-model"


@dataclass(frozen=True)
class ModelFile:
    """What a file holds. ``features``: the columns' names, None where rows had none; ``training``: plain values.

    ``scorer``: what answers for rows, a ``scorers.scorer.Scores``; a linear one has weights ``W``. ``parameters``:
    the settings in JSON's own types; ``left_out``: the names of those that have no such form. ``fitted``: what else
    ``fit`` has set, by attribute. ``encoder``: how a table becomes the columns, if it does; ``scaling``: the units that
    the scorer takes them in, where those are not their own.

    >>> from separatrix import LogisticRegression
    >>> found = ModelFile.of(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> found.classifier, found.columns, found.estimator().predict([[0.9]]).tolist()
    ('logistic', 1, ['yes'])
    """

    classifier: str
    scorer: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] | None = None
    target: str | None = None
    certificate: Certificate | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    made_by: str = __version__
    encoder: Encoder | None = None
    fitted: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    scaling: Scaling | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        features: tuple[str, ...] | None = None,
        target: str | None = None,
        training: Mapping[str, Any] | None = None,
        encoder: Encoder | None = None,
        scaling: Scaling | None = None,
    ) -> ModelFile:
        """A fitted classifier as a model file; a pipeline of a table's encoder, scalers and a classifier, too."""
        from separatrix.model_file.pipelines import taken_apart

        held = taken_apart(model)
        model = held.classifier
        encoder = held.encoder if encoder is None else encoder
        scaling = held.scaling if scaling is None else scaling
        features = held.features if features is None else features
        name = name_of(model)
        scorer = model.scorer_of()
        if encoder is not None:
            features = encoder.names
        elif features is None and hasattr(model, "feature_names_in_"):
            features = tuple(str(column) for column in model.feature_names_in_)
        wanted, certificate = kept(name).names(len(scorer.classes)), model.certificate_
        # A model whose weights were set by hand, without a fit, has nothing else.
        fitted = {key: getattr(model, key) for key in wanted if hasattr(model, key)}
        fitted = fitted if len(fitted) == len(wanted) else {}
        settings, left_out = plain_settings(model)
        certified = None if isinstance(certificate, Uncertified) else certificate
        rest = (certified, training or {}, __version__, encoder, fitted, left_out, scaling)
        return cls(name, scorer, settings, features, target, *rest)

    @property
    def columns(self) -> int:
        """How many columns rows have."""
        return int(self.scorer.n_features)

    def estimator(self) -> Any:
        """The fitted scikit-learn classifier; behind an encoder or a scaling it takes rows without names."""
        model = unfitted(self.classifier, self.parameters)
        features = self.features if self.encoder is None and self.scaling is None else None
        restore(model, self.classifier, self.scorer, self.fitted, self.columns, features)
        if self.certificate is not None:
            model.certificate_ = self.certificate
        return model

    def scaled(self, X: Any) -> Any:
        """Rows X (n, d) in the columns' own units, in those that the scorer takes."""
        return X if self.scaling is None else self.scaling.apply(X)

    def content(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return plain_body(self, Writing()) | {
            "encoder": None if self.encoder is None else self.encoder.plain(),
            "scaling": Writing("scaling").plain(Maybe(SCALING), self.scaling),
            "separatrix": self.made_by,
            "target": self.target,
            "training": {str(key): to_plain(value) for key, value in self.training.items()},
        }

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> ModelFile:
        """The model, once every key, type and length has been seen to fit.

        >>> from separatrix import Perceptron
        >>> found = ModelFile.of(Perceptron().fit([[0.0], [1.0]], [0, 1]))
        >>> ModelFile.from_content(found.content()).scorer.W.tolist() == found.scorer.W.tolist()
        True
        """
        at = Reading()
        require_keys(content, {*KEYS, "encoder", "scaling", "separatrix", "target", "training"}, at)
        body = read_body({key: content[key] for key in KEYS}, at)
        at.into("training").require(isinstance(content["training"], dict), "is not an object")
        return cls(
            **body,
            target=at.into("target").read(Maybe(Plain(str)), content["target"]),
            training={key: from_plain(value) for key, value in content["training"].items()},
            made_by=at.into("separatrix").read(Plain(str), content["separatrix"]),
            encoder=_encoder(content["encoder"], body["features"]),
            scaling=at.within(d=body["scorer"].n_features).into("scaling").read(Maybe(SCALING), content["scaling"]),
        )


def _encoder(found: Any, features: tuple[str, ...] | None) -> Encoder | None:
    if found is None:
        return None
    if features is None:
        raise ModelFileError("its encoder makes features, and the model has none")
    from separatrix.table.encoder import Encoder

    return Encoder.from_plain(found, features)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to ``path``; the file appears whole or not at all.

    A file that is replaced passes on its mode, and its owner where the system permits that.

    Parameters
    ----------
    model : classifier or pipeline
        A fitted classifier of this package, or a pipeline of a ``TableEncoder``, scalers and such a classifier.
        Settings that JSON cannot hold, such as solver objects, are left out, with a warning.
    path : str or path-like
        Where to write it. The folder must exist; a read-only file is not replaced.

    Raises
    ------
    ParameterError
        The model has no form in a file, or nothing can be written at ``path``; an old file is then as it was.

    Examples
    --------
    >>> import tempfile
    >>> from separatrix import LogisticRegression, load, save
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.json")
    ...     load(f"{folder}/model.json").predict([[0.2], [0.9]]).tolist()
    ['no', 'yes']
    """
    found = ModelFile.of(model)
    write(found, path)
    if found.left_out:
        names = ", ".join(found.left_out)
        warnings.warn(f"{names}: left out of the file, which holds plain values only", SeparatrixWarning, stacklevel=2)


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted classifier in ``path``: the same predictions to the bit, and a certificate that verifies.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` or the command line wrote, with this version of the package or an older one.

    Returns
    -------
    classifier or pipeline
        The classifier; where the file has an encoder of tables, or columns were scaled, the pipeline of these and the
        classifier.

    Raises
    ------
    ModelFileError
        The file cannot be read, was altered or fails another check, or there is not enough memory to read it.

    Examples
    --------
    >>> import tempfile
    >>> from separatrix import LogisticRegression, save
    >>> rows, labels = [[0.0], [1.0], [2.0]], ["no", "yes", "yes"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(LogisticRegression().fit(rows, labels), f"{folder}/model.json")
    ...     bool(load(f"{folder}/model.json").certificate_.verify(rows, labels))
    True
    """
    from separatrix.model_file.pipelines import put_together

    found = read(path)
    with naming(path):
        return put_together(found.encoder, found.estimator(), found.scaling, found.features)


def write(model_file: ModelFile, path: str | os.PathLike[str]) -> None:
    """Write the file, whole or not at all.

    >>> import tempfile
    >>> from separatrix import Perceptron
    >>> found = ModelFile.of(Perceptron().fit([[0.0], [1.0]], [0, 1]), ("age",), target="ill")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(found, f"{folder}/model.json")
    ...     read(f"{folder}/model.json").features
    ('age',)
    """
    try:
        data = checksummed_json.with_checksum(FORMAT, VERSION, model_file.content())
    except MemoryError:
        do = "free some, or fit it on fewer columns"
        raise InputError("model", "there is not enough memory to write its file", do) from None
    if len(data) > checksummed_json.LARGEST_FILE:
        came = f"its file would have {len(data) >> 20} MB"
        raise ParameterError(
            "model", came, f"fit it on fewer columns: {checksummed_json.LARGEST_FILE >> 20} MB is the most"
        )
    replace_file(path, data)


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Read and check; needs no scikit-learn, but for classifiers that are made of others.

    >>> import tempfile
    >>> from separatrix import Perceptron, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Perceptron().fit([[0.0], [1.0]], [0, 1]), f"{folder}/model.json")
    ...     read(f"{folder}/model.json").scorer.W.tolist()
    [[-1.0, 2.0]]
    """
    with naming(path):
        return from_bytes(checksummed_json.read_file(path))


def from_bytes(data: bytes) -> ModelFile:
    """The model in the bytes of a file, after every check."""
    return ModelFile.from_content(up_to_date(*checksummed_json.checked_content(FORMAT, VERSION, data)))


@contextmanager
def naming(source: str | os.PathLike[str]) -> Iterator[None]:
    """Have errors on a model file say which file it is; too little memory for it is such an error, too."""
    try:
        yield
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(source)}: {fault}") from None
    except MemoryError:
        raise ModelFileError(f"{os.fspath(source)}: there is not enough memory to read it") from None
