"""The performance of classifiers: measures with intervals, calibration, decisions, cross-validation, comparison.

Measures
    measures           accuracy, log loss, Brier score, confusion matrix
    performance        all measures of a model, compared with the null model
    accuracy           evaluate(model, X, y)
    answers            a model's predictions for labelled rows
    by_class           precision, recall, F1 and lift by class
    f1_and_lift        intervals for F1 and lift
    proportions        intervals for shares of rows
    ranking            ROC and precision-recall curves with bands
    calibration        reliability curves: observed and predicted frequencies
    table_sums         the measures on a table outside memory, in one pass
    table_report       the report of evaluate on such a table
    score_bins         rows counted in bins of their score, for ROC curves of such a table

Decisions
    decisions          thresholds, costs, priors
    decision_rule      answers by threshold and prior
    model_rule         the decision rule for a fitted model
    mistake_costs      the cost of mistakes, the best threshold
    priors             class shares

Comparison of classifiers
    comparison         compare(X, y)
    entrants           the classifiers that are compared
    trials             the fits without one fold each, in threads
    budget             processor time for a classifier
    standings          the figures of each classifier
    comparison_result  the order, the choice and the reasons

Fits with held-out rows
    table_fit          fit_table(model, data, target)
    held_out_fit       a fit to a table, measured on held-out rows
    holdout            a stratified choice of rows
    split_defaults     how many rows are held out
    table_words        sentences about a fit that name rows and columns as the table does
    model_view         the columns in which a model is shown
"""
