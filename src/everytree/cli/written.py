"""Files that a command writes: that they can be written is checked before the work is done."""

from __future__ import annotations

from pathlib import Path

from everytree.common.arguments import refused
from everytree.errors import QueryError

__all__ = ["check_folder"]


def check_folder(option: str, path: Path | None) -> None:
    """Refuse a file in a folder that is not there; ``option`` is the option that gave it."""
    if path is None or path.absolute().parent.is_dir():
        return
    says = f": there is no folder {path.absolute().parent}; make it first"
    raise refused(QueryError, option, str(path), "a file in a folder that is there", says=says)
