"""The explorer's server: loopback only, a random token on every request, and nothing for strangers.

A page of another site may send requests to this port, and by DNS rebinding even in the name of its own host. So every
request must name this very address as its host (and as its origin, where it has one) and carry the token, which only
the address that ``everytree explore`` prints and the page itself hold.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from everytree.common.limits import watching
from everytree.common.text import clip
from everytree.data.readers import read
from everytree.errors import DataError, EverytreeError
from everytree.report.bodies import MOST_JSON, client_of, message_of, number_of, read_json
from everytree.report.connections import BACKLOG, protocol
from everytree.report.explorer import Explorer
from everytree.report.page import html_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["make_app", "serve"]

MOST_UPLOAD = 2**30
GRACE = 3  # seconds that requests may take to end after Ctrl-C
NEEDS_WEB = 'the explorer needs Starlette and uvicorn: pip install "everytree[web]"'
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


async def in_thread(work: Callable[..., Any], *given: Any) -> Any:
    """Do the work in a thread that the end of the program does not wait for, and return what it returns.

    The end waits for those of Starlette's pool, and one in 20 times for ever: a thread of it that a signal handler's
    exception meets while it starts is never told that it may end.
    """
    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def tell(result: Any, error: BaseException | None) -> None:
        if done.done():  # the request is gone
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def run() -> None:
        try:
            answer: tuple[Any, BaseException | None] = work(*given), None
        except BaseException as error:
            answer = None, error
        try:
            loop.call_soon_threadsafe(tell, *answer)
        except RuntimeError:  # The server has ended: nobody waits.
            if not loop.is_closed():
                raise

    threading.Thread(target=run, daemon=True).start()
    return await done


def make_app(explorer: Explorer, token: str, port: int, folder: Path) -> Starlette:
    """Make the web application; uploads are kept in ``folder``."""
    try:
        from starlette.applications import Starlette
        from starlette.requests import ClientDisconnect
        from starlette.responses import HTMLResponse, JSONResponse
        from starlette.routing import Route
    except ImportError as error:
        raise ImportError(NEEDS_WEB) from error

    hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    def refusal(request: Request) -> str | None:
        host = request.headers.get("host", "")
        if host not in hosts:
            return f"this server answers only to {' and '.join(sorted(hosts))}"
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "this server answers only to its own page"
        given = request.headers.get("x-everytree-token") or (
            request.query_params.get("token", "") if request.method == "GET" else ""
        )
        if not secrets.compare_digest(given.encode("utf-8"), token.encode("ascii")):
            return "the token is missing or wrong; open the address that everytree explore printed"
        return None

    def guarded(work: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            why = refusal(request)
            if why is not None:
                return JSONResponse({"error": why}, 403, HEADERS)
            try:
                answer: Response = await work(request)
                return answer
            except (EverytreeError, OSError, ValueError) as error:
                code = {"code": error.code} if isinstance(error, EverytreeError) else {}
                return JSONResponse({"error": message_of(error)} | code, 400, HEADERS)
            except ClientDisconnect:  # nobody is left to read this
                return JSONResponse({"error": "the request was broken off"}, 400, HEADERS)

        return handle

    async def body(request: Request) -> Any:
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > MOST_JSON:
                raise DataError(f"the question is longer than {MOST_JSON} bytes")
        return read_json(content)

    async def page(request: Request) -> Response:
        text = await in_thread(lambda: html_of(explorer.page(token), connect="'self'"))
        return HTMLResponse(text, headers=HEADERS)

    def client(request: Request) -> str:
        return client_of(request.headers.get("x-everytree-client"))

    def data(request: Request) -> int | None:
        return number_of(request.headers.get("x-everytree-data"))

    async def ask(request: Request) -> Response:
        given = await body(request)
        job = await in_thread(explorer.ask, given, client(request), data(request))
        return JSONResponse(job.told(), headers=HEADERS)

    async def look(request: Request) -> Response:
        given = await body(request)
        number = given.get("id") if isinstance(given, dict) else None
        explorer.now(data(request))
        return JSONResponse(explorer.jobs.of(client(request), number).told(), headers=HEADERS)

    async def node(request: Request) -> Response:
        given = await body(request)
        found = await in_thread(explorer.node, given, data(request))
        return JSONResponse(found, headers=HEADERS)

    async def cancel(request: Request) -> Response:
        explorer.jobs.cancel(client(request))
        return JSONResponse({}, headers=HEADERS)

    async def target(request: Request) -> Response:
        given = await body(request)
        position = given.get("position") if isinstance(given, dict) else None
        opened = explorer.now(data(request))
        names = opened.data.names
        if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position < len(names):
            raise DataError(
                f"position={clip(position)}; expected the position of a column, 0 to {len(names) - 1}"
            )
        await in_thread(explorer.open, opened.data, opened.file, names[position])
        return JSONResponse({}, headers=HEADERS)

    async def upload(request: Request) -> Response:
        name = PurePath(unquote(request.headers.get("x-everytree-name", ""))).name
        suffix = "".join(PurePath(name).suffixes[-2:]) or ".csv"
        plain = suffix.isascii() and suffix.isprintable() and len(suffix) < 20
        draft = folder / f"{secrets.token_hex(8)}{suffix if plain else '.csv'}"
        size = 0
        try:
            with open(draft, "xb") as file:
                async for chunk in request.stream():
                    size += len(chunk)
                    if size > MOST_UPLOAD:
                        raise DataError(f"the file is longer than {MOST_UPLOAD} bytes")
                    file.write(chunk)
            found = await in_thread(_read_named, draft, name)
            try:
                await in_thread(explorer.open, found, name)
            except DataError as error:
                raise error if name in str(error) else DataError(f"{name}: {error}", **error.fields) from None
        finally:
            draft.unlink(missing_ok=True)
        return JSONResponse({}, headers=HEADERS)

    posts = {"ask": ask, "look": look, "node": node, "cancel": cancel, "target": target, "open": upload}
    routes = [Route("/", guarded(page), methods=["GET"])]
    routes += [Route(f"/api/{name}", guarded(work), methods=["POST"]) for name, work in posts.items()]
    return Starlette(routes=routes)


def _read_named(path: Path, name: str) -> Any:
    """Read a file; an error calls it by the name that its owner knows."""
    try:
        return read(path)
    except DataError as error:
        raise DataError(str(error).replace(os.fspath(path), name)) from None


class _Terminated(SystemExit):
    """Raised at SIGTERM, so that the program ends in order and with the exit code that a shell expects."""


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does, by an exception, and not the whole process at once.

    uvicorn catches both signals, ends its requests, and raises them again for the handlers that were there before.
    """

    def terminated(number: int, frame: FrameType | None) -> None:
        raise _Terminated(128 + number)

    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminated) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


