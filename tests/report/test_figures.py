"""What the page says of examples not seen, of thresholds and of the values at a node: against counting row by row."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from page_cases import mixed_table
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score

import everytree as et
from everytree.report.calibration import Judged, calibration
from everytree.report.held_out import coded_folds, figure, page_baselines, verdict
from everytree.report.page_data import page_data


def judged(n: int, classes: int, seed: int) -> Judged:
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(classes), n)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return Judged(proba, proba.argmax(axis=1), codes, "judged")


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_every_threshold_is_in_the_grid(classes: int) -> None:
    found = judged(300, classes, classes)
    made = calibration(found, [f"c{k}" for k in range(classes)])
    assert made["confusion"] == confusion_matrix(found.codes, found.said).tolist()
    for c in range(classes):
        grid = np.array(made["grid"][c])
        assert grid.shape == (classes, 101)
        for t in (0, 1, 37, 50, 100):
            said = found.proba[:, c] >= t / 100
            assert grid[:, t:].sum(axis=1).tolist() == [
                int((said & (found.codes == k)).sum()) for k in range(classes)
            ]
        one = made["classes"][c]
        assert sum(one["rows"]) == 300
        assert sum(one["hits"]) == int((found.codes == c).sum())
        assert sum(one["confidence"]) == pytest.approx(found.proba[:, c].sum(), abs=1e-4)


def test_figures_are_those_of_scikit_learn() -> None:
    two, three = judged(200, 2, 0), judged(200, 3, 1)
    line = figure("x", two.proba, two.codes)
    assert line["log_loss"] == pytest.approx(log_loss(two.codes, two.proba))
    assert line["auc"] == pytest.approx(roc_auc_score(two.codes, two.proba[:, 1]))
    assert line["brier"] == pytest.approx(2 * brier_score_loss(two.codes, two.proba[:, 1]))
    assert figure("x", three.proba, three.codes)["auc"] == pytest.approx(
        roc_auc_score(three.codes, three.proba, multi_class="ovr")
    )
    weights = np.random.default_rng(0).integers(1, 5, 200)
    twice = figure("x", two.proba.repeat(weights, axis=0), two.codes.repeat(weights))
    assert figure("x", two.proba, two.codes, weights) == pytest.approx(twice)


def test_a_model_that_is_hardly_worth_it_is_told_so() -> None:
    base = {"name": "always No", "accuracy": 0.9, "log_loss": 0.3, "auc": 0.5, "base": True}

    def told(accuracy: float, auc: float = 0.5, error: float = 0.0) -> tuple[str, bool]:
        found = verdict([{"name": "t", "accuracy": accuracy, "log_loss": 0.2, "auc": auc}, base], error)
        return found["verdict"], found["poor"]

    assert told(0.904) == ("Barely better than always No: 90.4% right, always No 90.0%.", True)
    assert told(0.904, 0.8)[0].endswith("But it ranks: AUC 0.800.")
    assert told(0.9) == ("No better than always No: 90.0% right, always No 90.0%.", True)
    assert told(0.95) == ("Better than always No: 95.0% right, always No 90.0%.", False)
    assert told(0.95, error=0.03)[1], "less than two standard errors"
    assert verdict([]) == verdict([base]) == {"verdict": "", "poor": False}


def test_folds_share_out_the_examples() -> None:
    X, y = mixed_table(150)
    table = et.BayesOptimalClassifier(max_depth=1, missing="category").fit(X, y).posterior_.space.table
    folds = coded_folds(table)
    assert (sum(folds) == table.class_counts).all()
    assert all(29 <= fold.sum() <= 31 for fold in folds)
    assert all(
        abs(fold[:, c].sum() - table.class_counts[:, c].sum() / 5) < 1 for fold in folds for c in range(3)
    )


def test_baselines_take_any_columns() -> None:
    n = 60
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "id": [f"k{k}" for k in range(n)],
            "empty": [None] * n,
            "constant": 1.0,
            "huge": rng.normal(size=n) * 1e300,
            "missing": np.where(rng.random(n) < 0.5, np.nan, 1.0),
        }
    )
    from everytree.data.frames import read_frame

    y = rng.integers(0, 3, n)
    always, logistic = page_baselines(read_frame(X), y, ["a", "b", "c"])
    assert always["name"] == f"always {'abc'[np.bincount(y).argmax()]}"
    assert np.isfinite(
        [v for line in (always, logistic) for v in line.values() if isinstance(v, float)]
    ).all()


def test_the_values_at_every_node_are_counted() -> None:
    X, y = mixed_table(150)
    model = et.OptimalTreeClassifier(max_depth=3, min_leaf=4, missing="category").fit(X, y)
    data = page_data(model, (X, y), rows=3)
    found, tree = data["distributions"], data["tree"]
    assert len(found["nodes"]) == len(tree["nodes"])
    for k, counts in found["nodes"].items():
        for each in counts:
            assert [sum(each[c::3]) for c in range(3)] == tree["nodes"][int(k)]["n"]
    colour = data["columns"][2]["values"]
    shape, root = found["shapes"][2], found["nodes"]["0"][2]
    for place, code in enumerate(shape["at"]):
        assert sum(root[3 * place : 3 * place + 3]) == int((X.colour == colour[code]).sum())
    assert sum(root[-3:]) == int(X.colour.isna().sum())
    edges = found["shapes"][0]["edges"]
    first = found["nodes"]["0"][0][:3]
    assert sum(first) == int((X["size"] <= edges[0]).sum())
    assert (
        page_data(model, (X, y), rows=0)["distributions"] is None
    )  # rows are private, and so are their values
    assert page_data(model)["distributions"] is None


def words_of(data: dict[str, Any]) -> str:
    return json.dumps([data[key] for key in ("facts", "posterior", "tests", "treeAbout", "notes")])


@pytest.mark.parametrize("kind", [et.OptimalTreeClassifier, et.BayesOptimalClassifier, et.MAPTreeClassifier])
def test_no_code_among_the_words(kind: Any) -> None:
    X, y = mixed_table(90)
    model = kind(max_depth=2, min_leaf=4, missing="category").fit(X, y)
    words = words_of(page_data(model, (X, y)))
    for code in ("Prior(", "attribute_fair", " == ", " <= ", "frontier", "folding"):
        assert code not in words
    assert "colour is red" in words


@pytest.mark.long
def test_the_page_of_every_tree() -> None:
    X, y = mixed_table(120)
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    data = page_data(model, (X, y), rows=9)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    places = np.unique(np.linspace(0, 119, 9).round().astype(int))
    assert np.array(data["posterior"]["averages"]) == pytest.approx(
        model.predict_proba(X.iloc[places]), abs=1e-4
    )
    assert np.array(data["posterior"]["raw"]) == pytest.approx(model.raw_proba(X.iloc[places]), abs=1e-4)
    assert {each["name"]: each["p"] for each in data["posterior"]["inclusion"]} == pytest.approx(
        model.attribute_inclusion(), abs=1e-4
    )
    assert [row["name"] for row in data["rows"]] == [f"row {place + 1}" for place in places]
    assert len(data["rows"][0]["cells"]) == len(data["columns"]) == 5
    assert data["columns"][0]["range"] == [X["size"].min(), X["size"].max()]
    own = data["held_out"]["lines"][0]
    assert own["log_loss"] == pytest.approx(model.loo_log_loss_)
    assert own["log_loss_error"] == pytest.approx(model.loo_log_loss_error_)
    assert own["accuracy"] == pytest.approx(model.loo_accuracy_)
    tree = data["tree"]
    assert tree["nodes"][0]["n"] == [int((y == label).sum()) for label in model.classes_]
    leaves = [node for node in tree["nodes"] if "k" not in node]
    assert np.array([leaf["n"] for leaf in leaves]).sum(axis=0).tolist() == tree["nodes"][0]["n"]
    # Rows in another order are still judged by what is said of each without it; other rows by the model as it is.
    turned = page_data(model, (X[::-1], y[::-1]))["held_out"]["lines"][0]
    assert turned["log_loss"] == pytest.approx(model.loo_log_loss_)
    other, labels = mixed_table(120, seed=1)
    seen = page_data(model, (other, labels))["held_out"]
    assert "each judged by what the model says without it" not in seen["about"]
