"""The rows of a table, wherever they live: blocks, sums over them, samples, views, streams."""
