"""Models as JSON files, pipelines among them. They are readable and checked, and nothing in them is ever executed.

A file holds the content of a ``ModelFile`` with a checksum (``core/base/checksummed_json.py``). The following part of
it is the same for a whole model and for a model inside another, and is written and read in this order:

    classifier, parameters, left_out    its name in ``OFFERED``; the settings; the names of those that JSON cannot hold
    columns, features, classes          d; the names of the columns or null; the labels
    scorer                              all that prediction needs
    fitted                              the other attributes that ``fit`` sets
    certificate                         with its claim, so that ``verify(X, y)`` works for a loaded model

Values are stored by the forms of ``classifiers/model_forms.py``. A new kind of scorer or verdict is one line in
``SCORERS`` or ``VERDICTS``; what else a classifier stores, its description says (``classifiers/description.py``).
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from separatrix import classifiers
from separatrix._version import __version__
from separatrix.classifiers.description import Description, Field
from separatrix.classifiers.model_forms import (
    Choice,
    Form,
    Kinds,
    Labels,
    Maybe,
    Named,
    Number,
    Numbers,
    Pairs,
    Plain,
    Reading,
    ReadingScorers,
    Record,
    Sentence,
    Several,
    Whole,
    Writing,
    from_plain,
    numbers,
    require_keys,
    to_plain,
)
from separatrix.core.base import checksummed_json
from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import InputError, ModelFileError, ParameterError, SeparatrixWarning
from separatrix.core.base.files import replace_file
from separatrix.core.certificate import Certificate, Uncertified
from separatrix.core.gaussians import Gaussians, QuadraticScorer
from separatrix.core.links import LINKS, BinaryLink
from separatrix.core.moments import Moments
from separatrix.core.proofs.naming import About
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from separatrix.core.rows.frame import Frame
from separatrix.core.schemes import OneVersusOne, OneVersusRest, PartsScorer, Scheme
from separatrix.core.scorer import Scorer

if TYPE_CHECKING:
    from separatrix.tables.encoder import Encoder, Scaling

# Nothing has been released, so the version of the format stays 1 although the content changes.
FORMAT, VERSION = "separatrix-model", 1


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


@dataclass(frozen=True)
class ModelFile:
    """The content of a model file.

    Attributes
    ----------
    classifier : str
        The classifier's name in ``OFFERED``.
    scorer : Scores
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
        parts = taken_apart(model)
        model = parts.classifier
        encoder = parts.encoder if encoder is None else encoder
        name = name_of(model)
        scorer = model.scorer_of()
        certificate = None if isinstance(model.certificate_, Uncertified) else model.certificate_
        settings, left_out = plain_settings(model)
        names = kept(name).names(len(scorer.classes))
        fitted = {attribute: getattr(model, attribute) for attribute in names if hasattr(model, attribute)}
        return cls(
            name,
            scorer,
            settings,
            _features(model, encoder, parts.features if features is None else features),
            target,
            certificate,
            training or {},
            encoder=encoder,
            fitted=fitted if len(fitted) == len(names) else {},  # a model whose weights were set by hand has none
            left_out=left_out,
            scaling=parts.scaling if scaling is None else scaling,
            statistics=statistics,
        )

    @property
    def columns(self) -> int:
        """The number of columns of X."""
        return int(self.scorer.n_features)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of X, which are numbered if the fit had no names."""
        return self.features or tuple(f"column {j + 1}" for j in range(self.columns))

    def estimator(self) -> Any:
        """The fitted classifier. After an encoder or a scaling, it takes rows without column names."""
        if self.source is not None:
            return ModelFile.from_content(self.source).estimator()
        model = unfitted(self.classifier, self.parameters)
        features = self.features if self.encoder is None and self.scaling is None else None
        for attribute, value in self.fitted.items():
            setattr(model, attribute, value)
        if classifiers.describe(self.classifier).traced:
            model.trace_ = ()
        model.classes_, model.scorer_, model.n_features_in_ = self.scorer.classes, self.scorer, self.columns
        if features is not None:
            model.feature_names_in_ = np.array(features, dtype=object)
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


def _encoder(content: Any, features: tuple[str, ...] | None) -> Encoder | None:
    if content is None:
        return None
    if features is None:
        raise ModelFileError("its encoder makes features, and the model has none")
    from separatrix.tables.encoder import Encoder

    return Encoder.from_plain(content, features)


# --- Pipelines


class Parts(NamedTuple):
    """The parts of a pipeline: a table's encoder, scalers and a classifier.

    A scaler is x ↦ (x − center)/scale, column by column, and several scalers combine to one ``scaling``. The file
    stores this map. It is not folded into the weights, so that settings and certificate remain those of the fit.
    ``features`` are the column names that the scaler was fitted with, if any.
    """

    encoder: Encoder | None
    scaling: Scaling | None
    features: tuple[str, ...] | None
    classifier: Any


# The scalers of scikit-learn that a file can hold. Each gives center and scale; None stands for 0 and 1.
SCALERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "StandardScaler": lambda step: (step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None),
    "MinMaxScaler": lambda step: (-step.min_ / step.scale_, 1.0 / step.scale_),  # x s + m = (x + m/s)/(1/s)
    "MaxAbsScaler": lambda step: (None, step.scale_),
    "RobustScaler": lambda step: (step.center_, step.scale_),
}


def taken_apart(model: Any) -> Parts:
    """The parts of a pipeline. A model that is not a pipeline is a classifier alone.

    >>> from separatrix import Perceptron
    >>> taken_apart(Perceptron())
    Parts(encoder=None, scaling=None, features=None, classifier=Perceptron())
    """
    steps = getattr(model, "steps", None)
    if steps is None:
        return Parts(None, None, None, model)
    encoder, scaling, features = None, None, None
    for k, (name, step) in enumerate(steps[:-1]):
        if step is None or step == "passthrough":
            continue
        if k == 0 and hasattr(step, "encoder_"):
            encoder, scaling = step.encoder_, step.scaling_
            continue
        step_scaling = _scaling(name, step)
        if scaling is None and encoder is None and hasattr(step, "feature_names_in_"):
            features = tuple(str(column) for column in step.feature_names_in_)
        scaling = step_scaling.after(scaling)
    return Parts(encoder, scaling, features, steps[-1][1])


def _scaling(name: str, step: Any) -> Scaling:
    """The map of a fitted scaler. Other steps are refused."""
    from separatrix.tables.encoder import Scaling

    kind = type(step).__name__
    known = type(step).__module__.startswith("sklearn.preprocessing") and kind in SCALERS
    if not known or getattr(step, "clip", False):
        problem = f"its step {name!r} is {kind}{' with clip=True' if known else ''}, which a file cannot hold"
        remedy = f"give a pipeline of a TableEncoder, if any, then any of {', '.join(SCALERS)}, then a classifier"
        raise ParameterError("model", problem, remedy)
    if not hasattr(step, "n_features_in_"):
        raise ParameterError("model", f"its step {name!r} is not fitted", "fit the pipeline first")
    center, scale = SCALERS[kind](step)
    d = step.n_features_in_
    return Scaling(
        np.zeros(d) if center is None else np.asarray(center, dtype=np.float64),
        np.ones(d) if scale is None else np.asarray(scale, dtype=np.float64),
    )


def put_together(
    encoder: Encoder | None, model: Any, scaling: Scaling | None = None, features: tuple[str, ...] | None = None
) -> Any:
    """The classifier, or a pipeline of the encoder or scaler and the classifier."""
    if encoder is None and scaling is None:
        return model
    from sklearn.pipeline import make_pipeline

    if encoder is not None:
        from separatrix.tables.table_encoder import TableEncoder

        return make_pipeline(TableEncoder.of(encoder, scaling), model)
    assert scaling is not None
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=bool(scaling.center.any()))
    scaler.mean_, scaler.scale_, scaler.var_ = scaling.center, scaling.scale, scaling.scale**2
    scaler.n_features_in_ = len(scaling.scale)
    if features is not None:
        scaler.feature_names_in_ = np.array(features, dtype=object)
    return make_pipeline(scaler, model)


# --- A model as JSON types

KEYS = frozenset(
    ("certificate", "classes", "classifier", "columns", "features", "fitted", "left_out", "parameters", "scorer")
)


def plain_body(model: ModelFile, at: Writing) -> dict[str, Any]:
    """The model as JSON types."""
    if model.features is not None and len(set(model.features)) < len(model.features):
        raise at.into("features").refuse("are not distinct", "give every column a different name")
    fields, fitted = kept(model.classifier), model.fitted
    names = fields.names(len(model.scorer.classes)) if fitted else []
    return {
        "classifier": model.classifier,
        "parameters": dict(model.parameters),
        "left_out": list(model.left_out),
        "columns": int(model.columns),
        "features": None if model.features is None else list(model.features),
        "classes": at.into("classes").plain(Labels(), model.scorer.classes),
        "scorer": at.into("scorer").plain(SCORERS, model.scorer),
        "fitted": {name: at.into("fitted").into(name).plain(fields.fitted[name], fitted[name]) for name in names},
        "certificate": at.into("certificate").plain(Maybe(fields.certificate), model.certificate),
    }


def read_body(content: Any, at: Reading) -> dict[str, Any]:
    """The fields of a ``ModelFile``, after checking every key, type and length."""
    if not isinstance(content, dict):
        raise ModelFileError(f"its {at.path} is not an object")
    require_keys(content, set(KEYS), at)
    classifier = at.into("classifier").read(Choice(classifiers.OFFERED), content["classifier"])
    fields = kept(classifier)
    at.into("parameters").require(isinstance(content["parameters"], dict), "is not an object")
    columns = at.into("columns").read(Plain(int, 1), content["columns"])
    classes = at.into("classes").read(Labels(), content["classes"])
    K = len(classes)
    parts = {"models": SCHEMES[classifier].n_models(K)} if classifier in SCHEMES else {}
    at = at.within(**{"K": K, "scores": 1 if K == 2 else K, "d": columns, "1+d": columns + 1}, **parts)
    features = at.into("features").read(Maybe(Several(Plain(str), "d")), content["features"])
    at.into("features").require(features is None or len(set(features)) == len(features), "are not distinct names")
    scorer = at.into("scorer").read(fields.scorers, content["scorer"])
    inside, found = at.into("fitted"), content["fitted"]
    if not isinstance(found, dict):
        raise ModelFileError(f"its {inside.path} is not an object")
    names = fields.names(K) if found else []  # none, if the model was built by hand
    require_keys(found, set(names), inside)
    fitted = {name: inside.into(name).read(fields.fitted[name], found[name]) for name in names}
    certificate = at.into("certificate").read(Maybe(fields.certificate), content["certificate"])
    return {
        "classifier": classifier,
        "scorer": scorer,
        "parameters": content["parameters"],
        "features": features,
        "certificate": certificate,
        "fitted": fitted,
        "left_out": at.into("left_out").read(Several(Plain(str)), content["left_out"]),
    }


def name_of(model: Any) -> str:
    """The name of a classifier in ``OFFERED``; other objects are refused."""
    name = classifiers.name_of(type(model))
    if name is None:
        known = ", ".join(classifiers.OFFERED)
        remedy = f"give a fitted classifier of this package, with parts only from this package: {known}"
        raise ParameterError("model", f"a file cannot hold {type(model).__name__}", remedy)
    return name


def plain_settings(model: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings, and the names of those that JSON cannot hold, such as solver objects.

    >>> from separatrix import OneVsRestClassifier, Perceptron
    >>> settings, left_out = plain_settings(OneVsRestClassifier(Perceptron(eta0=0.5)))
    >>> settings["estimator"]["classifier"], settings["estimator"]["parameters"]["eta0"], left_out
    ('perceptron', 0.5, ())
    """
    settings: dict[str, Any] = {}
    left_out = list[str]()
    for key, value in model.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            inner, lost = plain_settings(value)
            settings[key] = {"classifier": name_of(value), "parameters": inner}
            left_out += [f"{key}__{name}" for name in lost]
            continue
        try:
            settings[key] = to_plain(value)
        except TypeError:
            left_out.append(key)
    return settings, tuple(left_out)


