"""everytree fit on folders and patterns: the model of one file with the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import everytree as et
from everytree.cli.app import app

pl = pytest.importorskip("polars")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 300
    age, sex = rng.integers(18, 90, n), rng.choice(["m", "f"], n)
    ill = np.where((age > 50) ^ (sex == "m") ^ (rng.random(n) < 0.1), "yes", "no").tolist()
    ill[7] = None
    frame = pl.DataFrame({"id": np.arange(n), "age": age, "sex": sex, "w": rng.integers(0, 3, n), "ill": ill})
    (tmp_path / "parts").mkdir()
    for i in range(3):
        frame[i::3].write_parquet(tmp_path / "parts" / f"{i}.parquet")
    frame.write_parquet(tmp_path / "all.parquet")
    return tmp_path


def run(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("method", ["optimal", "bayes", "map"])
def test_many_files_are_one(folder: Path, method: str) -> None:
    common = (
        "--target",
        "ill",
        "--drop",
        "id",
        "--weights",
        "w",
        "--method",
        method,
        "--max-depth",
        2,
        "--json",
    )
    answers = []
    for name, path in (("many", folder / "parts" / "*.parquet"), ("one", folder / "all.parquet")):
        result = run("fit", path, *common, "--out", folder / f"{name}.json")
        assert result.exit_code == 0, result.output
        answers.append(json.loads(result.stdout))
    for key in ("examples", "columns", "training_errors", "classes", "tree", "facts"):
        assert answers[0][key] == answers[1][key]
    rows = pl.read_parquet(folder / "all.parquet").select("age", "sex")
    many, one = (et.load_model(folder / f"{name}.json") for name in ("many", "one"))
    assert np.array_equal(many.predict_proba(rows), one.predict_proba(rows))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("parts", "--target", "ill", "--method", "c45"), "learns from rows"),
        (("parts", "--target", "none"), "there is no column 'none'"),
        (("parts",), "--target"),
        (("parts", "--target", "ill", "--drop", "ill"), "is the target"),
        (("parts", "--target", "ill", "--delimiter", ";"), "as Parquet"),
        (("none*.parquet", "--target", "ill"), "no file matches"),
    ],
)
def test_bad_words(folder: Path, words: tuple[str, ...], message: str) -> None:
    result = run("fit", folder / words[0], *words[1:])
    assert result.exit_code != 0
    assert message in (result.output + str(result.exception))
