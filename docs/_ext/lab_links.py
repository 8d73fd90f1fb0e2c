"""Links into the lab. The role ``lab`` makes them from a text and the part of an address that follows the server's.

    {lab}`the outlier <#plane?v=1&p=outlier>`

The server's address is that of ``separatrix lab`` with its default port.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from separatrix.classifiers import OFFERED, hyperparameters
from separatrix.cli.lab import DEFAULT_PORT
from separatrix.core.base.errors import SeparatrixError
from separatrix.teach.lab.app import LAB_ROLE
from separatrix.teach.lab.pages import PAGES
from separatrix.teach.lab.points import points

# The parameters that a page has besides points, models and settings. A page that is not here may have any.
OWN = {
    "plane": {"f"},
    "step": {"k", "eta", "batch_size"},
    "losses": {"l", "at", "x"},
    "fisher": {"a", "t"},
    "classes": set[str](),
}
COMMON = {"v", "p", "d", "m"}
# The pages on which the parameter p does not name points.
WITHOUT_POINTS = {"information", "data"}


def address(link: str) -> str:
    """The address of a link such as "#step?v=1&p=xor" while the lab is running.

    >>> address("#losses")
    'http://127.0.0.1:8157/#losses'
    """
    return f"http://127.0.0.1:{DEFAULT_PORT}/{link}"


def links(text: str) -> list[str]:
    """The links into the lab in the text of a page.

    >>> links("**Try** {lab}`XOR <#plane?v=1&p=xor>` and `other` things.")
    ['#plane?v=1&p=xor']
    """
    return [found["link"] for found in LAB_ROLE.finditer(text)]


def complaints(link: str) -> Iterator[str]:
    """What a link names that the lab does not have.

    >>> list(complaints("#plane?v=1&p=xor&m=logistic&C=10"))
    []
    >>> list(complaints("#step?p=nonsense"))[0].split(";")[0]
    "points: there is no preset 'nonsense'"
    >>> list(complaints("#plan")), list(complaints("#plane?m=forest&depth=3"))
    (["there is no page 'plan'"], ["there is no model 'forest'", "there is no parameter 'depth'"])
    """
    page, _, query = link.removeprefix("#").partition("?")
    given = dict(parse_qsl(query, strict_parsing=bool(query)))
    if page not in {one.name for one in PAGES}:
        yield f"there is no page {page!r}"
    models = given["m"].split(",") if "m" in given else []
    yield from (f"there is no model {name!r}" for name in models if name not in OFFERED)
    if "p" in given and page not in WITHOUT_POINTS:
        moved = given["d"].replace(":", "=").split(";") if "d" in given else []
        try:
            points(";".join([given["p"], *moved]))
        except SeparatrixError as error:
            yield str(error)
    if page in OWN:
        settings = {one for name in models if name in OFFERED for one in hyperparameters(name)}
        known = COMMON | OWN[page] | settings | {"base"}
        yield from (f"there is no parameter {key!r}" for key in given if key.partition(".")[0] not in known)


def _role(name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any) -> tuple[list[Any], list[Any]]:
    """A reference to the lab, from "words <#link>"."""
    from docutils import nodes

    words, _, link = text.removesuffix(">").partition(" <")
    title = "Opens if separatrix lab is running"
    return [nodes.reference(rawtext, words, refuri=address(link), classes=["lab"], reftitle=title)], []


def setup(app: Any) -> dict[str, bool]:
    """Register the role."""
    app.add_role("lab", _role)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
