"""The page: a fitted classifier as one HTML file that opens from disk, and the explorer that serves the same page live.

    write_report(model, "page.html", data)     a report for others
    show(model)                                the same in a notebook
    everytree explore data.csv                 the page with questions to ask, on this machine only

The page is one bundle of TypeScript and SVG (web/ in the repository, built into report/bundle) around one object of
JSON, which ``page_data.py`` makes. Nothing in it needs a network, and no name from the data ever becomes markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everytree.report.notebook import show as show
    from everytree.report.page import page_html as page_html
    from everytree.report.page import write_report as write_report

_HOME = {"page_html": "page", "show": "notebook", "write_report": "page"}

__all__ = ["page_html", "show", "write_report"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'everytree.report' has no attribute {name!r}")
    return getattr(import_module(f"everytree.report.{_HOME[name]}"), name)
