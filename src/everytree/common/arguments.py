"""Checks of arguments: one message for each kind of mistake, with the name, the value and what was expected.

The message of a refused argument is ``name=value; expected …``, and the error has the name, the value and the
expectation as fields.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from everytree.errors import Argument, EverytreeError, QueryError, Wording

__all__ = ["MOST", "argument", "generator", "number", "refused", "renamed", "truth", "whole"]

MOST = 2**31 - 1  # the largest count that the core takes

Kind = TypeVar("Kind", bound=EverytreeError)
Asked = TypeVar("Asked", bound=Callable[..., Any])


def argument(name: str, value: Any, shown: str | None = None) -> Argument:
    """Make an argument to name in a message; ``shown`` is its value as Python code, where repr says it badly.

    >>> argument("prior", "flat")
    Argument(parameter='prior', shown="'flat'", plain='flat')
    """
    shown = repr(value) if shown is None else shown
    plain = value if isinstance(value, str) else str(value).lower() if value is None else shown
    return Argument(name, shown, plain)


def refused(
    kind: type[Kind],
    name: str,
    value: Any,
    expected: str = "",
    *,
    says: str | None = None,
    shown: str | None = None,
    code: str = "parameter",
) -> Kind:
    """Make the error for an argument with a value that it cannot have; the caller raises it.

    Parameters
    ----------
    kind : type
        QueryError for a question, DataError for data.
    name, value
        The argument, by its name in the library.
    expected : str
        What it should be: the message goes on with "; expected …".
    says : str, optional
        How the message goes on instead.
    shown : str, optional
        The value as Python code, where repr says it badly.
    code : str
        The code of the error.

    >>> error = refused(QueryError, "by", "width", "size, leaves or depth")
    >>> str(error), error.parameter, error.value, error.expected
    ("by='width'; expected size, leaves or depth", 'by', 'width', 'size, leaves or depth')
    """
    rest = Wording("; expected ", expected) if says is None else says
    message = Wording(argument(name, value, shown), rest)
    return kind(message, code=code, parameter=name, value=value, expected=str(expected))


def whole(name: str, value: Any, least: int, *, none: str | None = None) -> int:
    """Return ``value`` as an int between ``least`` and 2^31 − 1; whole floats and numpy integers are fine."""
    expected = f"a whole number ≥ {least}" + (f", or None for {none}" if none else "")
    try:
        if isinstance(value, bool):
            raise TypeError
        exact = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise refused(QueryError, name, value, expected) from None
    if exact < least:
        raise refused(QueryError, name, value, expected)
    if exact > MOST:
        expected += " and below 2^31"
        raise refused(QueryError, name, value, expected, says=f" is too large; expected {expected}")
    return exact


def number(name: str, value: Any, low: float, high: float, *, example: float, closed: bool = False) -> float:
    """Return ``value`` as a float with low < value < high, or low ≤ value < high if ``closed``."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        exact = float(value)
    except (TypeError, ValueError, OverflowError):
        exact = math.nan
    if not (low < exact < high or (closed and exact == low)):
        span = f"{'≥' if closed else 'above'} {low:g}" if math.isfinite(low) else ""
        if math.isfinite(high):
            span = f"from {low:g} to {high:g}" if closed else f"between {low:g} and {high:g}"
        raise refused(
            QueryError, name, value, f"a finite number{' ' + span if span else ''}, such as {example:g}"
        )
    return exact


def truth(name: str, value: Any) -> bool:
    """Return ``value`` as a bool; 0 and 1 are fine, and no text is, as every one but the empty one would be true.

    >>> truth("laplace", 1)
    True
    """
    if isinstance(value, bool | int | float | np.bool_ | np.number) and value in (0, 1):
        return bool(value)
    raise refused(QueryError, name, value, "True or False")


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator of a ``random_state``: a seed, a generator to go on with, or None for a new one."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        expected = "a whole number ≥ 0, a numpy Generator, or None"
        raise refused(QueryError, "random_state", random_state, expected) from None


def renamed(**words: str) -> Callable[[Asked], Asked]:
    """Make a function understand keywords under another name.

    Parameters
    ----------
    **words : str
        For each other name, the parameter that it stands for.

    Returns
    -------
    Callable
        The decorator of the function.

    Examples
    --------
    >>> @renamed(seed="random_state")
    ... def draw(random_state=None):
    ...     return random_state
    >>> draw(seed=1)
    1
    >>> draw(seed=1, random_state=2)
    Traceback (most recent call last):
    everytree.errors.QueryError: random_state=2 and seed=1 are two values of one parameter; give random_state alone
    """

    def wrapped(function: Asked) -> Asked:
        @functools.wraps(function)
        def understood(*args: Any, **keywords: Any) -> Any:
            for name, ours in words.items():
                if name not in keywords:
                    continue
                value = keywords.pop(name)
                if keywords.setdefault(ours, value) != value:
                    raise QueryError(
                        f"{ours}={keywords[ours]!r} and {name}={value!r} are two values of one parameter; give {ours} "
                        "alone",
                        code="parameter",
                        parameter=ours,
                        value=keywords[ours],
                    )
            return function(*args, **keywords)

        return cast(Asked, understood)

    return wrapped
