"""Every solver in the registry obeys every law that applies to it."""

import pytest

from separatrix.core.solvers.registry import SOLVERS

from ...laws import solver_laws

LAWS = solver_laws(SOLVERS)


@pytest.mark.parametrize(("check", "solver"), [(c, s) for _, c, s in LAWS], ids=[i for i, _, _ in LAWS])
def test_law(check, solver):
    check(solver)
