"""The calibration study: models see only the training part, folds survive, and tables say what was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bench_calibration as bench
import calibration_models as models
import calibration_report as report
import harness
import paper_data
from everytree.errors import LimitReached
from everytree.metrics import stratified_folds

needs_data = pytest.mark.skipif(not harness.DATA.is_dir(), reason="needs ../shared/data beside the project")
needs_weka = pytest.mark.skipif(models.weka_jar() is None, reason="needs Weka and Java")


def hand_made(seed: int = 0, rows: int = 60) -> tuple[Any, np.ndarray]:
    """A small data set with a numeric and a nominal attribute, and three classes."""
    from everytree.data.column import Column
    from everytree.data.readers.dataset import Dataset

    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows).round(2)
    color = rng.choice(["red", "green", "blue"], rows).astype(object)
    y = np.where(color == "red", 0, np.where(size > 0, 1, 2))
    columns = {"size": Column("size", "numeric", size), "color": Column("color", "nominal", color)}
    return Dataset(columns), np.where(rng.uniform(size=rows) < 0.1, rng.integers(3, size=rows), y)


@pytest.mark.parametrize("model", [model for model in models.MODELS if model not in models.WEKA])
def test_every_model_gives_probabilities_and_learns(model: str) -> None:
    features, y = hand_made()
    folds = stratified_folds(y, 5)[:2]
    for fold, found in models.answers(model, features, y, [0, 1, 2], folds, 3, 30):
        answer = found[model]
        assert answer.proba.shape == (len(fold.test), 3)
        assert np.allclose(answer.proba.sum(axis=1), 1)
        assert (answer.proba.argmax(axis=1) == y[fold.test]).mean() > 0.6
        assert answer.fit_seconds > 0


def test_variants_of_the_average_differ() -> None:
    features, y = hand_made()
    fold = stratified_folds(y, 5)[0]
    names = [model for model in models.BAYES if model.startswith("average")]
    found = [models.bayes(model, features, y, [0, 1, 2], fold, 3, 30).proba for model in names]
    for i, one in enumerate(found):
        assert all(np.abs(one - other).max() > 1e-3 for other in found[:i])


@pytest.mark.weka
@needs_weka
def test_weka_knows_only_the_classes_of_the_training_part() -> None:
    features, y = hand_made()
    y = np.where(np.arange(len(y)) == 5, 3, y)  # one example of a fourth class
    folds = [fold for fold in stratified_folds(y, 5) if 5 in fold.test]
    [(fold, found)] = models.answers("C4.5", features, y, [0, 1, 2, 3], folds, 3, 30)
    assert set(found) == {"C4.5", "C4.5-tests"}
    for answer in found.values():
        assert answer.proba.shape == (len(fold.test), 4)
        assert not answer.proba[:, 3].any()
        assert (answer.proba[:, :3] > 0).all()  # Laplace
        assert (answer.proba.argmax(axis=1) == y[fold.test]).mean() > 0.6


def test_cart_leaves_with_and_without_laplace() -> None:
    X, y = np.array([[0.0]] * 4 + [[1.0]] * 4), np.array([0] * 4 + [1] * 4)
    tree = models.pruned_cart(X, y)
    assert models.leaf_probabilities(tree, X[:1], laplace=False).tolist() == [[1.0, 0.0]]
    assert models.leaf_probabilities(tree, X[:1], laplace=True)[0] == pytest.approx([5 / 6, 1 / 6])


def test_cart_prunes_noise_away() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 4)), rng.integers(2, size=120)
    assert models.pruned_cart(X, y).get_n_leaves() < 15  # unpruned: about 30


def line(
    name: str, model: str, fold: int, value: float, depth: object = "", note: str = ""
) -> dict[str, Any]:
    bins = {
        "rows": "0 0 0 0 0 0 0 0 0 10",
        "confidence": "0 0 0 0 0 0 0 0 0 9.5",
        "hits": "0 0 0 0 0 0 0 0 0 9",
    }
    measures = {"accuracy": 1 - value, "log_loss": value, "brier": value}
    rest = {"n_train": 90, "n_test": 10, "fit_seconds": 0.1, "predict_seconds": 0.1, "note": note}
    return {"set": name, "model": model, "fold": fold, "depth": depth} | bins | measures | rest


def test_folds_survive_and_a_limit_lowers_the_depth(tmp_path: Path) -> None:
    store = bench.Folds(tmp_path / "folds.csv")
    store.add(line("iris", "average", 0, 0.1, depth=4))
    store.add(line("iris", "C4.5", 0, 0.2))
    again = bench.Folds(tmp_path / "folds.csv")
    assert len(again.of("iris", "average")) == len(again.of("iris", "C4.5")) == 1
    again.add({"set": "iris", "model": "MAP", "depth": 4, "note": "over 30 s"})
    assert again.depth("iris") == 3
    assert again.depth("zoo") == again.depth("iris", "average-fit") == 4
    assert again.of("iris", "average") == []  # of another depth now
    assert len(again.of("iris", "C4.5")) == 1


def test_a_limit_is_written_down_and_the_set_goes_on_less_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, y = hand_made()
    monkeypatch.setattr(paper_data, "complete", lambda name: (features, y.astype(str)))
    real = models.bayes

    def slow_when_deep(*args: Any) -> models.Answer:
        if args[5] == 4:
            raise LimitReached("too slow")
        return real(*args)

    monkeypatch.setattr(models, "bayes", slow_when_deep)
    store = bench.Folds(tmp_path / "folds.csv")
    bench.run_set("iris", ["average", "MAP"], store, 30, harness.Budget(60))
    assert [len(store.of("iris", model)) for model in ("average", "MAP")] == [10, 10]
    assert {row["depth"] for row in store.of("iris", "MAP")} == {"3"}
    text = report.write_tables(store, ["iris", "zoo"], tmp_path, tmp_path / "out")
    assert "- iris, average: a fold at depth 4 took more than 30 s of CPU or 6 GiB; done at depth 3." in text
    assert "- zoo: no result of average, MAP (not measured)." in text
    assert (tmp_path / "out" / "calibration.csv").exists()


def test_counts_of_wins_ties_and_losses(tmp_path: Path) -> None:
    store = bench.Folds(tmp_path / "folds.csv")
    for fold in range(10):
        wiggle = 0.01 * (fold % 3)
        for name, theirs in (
            ("iris", 0.5 - wiggle),
            ("zoo", 0.05),
            ("vote", 0.2 + 0.1 * (-1) ** fold),
            ("glass", 0.2),
        ):
            store.add(line(name, "average", fold, 0.2 if name == "glass" else 0.2 + wiggle, depth=4))
            store.add(line(name, "C4.5", fold, theirs))
    table = report.gather(store, ["iris", "zoo", "vote", "glass"])
    found = report.counts(table, ["iris", "zoo", "vote", "glass"], "average", "C4.5", "brier")
    assert found == {"plain": "1 / 1 / 2", "sets": "4", "tested": "1 / 2 / 1"}
    assert report.counts(table, ["iris", "zoo"], "average", "C4.5", "accuracy")["tested"] == "1 / 0 / 1"
    rows = report.csv_rows(table, store, ["iris"], ["average", "C4.5"])
    assert rows[1]["p_brier"] < 1e-6
    assert rows[0]["ece"] == pytest.approx(0.05)


@needs_data
def test_every_set_of_the_papers_is_read_without_holes() -> None:
    assert sorted(bench.SETS) == sorted({name for names in paper_data.PAPERS.values() for name in names})
    for name in ("vote", "hepatitis", "sponge", "zoo"):
        features, y = paper_data.complete(name)
        assert len(features) == len(y) > 70
        assert not any(column.n_missing for column in features.columns.values())
        assert not set(paper_data.IDENTIFIERS) & set(features.names)
    assert "?" in paper_data.complete("vote")[0].columns["water-project-cost-sharing"].values
