"""``everytree report``: a page from a model file, with and without data; one message and nothing written otherwise."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et

Cli = Callable[..., Any]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and the file it was learned from: names with blanks and quotes, text and truth values, a gap."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    lines = ['"blood ""p"" mm",größe,smoker,class']
    for k in range(80):
        size = "" if k == 7 else f"{rng.normal(10, 2):.2f}"
        lines.append(
            f"{rng.integers(90, 160)},{size},{rng.choice(['True', 'False'])},{rng.choice(['ill', 'well'])}"
        )
    (folder / "d.csv").write_text("\n".join(lines), encoding="utf-8")
    X, y = et.read(folder / "d.csv", types={"smoker": "boolean"}).split("class")
    model = et.OptimalTreeClassifier(max_depth=2, missing="category").fit(X, y)
    model.save(folder / "m.json", target="class")
    return folder


def test_a_page_of_a_model_file(files: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("report", files / "m.json", "--out", tmp_path / "p.html", "--title", "Größe <b>")
    assert done.code == 0, done.err
    assert "opens in any browser" in done.out
    assert "holds no training data" in done.err
    assert "<title>Größe &lt;b&gt;</title>" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_training_data_add_parts(files: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli(
        "report",
        files / "m.json",
        "--out",
        tmp_path / "p.html",
        "--data",
        files / "d.csv",
        "--rows",
        0,
        "--json",
    )
    assert done.code == 0, done.err
    told = done.json
    assert told["parts"] == ["tree", "front", "posterior", "calibration"]
    assert told["notes"] == []
    assert told["bytes"] == os.path.getsize(tmp_path / "p.html")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.json"], "absent.json"),
        (["d.csv"], "not a model file"),
        (["m.json", "--data", "absent.csv"], "absent.csv"),
        (["m.json", "--data", "d.csv", "--target", "klass"], "there is no column 'klass'"),
        (["m.json", "--data", "m.json"], "extension"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    files: Path, tmp_path: Path, cli: Cli, arguments: list[str], message: str
) -> None:
    placed = [str(files / each) if "." in each and not each.startswith("-") else each for each in arguments]
    done = cli("report", *placed, "--out", tmp_path / "p.html")
    assert done.code == 2
    assert message in done.err
    assert os.listdir(tmp_path) == []


def test_data_that_do_not_fit_the_model_are_named(files: Path, tmp_path: Path, cli: Cli) -> None:
    text = (files / "d.csv").read_text(encoding="utf-8")
    for change, message in (
        (lambda: text.replace("größe", "gross"), "other.csv: the model needs 1 more column: 'größe'"),
        (lambda: text.replace("ill", "sick"), "other.csv: the data hold the label 'sick'"),
    ):
        (tmp_path / "other.csv").write_text(change(), encoding="utf-8")
        done = cli("report", files / "m.json", "--data", tmp_path / "other.csv", "--out", tmp_path / "p.html")
        assert done.code == 2
        assert message in " ".join(done.err.split()), done.err


def test_one_command_from_a_file_to_a_page(mixed: Path, tmp_path: Path, cli: Cli) -> None:
    page = tmp_path / "page.html"
    done = cli("fit", mixed, "--max-depth", 2, "--page", page)
    assert done.code == 0
    assert f"{page}: " in done.out.replace("\n", "")
    assert "the model is not kept" not in done.err
    text = page.read_text(encoding="utf-8")
    assert "<title>Predicting " in text
    assert '"held_out":{' in text
    told = json.loads(cli("fit", mixed, "--max-depth", 2, "--page", page, "--json").out)
    assert told["page"] == str(page)
    nowhere = cli("fit", mixed, "--page", tmp_path / "none" / "page.html")
    assert nowhere.code == 2
    assert "there is no folder" in nowhere.err or "none" in nowhere.err
    data = cli("report", mixed)
    assert data.code == 2
    assert "data, not a model file" in data.err
    assert "--page report.html" in data.err.replace("\n", " ")
