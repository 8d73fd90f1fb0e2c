"""The report: a fitted model on one HTML page, in a single file without scripts."""
