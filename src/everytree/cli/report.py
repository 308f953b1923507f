"""``everytree report``: a model file as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everytree.cli.data import read_data
from everytree.cli.options import Reading
from everytree.cli.show import console, note, print_json
from everytree.cli.watch import at_work
from everytree.cli.written import check_folder
from everytree.common.drafts import write_whole
from everytree.data.readers.pick import EXTENSIONS
from everytree.errors import DataError
from everytree.estimators.load import load_model
from everytree.report.given import examples_of, read_as_trained
from everytree.report.page import html_of
from everytree.report.page_data import page_data

__all__ = ["run_report"]


def run_report(
    path: Path,
    out: Path,
    data: Path | None,
    target: str | None,
    title: str | None,
    rows: int,
    time_limit: float,
    reading: Reading,
    as_json: bool,
) -> None:
    """Write the page of a model file, and say where it is and what it lacks."""
    check_folder("out", out)
    if path.suffix.lower() in EXTENSIONS:
        raise DataError(
            f"{path}: data, not a model file; `everytree fit {path} --page {out}` learns from it and writes the page"
        )
    with at_work():  # an average is folded again
        model = load_model(path)
    given: Any = None
    if data is not None:
        given = read_as_trained(model, lambda types: read_data(data, reading, types), target)
        _check_fit(model, given, target, data)
    with at_work():  # Ctrl-C leaves out the part that is being made, and a note says so
        made = page_data(model, given, title=title, target=target, rows=rows, time_limit=time_limit)
    html = html_of(made)
    write_whole(html, out)
    size = len(html.encode("utf-8"))
    if as_json:
        parts = [part for part in ("tree", "front", "posterior", "calibration") if made[part] is not None]
        print_json({"out": str(out), "bytes": size, "parts": parts, "notes": made["notes"]})
        return
    for text in made["notes"]:
        note(text)
    console().print(f"{out}: {size:,} bytes; it opens in any browser, without a network")


def _check_fit(model: Any, given: Any, target: str | None, data: Path) -> None:
    """Refuse, by the name of their file, data that are not of the model's columns and classes."""
    try:
        examples_of(model, given, target)
    except DataError as error:
        if error.parameter is not None or str(data) in str(error):
            raise
        raise DataError(f"{data}: {error}", code=error.code) from error
