"""The methods that need only moments: sums of (1, x, xxᵀ) by class, and what follows from them without the rows.

gather        the sums themselves, stable and mergeable
whitening     solving with a scatter matrix, singular or not
squares       least squares: cost, gap, minimum         influence: which rows move it
directions    Fisher's direction and that of the means   thresholds: where to cut along it
projection    both together
gaussians     one normal density a class: LDA and QDA
"""
