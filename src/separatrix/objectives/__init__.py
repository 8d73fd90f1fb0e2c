"""The objective that a fit minimises, its derivatives, and bounds on the distance to its minimum."""
