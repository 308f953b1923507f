"""The option ``--picture FILE``: it draws what a command found, in any format that matplotlib writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everytree.cli.show import heard, note
from everytree.cli.written import check_folder
from everytree.common.arguments import refused
from everytree.common.drafts import draft_of
from everytree.errors import QueryError

__all__ = ["check_picture", "write_picture"]

FORMATS = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".webp")


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be written, before the work is done."""
    if path is None:
        return
    if path.suffix.lower() not in FORMATS:
        raise refused(QueryError, "picture", str(path), f"a name that ends in {', '.join(FORMATS)}")
    check_folder("picture", path)
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('--picture needs matplotlib: pip install "everytree[plot]"') from error
    matplotlib.use("Agg")  # no window, also where there is a screen


def write_picture(path: Path, display: Any) -> None:
    """Write the figure of a display, whole or not at all."""
    with heard() as warned, draft_of(path) as draft:
        display.figure_.savefig(draft, format=path.suffix.lower().lstrip("."), dpi=150)
    if any("missing from font" in text for text in warned):
        note(f"{path}: the font of the picture lacks some letters of the data, which are drawn as boxes")
