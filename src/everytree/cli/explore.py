"""``everytree explore``: a data file in the browser, on this machine only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from everytree.cli.data import read_data
from everytree.cli.show import console

if TYPE_CHECKING:
    from everytree.cli.options import Reading

__all__ = ["run_explore"]


def run_explore(
    path: Path, target: str | None, question: str, port: int, browser: bool, jobs: int, reading: Reading
) -> None:
    """Read the file, serve the page, and open it."""
    from everytree.report.explorer import Explorer
    from everytree.report.server import serve

    data = read_data(path, reading)
    for name in reading.drop or ():
        data = data.drop(name)
    explorer = Explorer(data, str(path), target, jobs)

    def started(address: str) -> None:
        console().print(f"exploring {path} at\n  {address}\nonly this machine can open it; Ctrl-C ends it")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(explorer, port, question, started)
