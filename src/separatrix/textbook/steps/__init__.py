"""Every update of a fit, one by one, in the units of the columns."""

from separatrix.textbook.steps.sequence import Steps, steps
from separatrix.textbook.steps.step import Step

__all__ = ["Step", "Steps", "steps"]
