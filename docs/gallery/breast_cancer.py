"""
Breast cancer: how strong a penalty, and which columns
======================================================

Thirty measurements separate the malignant tumours from the benign completely. So maximum likelihood has no answer, and
a penalty has to be chosen. This example chooses it by leave-one-out, and then asks how few columns would do.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
print(*X.shape, "rows and columns")
print(sx.separability(X, y).explain())

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

# %%
# ``C="auto"`` takes the penalty that predicts rows left out best. It costs a few fits, not one for each row.

model = make_pipeline(StandardScaler(), sx.LogisticRegression(C="auto")).fit(X_train, y_train)
print(model[-1].penalty_choice_)

with sx.plots.style():
    figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
sx.plots.PenaltyPathDisplay.from_estimator(model, X_train, y_train, ax=ax)

# %%
# On rows that the fit has not seen:

print(sx.evaluate(model, X_test, y_test))
with sx.plots.style():
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
sx.plots.RocDisplay.from_estimator(model, X_test, y_test, ax=axes[0])
sx.plots.CalibrationDisplay.from_estimator(model, X_test, y_test, ax=axes[1])

# %%
# With ``l1_ratio=1`` most weights are exactly zero. Here, too, C is chosen by rows left out of the fit.

sparse = make_pipeline(StandardScaler(), sx.LogisticRegression(C="auto", l1_ratio=1.0)).fit(X_train, y_train)
kept = np.flatnonzero(sparse[-1].coef_[0])
print(sparse[-1].penalty_choice_)
print(f"{len(kept)} columns: {', '.join(X.columns[kept])}")
print(sx.evaluate(sparse, X_test, y_test))

# %%
# All weights along a range of C come from one call, each fit with a certificate. The line is the C chosen above.

path = sx.penalty_path(sparse[0].transform(X_train), y_train, l1_ratio=1.0, n_values=40)
print("all certified:", all(certificate.met for certificate in path.certificates))

with sx.plots.style():
    figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
ax.semilogx(path.Cs, path.coef[:, 0, :], linewidth=0.9)
ax.axvline(sparse[-1].C_, color="gray", linestyle="--")
ax.set(xlabel="C", ylabel="weight of a column in units of its spread")
