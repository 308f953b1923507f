"""The one place where a module of ours is imported late: the work of a command, when the command runs.

``everytree --help`` needs the options of every command and the work of none. To import the options takes 80 ms (typer),
the work of all commands 1,800 ms more (numpy, scikit-learn, the classifiers).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["later"]


def later(name: str) -> Any:
    """A function of a module of this room, by ``module.function``; the module is imported now.

    >>> later("words.in_options")("give another depth")
    'give another depth'
    """
    module, _, function = name.partition(".")
    return getattr(import_module(f"everytree.cli.{module}"), function)
