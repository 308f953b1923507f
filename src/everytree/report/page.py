"""The page as one HTML file: the bundle, the data, and a policy that forbids everything else.

Scripts and styles run only if their SHA-256 is the one named in the Content-Security-Policy; nothing is fetched, and
no inline handler or string is ever executed. The data stand in a block of JSON in ASCII, in which ``<``, ``>`` and
``&`` are escaped, so that no name can end the block; the page sets every text as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from everytree.common.drafts import write_whole
from everytree.errors import DataError
from everytree.report.page_data import ROWS, SECONDS, page_data

__all__ = ["html_of", "page_html", "write_report"]


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    data: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    rows: int = ROWS,
    time_limit: float = SECONDS,
) -> int:
    """Write the page of a fitted classifier to one HTML file, whole or not at all; returns its size in bytes.

    Parameters
    ----------
    model : a fitted classifier, also one that ``load_model`` made
    path : the file
    data : a file, a table with the label among its columns, or a pair (X, y). Training data add the best tree of every
        size, the most probable trees and a cross-validated calibration where the model does not hold them; other rows
        judge the model
    title, target : the head of the page, and the name of the label's column
    rows : how many rows of ``data`` readers can pick; they are then in the file, so 0 where rows are private
    time_limit : seconds for each part; what takes longer is left out, with a note

    Examples
    --------
    >>> import everytree as et
    >>> from everytree.report import write_report
    >>> model = et.OptimalTreeClassifier(max_depth=1).fit([[1, "a"], [2, "a"], [3, "b"]], ["no", "no", "yes"])
    >>> 20_000 < write_report(model, "page.html") < 100_000
    True
    """
    page = page_html(model, data, title=title, target=target, rows=rows, time_limit=time_limit)
    write_whole(page, path)
    return len(page.encode("utf-8"))


def page_html(model: Any, data: Any = None, **options: Any) -> str:
    """The page of a fitted classifier as a text; the options are those of ``write_report``."""
    return html_of(page_data(model, data, **options))


def html_of(data: dict[str, Any], connect: str = "'none'") -> str:
    """The page around an object of data; ``connect`` is what its scripts may talk to."""
    script, style = _bundle("page.js"), _bundle("style.css")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; connect-src {connect}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(data['title'])}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="everytree"><noscript>This page draws its trees with a script; please allow it.</noscript></div>\n'
        f'<script type="application/json" id="everytree-data">{_json(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _json(data: dict[str, Any]) -> str:
    """JSON that is safe inside a script element: ASCII, and no character that HTML could read."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _bundle(name: str) -> str:
    """A part of the bundle; nothing in it can end its element."""
    text = (resources.files("everytree.report") / "bundle" / name).read_text(encoding="utf-8")
    if "</s" in text.lower():
        raise DataError(f"the bundle {name} holds </s…, which would end its element; build it again")
    return text
