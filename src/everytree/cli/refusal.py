"""An error of the library with what the command says about it: on its way from a command to the command line."""

from __future__ import annotations

from collections.abc import Mapping

from everytree.errors import EverytreeError

__all__ = ["Refusal"]


class Refusal(Exception):
    """An error of the library, and its message, code and option in the words of the command."""

    def __init__(self, error: EverytreeError, fields: Mapping[str, str | None]) -> None:
        self.error, self.fields = error, dict(fields)
        super().__init__(self.fields["error"])
