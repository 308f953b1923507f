"""For every test below: examples of docstrings run in a folder of their own, where they may write files."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _examples_in_a_folder_of_their_own(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        folder: Path = request.getfixturevalue("tmp_path")
        monkeypatch.chdir(folder)
