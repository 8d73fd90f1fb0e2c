"""
Handwritten digits: ten classes at once
=======================================

Small pictures of 8 × 8 pixels in ten classes. Softmax regression fits all of them together; one versus rest and one
versus one make ten and 45 small problems of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import separatrix as sx

X, y = load_digits(return_X_y=True)
print(len(y), "pictures,", int((X.std(axis=0) == 0).sum()), "of 64 pixels always blank")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

# %%
# Nothing has to be scaled or dropped for the fit to end well; the certificate counts the columns that say nothing new.

model = sx.LogisticRegression(C=0.01).fit(X_train, y_train)
print(model.certificate_)
print(f"accuracy on rows held out: {model.score(X_test, y_test):.3f}")

# %%
# Which digits are taken for which:

sx.plots.ConfusionDisplay.from_estimator(model, X_test, y_test)

# %%
# The weights of each class, as pictures: a dark pixel speaks for the class, a light one against it.

figure, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
largest = np.abs(model.coef_).max()
for k, ax in enumerate(axes.flat):
    ax.imshow(model.coef_[k].reshape(8, 8), cmap="gray_r", vmin=-largest, vmax=largest)
    ax.set_title(k)
    ax.set_axis_off()

# %%
# What the other two schemes cost, before fitting either:

print(sx.compare_schemes(np.bincount(y_train)))

# %%
# And how well they do:

for scheme in (sx.OneVsRestClassifier, sx.OneVsOneClassifier):
    parts = scheme(sx.LogisticRegression(C=0.01)).fit(X_train, y_train)
    print(f"{scheme.__name__}: {len(parts.estimators_)} models, accuracy {parts.score(X_test, y_test):.3f}")
