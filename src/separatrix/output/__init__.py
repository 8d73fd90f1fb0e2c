"""What goes out: exports to SQL, ONNX and Python, plots, the report."""
