"""The lab: interactive pages in the browser that run the classifiers of this package (``separatrix lab``).

The server listens on this machine only. The pages are ES modules in ``static/``; every number that they show is
computed here. A page is one module in ``static/``, one module in ``requests/`` and one line in ``pages.PAGES``. If the
module in ``requests/`` has a function ``recorded``, the page can be recorded (``recordings``, ``recorder``).

Only ``app``, ``guard``, ``session``, ``serve`` and the routes need the extra ``lab`` (Starlette, uvicorn, websockets,
markdown-it-py), and only ``notebook`` needs the extra ``notebook`` (anywidget). ``embedded/`` has the ES modules of
pages without a server.
"""

from separatrix.teach.lab.points import points
from separatrix.teach.lab.recorder import record, widget

__all__ = ["points", "record", "widget"]
