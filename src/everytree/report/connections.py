"""Connections to the explorer: those on which nothing is being asked make way for new ones.

    at most MOST_IDLE wait      of more, the one that came first is closed
    what is being answered      is never closed

Whoever may connect, which is every user of this machine, could else hold all of them without a token: a request need
not ever end. Requests are read by h11, which bounds their lines, also where uvicorn would choose another parser.
"""

from __future__ import annotations

import itertools
from typing import Any

__all__ = ["BACKLOG", "MOST_IDLE", "protocol"]

MOST_IDLE = 32  # a browser keeps six
BACKLOG = 16  # taken at once; a few times so many are open before the first are closed

_COUNT = itertools.count()


def protocol() -> Any:
    """Return the protocol of uvicorn's connections."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Bounded(H11Protocol):  # type: ignore[misc, unused-ignore]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.came = next(_COUNT)
            idle = [each for each in self.connections if each.cycle is None or each.cycle.response_complete]
            if len(idle) > MOST_IDLE:
                min(idle, key=lambda each: each.came).transport.abort()

    return Bounded
