"""Streams that are closed, full, or of which nobody reads the other end: the exit code is right, and no traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two columns and a model of it."""
    place = tmp_path_factory.mktemp("streams")
    (place / "d.csv").write_text("a,b,y\n" + "0,1,no\n1,0,yes\n1,1,yes\n0,0,no\n" * 5)
    assert run(place, "fit d.csv --target y --max-depth 1 --out model.json").returncode == 0
    return place


def run(folder: Path, command: str, after: str = "") -> subprocess.CompletedProcess[str]:
    line = f"set -o pipefail; {shlex.quote(sys.executable)} -m everytree {command} {after}"
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("command", "after", "code"),
    [
        ("fit d.csv --target y --max-depth 1", "2>&-", 0),
        ("fit d.csv --target y --max-depth 1", "<&- >&- 2>&-", 0),
        ("predict model.json d.csv", ">&-", 0),
        ("verify model.json d.csv", ">/dev/full", 2),
        ("verify model.json d.csv", "2>&-", 0),
        ("fit d.csv --target y --max-depth 1", "2>/dev/full", 0),
        ("fit d.csv --target y --max-depth 1 --out again.json", "2>/dev/full", 0),
        ("predict model.json d.csv", "2>/dev/full", 0),
        ("predict model.json d.csv --out answers.csv", "2>/dev/full", 0),
        ("fit nothing.csv", "2>&-", 2),
        ("fit nothing.csv", "2>/dev/full", 2),
        ("fit nothing.csv --json", ">/dev/full", 2),
        ("fit d.csv --target y --max-depth 1 --json", ">/dev/full 2>/dev/full", 2),
        ("verify model.json d.csv", "| head -c 0", 141),
        ("fit d.csv --target y --max-depth 1 --json", "| head -c 0", 141),
        ("fit nothing.csv --json", "| head -c 0", 2),
    ],
)
def test_the_exit_code_is_right_and_there_is_no_traceback(
    folder: Path, command: str, after: str, code: int
) -> None:
    done = run(folder, command, after)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("everytree:")]) <= 1
    assert not list(folder.glob(".*.tmp"))
