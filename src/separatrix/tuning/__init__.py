"""The choice of the penalty: warm starts along the path, leverages, leave-one-out, and the search over C."""
