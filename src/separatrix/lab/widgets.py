"""``sx.lab.widget``: it loads what a notebook needs when it is called."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from separatrix.base.errors import ParameterError
from separatrix.lab.page_links import link as parsed_link
from separatrix.lab.page_links import refused
from separatrix.lab.recorder import NEVER

if TYPE_CHECKING:
    from separatrix.lab.notebook import LabWidget

# The heights that a cell may have, in pixels.
LEAST_HEIGHT, MOST_HEIGHT = 200, 5000


def widget(link: str = "#plane", *, height: int = 900) -> LabWidget:
    """Show the pages of the lab in a cell of a notebook.

    The fits are computed by the kernel of the notebook. It needs the extra ``separatrix[notebook]``.

    Parameters
    ----------
    link : str, default "#plane"
        What to show first: a link of the lab, such as "#step?m=perceptron", with or without the address before it.
    height : int, default 900
        The height of the cell in pixels.

    Returns
    -------
    LabWidget
        The widget. Its ``link`` is the link to what the page shows at present.

    Raises
    ------
    ParameterError
        The link names no page, or anywidget is not installed.

    Examples
    --------
    >>> import separatrix as sx
    >>> widget = sx.lab.widget("#plane?m=lda,logistic&p=overlapping")
    >>> widget.link
    '#plane?m=lda,logistic&p=overlapping'
    """
    asked = parsed_link(link)
    if asked.page in NEVER:
        raise refused(f"the page {asked.page} is not shown in notebooks", "read the table in the notebook itself")
    if not isinstance(height, int) or not LEAST_HEIGHT <= height <= MOST_HEIGHT:
        raise ParameterError("height", f"got {height!r}", f"give a number from {LEAST_HEIGHT} to {MOST_HEIGHT}")
    if find_spec("anywidget") is None:
        raise ParameterError("widget", "it needs anywidget, which is not installed", "install separatrix[notebook]")
    from separatrix.lab.notebook import LabWidget

    return LabWidget(str(asked), height)
