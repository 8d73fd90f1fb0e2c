"""Certificates, and the claims behind them: what each kind of fit states about its weights, and how to recompute it."""
