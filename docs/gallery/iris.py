"""
Iris: the widest margin, and a proof that there is none
=======================================================

Two of Fisher's species of iris can be told apart by a straight line through the lengths and widths of their petals, and
two cannot. Either answer comes with a proof.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import separatrix as sx

iris = load_iris()
petals, species = iris.data[:, 2:], iris.target_names[iris.target]
names = ("petal length, cm", "petal width, cm")

# %%
# Setosa and versicolor are separable. ``MaxMarginClassifier`` finds the line with the widest margin, and the rows that
# hold it up.

easy = np.isin(species, ["setosa", "versicolor"])
X, y = petals[easy], species[easy]
print(sx.separability(X, y).explain())
widest = sx.MaxMarginClassifier().fit(X, y)
print(f"margin {widest.margin_:.3f} cm on either side, held up by rows {widest.support_.tolist()}")

display = sx.plots.DecisionRegionsDisplay.from_estimator(widest, X, y, names=names)
display.ax_.scatter(*X[widest.support_].T, s=120, facecolors="none", edgecolors="black", label="support")

# %%
# Versicolor and virginica overlap. A few rows prove it: weighted by whole numbers, their signed sum is zero, which no
# line that separates them would allow.

hard = np.isin(species, ["versicolor", "virginica"])
X, y = petals[hard], species[hard]
verdict = sx.separability(X, y)
print(verdict.explain())
print("verified in whole numbers:", verdict.verify(X, y, exact=True))

# %%
# The perceptron's updates would never end on such rows. It stops at the proof with its last weights, and warns. Its
# certificate holds the proof.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
    perceptron = sx.Perceptron().fit(X, y)
print(perceptron.certificate_.code)
print(perceptron.certificate_.status)

# %%
# All three species: softmax regression draws straight boundaries, and a Gaussian for each class draws curves.

models = [sx.LogisticRegression(), sx.QuadraticDiscriminantAnalysis()]
with sx.plots.style():
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, model in zip(axes, models, strict=True):
    model.fit(petals, species)
    sx.plots.DecisionRegionsDisplay.from_estimator(model, petals, species, names=names, ax=ax)
    ax.set_title(type(model).__name__)
