"""Account: the bytes that a limit of memory allows, and how many of them are held."""

from __future__ import annotations

from everytree.common.limits import Limits, in_bytes
from everytree.errors import Argument, LimitReached, Wording

__all__ = ["Account"]


class Account:
    """One limit of memory for work of many parts.

    >>> account = Account(1000)
    >>> account.hold(600)
    >>> account.left, account.fits(401)
    (400, False)
    """

    def __init__(self, memory_limit: int | None) -> None:
        self.limit = Limits(memory_limit=memory_limit).most_bytes
        self.held = 0

    @property
    def left(self) -> int:
        """The bytes that nothing holds yet; never below zero."""
        return max(0, self.limit - self.held)

    def fits(self, n: int) -> bool:
        """Return whether so many bytes more are within the limit."""
        return self.held + n <= self.limit

    def hold(self, n: int) -> None:
        """Count bytes that are in use from here on; a negative number is given back."""
        self.held += n

    def need(self, n: int, what: str, instead: str) -> None:
        """Raise unless so many bytes more are within the limit: ``what`` takes them, and ``instead`` takes fewer."""
        if not self.fits(n):
            raise LimitReached(
                Wording(
                    f"memory limit reached: {what} would take {in_bytes(self.held + n)} in all, and the limit is "
                    f"{in_bytes(self.limit)}; give a larger ",
                    Argument("memory_limit"),
                    f", or {instead}",
                ),
                "memory",
            )
