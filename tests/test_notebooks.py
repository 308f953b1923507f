"""The notebooks of the site run from an empty folder, and show what they have stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools import run_notebooks


@pytest.mark.parametrize("path", run_notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_has_stored(path: Path) -> None:
    assert not (found := run_notebooks.differences(path)), "\n\n".join(found)


def test_a_wrong_output_is_found(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["words"]},
        {
            "cell_type": "code",
            "metadata": {},
            "source": ["x = 2\n", "print(x)\n", "x + 1"],
            "outputs": [],
            "id": "a",
        },
    ]
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    made = run_notebooks.run_notebook(path)
    first, second = made["cells"][1]["outputs"]
    assert (first["text"], second["data"]["text/plain"]) == (["2\n"], ["3"])
    assert len(run_notebooks.differences(path)) == 1
    path.write_text(json.dumps(made), encoding="utf-8")
    assert run_notebooks.differences(path) == []
