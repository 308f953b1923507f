"""The errors everytree raises on purpose, so that a caller can catch all of them with one name.

Each is also the built-in error a Python programmer would expect (``ValueError``, ``RuntimeError``), so code
that knows nothing of everytree still catches them. Every message names the value, what was expected, and the
next step.
"""

from __future__ import annotations

__all__ = ["DataError", "EverytreeError", "LimitReached", "NoTreeError", "QueryError"]


class EverytreeError(Exception):
    """Base of every error that everytree raises on purpose.

    >>> issubclass(DataError, EverytreeError) and issubclass(LimitReached, EverytreeError)
    True
    """


class DataError(EverytreeError, ValueError):
    """The data cannot be used as given: a malformed file, a wrong shape, a value outside its domain."""


class QueryError(EverytreeError, ValueError):
    """The question cannot be answered as asked: constraints that contradict, an empty space."""


class NoTreeError(QueryError):
    """No tree satisfies the query. ``constraints`` names what is too tight.

    Either each of them, relaxed alone, would admit a tree (``together`` is False), or these must be relaxed together.
    """

    def __init__(self, message: str, constraints: tuple[str, ...] = (), together: bool = False) -> None:
        super().__init__(message)
        self.constraints = constraints
        self.together = together


class LimitReached(EverytreeError, RuntimeError):
    """A limit ended the work before there was any answer worth returning.

    ``reason`` is "time", "memory", "stopped" (somebody asked for it), "hopeless" (the work was not even begun), or ""
    where none of these is the whole story.
    """

    def __init__(self, message: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason
