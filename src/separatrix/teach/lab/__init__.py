"""The lab: interactive pages in the browser that run the classifiers of this package (``separatrix lab``).

The server listens on this machine only. The pages are ES modules in ``static/``; every number that they show is
computed here. A page is one ES module (``static/plane.js``), one Python module (``page_plane.py``) and one line in
``pages.PAGES``. If the Python module has a function ``recorded``, the page can be recorded (``recorder.py``). The ES
modules in ``embedded/`` are those of pages without a server.

Only ``app.py`` and ``serve.py`` need the extra ``lab`` (Starlette, uvicorn, websockets, markdown-it-py), and only
``notebook.py`` needs the extra ``notebook`` (anywidget).
"""

from separatrix.teach.lab.points import points
from separatrix.teach.lab.recorder import record, widget

__all__ = ["points", "record", "widget"]
