"""The order of rows, and how they are cut up, play no part: the same table, the same model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import everytree as et
import everytree.estimators
from everytree import cluster
from everytree.data.table import Table

pl = pytest.importorskip("polars")

BINS = {"size": [-0.5, 0.5], "count": [2, 5]}
MODELS = [
    et.OptimalTreeClassifier(max_depth=3),
    et.OptimalTreeClassifier(max_depth=2, minimize=("gini", "size"), min_leaf=3),
    et.BayesOptimalClassifier(max_depth=2),
    et.MAPTreeClassifier(max_depth=3),
    et.MCMCTreeClassifier(max_depth=3, n_draws=30, burn_in=10, thin=5, random_state=1),
    et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2)),
]


def some_frame(seed: int, n: int = 150) -> Any:
    rng = np.random.default_rng(seed)
    size, count = rng.normal(size=n).round(1), rng.integers(0, 8, n)
    colour = rng.choice(["red", "green", "blue"], n)
    label = np.where((size > 0) ^ (colour == "red") ^ (rng.random(n) < 0.2), "yes", "no")
    return pl.DataFrame({"size": size, "count": count, "colour": colour, "ok": count > 3, "label": label})


def ways(frame: Any, seed: int, folder: Path) -> list[Table]:
    """The table of the same rows: whole, shuffled, in parts that are added in any order, in chunks, in files."""
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"bins": BINS}
    whole = Table.from_frame(frame.lazy(), "label", **options)
    shuffled = frame[rng.permutation(len(frame)).tolist()]
    edges = np.sort(rng.choice(np.arange(1, len(frame)), 4, replace=False)).tolist()
    cut = [shuffled[a:b] for a, b in zip([0, *edges], [*edges, len(frame)], strict=True)]
    parts = [Table.from_frame(part, "label", like=whole) for part in cut]
    added = [parts[k] for k in rng.permutation(len(parts))]
    for k, part in enumerate(cut):
        part.write_parquet(folder / f"{seed}-{k}.parquet")
    return [
        whole,
        Table.from_frame(shuffled, "label", **options),
        sum(added[1:], added[0]),
        (added[0] + (added[1] + added[2])) + (added[3] + added[4]),
        Table.from_chunks([cut[k] for k in rng.permutation(len(cut))], "label", **options),
        Table.from_parquet(str(folder / f"{seed}-*.parquet"), "label", **options),
    ]


def test_every_model_that_learns_from_tables_is_here() -> None:
    able = {
        name
        for name in everytree.estimators.__all__
        if hasattr(getattr(everytree.estimators, name), "fit_table")
    }
    assert {type(model).__name__ for model in MODELS} == able


@pytest.mark.long
def test_the_same_table(tmp_path: Path) -> None:
    for seed in range(6):
        first, *others = ways(some_frame(seed), seed, tmp_path)
        for other in others:
            assert other == first
            assert other.fingerprint() == first.fingerprint()
            assert other.test_names == first.test_names
            assert np.array_equal(other.rows, first.rows)
            assert np.array_equal(other.class_counts, first.class_counts)


def content(model: Any, path: Path) -> Any:
    """All that a model file says, but when it was made and how long that took."""
    model.save(path)
    said = json.loads(path.read_text(encoding="utf-8"))

    def timeless(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                k: timeless(v) for k, v in value.items() if k not in ("seconds", "spent", "time", "created")
            }
        return [timeless(each) for each in value] if isinstance(value, list) else value

    return timeless(said)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_same_model(model: Any, tmp_path: Path) -> None:
    frame = some_frame(7)
    tables = ways(frame, 7, tmp_path)
    X = frame.drop("label")
    fitted = [clone(model).fit_table(table) for table in tables]
    expected = content(fitted[0], tmp_path / "first.json")
    for other in fitted[1:]:
        assert content(other, tmp_path / "other.json") == expected
        assert np.array_equal(other.predict_proba(X), fitted[0].predict_proba(X))


def test_the_same_answers_of_a_cluster(tmp_path: Path) -> None:
    tables = ways(some_frame(8), 8, tmp_path)
    spaces = [et.TreeSpace.from_table(table, max_depth=3) for table in tables]
    with joblib.parallel_config(backend="threading", n_jobs=2):
        evidence = {cluster.posterior(space).log_evidence for space in spaces}
        best = {cluster.best(space).key for space in spaces}
    assert evidence == {spaces[0].posterior().log_evidence}
    assert len(best) == 1
