"""Certificates, and the claims behind them: what each kind of fit says of its weights, and how to recompute it."""
