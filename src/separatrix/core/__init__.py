"""What a fit is: rows, losses, the problem and its bounds, solvers, certificates, proofs, moments, geometry."""
