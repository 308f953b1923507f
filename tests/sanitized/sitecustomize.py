"""Take the core from another build: with this folder on PYTHONPATH, ``everytree._core`` is the file EVERYTREE_CORE.

Python imports a module of this name whenever it starts, so that processes that tests start have that core too.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any


class OtherCore:
    """A finder of one module."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        del path, target
        core = os.environ.get("EVERYTREE_CORE")
        return (
            importlib.util.spec_from_file_location(name, core) if name == "everytree._core" and core else None
        )


sys.meta_path.insert(0, OtherCore())  # type: ignore[arg-type]
