"""Run the server of the lab until it is interrupted."""

from __future__ import annotations

import socket
import sys
import warnings
import webbrowser
from collections.abc import Callable
from threading import Thread, Timer

from separatrix.core.base.errors import ParameterError

# The page sends at most 20,000 points in one message.
LARGEST_MESSAGE = 2**20
# A thread gives up the interpreter after this time, so that a long fit delays the fit of another page only a little.
SECONDS_BETWEEN_THREADS = 0.001


def bound(port: int) -> socket.socket:
    """A socket on 127.0.0.1, on this port, or on any free port for 0."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # From now on, connections wait until the server is ready.
    except OSError as error:
        listening.close()
        problem = f"port {port} cannot be used ({error.strerror})"
        raise ParameterError("port", problem, "give another one, or 0 for any that is free") from None
    return listening


def serve(
    port: int, browser: bool, tell: Callable[[str], None], data: str | None = None, target: str | None = None
) -> None:
    """Start the server, tell its address, and open it in the browser if asked; with ``data``, on the page Your data."""
    import uvicorn

    from separatrix.teach.lab.app import Launch, application
    from separatrix.teach.lab.recorder import opening
    from separatrix.teach.lab.uploaded_tables import TABLES

    warnings.simplefilter("ignore")  # What a fit has to say is in its certificate, which the page shows.
    sys.setswitchinterval(SECONDS_BETWEEN_THREADS)
    with bound(port) as listening:
        launch = Launch(listening.getsockname()[1])
        config = uvicorn.Config(
            application(launch),
            log_level="warning",
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,  # On one machine, compressing takes longer than sending.
            server_header=False,
            lifespan="off",
        )
        Thread(target=opening, daemon=True).start()  # Importing all classifiers takes longer than the browser's start.
        address = launch.address
        if data is not None:
            address += f"#data?t={TABLES.add(data, data, target).id}"
        tell(address)
        if browser:
            Timer(0.3, webbrowser.open, [address]).start()
        try:
            uvicorn.Server(config).run(sockets=[listening])  # It passes Ctrl-C and SIGTERM on when it has ended.
        finally:
            TABLES.close()
