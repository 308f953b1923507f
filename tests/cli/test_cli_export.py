"""``everytree export``: what it prints is the model, in each language; averages become rules, and remarks say so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import everytree as et

Cli = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("export")
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = [name.removesuffix(" (cm)") for name in X.columns]
    X, y = X[y < 2], y[y < 2].map({0: "setosa", 1: "other"})
    X.to_csv(made / "x.csv", index=False)
    et.OptimalTreeClassifier(max_depth=2, min_leaf=2).fit(X, y).save(made / "tree.json", "kind")
    et.BayesOptimalClassifier(max_depth=2).fit(X, y).save(made / "bayes.json", "kind")
    et.EveryTreeClassifier(time_limit=1).fit(X, y).save(made / "every.json", "kind")
    et.C45TreeClassifier().fit(X, y).save(made / "c45.json", "kind")
    return made


@pytest.mark.parametrize("name", ["tree", "bayes", "every"])
@pytest.mark.parametrize("to", ["sql", "python", "javascript", "c", "excel", "pmml", "onnx"])
def test_every_language(folder: Path, tmp_path: Path, cli: Cli, name: str, to: str) -> None:
    done = cli("export", folder / f"{name}.json", "--to", to, "--out", tmp_path / "m", "--json")
    if (name, to) == ("bayes", "pmml"):
        assert done.code == 2
        assert "PMML has no sum of rules" in done.err
        return
    assert done.code == 0, done.err
    assert done.json["bytes"] == (tmp_path / "m").stat().st_size > 50
    assert ("rules" in done.err) == (name == "bayes")
    assert ("most like it" in done.err) == (name == "every")


def test_the_query_says_what_the_model_says(folder: Path, cli: Cli) -> None:
    done = cli("export", folder / "tree.json", "--to", "sql", "--table", "flowers")
    assert done.code == 0, done.err
    rows = pd.read_csv(folder / "x.csv")
    model = et.load_model(folder / "tree.json")
    with sqlite3.connect(":memory:") as base:
        rows.to_sql("flowers", base, index=False)
        found = base.execute(done.out).fetchall()
    assert np.array_equal(np.array([row[4:6] for row in found]), model.predict_proba(rows))
    assert [row[6] for row in found] == model.predict(rows).tolist()


def test_python_prints_a_module(folder: Path, cli: Cli) -> None:
    done = cli("export", folder / "tree.json", "--to", "python")
    space: dict[str, Any] = {}
    exec(done.out, space)
    assert space["predict"]({"petal length": 1.0, "petal width": 0.1}) == "setosa"


def test_what_cannot_be_written(folder: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("export", folder / "tree.json", "--to", "cobol")
    assert done.code == 2
    assert "expected sql, python" in done.err
    done = cli("export", folder / "c45.json", "--to", "sql")
    assert done.code == 2
    assert "C45TreeClassifier cannot be written" in done.err
    done = cli("export", folder / "tree.json", "--to", "sql", "--label", "iris")
    assert done.code == 2
    assert "one of other, setosa" in done.err
    done = cli("export", folder / "tree.json", "--to", "onnx")
    assert done.code == 2
    assert "--out" in done.err
    done = cli("export", folder / "tree.json", "--to", "c", "--table", "t")
    assert done.code == 2
    assert "belongs to sql" in done.err
    assert list(tmp_path.iterdir()) == []
