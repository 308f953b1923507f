"""The single tree nearest to an average: by decisions, and by probabilities where one class is always said."""

from __future__ import annotations

import numpy as np
import pytest

import everytree as et
from everytree.estimators.nearest_tree import LEAF_SPREAD, with_true_counts
from everytree.report.page_data import page_data


def rare(n: int, seed: int, n_columns: int = 4) -> tuple[list[list[str]], np.ndarray]:
    """Rows of texts with two values, and a class that a sixth of them has, more where two columns agree."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_columns))
    y = rng.random(n) < np.where(X[:, 0] == X[:, 1], 0.3, 0.02)
    return [["ab"[cell] for cell in row] for row in X], np.where(y, "Yes", "No")


def squares(said: np.ndarray) -> float:
    return float(((said - said.mean(axis=0)) ** 2).sum()) if len(said) else 0.0


def leaf_of(near, X) -> np.ndarray:
    """Number the leaves by what they say: no two say the same here."""
    found = np.unique(near.model.predict_proba(X), axis=0, return_inverse=True)
    assert len(found[0]) == near.tree.n_leaves
    return found[1].ravel()


@pytest.mark.parametrize("seed", range(4))
def test_by_probabilities_no_tree_comes_nearer(seed: int) -> None:
    X, y = rare(400, seed)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    near = model.nearest_tree(max_depth=2)
    assert near.spread is not None, "the average says No of every row"
    said, cells = model.loo_proba_, np.array(X) == "a"
    price = LEAF_SPREAD * squares(said)

    def cost(rows: np.ndarray, depth: int) -> float:
        """Return the least sum of squares and prices over all trees of these rows, each leaf with 4 rows or more."""
        best = squares(said[rows]) + price
        for column in range(cells.shape[1]) if depth else ():
            parts = rows[cells[rows, column]], rows[~cells[rows, column]]
            if min(map(len, parts)) >= 4:
                best = min(best, sum(cost(part, depth - 1) for part in parts))
        return best

    leaves = leaf_of(near, X)
    own = sum(squares(said[leaves == leaf]) for leaf in np.unique(leaves))
    assert near.spread == pytest.approx(1 - own / squares(said))
    # Probabilities are counted in parts of 1/1024.
    assert own + price * near.tree.n_leaves == pytest.approx(cost(np.arange(len(X)), 2), rel=0.01)
    assert near.model.optimal_


def test_its_text_counts_the_examples_and_says_why_it_is_shown() -> None:
    X, y = rare(400, 0)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    near = model.nearest_tree(max_depth=2)
    text = str(near)
    assert "says the same class of almost every example" in text
    assert f"(No {np.sum(y == 'No')}, Yes {np.sum(y == 'Yes')})" in text
    assert near.counted.counts[0].tolist() == [np.sum(y == "No"), np.sum(y == "Yes")]
    # The tree as a classifier answers what the average says in the mean of a leaf.
    leaves = leaf_of(near, X)
    for leaf in np.unique(leaves):
        mean = model.loo_proba_[leaves == leaf].mean(axis=0)
        assert near.model.predict_proba(np.array(X)[leaves == leaf][:1])[0] == pytest.approx(mean, abs=0.01)


def test_a_class_that_the_average_never_says_is_counted_all_the_same() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    y = np.where(x > 0.3, "high", np.where(rng.random(300) < 0.02, "odd", "low"))
    model = et.EveryTreeClassifier(time_limit=2).fit(x[:, None], y)
    near = model.nearest_tree()
    assert "odd" not in near.tree.classes
    counted = with_true_counts(model, near.tree)
    assert counted.classes == ("high", "low", "odd")
    assert counted.counts[0].tolist() == [np.sum(y == label) for label in counted.classes]
    labels = {near.tree.classes[k] for k in near.tree.says}
    assert {counted.classes[k] for k in counted.says} == labels
    page = page_data(model, (x[:, None], y), time_limit=5)
    assert page["classes"] == ["high", "low", "odd"]
    assert all(len(node["n"]) == 3 for node in page["tree"]["nodes"])


def test_weights_with_fractions_count_as_so_many_examples() -> None:
    X, y = rare(200, 2)
    whole = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    halves = et.EveryTreeClassifier(time_limit=None).fit(X + X, [*y, *y], np.full(400, 0.5))
    one, two = (with_true_counts(each, each.nearest_tree(2).tree) for each in (whole, halves))
    assert one.counts[0].tolist() == two.counts[0].tolist()


@pytest.mark.parametrize("part", [False, True])
def test_a_model_from_a_file_is_judged_by_what_it_said_of_left_out_rows(tmp_path, part: bool) -> None:
    X, y = rare(300, 3)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path)
    loaded = et.load_model(path)
    assert np.array_equal(loaded.left_out_, model.left_out_)
    assert str(loaded.nearest_tree(2)) == str(model.nearest_tree(2))
    told = page_data(loaded, (X[:100], y[:100]) if part else (X, y), time_limit=5)["held_out"]
    if part:
        assert "each judged by what the model says without it" not in told["about"]
    else:
        assert "each judged by what the model says without it" in told["about"]
        assert told["lines"][0]["log_loss"] == pytest.approx(model.loo_log_loss_, abs=1e-6)
        assert told["lines"][0]["accuracy"] == pytest.approx(model.loo_accuracy_)
