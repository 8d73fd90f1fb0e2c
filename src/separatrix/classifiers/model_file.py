"""Models as JSON files, pipelines among them. They are readable and checked, and nothing in them is ever executed.

A file holds the content of a ``ModelFile`` with a checksum (``core/base/checksummed_json.py``). The following part of
it is the same for a whole model and for a model inside another, and is written and read in this order:

    classifier, parameters, left_out    its name in ``OFFERED``; the settings; the names of those that JSON cannot hold
    columns, features, classes          d; the names of the columns or null; the labels
    scorer                              all that prediction needs
    fitted                              the other attributes that ``fit`` sets
    certificate                         with its claim, so that ``verify(X, y)`` works for a loaded model

The fields of dataclasses are stored as their annotations say (``core/base/codec.py``). A new kind of scorer is one line
in ``SCORERS``; what else a classifier stores, its description says (``classifiers/description.py``).
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from separatrix import classifiers
from separatrix._version import __version__
from separatrix.core.base import checksummed_json
from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.codec import (
    COUNT,
    Choice,
    Copying,
    Form,
    Keyed,
    Kinds,
    Known,
    Labels,
    Maybe,
    Plain,
    Reading,
    RecordForm,
    Several,
    Values,
    Writing,
    array,
    form_of,
    from_plain,
    require_keys,
    to_plain,
)
from separatrix.core.base.errors import InputError, ModelFileError, ParameterError, SeparatrixWarning
from separatrix.core.base.files import replace_file
from separatrix.core.certificate import Certificate, Claim, Uncertified
from separatrix.core.gaussians import QuadraticScorer
from separatrix.core.schemes import SCHEMES, PartsScorer, Scheme
from separatrix.core.scorer import Scorer, Scores

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
        attributes = fitted_of(name, len(scorer.classes) == 2)
        fitted = {attribute: getattr(model, attribute) for attribute in attributes if hasattr(model, attribute)}
        return cls(
            name,
            scorer,
            settings,
            _features(model, encoder, parts.features if features is None else features),
            target,
            certificate,
            training or {},
            encoder=encoder,
            fitted=fitted if len(fitted) == len(attributes) else {},
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
        return plain_body(self, Writing()) | Copying().each(ABOUT, {**vars(self), "separatrix": self.made_by})

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
        require_keys(content, {*KEYS, *ABOUT}, at)
        body = read_body({key: content[key] for key in KEYS}, at)
        features = body["features"]
        at.into("encoder").require(
            content["encoder"] is None or features is not None, "makes features, and the model has none"
        )
        about = at.within(d=body["scorer"].n_features).each(ABOUT, content)
        encoder, made_by = about["encoder"], about.pop("separatrix")
        at.into("encoder").require(encoder is None or encoder.makes(features), "does not make the model's features")
        return cls(
            **body,
            **about,
            made_by=made_by,
            source=content if not estimators and body["classifier"] in SCHEMES else None,
        )


def _features(model: Any, encoder: Encoder | None, features: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names of the columns: those of the encoder, those given, or those of the training frame."""
    if encoder is not None:
        return encoder.names
    if features is None and hasattr(model, "feature_names_in_"):
        return tuple(str(column) for column in model.feature_names_in_)
    return features


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


class ReadingScorers(Reading):
    """A place to read from, where classifiers inside others are read as ``StoredModel``, without scikit-learn."""


def plain_body(model: ModelFile, at: Writing) -> dict[str, Any]:
    """The model as JSON types."""
    if model.features is not None and len(set(model.features)) < len(model.features):
        raise at.into("features").refuse("are not distinct", "give every column a different name")
    values = {**vars(model), "columns": model.columns, "classes": model.scorer.classes}
    return at.each({**HEAD, **parts_of(model.classifier, len(model.scorer.classes) == 2)}, values)


def read_body(content: Any, at: Reading) -> dict[str, Any]:
    """The fields of a ``ModelFile``, after checking every key, type and length."""
    at.require(isinstance(content, dict), "is not an object")
    require_keys(content, KEYS, at)
    head = at.each(HEAD, content)
    classifier, K, d = head["classifier"], len(head["classes"]), head["columns"]
    sizes = {"K": K, "scores": 1 if K == 2 else K, "d": d, "1+d": d + 1}
    if classifier in SCHEMES:
        sizes["models"] = SCHEMES[classifier].n_models(K)
    parts = at.within(**sizes).each(parts_of(classifier, K == 2), content)
    features = parts["features"]
    at.into("features").require(features is None or len(set(features)) == len(features), "are not distinct names")
    return {"classifier": classifier, **parts}


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

Table: TypeAlias = Annotated[Array, array("", "", finite=False)]


