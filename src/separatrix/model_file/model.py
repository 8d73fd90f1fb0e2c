"""The content of a model file: made from an estimator, turned into one, written and read.

The file format and its checksum are in ``base.checksummed_json``.
"""

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
from separatrix.model_file.kinds import SCALING, SCHEMES, STATISTICS
from separatrix.model_file.places import Reading, ReadingScorers, Writing
from separatrix.model_file.plain import from_plain, to_plain
from separatrix.model_file.records import require_keys
from separatrix.model_file.statistics import Statistics

if TYPE_CHECKING:
    from separatrix.table.encoder import Encoder
    from separatrix.table.scaling import Scaling

# Nothing has been released, so the version of the format stays 1 although the content changes.
FORMAT, VERSION = "separatrix-model", 1


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file.

    Attributes
    ----------
    classifier : str
        The classifier's name in the registry.
    scorer : scorers.scorer.Scores
        What computes predictions; a linear one has weights ``W``.
    parameters : mapping
        The settings as JSON types.
    features : tuple of str or None
        The names of the columns; None if the training rows had none.
    target : str or None
        The column that is predicted.
    certificate : Certificate or None
    training : mapping
        Plain values about the fit, such as the number of rows.
    made_by : str
        The version of the package that wrote the file.
    encoder : Encoder or None
        How a table becomes columns of X.
    fitted : mapping
        The other attributes that ``fit`` sets.
    left_out : tuple of str
        The names of settings that JSON cannot hold.
    scaling : Scaling or None
        How columns are scaled before they reach the scorer.
    statistics : Statistics or None
        Standard errors, tests and intervals, if they were asked for.
    source : mapping or None
        The content to read again for the estimator, if classifiers inside this one were read without scikit-learn.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> model = ModelFile.of(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> model.classifier, model.columns, model.estimator().predict([[0.9]]).tolist()
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
    statistics: Statistics | None = None
    source: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        model: Any,
        features: tuple[str, ...] | None = None,
        target: str | None = None,
        training: Mapping[str, Any] | None = None,
        encoder: Encoder | None = None,
        scaling: Scaling | None = None,
        statistics: Statistics | None = None,
    ) -> ModelFile:
        """A fitted classifier, or a pipeline of a table's encoder, scalers and a classifier, as a model file."""
        from separatrix.model_file.pipelines import taken_apart

        parts = taken_apart(model)
        model = parts.classifier
        encoder = parts.encoder if encoder is None else encoder
        name = name_of(model)
        scorer = model.scorer_of()
        certificate = None if isinstance(model.certificate_, Uncertified) else model.certificate_
        settings, left_out = plain_settings(model)
        return cls(
            name,
            scorer,
            settings,
            _features(model, encoder, parts.features if features is None else features),
            target,
            certificate,
            training or {},
            encoder=encoder,
            fitted=_fitted(model, kept(name).names(len(scorer.classes))),
            left_out=left_out,
            scaling=parts.scaling if scaling is None else scaling,
            statistics=statistics,
        )

    @property
    def columns(self) -> int:
        """The number of columns of X."""
        return int(self.scorer.n_features)

    def estimator(self) -> Any:
        """The fitted classifier. After an encoder or a scaling, it takes rows without column names."""
        if self.source is not None:
            return ModelFile.from_content(self.source).estimator()
        model = unfitted(self.classifier, self.parameters)
        features = self.features if self.encoder is None and self.scaling is None else None
        restore(model, self.classifier, self.scorer, self.fitted, self.columns, features)
        if self.certificate is not None:
            model.certificate_ = self.certificate
        return model

    def scaled(self, X: Any) -> Any:
        """Rows X (n, d), scaled as the scorer takes them."""
        return X if self.scaling is None else self.scaling.apply(X)

    def content(self) -> dict[str, Any]:
        """The content as JSON types."""
        return plain_body(self, Writing()) | {
            "encoder": None if self.encoder is None else self.encoder.plain(),
            "scaling": Writing("scaling").plain(Maybe(SCALING), self.scaling),
            "separatrix": self.made_by,
            "statistics": Writing("statistics").plain(Maybe(STATISTICS), self.statistics),
            "target": self.target,
            "training": {str(key): to_plain(value) for key, value in self.training.items()},
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any], estimators: bool = True) -> ModelFile:
        """The model, after checking every key, type and length of the content.

        ``estimators``: whether classifiers inside the model become estimators, which needs scikit-learn; otherwise
        they only score rows until ``estimator`` is called.

        >>> from separatrix import Perceptron
        >>> model = ModelFile.of(Perceptron().fit([[0.0], [1.0]], [0, 1]))
        >>> ModelFile.from_content(model.content()).scorer.W.tolist() == model.scorer.W.tolist()
        True
        """
        at = Reading() if estimators else ReadingScorers()
        require_keys(content, {*KEYS, "encoder", "scaling", "separatrix", "statistics", "target", "training"}, at)
        body = read_body({key: content[key] for key in KEYS}, at)
        at.into("training").require(isinstance(content["training"], dict), "is not an object")
        return cls(
            **body,
            target=at.into("target").read(Maybe(Plain(str)), content["target"]),
            training={key: from_plain(value) for key, value in content["training"].items()},
            made_by=at.into("separatrix").read(Plain(str), content["separatrix"]),
            encoder=_encoder(content["encoder"], body["features"]),
            scaling=at.within(d=body["scorer"].n_features).into("scaling").read(Maybe(SCALING), content["scaling"]),
            statistics=at.into("statistics").read(Maybe(STATISTICS), content["statistics"]),
            source=content if not estimators and body["classifier"] in SCHEMES else None,
        )


