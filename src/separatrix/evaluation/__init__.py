"""How well a classifier does: measures with intervals, calibration, decisions, cross-validation, comparison.

accuracy      right and wrong answers                answers      what a model says of labelled rows
proportions   intervals for shares of rows           ranking      ROC and precision-recall curves with bands
calibration   whether probabilities come true        decisions    thresholds, costs, priors
folds         which rows are held out together       trials       one fit on one fold, and all of them in threads
entrants      which classifiers compete              standings    their figures, their order, the choice
comparison    compare(X, y)                          model_view   which space a model is looked at in
"""
