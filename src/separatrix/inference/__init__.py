"""Standard errors, tests and intervals for maximum-likelihood fits. Values that would be misleading are withheld."""

from separatrix.inference.marginal import MarginalEffects
from separatrix.inference.nested import LikelihoodRatio, likelihood_ratio_test
from separatrix.inference.result import Summary
from separatrix.inference.summaries import summary

__all__ = ["LikelihoodRatio", "MarginalEffects", "Summary", "likelihood_ratio_test", "summary"]