def unfitted(name: str, parameters: Mapping[str, Any]) -> Any:
    """The classifier of this name with these settings, and defaults for the others."""
    if name not in classifiers.OFFERED:
        raise ModelFileError(f"its classifier {name!r:.60} is not one of {', '.join(classifiers.OFFERED)}")
    kind = classifiers.CLASSIFIERS[name]
    unknown = set(parameters) - set(kind().get_params(deep=False))
    if unknown:
        raise ModelFileError(f"{name} has no parameter {sorted(unknown)[0]!r:.60}")
    return kind(**{key: _setting(value) for key, value in parameters.items()})


def _setting(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"classifier", "parameters"}:
        if not isinstance(value["classifier"], str) or not isinstance(value["parameters"], dict):
            raise ModelFileError("a setting has a wrong form")
        return unfitted(value["classifier"], value["parameters"])
    return from_plain(value)


# --- The statistical table of a fit


@dataclass(frozen=True, eq=False)
class Statistics:
    """Standard errors, tests and intervals of q sets of m coefficients, or the reason why there are none.

    They are plain numbers, in the units of the table.

    Attributes
    ----------
    withheld : str or None
        Why there are no standard errors; then the arrays are empty.
    terms : tuple of str
        The m coefficients: the intercept, if there is one, and the columns of X.
    labels, reference
        The q classes, and the class that they are compared with.
    coef, std_err, p_value, low, high : arrays (q, m)
        NaN if a value does not exist. ``states`` says why.
    states : tuple of str
        The state of each of the q m coefficients, such as "estimated".
    level, intervals, covariance, ratio
        The confidence level, the kinds of the intervals and of the covariance, and the name of exp(coef), if any.
    notes : tuple of str
    rows, lr_df, log_likelihood, null_log_likelihood
        The number of rows, the degrees of freedom of the likelihood-ratio test against the null model, and the
        log-likelihoods; NaN if the fit does not maximise one.

    Examples
    --------
    >>> Statistics.none("the fit is penalised").withheld
    'the fit is penalised'
    """

    withheld: str | None
    terms: tuple[str, ...]
    labels: tuple[str, ...]
    reference: str
    coef: Array
    std_err: Array
    p_value: Array
    low: Array
    high: Array
    states: tuple[str, ...]
    level: float
    intervals: str
    covariance: str
    ratio: str | None
    notes: tuple[str, ...]
    rows: int
    lr_df: int
    log_likelihood: float
    null_log_likelihood: float

    @classmethod
    def none(cls, reason: str, level: float = 0.95) -> Statistics:
        """No statistics, for this reason."""
        return cls(
            withheld=reason,
            terms=(),
            labels=(),
            reference="",
            coef=np.empty((0, 0)),
            std_err=np.empty((0, 0)),
            p_value=np.empty((0, 0)),
            low=np.empty((0, 0)),
            high=np.empty((0, 0)),
            states=(),
            level=level,
            intervals="",
            covariance="",
            ratio=None,
            notes=(),
            rows=0,
            lr_df=0,
            log_likelihood=math.nan,
            null_log_likelihood=math.nan,
        )

    @property
    def z(self) -> Array:
        """The z statistics (q, m), coef / std_err."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.coef / self.std_err)

    @property
    def lr_statistic(self) -> float:
        """2 (ℓ − ℓ₀), the likelihood-ratio statistic against the null model."""
        return 2.0 * (self.log_likelihood - self.null_log_likelihood)

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with the lengths; empty if nothing is."""
        shape = (len(self.labels), len(self.terms))
        arrays = (self.coef, self.std_err, self.p_value, self.low, self.high)
        if self.withheld is not None:
            shape = (0, 0)
        fits = all(array.shape == shape for array in arrays) and len(self.states) == shape[0] * shape[1]
        return "" if fits and (self.withheld is None) == bool(self.terms) else "has parts of different lengths"


