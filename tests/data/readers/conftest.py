"""Fixtures for the readers' tests: a scratch file, and the shared data sets where they are present."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def put(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file into the test's own folder; text is written as UTF-8, line ends as they are."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def shared_data() -> Path:
    """The folder of the shared data sets, beside the repository."""
    if not (SHARED / "INDEX.tsv").exists():
        pytest.skip(
            "needs the UCI data sets: put them into shared/data beside the repository (see its README)"
        )
    return SHARED
