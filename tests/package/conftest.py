"""Importing ``register_nearest_mean`` changes the registry, so only the tests that ask for it may import it."""

collect_ignore = ["register_nearest_mean.py"]
