"""
Low birth weight: odds ratios with intervals
============================================

Which circumstances of a pregnancy go with a low birth weight? The births of Hosmer and Lemeshow (*Applied Logistic
Regression*) have numbers and categories written as words. This example reads the table, fits by maximum likelihood and
reports odds ratios.
"""

import numpy as np

import separatrix as sx

table = sx.read_table("../data/birthwt.csv", target="low")
print(len(table.y), "births,", int((table.y == "yes").sum()), "of low weight")
print(table.names)

# %%
# Look the table over before fitting. Each finding says what to do about it.

for finding in sx.check(table.X, table.y, names=table.names):
    if finding.severity != "ok":
        print(finding, end="\n\n")

# %%
# ``C=np.inf`` is maximum likelihood. The certificate bounds the distance to the maximum, and ``verify`` computes that
# again from the rows, without the solver.

model = sx.LogisticRegression(C=np.inf).fit(table.X, table.y)
print(model.certificate_)
print("verified:", bool(model.certificate_.verify(table.X, table.y)))

# %%
# The statistical table, with intervals that follow the profile of the likelihood as R's ``confint`` does.

summary = sx.summary(model, table.X, table.y, intervals="profile", names=table.names)
print(summary)

# %%
# The same as a picture. Intervals that cross 1 leave the direction of an effect open.

sx.plots.CoefficientDisplay.from_estimator(model, table.X, table.y, names=table.names)

# %%
# Does race matter, given all the rest? Fit without its columns and compare the two likelihoods.

others = [j for j, name in enumerate(table.names) if not name.startswith("race")]
small = sx.LogisticRegression(C=np.inf).fit(table.X[:, others], table.y)
print(sx.likelihood_ratio_test(sx.summary(small, table.X[:, others], table.y), summary))

# %%
# On the scale of probabilities: how much each column changes the risk, averaged over the births. For a level of a
# category, all births are set to this level, and then to the reference level.

print(summary.marginal_effects())
