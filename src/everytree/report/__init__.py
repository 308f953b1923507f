"""The page: a fitted classifier as one HTML file that opens from disk, and the explorer that serves the same page live.

    write_report(model, "page.html", data)     a report for others
    show(model)                                the same in a notebook
    everytree explore data.csv                 the page with questions to ask, on this machine only

The page is one bundle of TypeScript and SVG (web/ in the repository, built into report/bundle) around one object of
JSON, which ``page_data.py`` makes. Nothing in it needs a network, and no name from the data ever becomes markup.
"""

from __future__ import annotations

from everytree.report.notebook import show
from everytree.report.page import page_html, write_report

__all__ = ["page_html", "show", "write_report"]