def _features(model: Any, encoder: Encoder | None, features: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names of the columns: those of the encoder, those given, or those of the training frame."""
    if encoder is not None:
        return encoder.names
    if features is None and hasattr(model, "feature_names_in_"):
        return tuple(str(column) for column in model.feature_names_in_)
    return features


def _fitted(model: Any, names: list[str]) -> dict[str, Any]:
    """The attributes that ``fit`` sets; none for a model whose weights were set by hand, without a fit."""
    fitted = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return fitted if len(fitted) == len(names) else {}


def _encoder(content: Any, features: tuple[str, ...] | None) -> Encoder | None:
    if content is None:
        return None
    if features is None:
        raise ModelFileError("its encoder makes features, and the model has none")
    from separatrix.table.encoder import Encoder

    return Encoder.from_plain(content, features)


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a JSON file.

    The file is written completely or not at all. If it replaces another file, it keeps that file's mode and, where the
    system permits, its owner.

    Parameters
    ----------
    model : classifier or pipeline
        A fitted classifier of this package, or a pipeline of a ``TableEncoder``, scalers and such a classifier.
        Settings that JSON cannot hold, such as solver objects, are left out, with a warning.
    path : str or path-like
        The file to write. Its folder must exist; a read-only file is not replaced.

    Raises
    ------
    ParameterError
        If the model cannot be stored, or ``path`` cannot be written; an existing file is then unchanged.

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
    content = ModelFile.of(model)
    write(content, path)
    if content.left_out:
        names = ", ".join(content.left_out)
        warnings.warn(f"{names}: left out of the file, which holds plain values only", SeparatrixWarning, stacklevel=2)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted classifier from a file.

    Its predictions are the same to the bit, and its certificate can be verified.

    Parameters
    ----------
    path : str or path-like
        A file that ``save`` or the command line wrote, with this version of the package.

    Returns
    -------
    classifier or pipeline
        The classifier, or a pipeline with it if the file has a table encoder or scaled columns.

    Raises
    ------
    ModelFileError
        If the file cannot be read, was altered, fails another check, or does not fit into memory.

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

    content = read(path, estimators=True)
    with naming(path):
        return put_together(content.encoder, content.estimator(), content.scaling, content.features)


def write(model_file: ModelFile, path: str | os.PathLike[str]) -> None:
    """Write the file completely, or not at all.

    >>> import tempfile
    >>> from separatrix import Perceptron
    >>> model = ModelFile.of(Perceptron().fit([[0.0], [1.0]], [0, 1]), ("age",), target="ill")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(model, f"{folder}/model.json")
    ...     read(f"{folder}/model.json").features
    ('age',)
    """
    replace_file(path, to_bytes(model_file))


def to_bytes(model_file: ModelFile) -> bytes:
    """The content of the file.

    >>> from separatrix import Perceptron
    >>> from_bytes(to_bytes(ModelFile.of(Perceptron().fit([[0.0], [1.0]], [0, 1])))).classifier
    'perceptron'
    """
    try:
        data = checksummed_json.with_checksum(FORMAT, VERSION, model_file.content())
    except MemoryError:
        remedy = "free some memory, or fit it on fewer columns"
        raise InputError("model", "there is not enough memory to write its file", remedy) from None
    if len(data) > checksummed_json.LARGEST_FILE:
        problem = f"its file would have {len(data) >> 20} MB"
        raise ParameterError(
            "model", problem, f"fit it on fewer columns: {checksummed_json.LARGEST_FILE >> 20} MB is the most"
        )
    return data


def read(path: str | os.PathLike[str], estimators: bool = False) -> ModelFile:
    """Read and check a file. scikit-learn is needed only for ``estimators``: classifiers that a model consists of.

    >>> import tempfile
    >>> from separatrix import Perceptron, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Perceptron().fit([[0.0], [1.0]], [0, 1]), f"{folder}/model.json")
    ...     read(f"{folder}/model.json").scorer.W.tolist()
    [[-1.0, 2.0]]
    """
    with naming(path):
        return from_bytes(checksummed_json.read_file(path), estimators)


def from_bytes(data: bytes, estimators: bool = False) -> ModelFile:
    """The model in the bytes of a file, after every check; ``estimators`` as in ``read``."""
    return ModelFile.from_content(checksummed_json.checked_content(FORMAT, VERSION, data), estimators)


@contextmanager
def naming(source: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the file to errors about it. Too little memory to read it is such an error."""
    try:
        yield
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(source)}: {fault}") from None
    except MemoryError:
        raise ModelFileError(f"{os.fspath(source)}: there is not enough memory to read it") from None
