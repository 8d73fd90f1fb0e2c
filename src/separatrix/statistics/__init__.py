"""How good, how certain, what matters: evaluation, decisions, inference, effects, diagnostics, checks."""
