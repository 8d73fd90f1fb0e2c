"""Whether linear scores separate the classes, with evidence that is checked without a solver."""
