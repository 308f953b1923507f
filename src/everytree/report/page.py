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
    """Write the page of a fitted classifier to one HTML file, which opens without a network.

    The file is written whole or not at all.

    Parameters
    ----------
    model : classifier
        A fitted classifier, also one that ``load_model`` made.
    path : path-like
        The file to write.
    data : path, table, tuple (X, y) or None, default=None
        Rows with labels: a file, a table with the label among its columns, or a pair (X, y). Training data add the
        best tree of every size, the most probable trees and a cross-validated calibration where the model does not
        hold them; other rows show how good the model is.
    title : str or None, default=None
        The head of the page; None names the label's column.
    target : str or None, default=None
        The name of the label's column in ``data``; None means that of training.
    rows : int, default=30
        The number of rows of ``data`` that readers can pick. They are stored in the file, so give 0 if they are
        private.
    time_limit : float, default=20.0
        The most seconds for each part; a part that takes longer is left out, with a note.

    Returns
    -------
    int
        The size of the file in bytes.

    Raises
    ------
    DataError
        If the data do not have the columns and classes of the model.

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
    """Return the page of a fitted classifier as text.

    Parameters
    ----------
    model : classifier
        A fitted classifier, also one that ``load_model`` made.
    data : path, table, tuple (X, y) or None, default=None
        Rows with labels, as in ``write_report``.
    **options : object
        The options ``title``, ``target``, ``rows`` and ``time_limit`` of ``write_report``.

    Returns
    -------
    str
        The HTML.

    Examples
    --------
    >>> import everytree as et
    >>> from everytree.report import page_html
    >>> model = et.OptimalTreeClassifier(max_depth=1).fit([[1, "a"], [2, "a"], [3, "b"]], ["no", "no", "yes"])
    >>> page_html(model, title="Three rows").count("<title>Three rows</title>")
    1
    """
    return html_of(page_data(model, data, **options))


def html_of(data: dict[str, Any], connect: str = "'none'") -> str:
    """Write the page around an object of data; ``connect`` names what its scripts may talk to."""
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
    """Write JSON that is safe inside a script element: ASCII, and no character that HTML could read."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _bundle(name: str) -> str:
    """Return a part of the bundle; nothing in it can end its element."""
    text = (resources.files("everytree.report") / "bundle" / name).read_text(encoding="utf-8")
    if "</s" in text.lower():
        raise DataError(f"the bundle {name} holds </s…, which would end its element; build it again")
    return text
