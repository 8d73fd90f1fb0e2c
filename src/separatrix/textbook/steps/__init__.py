"""Records of every update of a fit, one by one, in the units of the columns.

sequence        ``steps``, and the sequence ``Steps`` that it returns
step            the record of one update, ``Step``
reading         makes a ``Step`` from two states of a run
methods         how the run of each solver divides into single updates
recorded_runs   the runs of solvers inside a fit
history         a sequence that is computed on demand
blackboard      a step written as on a blackboard
proof           the quantities of the perceptron's convergence proofs, with their bounds
"""

from separatrix.textbook.steps.sequence import Steps, steps
from separatrix.textbook.steps.step import Step

__all__ = ["Step", "Steps", "steps"]
