"""Choosing the penalty: warm starts along a path, leverages, leave-one-out, the search over C."""