# --- A classifier inside another


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
    return part.model if isinstance(part, StoredModel) else ModelFile.of(part)


@dataclass(frozen=True)
class FittedModel(Form):
    """A fitted classifier inside another, an estimator or a ``StoredModel``: of two classes and the same columns.

    Its content is that of a file of its own.
    """

    shared: ClassVar[bool] = True

    def plain(self, value: Any, at: Writing) -> Any:
        return plain_body(stored(value), at)

    def read(self, found: Any, at: Reading) -> Any:
        model = ModelFile(**read_body(found, at))
        kind = StoredProbabilities if classifiers.describe(model.classifier).probabilities else StoredModel
        part = model.estimator() if at.estimators else kind(model)
        self.refit(part, at)
        return part

    def refit(self, value: Any, at: Reading) -> None:
        d = getattr(value, "n_features_in_", None)
        at.require(d == at.sizes["d"], f"has {d} columns, where the whole model has {at.sizes['d']}")
        at.require(len(value.classes_) == 2, "does not have two classes")


# --- Every kind of scorer and verdict

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (OneVersusOne(), OneVersusRest())}
ROWS = numbers("", whole=True, least=0)


def _link(scorer: Any, sizes: Mapping[str, int]) -> str:
    binary, softmax = isinstance(LINKS[scorer.link_name], BinaryLink), scorer.link_name == "softmax"
    fits = len(scorer.W) > 1 if softmax else len(scorer.W) == 1 or not binary
    return "" if fits else f"has the link {scorer.link_name}, which does not fit {len(scorer.W)} scores"


