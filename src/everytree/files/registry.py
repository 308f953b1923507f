"""The classifiers that can be saved, by name, with the format of their files, and the reader of each format.

A classifier has the decorator ``@saved_as(format)``, and a reader of files ``@reads(format)``. So this room knows no
classifier, and a new one is read and written without a change here. A file uses these names of a classifier:

    everytree.model         ``kept_in_file`` and ``restore_from_file`` (a table), ``finish_loading`` (a tree)
    everytree.column_tree   ``columns_to_json``, ``columns_from_json``, ``describe_tree``, TREE and CLAIMS
    everytree.rules         ``set_rules``
    everytree.every         ``models_``, each of them an everytree.model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["classifier_named", "forget_classifier", "reader_of", "reads", "saved_as"]

Made = TypeVar("Made", bound=type)
Reader = Callable[[Any], Any]

_CLASSIFIERS: dict[str, tuple[type, str]] = {}
_READERS: dict[str, Reader] = {}


def saved_as(format_: str) -> Callable[[Made], Made]:
    """Register a classifier under the name of its class, for files of a format."""

    def registered(made: Made) -> Made:
        _CLASSIFIERS[made.__name__] = (made, format_)
        return made

    return registered


def classifier_named(name: Any, format_: str) -> Any:
    """Return the classifier that files of a format know by this name, or None."""
    made, known = _CLASSIFIERS.get(name, (None, "")) if isinstance(name, str) else (None, "")
    return made if known == format_ else None


def forget_classifier(name: str) -> None:
    """Take a classifier out of the registry again."""
    del _CLASSIFIERS[name]


def reads(format_: str) -> Callable[[Reader], Reader]:
    """Register a function that makes a classifier from the content of a file of this format."""

    def registered(reader: Reader) -> Reader:
        _READERS[format_] = reader
        return reader

    return registered


def reader_of(format_: Any, default: str) -> Reader:
    """Return the function that reads a format; the one of ``default`` explains a format that is unknown."""
    return _READERS.get(format_, _READERS[default]) if isinstance(format_, str) else _READERS[default]
