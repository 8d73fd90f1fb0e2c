"""Inference: standard errors, tests and intervals of maximum-likelihood fits, and refusals where they would mislead."""

from separatrix.inference.marginal import MarginalEffects
from separatrix.inference.nested import LikelihoodRatio, likelihood_ratio_test
from separatrix.inference.result import Summary
from separatrix.inference.summaries import summary

__all__ = ["LikelihoodRatio", "MarginalEffects", "Summary", "likelihood_ratio_test", "summary"]
