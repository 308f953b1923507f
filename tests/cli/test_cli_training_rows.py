"""``predict`` on rows that the model has learned from: they are told, with the figures on the others or left out."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.estimators.training_rows import TrainingRows

HEAD = ["age", "pressure", "town", "sick"]


def rows_of(n: int, seed: int, decimals: int = 3) -> list[list[Any]]:
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        age, pressure = round(draw.uniform(20, 80), decimals), round(draw.gauss(120, 15), decimals)
        sick = age + draw.gauss(0, 12) > 52
        rows.append([age, pressure, draw.choice(["Ulm", "Bonn"]), "yes" if sick else "no"])
    return rows


def write(path: Path, rows: list[list[Any]]) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows])
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return write(tmp_path / "train.csv", rows_of(150, 1))


def summary(cli: Any, model: Path, data: Path) -> tuple[str, Any]:
    out = data.with_name("answers.csv")
    said, told = (
        cli("predict", model, data, "--out", out),
        cli("predict", model, data, "--out", out, "--json"),
    )
    assert said.code == told.code == 0, said.err
    return said.err, told.json


@pytest.mark.parametrize(
    "how",
    [
        ("--method", "every"),
        ("--method", "bayes", "--max-depth", "2"),
        ("--max-depth", "2"),
        ("--max-depth", "2", "--cuts", "local"),
        ("--method", "map", "--max-depth", "2"),
    ],
)
def test_all_rows_of_training_are_told_and_no_others_are(
    how: tuple[str, ...], cli: Any, train: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.json"
    assert cli("fit", train, *how, "--out", model).code == 0
    said, told = summary(cli, model, train)
    assert "all rows were in the training data: expect less on new rows" in said
    assert told["training_rows"] == told["labelled_rows"] == 150
    # In another order, and in pieces.
    rows = rows_of(150, 1)
    random.Random(3).shuffle(rows)
    done = cli(
        "predict", model, write(tmp_path / "mixed.csv", rows), "--out", tmp_path / "a.csv", "--rows", 40
    )
    assert "all rows were in the training data" in done.err
    said, told = summary(cli, model, write(tmp_path / "new.csv", rows_of(150, 2)))
    assert "training data" not in said
    assert not told["training_rows"]


def test_an_average_tells_some_rows_and_judges_by_the_others(cli: Any, train: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    assert cli("fit", train, "--method", "every", "--out", model).code == 0
    new = rows_of(60, 2)
    both = write(tmp_path / "both.csv", [*rows_of(150, 1)[:90], *new])
    said, told = summary(cli, model, both)
    again = told["training_rows"]
    assert 90 <= again <= 95  # a few of the others may be alike by chance
    assert f"{again} of the 150 rows were in the training data" in said
    alone = summary(cli, model, write(tmp_path / "new.csv", new))[1]
    if again == 90:
        assert f"on the others accuracy {alone['accuracy']:.4f}, log-loss {alone['log_loss']:.4f}" in said
    loaded = et.load_model(model)
    said, _ = summary(cli, model, train)
    assert (
        f"Each left out of it: accuracy {loaded.loo_accuracy_:.4f}, log-loss {loaded.loo_log_loss_:.4f}"
        in said
    )


def test_a_row_counts_no_more_often_than_it_was_there() -> None:
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 19).astype(int)
    model = et.EveryTreeClassifier(time_limit=2).fit(X, y)
    rows = TrainingRows(model)
    assert rows.total == 40
    assert rows.look([[1.0], [1.0], [2.0]], np.array([0, 0, 1])).tolist() == [True, False, False]
    assert rows.look([[1.0]], np.array([0])).tolist() == [False]
    assert rows.look([[3.0]], np.array([-1])).tolist() == [False]


def test_rows_that_look_alike_by_few_tests_are_not_called_training_rows(cli: Any, tmp_path: Path) -> None:
    draw = random.Random(5)
    train, new = (
        write(
            tmp_path / f"{name}.csv",
            [[draw.choice([1, 2]), draw.choice([1, 2]), "Ulm", draw.choice(["yes", "no"])] for _ in range(n)],
        )
        for name, n in (("train", 200), ("new", 80))
    )
    model = tmp_path / "model.json"
    assert cli("fit", train, "--method", "every", "--out", model).code == 0
    said, told = summary(cli, model, new)
    assert "training data" not in said
    assert told["training_rows"] == 0


def test_a_tree_on_whole_columns_says_that_it_may_be(cli: Any, train: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    assert cli("fit", train, "--method", "c45", "--out", model).code == 0
    said, told = summary(cli, model, train)
    assert "these may be the rows that the model has learned from" in said
    assert told["training_rows"] is None
