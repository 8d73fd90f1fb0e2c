"""
Endometrial cancer: separated classes, and Firth's remedy
=========================================================

Every woman with neovasculization (NV) in this table has the histology HG = 1. So the likelihood keeps growing with the
weight of NV, and maximum likelihood has no finite estimate. Most packages stop somewhere on the way and print that
place. The data are those of Heinze and Schemper (*Statistics in Medicine* 21, 2002).
"""

import warnings

import numpy as np
import pandas as pd

import separatrix as sx

table = pd.read_csv("../../tests/data/endometrial.csv", comment="#")
X, y = table[["NV", "PI", "EH"]], table["HG"]
print(pd.crosstab(table["NV"], table["HG"]))

# %%
# A fit without a penalty says that there is no optimum, and which column and rows are behind that.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
print(caught[0].category.__name__)
print(caught[0].message)

# %%
# The verdict can be checked by itself, in whole numbers.

verdict = model.separation_
print(type(verdict).__name__, "verified:", verdict.verify(X, y, exact=True))

# %%
# The summary gives +∞ to NV, and estimates the other coefficients from the rows that remain.

print(sx.summary(model, X, y))

# %%
# Firth's penalised likelihood has a finite maximum. Its intervals follow the profile: the one of NV is far from
# symmetric, and a Wald interval would be misleading.

firth = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
print(sx.summary(firth, X, y, intervals="profile"))

# %%
# Odds ratios of Firth's fit.

sx.plots.CoefficientDisplay.from_estimator(firth, X, y)
