"""``everytree explore``: a data file in the browser, on this machine only.

exit code 130   Ctrl-C ended it          143   SIGTERM did

Either way the questions being answered are stopped first, and their threads waited for.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from everytree.cli.data import read_treated
from everytree.cli.methods import number_or_word
from everytree.cli.options import Reading, Treating
from everytree.cli.show import console, note
from everytree.cli.treated import show_treated
from everytree.cli.watch import at_work
from everytree.common.limits import threads
from everytree.report.explorer import Explorer
from everytree.report.server import serve

__all__ = ["run_explore"]


def run_explore(
    path: Path,
    target: str | None,
    question: str,
    port: int,
    browser: bool,
    jobs: int,
    bins: str | None,
    cuts: str | None,
    reading: Reading,
    treating: Treating,
) -> None:
    """Read the file, serve the page, and open it."""
    threads(jobs)  # a bad number is refused here
    with at_work():
        data, notes = read_treated(path, target, reading, treating)
    for text in notes:
        note(text)
    show_treated(data.treated, path.name)
    encoding = {"bins": number_or_word(bins), "cuts": cuts}
    given = {name: value for name, value in encoding.items() if value is not None}
    explorer = Explorer(data, str(path), data.target, jobs, **given)

    def started(address: str) -> None:
        console().print(f"exploring {path} at\n  {address}\nonly this machine can open it; Ctrl-C ends it")
        if browser:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(explorer, port, question, started)
        code = 0
    except KeyboardInterrupt:
        code = 130
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    _wait_for(explorer, code)
    sys.exit(code)


def _wait_for(explorer: Explorer, code: int) -> None:
    """Return when every question has stopped.

    A thread of the core must not outlive the interpreter. So if one does not stop in time, or on another Ctrl-C, the
    process ends here at once, without the interpreter's own cleaning up.
    """
    try:
        if explorer.close():
            return
    except KeyboardInterrupt:
        pass
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
