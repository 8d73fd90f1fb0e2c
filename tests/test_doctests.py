"""Every public class and function shows itself: a doctest in each."""

import inspect

import pytest

import separatrix as sx
from separatrix import geometry, information, losses, solvers
from separatrix.links import LINKS


def _things():
    """What the package, its registries and its modules of functions offer by name."""
    found = {f"sx.{name}": getattr(sx, name) for name in sx.__all__}
    for module in (geometry, information, sx.decision):
        of_its_own = inspect.getmembers(module, inspect.isfunction)
        found |= {f"{module.__name__}.{name}": f for name, f in of_its_own if not name.startswith("_")}
    for registry in (solvers.SOLVERS, losses.LOSSES, LINKS):
        found |= {type(thing).__name__: type(thing) for thing in registry.values()}
    found |= {kind.__name__: kind for kind in (solvers.Kozinec, solvers.NearestPoint, solvers.run, solvers.states)}
    mine = {name: thing for name, thing in found.items() if getattr(thing, "__module__", "").startswith("separatrix")}
    return {name: thing for name, thing in mine.items() if inspect.isclass(thing) or inspect.isfunction(thing)}


THINGS = _things()


@pytest.mark.parametrize("name", sorted(THINGS))
def test_has_a_doctest(name):
    thing = THINGS[name]
    assert ">>>" in (thing.__doc__ or ""), f"{name} has no doctest"