def no_table() -> Array:
    """An empty table."""
    return np.empty((0, 0))


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
    >>> Statistics(withheld="the fit is penalised").coef.shape
    (0, 0)
    """

    withheld: str | None = None
    terms: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    reference: str = ""
    coef: Table = field(default_factory=no_table)
    std_err: Table = field(default_factory=no_table)
    p_value: Table = field(default_factory=no_table)
    low: Table = field(default_factory=no_table)
    high: Table = field(default_factory=no_table)
    states: tuple[str, ...] = ()
    level: float = 0.95
    intervals: str = ""
    covariance: str = ""
    ratio: str | None = None
    notes: tuple[str, ...] = ()
    rows: int = 0
    lr_df: int = 0
    log_likelihood: float = math.nan
    null_log_likelihood: float = math.nan

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
        part = kind(model) if isinstance(at, ReadingScorers) else model.estimator()
        self.refit(part, at)
        return part

    def refit(self, value: Any, at: Reading) -> None:
        d = getattr(value, "n_features_in_", None)
        at.require(d == at.sizes["d"], f"has {d} columns, where the whole model has {at.sizes['d']}")
        at.require(len(value.classes_) == 2, "does not have two classes")


# --- The form of every part

# The forms of types whose implementations the modules that name them do not know, and of fitted classifiers.
KNOWN: dict[Any, Known] = {
    Scheme: Choice(SCHEMES, SCHEMES),
    "model": FittedModel(),
    "models": Several("models", FittedModel(), list),
}
SCORERS = Kinds(
    {
        "linear": RecordForm(Scorer, KNOWN),
        "quadratic": RecordForm(QuadraticScorer, KNOWN),
        "parts": RecordForm(PartsScorer, KNOWN),
    }
)


def claims_of(classifier: str) -> dict[str, RecordForm]:
    """The forms of the claims that the certificate of a classifier can make."""
    return {name: RecordForm(claim, KNOWN) for name, claim in classifiers.describe(classifier).claims.items()}


@cache
def every_claim() -> Kinds:
    """The claims of all classifiers, which the claim of a model of several parts contains."""
    return Kinds({name: record for one in classifiers.OFFERED for name, record in claims_of(one).items()})


KNOWN |= {Scores: SCORERS, Scorer: SCORERS.only("linear"), Claim: every_claim}

# The parts that are read first, since the lengths of the others depend on them.
HEAD: dict[str, Form] = {"classifier": Choice(classifiers.OFFERED), "columns": Plain(int, 1), "classes": Labels()}
# What every classifier stores in addition to the attributes of its description. Attributes that follow from the scorer
# are not stored. Neither is ``trace_``, which is empty on a loaded model. ``_dtype`` is the type of the training rows,
# which predictions have too.
_COMMON: dict[str, Form] = {
    "_dtype": Choice(("float32", "float64")),
    "has_sample_weight_": Maybe(Plain(bool)),
    "n_parameters_": COUNT,
}
# What only a whole model has. The encoder and the scaling need PyArrow, so their modules are imported only when needed.
ABOUT: dict[str, Form] = {
    "encoder": Maybe(RecordForm("separatrix.tables.encoder:Encoder")),
    "scaling": Maybe(RecordForm("separatrix.tables.encoder:Scaling")),
    "separatrix": Plain(str),
    "statistics": Maybe(RecordForm(Statistics)),
    "target": Maybe(Plain(str)),
    "training": Values(),
}


def fitted_of(classifier: str, of_two: bool) -> dict[str, Form]:
    """The forms of the attributes that a model of this kind stores besides its scorer and its certificate.

    >>> list(fitted_of("least-squares", of_two=True))
    ['_dtype', 'has_sample_weight_', 'n_parameters_', 'output_weights_']
    """
    description = classifiers.describe(classifier)
    own = {name: form_of(form, KNOWN) for name, form in description.fitted.items()}
    return {**_COMMON, **own, **(description.fitted_of_two if of_two else {})}


@cache
def parts_of(classifier: str, of_two: bool) -> dict[str, Form]:
    """The forms of the other parts of a model of this kind, in the order in which they are written and read."""
    return {
        "parameters": Plain(dict),
        "left_out": Several(form=Plain(str)),
        "features": Maybe(Several("d", Plain(str))),
        "scorer": SCORERS.only(*classifiers.describe(classifier).scorers),
        "fitted": Keyed(fitted_of(classifier, of_two), may_be_empty=True),  # empty if the weights were set by hand
        "certificate": Maybe(RecordForm(Certificate, KNOWN | {Claim: Kinds(claims_of(classifier))})),
    }


KEYS = frozenset((*HEAD, "parameters", "left_out", "features", "scorer", "fitted", "certificate"))
