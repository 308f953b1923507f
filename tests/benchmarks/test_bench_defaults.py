"""The study of defaults reads its candidates, goes on where it stopped, and writes its tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import bench_defaults
import everytree as et
from harness import DATA, Budget


def test_candidates_are_parameters() -> None:
    models = [*bench_defaults.FINALISTS, *(name for step in bench_defaults.STEPS.values() for name in step)]
    for model in models:
        if model != "C4.5" and not model.startswith("scikit-learn"):
            et.OptimalTreeClassifier(**bench_defaults.options_of(model))
    winner = bench_defaults.options_of(bench_defaults.WINNER)
    now = et.OptimalTreeClassifier().get_params()
    assert winner.pop("leaf_penalty") == 2
    assert {name: now[name] for name in winner} == winner


@pytest.mark.skipif(not (DATA / "labor.csv").exists(), reason="the data files are not there")
def test_folds_are_kept(tmp_path: Path) -> None:
    models, store = bench_defaults.FINALISTS, bench_defaults.Folds(tmp_path / "folds.csv")
    bench_defaults.run(["labor"], models, 2, store, 4.0, Budget(60))
    again = bench_defaults.Folds(tmp_path / "folds.csv")
    assert again.rows == store.rows
    bench_defaults.run(["labor"], models, 2, again, 4.0, Budget(-1))  # nothing is left to do
    rows = bench_defaults.means(again, ["labor"], models, 2)
    assert [row["model"] for row in rows] == models
    assert "# Defaults" in bench_defaults.report(again, tmp_path)
    assert (tmp_path / "defaults.csv").read_text().count("labor") == len(models)