def serve(
    explorer: Explorer, port: int = 0, query: str = "", started: Callable[[str], None] | None = None
) -> None:
    """Serve the explorer on 127.0.0.1 until Ctrl-C; ``started`` is called with the address, which holds the token.

    Port 0 is any that is free; ``query`` is what the page puts after the # of its address. Ctrl-C raises
    ``KeyboardInterrupt`` and SIGTERM ``SystemExit(143)``, both after every question has been asked to stop.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise ImportError(NEEDS_WEB) from error

    token = secrets.token_urlsafe(24)
    with (
        _ending_in_order(),
        watching() as everything,  # files that are being read, too
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener,
        tempfile.TemporaryDirectory() as folder,
    ):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        port = listener.getsockname()[1]
        app = make_app(explorer, token, port, Path(folder))
        # A warning for each request that is none would let whoever connects fill the terminal, without a token.
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, ws="none", lifespan="off",
            timeout_graceful_shutdown=GRACE, http=protocol(), backlog=BACKLOG,
        )  # fmt: skip
        try:
            if started is not None:
                listener.listen(BACKLOG)
                started(
                    f"http://127.0.0.1:{port}/?token={token}" + (f"#{query.lstrip('#')}" if query else "")
                )
            server = uvicorn.Server(config)
            ended = server.handle_exit

            def at_signal(number: int, frame: FrameType | None) -> None:
                """Stop files that are being read at once; the requests that wait for them then end by themselves."""
                everything.stop()
                ended(number, frame)

            server.handle_exit = at_signal
            server.run(sockets=[listener])
        finally:
            explorer.jobs.cancel_all()
