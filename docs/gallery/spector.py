"""
Spector and Mazzeo: the same numbers as statsmodels
===================================================

Did a new way of teaching economics (PSI) raise grades? This is the example of Greene's *Econometric Analysis* and of
statsmodels. This page puts the two packages side by side, and shows what the certificate adds.
"""

import numpy as np
import statsmodels.api as sm

import separatrix as sx

data = sm.datasets.spector.load_pandas()
X, y = data.exog, data.endog.astype(int)
print(len(y), "students")

theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0)
ours = sx.LogisticRegression(C=np.inf).fit(X, y)
summary = sx.summary(ours, X, y)
print(summary)

# %%
# The largest differences from statsmodels:

print(f"coefficients:    {np.abs(summary.coef - theirs.params).max():.0e}")
print(f"standard errors: {np.abs(summary.std_err - theirs.bse).max():.0e}")
print(f"log-likelihood:  {abs(summary.log_likelihood - theirs.llf):.0e}")

# %%
# What is proven of ours: every coefficient lies within this many standard errors of the exact maximum.

print(f"{ours.certificate_.weight_error:.0e} {ours.certificate_.weight_error_unit}")

# %%
# The proven gap at each iteration of the fit.

sx.plots.LossDisplay.from_estimator(ours, gap=True)

# %%
# With so few students no single one should decide. Cook's distance says who moves the fit most.

sx.plots.InfluenceDisplay.from_estimator(ours, X, y, top=8)

# %%
# Robust standard errors, and average marginal effects:

print(sx.summary(ours, X, y, covariance="HC1"))
print(summary.marginal_effects())
