"""Every solver in the registry, and L-BFGS with every preconditioner, obeys every law that applies to it."""

import pytest

from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Chord, Diagonal, Identity, Kronecker, Sample
from separatrix.core.solvers.proximal import Proximal
from separatrix.core.solvers.registry import SOLVERS

from ...laws import solver_laws

PRECONDITIONED = {kind.name: LBFGS(kind()) for kind in (Chord, Diagonal, Identity, Kronecker, Sample)}
LAWS = solver_laws({**SOLVERS, **PRECONDITIONED, "working set": Proximal(first=2)})


@pytest.mark.parametrize(("check", "solver"), [(c, s) for _, c, s in LAWS], ids=[i for i, _, _ in LAWS])
def test_law(check, solver):
    check(solver)
