"""Claims: what each kind of fit says of its weights, in a form that can be recomputed from the rows."""

from separatrix.claims.firth import FirthClaim
from separatrix.claims.likelihood import LikelihoodClaim
from separatrix.claims.moments import GaussianClaim, LeastSquaresClaim, ProjectionClaim
from separatrix.claims.separation import MarginClaim, SeparationClaim

__all__ = [
    "FirthClaim",
    "GaussianClaim",
    "LeastSquaresClaim",
    "LikelihoodClaim",
    "MarginClaim",
    "ProjectionClaim",
    "SeparationClaim",
]
