"""The requests of each page: ``REQUESTS`` maps their names to functions from a payload to an answer."""
