"""``--picture``: pictures of trees, fronts and comparisons, written whole, and mistakes told before the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason='pip install "everytree[plot]"')
STARTS = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize(
    ("command", "extension"),
    [
        (("fit", "--max-depth", "2"), ".svg"),
        (("fit", "--max-depth", "2", "--method", "bayes"), ".png"),
        (("fit", "--method", "option"), ".png"),
        (("front", "--max-depth", "2"), ".pdf"),
        (("compare", "--methods", "c45,path", "--folds", "3"), ".png"),
    ],
)
def test_pictures(command: tuple[str, ...], extension: str, cli: Any, mixed: Path) -> None:
    picture = mixed.with_name(f"picture{extension}")
    done = cli(command[0], mixed, "--target", "gewählt", *command[1:], "--picture", picture)
    assert done.code == 0, done.err
    assert picture.read_bytes().startswith(STARTS[extension])
    assert sorted(path.name for path in mixed.parent.iterdir()) == ["mixed.csv", picture.name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--picture", "tree.xyz"), "expected a name that ends in .png"),
        (("--picture", "nowhere/tree.png"), "there is no folder"),
        (("--method", "c45", "--picture", "tree.png", "--out", "model.json"), "is on whole columns"),
    ],
)
def test_mistakes(
    options: tuple[str, ...], message: str, cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed.parent)
    done = cli("fit", mixed, "--target", "gewählt", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert [path.name for path in mixed.parent.iterdir()] == ["mixed.csv"]