def _colours(gaussians: Any, sizes: Mapping[str, int]) -> str:
    return "" if len(gaussians.colour) in (0, len(gaussians.means)) else "does not have a colour for each class"


def _units(scaling: Any, sizes: Mapping[str, int]) -> str:
    return "" if (scaling.scale > 0).all() else "has a scale that is not above 0"


# The scaling of a table's columns. Its module is imported only when needed, since it needs PyArrow.
SCALING = Record("separatrix.tables.encoder:Scaling", _units, center=numbers("d"), scale=numbers("d"))
FRAME = Record(Frame, center=numbers("d"), scale=numbers("d", finite=False, least=0))
GAUSSIANS = Record(
    Gaussians,
    _colours,
    frame=FRAME,
    priors=numbers("K", least=0),
    means=numbers("K", "d"),
    whiten=Several(numbers("d", ""), "K"),
    colour=Several(numbers("d", "")),
    constant=numbers("K"),
)
MOMENTS = Record(
    Moments,
    frame=FRAME,
    weight=numbers("K", least=0),
    n_rows=numbers("K", whole=True, least=0),
    mean=numbers("K", "d"),
    scatter=numbers("", "d", "d"),
)

_TABLE = numbers("", "", finite=False)
STATISTICS = Record(Statistics, coef=_TABLE, std_err=_TABLE, p_value=_TABLE, low=_TABLE, high=_TABLE)

