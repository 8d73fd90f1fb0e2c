"""The performance of classifiers: measures with intervals, calibration, decisions, cross-validation, comparison.

measures      accuracy, log loss, Brier score        performance  all measures of a model, beside the null model
accuracy      evaluate(model, X, y)                  answers      a model's predictions for labelled rows
proportions   intervals for shares of rows           ranking      ROC and precision-recall curves with bands
calibration   observed beside predicted frequencies  decisions    thresholds, costs, priors
by_class      precision, recall, F1, lift by class   mistake_costs  the cost of mistakes, the best threshold
decision_rule  answers by threshold and prior        model_rule   the decision rule for a fitted model
priors        class shares
entrants      the classifiers that are compared      trials       one fit without one fold, and all fits in threads
comparison    compare(X, y)                          standings    means over folds, the order, the choice
budget        processor time for a classifier        model_view   the columns in which a model is shown
holdout       a stratified choice of rows            held_out_fit  a fit to a table, measured on held-out rows
table_fit     fit_table(model, data, target)         split_defaults  how many rows are held out
table_words   sentences of a fit in a table's words
"""
