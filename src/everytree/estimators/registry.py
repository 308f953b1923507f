"""The methods of the command line: a word for a classifier, and one line about it.

A classifier says ``@method(word, about)``. Whatever lists or takes methods (``everytree methods``, ``fit --method``,
``compare --methods``) asks here, so that a new one is known to all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

__all__ = ["Method", "forget_method", "method", "methods"]

Made = TypeVar("Made", bound=type)


class Method(NamedTuple):
    """A classifier by its word: the class, one line about it, and its place in lists."""

    word: str
    made: Any
    about: str
    place: int

    @property
    def classifier(self) -> str:
        """The name of the class."""
        return str(self.made.__name__)


_METHODS: dict[str, Method] = {}


def method(word: str, about: str, place: int = 100) -> Callable[[Made], Made]:
    """Make a classifier a method of this name; those with a smaller ``place`` are listed first."""

    def registered(made: Made) -> Made:
        _METHODS[word] = Method(word, made, about, place)
        return made

    return registered


def methods() -> dict[str, Method]:
    """All methods by their word, in the order of lists."""
    return {each.word: each for each in sorted(_METHODS.values(), key=lambda each: (each.place, each.word))}


def forget_method(word: str) -> None:
    """Take a method out again."""
    del _METHODS[word]