SCORERS = Kinds(
    {
        "linear": Record(Scorer, _link, W=numbers("scores", "1+d"), classes=Labels("K"), link_name=Choice(LINKS)),
        "quadratic": Record(QuadraticScorer, gaussians=GAUSSIANS, classes=Labels("K")),
        "parts": Record(
            PartsScorer,
            scheme=Named(SCHEMES),
            estimators=Several(FittedModel(), "models"),
            W=Maybe(numbers("models", "1+d")),
            classes=Labels("K"),
        ),
    }
)


@dataclass(frozen=True)
class _Weights(Form):
    """(b, w), or one such row for each class."""

    def plain(self, value: Any, at: Writing) -> Any:
        return numbers(*[""] * value.ndim).plain(value, at)

    def read(self, found: Any, at: Reading) -> Any:
        one = isinstance(found, list) and not any(isinstance(row, list) for row in found)
        return numbers(*[""] * (1 if one else 2)).read(found, at)


_ABOUT = Record(About, classes=Labels(least=0))
_PROOF: dict[str, Form] = {
    "rows": ROWS,
    "against": ROWS,
    "signed": numbers("", ""),
    "about": _ABOUT,
    "given": Maybe(Whole()),
    "near": Maybe(numbers("")),
}
VERDICTS = Kinds(
    {
        "separable": Record(Separable, v=_Weights(), about=_ABOUT),
        "quasi-separable": Record(
            QuasiSeparable,
            direction=Whole(array=True),
            touching=ROWS,
            touching_against=ROWS,
            columns=ROWS,
            further=Several(Whole(array=True)),
            **_PROOF,
        ),
        "inseparable": Record(Inseparable, **_PROOF),
        "doubtful": Record(Doubtful),
    }
)


