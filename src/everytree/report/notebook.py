"""The whole page in a notebook cell.

``show(model)`` is the page of ``write_report`` in a frame of its own, which shares nothing with the notebook around it.
"""

from __future__ import annotations

from html import escape
from typing import Any

from everytree.common.arguments import whole
from everytree.report.page import page_html

__all__ = ["Shown", "show"]


class Shown:
    """A page in a frame; a notebook shows it."""

    def __init__(self, html: str, height: int) -> None:
        self.html, self.height = html, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts" title="everytree" width="100%" height="{self.height}" '
            f'style="border: 1px solid #8a8a8a; border-radius: 8px;" srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<the page of a model, {len(self.html):,} letters; a notebook shows it>"


def show(model: Any, data: Any = None, *, height: int = 720, **options: Any) -> Shown:
    """The page of a fitted classifier for a notebook cell; the options are those of ``write_report``."""
    return Shown(page_html(model, data, **options), whole("height", height, 100))
