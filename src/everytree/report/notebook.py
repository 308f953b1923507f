"""The whole page in a notebook cell.

``show(model)`` is the page of ``write_report`` in a frame of its own, which shares nothing with the notebook around it;
it may only run its script, and save a picture where a reader asks for it.
"""

from __future__ import annotations

from html import escape
from typing import Any

from everytree.common.arguments import whole
from everytree.report.page import page_html

__all__ = ["Shown", "show"]


class Shown:
    """A page in a frame, which a notebook shows."""

    def __init__(self, html: str, height: int) -> None:
        self.html, self.height = html, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="everytree" width="100%" height="{self.height}" '
            f'style="border: 1px solid #8a8a8a; border-radius: 8px;" srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<the page of a model, {len(self.html):,} letters; a notebook shows it>"


def show(model: Any, data: Any = None, *, height: int = 720, **options: Any) -> Shown:
    """Show the page of a fitted classifier in a notebook cell.

    Parameters
    ----------
    model : classifier
        A fitted classifier, also one that ``load_model`` made.
    data : path, table, tuple (X, y) or None, default=None
        Rows with labels, as in ``write_report``.
    height : int, default=720
        The height of the frame in pixels, at least 100.
    **options : object
        The options ``title``, ``target``, ``rows`` and ``time_limit`` of ``write_report``.

    Returns
    -------
    Shown
        The page, which a notebook shows as the value of a cell.

    Examples
    --------
    >>> import everytree as et
    >>> from everytree.report import show
    >>> model = et.OptimalTreeClassifier(max_depth=1).fit([[1, "a"], [2, "a"], [3, "b"]], ["no", "no", "yes"])
    >>> show(model).height
    720
    """
    return Shown(page_html(model, data, **options), whole("height", height, 100))
