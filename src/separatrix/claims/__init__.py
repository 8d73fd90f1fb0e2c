"""Claims: what each kind of fit says of its weights, in a form that can be recomputed from the rows."""
