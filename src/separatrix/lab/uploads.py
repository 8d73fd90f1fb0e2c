"""The routes of the page Your data: a file comes in, and files that were made go out."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from separatrix.base.errors import SeparatrixError
from separatrix.lab.request_registry import encoded
from separatrix.lab.tables import LARGEST_UPLOAD, TABLES, base_name
from separatrix.lab.wording import error_on_page
from separatrix.table.formats import CalledFile

# A file's name is shown on the page. File systems allow 255 bytes.
LONGEST_FILE_NAME = 255


async def upload(request: HttpRequest) -> Response:
    """Store the body as a table. The name is text for people; only its extension says how the file is read."""
    name = request.query_params.get("name", "")[-LONGEST_FILE_NAME:]
    try:
        number, path = TABLES.uploaded(name)
    except SeparatrixError as error:
        return _told({"error": error_on_page(error)})
    try:
        await _stored(request, path)
    except BaseException:  # The upload is too large, or was interrupted.
        path.unlink(missing_ok=True)
        raise
    shown = base_name(name)
    return _told({"id": TABLES.add(shown, CalledFile(str(path), shown), number=number).id})


def _told(answer: dict[str, str]) -> Response:
    return Response(encoded(answer), media_type="application/json")


async def _stored(request: HttpRequest, path: Path) -> None:
    """Write the body to a new file that only this user can read."""
    path.touch(mode=0o600, exist_ok=False)
    with path.open("wb") as file:
        async for piece in request.stream():
            file.write(piece)


async def made(request: HttpRequest) -> Response:
    """A file that was made: a model to download, or a report to open."""
    found = TABLES.made(request.path_params["number"])
    if found is None:
        return PlainTextResponse("The server no longer has this file. Make it again.\n", 404)
    return Response(found.content, media_type=found.type, headers=found.headers)


ROUTES = (
    Route("/tables", upload, methods=["POST"], max_body_size=LARGEST_UPLOAD),
    Route("/made/{number}", made),
)
