"""How rows come in: formats, types, encoder, text, scan, cache."""
