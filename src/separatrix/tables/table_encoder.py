"""A scikit-learn transformer that encodes frames. It is loaded when first used, since it needs scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.core.base.arrays import AnyArray, with_names
from separatrix.core.base.errors import MissingValuesError, ParameterError
from separatrix.core.base.messages import Message, Setting
from separatrix.tables.encoder import Encoder, Scaling
from separatrix.tables.formats.opening import open_frame
from separatrix.tables.infer import infer
from separatrix.tables.learn_encoder import fit_encoder
from separatrix.tables.schema import Column, Schema, checked_reference, refuse_other_columns
from separatrix.tables.selection import refuse_lacking, refuse_nameless, refuse_unknown, with_words
from separatrix.tables.text import asked_for


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Encode the columns of a frame (pandas, polars or PyArrow) as columns of a matrix X.

    Numbers, truth values and dates become one column each; a category becomes one 0/1 column for each level except its
    reference.

    Parameters
    ----------
    missing : {"error", "impute", "indicator"}
        What to do with missing values: refuse them; fill them with the mean of a number, or the most frequent level of
        a category; or mark them, by a 0/1 column next to a number, and as a level of its own in a category.
    unseen : {"average", "error"}
        What to do with a category level that no training row had: encode it as their average, or refuse it.
    schema : Schema, optional
        What the columns hold. Columns that it does not mention are inferred.
    drop : sequence of str
        Columns to leave out.
    standardise : bool
        Whether to give numbers and dates mean 0 and standard deviation 1 over the training rows. This matters for
        penalised fits and for perceptrons. The 0/1 columns of categories, truth values and missing values stay as they
        are: dividing them by their standard deviations would nearly exempt rare levels from a penalty.
    text : str, sequence of str, or dict of str to TextSettings
        Columns of free text. The n-grams of their words become columns of X, weighted by TF-IDF; X is then sparse.
    reference : mapping of str to str, optional
        The reference level of a category, by column. By default it is the first level in alphabetical order.

    Attributes
    ----------
    schema_ : Schema
        What the columns hold.
    encoder_ : Encoder
        How they become columns of X.
    scaling_ : Scaling or None
        The center and scale of each column of X; None without ``standardise``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LogisticRegression, TableEncoder
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "m"]})
    >>> model = make_pipeline(TableEncoder(), LogisticRegression()).fit(frame, ["no", "no", "yes", "yes"])
    >>> model[0].get_feature_names_out().tolist(), model.predict(frame).tolist()
    (['age', 'sex=m'], ['no', 'no', 'yes', 'yes'])
    """

    def __init__(
        self,
        missing: str = "error",
        unseen: str = "average",
        schema: Schema | None = None,
        drop: Sequence[str] = (),
        standardise: bool = False,
        text: Any = (),
        reference: Mapping[str, str] | None = None,
    ) -> None:
        self.missing = missing
        self.unseen = unseen
        self.schema = schema
        self.drop = drop
        self.standardise = standardise
        self.text = text
        self.reference = reference

    @classmethod
    def of(cls, encoder: Encoder, scaling: Scaling | None = None) -> Self:
        """A fitted transformer made of an encoder, such as one from a model file.

        Parameters
        ----------
        encoder : Encoder
            The fitted encoder.
        scaling : Scaling, optional
            The scaling of its columns.

        Returns
        -------
        TableEncoder
        """
        missing = "error" if encoder.missing == "drop" else encoder.missing
        text = {column.name: column.text.settings for column in encoder.columns if column.text is not None}
        fitted = cls(missing, encoder.unseen, standardise=scaling is not None, text=text or ())
        fitted.scaling_ = scaling
        fitted.encoder_ = replace(encoder, missing=fitted.missing)
        kinds = tuple(Column(column.name, column.kind, column.levels) for column in encoder.columns)
        fitted.schema_ = Schema(tuple(column for column in kinds if column.name not in text)).with_words(text)
        fitted.feature_names_in_ = np.array([column.name for column in encoder.columns], dtype=object)
        fitted.n_features_in_ = len(encoder.columns)
        return fitted

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the schema, the levels and the means from a frame.

        Parameters
        ----------
        X : data frame
            Columns of any kind.
        y : object, optional
            Labels, which are ignored.

        Returns
        -------
        self
        """
        if self.missing == "drop":
            remedy = "give 'error', 'impute' or 'indicator', or drop such rows and their labels before the fit"
            raise ParameterError("missing", "got 'drop', and a transformer cannot leave rows out", remedy)
        if not isinstance(self.standardise, bool | np.bool_):
            raise ParameterError("standardise", f"got {self.standardise!r}", "give True or False")
        source = open_frame(X)
        given = self.schema or Schema(())
        left_out = {self.drop} if isinstance(self.drop, str) else set(self.drop)
        levels = checked_reference(self.reference)
        for name in (*left_out, *given.names, *asked_for(self.text), *levels):
            refuse_unknown(source, name)
        refuse_other_columns(levels, None, sorted(left_out))
        given = with_words(source, given, asked_for(self.text), None, left_out)
        asked = (*given.columns, *(Column(name, "ignored", note="left out as asked") for name in left_out))
        self.schema_ = infer(source.columns, None, Schema(asked), levels)
        refuse_nameless(source, [column.name for column in self.schema_.used])
        with _no_rows_left_out():
            self.encoder_ = fit_encoder(self.schema_, source.columns, self.missing, self.unseen, source.name)
        rows = self.encoder_.transform(source.columns, source.name)[0] if self.standardise else None
        self.scaling_ = None if rows is None else Scaling.of(rows).only(self.encoder_.measured)
        self.feature_names_in_ = np.array(source.names, dtype=object)
        self.n_features_in_ = len(source.names)
        return self

    def transform(self, X: Any) -> Any:
        """Convert a frame to a matrix.

        Parameters
        ----------
        X : data frame
            Columns with the names of the fit, in any order.

        Returns
        -------
        array (n, d)
            A CSR array if a column holds free text.
        """
        check_is_fitted(self)
        source = open_frame(X)
        wanted = [column.name for column in self.encoder_.columns]
        refuse_lacking(source, wanted)
        with _no_rows_left_out():
            rows = self.encoder_.transform(source.read(wanted), source.name)[0]
        rows = rows if self.scaling_ is None else self.scaling_.apply(rows)
        return with_names(rows, self.encoder_.names, encoding=(self.encoder_, self.scaling_))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """The names of the columns of the matrix.

        Parameters
        ----------
        input_features : object, optional
            Not used; scikit-learn passes it.

        Returns
        -------
        array of str (d,)
        """
        check_is_fitted(self)
        return np.array(self.encoder_.names, dtype=object)


@contextmanager
def _no_rows_left_out() -> Iterator[None]:
    """Advise about missing values what a transformer can do: it cannot drop rows."""
    try:
        yield
    except MissingValuesError as error:
        remedy = Message("fill them in, or use TableEncoder with ", Setting("missing", "impute", "indicator"))
        raise MissingValuesError(error.argument, error.problem, remedy) from None
