"""``load_model`` for every classifier of this package, which registers them all when it is imported."""

from __future__ import annotations

from everytree.files.load import load_model

__all__ = ["load_model"]
