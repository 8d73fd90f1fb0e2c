"""Text, JSON, HTML and frames of a summary."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.core.base.errors import SeparatrixError

from .test_summary import birthwt, drawn, summarised


def wide_names():
    X, y = birthwt()
    return X.rename(columns={"age": "a name that is longer than a table would like it to be", "lwt": "<b>&'\""}), y


def test_text_is_aligned_and_narrow():
    X, y = wide_names()
    found = summarised(X, y)
    for text in (str(found), str(found.marginal_effects())):
        assert max(map(len, text.splitlines())) <= 100
        assert {"name", "longer", "than", "table", "would", "like"} <= set(text.split())  # in full, on several lines
    lines = str(found).splitlines()
    start = lines.index("1 against 0")
    shown = lines[start + 1 : lines.index("", start)]
    ends = {len(line) for line in shown if line[-1].isdigit() or line.endswith("upper")}
    assert len(ends) == 1  # the last column is full, and numbers end where their heads do


def test_small_p_values_are_bounds():
    X, y = drawn(3000)
    assert "<1e-16" in str(summarised(X, y))


def test_json_is_plain():
    X, y = wide_names()
    found = summarised(X, y)
    read = json.loads(found.to_json())
    assert [row["term"] for row in read["coefficients"]] == list(found.names)
    np.testing.assert_array_equal([row["std_err"] for row in read["coefficients"]], found.std_err)
    assert read["bic"] == found.bic
    assert (read["withheld"], read["weights"], read["covariance_kind"]) == (None, "frequency", "classical")
    assert json.loads(found.marginal_effects().to_json())[0]["kind"] == "derivative"


def test_frames():
    X, y = drawn()
    found = summarised(X, np.array(["a", "b"])[y])
    frame = found.to_frame()
    assert frame["term"].tolist() == list(found.names)
    assert set(frame["class"]) == {"b"}
    np.testing.assert_array_equal(frame["high"], found.high)
    effects = found.marginal_effects()
    np.testing.assert_array_equal(effects.to_frame()["effect"], effects.effect)
    assert isinstance(frame, pd.DataFrame)


def test_without_pandas_a_frame_is_refused(monkeypatch):
    summary = summarised(*drawn())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SeparatrixError, match="pandas"):
        summary.to_frame()


def test_html_is_escaped():
    X, y = wide_names()
    found = summarised(X, y)
    for page in (found._repr_html_(), found.marginal_effects()._repr_html_()):
        assert "<b>" not in page
        assert "&lt;b&gt;&amp;&#x27;&quot;" in page
    penalised = sx.summary(sx.LogisticRegression().fit(X, y), X, y)
    assert "penalised" in penalised._repr_html_()


def test_importing_does_not_need_scikit_learn():
    code = "import separatrix.statistics, sys; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
