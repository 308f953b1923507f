"""The errors everytree raises on purpose, so that a caller can catch all of them with one name.

Each is also the built-in error a Python programmer would expect (``ValueError``, ``RuntimeError``), so code
that knows nothing of everytree still catches them. Every message names the value, what was expected, and the
next step.

A program reads the fields of an error, never its prose. Where a message names arguments of the library, it is a
``Wording``: a text that knows which of its parts are arguments and next steps, so that another interface, such as the
command line, can say the same in its own words.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "Argument",
    "DataError",
    "EverytreeError",
    "LimitReached",
    "NoTreeError",
    "QueryError",
    "Spelling",
    "Step",
    "Wording",
    "with_spelling",
]


class Argument(NamedTuple):
    """An argument inside a message: ``max_depth=3``, or its name alone.

    Attributes
    ----------
    parameter : str
        The name of the argument in the library.
    shown : str or None
        The value as Python code; None where the text means the parameter alone.
    plain : str or None
        The value as a person types it.
    """

    parameter: str
    shown: str | None = None
    plain: str | None = None

    def __str__(self) -> str:
        return self.parameter if self.shown is None else f"{self.parameter}={self.shown}"


class Step(NamedTuple):
    """A next step inside a message, which another interface may word in another way.

    Attributes
    ----------
    code : str
        A short stable word for the step, such as "no-header".
    text : str
        The step in the words of the library.
    about : str
        What the step is done to, such as the name of a column.
    """

    code: str
    text: str
    about: str = ""

    def __str__(self) -> str:
        return self.text


# A spelling says an argument or a step in the words of an interface; None leaves it in the words of the library.
Spelling: TypeAlias = Callable[[Argument | Step], str | None]


class Wording(str):
    """A text that knows which of its parts are arguments and steps, so that another interface can word these itself.

    >>> text = Wording("no tree exists; try ", Argument("max_depth", "3", "3"))
    >>> text
    'no tree exists; try max_depth=3'
    >>> text.with_spelling(lambda part: f"--max-depth {part.plain}")
    'no tree exists; try --max-depth 3'
    """

    parts: tuple[str | Argument | Step, ...]

    def __new__(cls, *parts: str | Argument | Step) -> Wording:
        flat: list[str | Argument | Step] = []
        for part in parts:
            flat += part.parts if isinstance(part, Wording) else (part,)
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = tuple(flat)
        return made

    def with_spelling(self, spelling: Spelling) -> str:
        """Return the text with its arguments and steps as ``spelling`` words them."""
        return "".join(
            part if isinstance(part, str) else str(part) if (said := spelling(part)) is None else said
            for part in self.parts
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Wording, self.parts


def with_spelling(text: str, spelling: Spelling) -> str:
    """Return a text with its arguments and steps as ``spelling`` words them; a plain text is returned as it is."""
    return text.with_spelling(spelling) if isinstance(text, Wording) else text


class EverytreeError(Exception):
    """Base of every error that everytree raises on purpose.

    Parameters
    ----------
    message : str
        What went wrong, what was expected, and the next step.
    code : str, optional
        A short stable word for the kind of mistake; by default that of the class.
    parameter : str, optional
        The name of the argument that is wrong.
    value : object, optional
        What was given for it.
    expected : str, optional
        What was expected instead.

    Attributes
    ----------
    code : str
        A short stable word for the kind of mistake: "parameter" (an argument has a value that it cannot have),
        "unknown-column", "missing-values", "query-text", "no-tree", "limit"; else "data" or "query".
    parameter : str or None
        The name of the argument that is wrong, where it is one argument.
    value : object
        What was given for it.
    expected : str
        What was expected instead.

    Examples
    --------
    >>> issubclass(DataError, EverytreeError) and issubclass(LimitReached, EverytreeError)
    True
    """

    code: str = ""
    parameter: str | None = None
    value: Any = None
    expected: str = ""

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "",
        parameter: str | None = None,
        value: Any = None,
        expected: str = "",
    ) -> None:
        super().__init__(message)
        if code:
            self.code = code
        self.parameter, self.value, self.expected = parameter, value, expected

    @property
    def wording(self) -> str:
        """The message; where it is a ``Wording``, it knows its arguments and steps."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)

    def message_for(self, spelling: Spelling) -> str:
        """Return the message in the words of another interface, such as the command line.

        Parameters
        ----------
        spelling : callable
            A function from an argument or a step of the message to its text; None leaves it in the words of the
            library.

        Returns
        -------
        str
            The message with these texts.

        Examples
        --------
        >>> error = QueryError(Wording(Argument("k", "0", "0"), "; expected a whole number ≥ 1"), parameter="k")
        >>> str(error), error.message_for(lambda part: f"--trees {part.plain}")
        ('k=0; expected a whole number ≥ 1', '--trees 0; expected a whole number ≥ 1')
        """
        return with_spelling(self.wording, spelling)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields ``code``, ``parameter``, ``value`` and ``expected``, for an error that repeats this one."""
        return {
            "code": self.code,
            "parameter": self.parameter,
            "value": self.value,
            "expected": self.expected,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error for another process; a value that cannot be pickled is replaced by its text."""
        fields = dict(self.__dict__)
        try:
            pickle.dumps(fields.get("value"))
        except Exception:
            fields["value"] = repr(fields["value"])
        return type(self), self.args, fields


class DataError(EverytreeError, ValueError):
    """The data cannot be used as given: a malformed file, a wrong shape, a value outside its domain.

    Parameters
    ----------
    message : str
        What went wrong, what was expected, and the next step.
    code : str, optional
        A short stable word for the kind of mistake, by default "data".
    parameter : str, optional
        The name of the argument that is wrong.
    value : object, optional
        What was given for it.
    expected : str, optional
        What was expected instead.
    """

    code = "data"


class QueryError(EverytreeError, ValueError):
    """The question cannot be answered as asked: constraints that contradict, an empty space.

    Parameters
    ----------
    message : str
        What went wrong, what was expected, and the next step.
    code : str, optional
        A short stable word for the kind of mistake, by default "query".
    parameter : str, optional
        The name of the argument that is wrong.
    value : object, optional
        What was given for it.
    expected : str, optional
        What was expected instead.
    """

    code = "query"


class NoTreeError(QueryError):
    """No tree satisfies the query.

    Parameters
    ----------
    message : str
        What went wrong, and what to relax.
    constraints : tuple of str
        The names of the constraints that are too tight.
    together : bool
        False if each of them, relaxed alone, would admit a tree; True if they must be relaxed together.
    """

    code = "no-tree"

    def __init__(self, message: str, constraints: tuple[str, ...] = (), together: bool = False) -> None:
        super().__init__(message)
        self.constraints = constraints
        self.together = together


class LimitReached(EverytreeError, RuntimeError):
    """A limit ended the work before there was any answer worth returning.

    Parameters
    ----------
    message : str
        Which limit was reached, and what to do.
    reason : str
        "time", "memory", "stopped" (somebody asked for it), "hopeless" (the work was not even begun), or "" where none
        of these is the whole story.
    """

    code = "limit"

    def __init__(self, message: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason
