"""The pages of the lab, in the order of the navigation, and links to them. A new page is one line here.

A link such as ``#plane?v=1&m=least-squares,logistic&p=outlier&d=20:8,-2`` is read as ``static/link.js`` reads it. The
pages tell what they do not understand in a link and show the rest. Here such a link is refused, since what is made of
it has no reader who could tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl

from separatrix.classifiers import OFFERED, hyperparameters
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.teach.lab.requests import Request
from separatrix.teach.lab.shown_models import bases, chosen

# --- Pages


@dataclass(frozen=True)
class Page:
    """A page: its title, and its name in links and modules, such as ``page_plane.py`` and ``static/plane.js``."""

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
        module = import_module(f"separatrix.teach.lab.page_{page.name}")
        found |= {f"{page.name}.{name}": function for name, function in module.REQUESTS.items()}
    return found


# --- Links

LINK_VERSION = "1"
# Longer links are refused, in characters.
LONGEST_LINK = 150_000
# Parameters that all pages share: the version, the models, and the points.
SHARED = ("v", "m", "p", "d")


@dataclass(frozen=True)
class PageLink:
    """A link: the name of a page, and its parameters."""

    page: str
    parameters: Mapping[str, str]

    def __str__(self) -> str:
        return f"#{self.page}?" + "&".join(f"{key}={value}" for key, value in self.parameters.items())

    def points(self, preset: str) -> str:
        """The points as ``sx.lab.points`` reads them.

        >>> link("#plane?p=outlier&d=20:8,-2.5;3:1,0").points("separable")
        'outlier;20=8,-2.5;3=1,0'
        """
        moved = self.parameters.get("d")
        return ";".join([self.parameters.get("p", preset), *([moved.replace(":", "=")] if moved else [])])

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A parameter that is a number.

        >>> link("#fisher?a=30").number("a", 20, -360, 360)
        30.0
        """
        text = self.parameters.get(name, str(default))
        try:
            found = float(text)
        except ValueError:
            found = float("nan")
        if not low <= found <= high:
            raise refused(f"{name} is {text!r}", f"give a number from {low:g} to {high:g}")
        return found

    def allow(self, names: Collection[str]) -> None:
        """Refuse parameters other than these.

        >>> link("#fisher?colour=red").allow(["v", "p"])
        Traceback (most recent call last):
        separatrix.core.base.errors.ParameterError: link: the page fisher knows no 'colour'; leave it out.
        """
        for key in self.parameters:
            if key not in names:
                raise refused(f"the page {self.page} knows no {key!r}", "leave it out")

    def models(self, default: str, most: int, others: Collection[str] = ()) -> list[dict[str, Any]]:
        """The models as the requests take them; ``others`` are the page's own parameters.

        ``C=10`` is a setting of all models that have it, ``C.2=10`` one of the second model.

        >>> link("#plane?m=lda,logistic&C.2=10").models("lda", 3)[1]
        {'name': 'logistic', 'settings': {'C': '10'}, 'base': None}
        """
        names = self.parameters.get("m", default).split(",")
        for name in names:
            if name not in OFFERED:
                raise refused(f"there is no model {name!r}", f"choose {', '.join(OFFERED)}")
        if len(names) > most:
            raise refused(f"it has {len(names)} models", f"give at most {most}")
        found: list[dict[str, Any]] = [{"name": name, "settings": {}, "base": None} for name in names]
        for key, value in self.parameters.items():
            if key not in SHARED and key not in others:
                self._set(found, key, value)
        for one in found:
            try:  # The fit reports values that a classifier does not allow.
                chosen(one)
            except InputError as error:
                raise refused(f"{error.argument} of {one['name']}: {error.problem}", error.remedy) from error
        return found

    def _set(self, models: list[dict[str, Any]], key: str, value: str) -> None:
        parameter, _, place = key.partition(".")
        meant = models if not place else [one for k, one in enumerate(models, 1) if str(k) == place]
        used = False
        for one in meant:
            if parameter == "base" and value in bases(one["name"]):
                one["base"], used = value, True
            elif parameter in _settings(one["name"]):
                one["settings"][parameter], used = value, True
        if not used:
            raise refused(f"the page {self.page} knows no {key!r} with its models", "leave it out")


def link(text: str) -> PageLink:
    """A link as it is copied from the lab, with or without the address before it.

    >>> link("http://127.0.0.1:8157/#step?v=1&m=perceptron&k=4")
    PageLink(page='step', parameters={'v': '1', 'm': 'perceptron', 'k': '4'})
    >>> link("step").page
    'step'
    """
    if len(text) > LONGEST_LINK:
        raise refused(f"it has {len(text)} characters", f"give at most {LONGEST_LINK}")
    page, _, query = text.rpartition("#")[2].partition("?")
    known = [one.name for one in PAGES]
    if page not in known:
        raise refused(f"the lab has no page {page[:40]!r}", f"begin it with {', '.join('#' + name for name in known)}")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=100)
    except ValueError:
        raise refused("its part after ? is not name=value&name=value", "copy the whole link from the lab") from None
    parameters = dict(pairs)
    if parameters.get("v", LINK_VERSION) != LINK_VERSION:
        raise refused(f"it has the version {parameters['v']!r}", f"give one of version {LINK_VERSION}")
    return PageLink(page, parameters)


def refused(problem: str, remedy: str) -> ParameterError:
    """The error about a link."""
    return ParameterError("link", problem, remedy)


def _settings(name: str) -> set[str]:
    """The settings that a model of a link may have: those of a scheme are the settings of what it is made of."""
    return {one for base in (bases(name) or [name]) for one in hyperparameters(base)}