# --- What a file stores for each classifier

# Each classifier declares its kinds of scorer and claim, and the attributes set by ``fit``, as plain values in its
# description; here they become forms. Attributes that follow from the scorer are not stored. Neither is ``trace_``,
# which is empty on a loaded model.
COUNT = Plain(int, 0)
# What every classifier has in addition. ``_dtype`` is the type of the training rows, which predictions have too.
_COMMON: dict[str, Form] = {
    "_dtype": Choice(("float32", "float64")),
    "has_sample_weight_": Maybe(Plain(bool)),
    "n_parameters_": COUNT,
}


class _EveryClaim(Mapping[str, Record]):
    """The claims of all classifiers by name. They are collected only when a claim contains claims of other models."""

    def __getitem__(self, name: str) -> Record:
        return _every_claim()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_every_claim())

    def __len__(self) -> int:
        return len(_every_claim())


CLAIMS = Kinds(_EveryClaim())
# The forms that descriptions refer to by name. ``form_of_field`` makes all others.
KNOWN: dict[str, Form] = {
    "count": COUNT,
    "verdict": VERDICTS,
    "gaussians": GAUSSIANS,
    "moments": MOMENTS,
    "model": FittedModel(),
    "linear scorer": SCORERS.only("linear"),
    "scorer": SCORERS,
    "scheme": Named(SCHEMES),
    "claim": CLAIMS,
}


def form_of_field(field: Field) -> Form:
    """The form of a field of a description.

    >>> from separatrix.classifiers.description import number
    >>> form_of_field(number(above=0.0).maybe())
    Maybe(form=Number(least=-inf, most=inf, above=0.0))
    """
    form = KNOWN[field.kind] if field.kind in KNOWN else _FORM_MAKERS[field.kind](**field.options)
    if field.optional:
        form = Maybe(form)
    return form if field.each is None else Several(form, field.each, field.sequence)


def _record(kind: str, fields: Mapping[str, Field]) -> Record:
    return Record(kind, **{name: form_of_field(field) for name, field in fields.items()})


def _choice(registry: str) -> Choice:
    module, _, name = registry.partition(":")
    return Choice(getattr(import_module(module), name))


_FORM_MAKERS: dict[str, Any] = {"number": Number, "array": Numbers, "record": _record, "choice": _choice}


@dataclass(frozen=True)
class FieldsKept:
    """``fitted``: the attributes and their forms; ``of_two``: those that only models of two classes have."""

    scorers: Kinds
    certificate: Record
    fitted: Mapping[str, Form]
    of_two: frozenset[str]

    def names(self, n_classes: int) -> list[str]:
        """The names in ``fitted`` of the attributes that a model with this number of classes has."""
        return [name for name in self.fitted if n_classes == 2 or name not in self.of_two]


@cache
def kept(classifier: str) -> FieldsKept:
    """What a file stores for the classifier of this name.

    >>> list(kept("least-squares").fitted)
    ['_dtype', 'has_sample_weight_', 'n_parameters_', 'output_weights_']
    """
    description = classifiers.describe(classifier)
    return FieldsKept(
        SCORERS.only(*description.scorers),
        Record(
            Certificate,
            claim=Kinds(_claims(description)),
            facts=Pairs(),
            iterations=COUNT,
            n_rows=COUNT,
            status=Sentence(),
            why=Sentence(),
            bound_reason=Sentence(),
        ),
        _COMMON | {name: form_of_field(field) for name, field in description.fitted.items()},
        frozenset(name for name, field in description.fitted.items() if field.of_two),
    )


def _claims(description: Description) -> dict[str, Record]:
    return {name: _record(**field.options) for name, field in description.claims.items()}


@cache
def _every_claim() -> dict[str, Record]:
    return {
        name: record
        for classifier in classifiers.OFFERED
        for name, record in _claims(classifiers.describe(classifier)).items()
    }
