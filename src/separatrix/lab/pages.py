"""The pages of the lab, in the order of the navigation. A new page is one line here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from separatrix.lab.request_registry import Request


@dataclass(frozen=True)
class Page:
    """A page: its name in links and of its two modules (``requests/NAME.py``, ``static/NAME.js``), and its title."""

    name: str
    title: str


PAGES = (
    Page("plane", "Plane"),
    Page("step", "Step"),
    Page("weights", "Weight space"),
    Page("losses", "Losses"),
    Page("fisher", "Fisher"),
    Page("classes", "Many classes"),
    Page("basis", "Basis"),
    Page("information", "Information"),
    Page("data", "Your data"),
)


@cache
def requests() -> dict[str, Request]:
    """The requests of all pages by their full names, such as "plane.fit"."""
    found: dict[str, Request] = {}
    for page in PAGES:
        module = import_module(f"separatrix.lab.requests.{page.name}")
        found |= {f"{page.name}.{name}": function for name, function in module.REQUESTS.items()}
    return found
