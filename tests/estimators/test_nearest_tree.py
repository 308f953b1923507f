"""The single tree nearest to an average: by decisions, and by probabilities where one class is always said."""

from __future__ import annotations

import numpy as np
import pytest

import everytree as et
from everytree.estimators.nearest_tree import LEAF_SPREAD
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
    assert near.tree.counts[0].tolist() == [np.sum(y == "No"), np.sum(y == "Yes")]
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
    assert "odd" not in near.model.classes_
    counted = near.tree
    assert counted.classes == ("high", "low", "odd")
    assert counted.counts[0].tolist() == [np.sum(y == label) for label in counted.classes]
    assert {counted.classes[k] for k in counted.says} == set(near.model.classes_)
    assert near.predict(x[:, None]).tolist() == near.model.predict(x[:, None]).tolist()
    page = page_data(model, (x[:, None], y), time_limit=5)
    assert page["classes"] == ["high", "low", "odd"]
    assert all(len(node["n"]) == 3 for node in page["tree"]["nodes"])


def test_weights_with_fractions_count_as_so_many_examples() -> None:
    X, y = rare(200, 2)
    whole = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    halves = et.EveryTreeClassifier(time_limit=None).fit(X + X, [*y, *y], np.full(400, 0.5))
    one, two = (each.nearest_tree(2).tree for each in (whole, halves))
    assert one.counts[0].tolist() == two.counts[0].tolist()


def test_probabilities_are_those_of_the_true_classes() -> None:
    """What the average says of its examples is surer than the examples are: no probability for people to read."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    y = np.where(rng.random(400) < np.where(X[:, 0] > 0, 0.8, 0.3), "yes", "no")
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    near = model.nearest_tree()
    assert near.spread is None
    says, said = near.predict(X), near.predict_proba(X)
    assert says.tolist() == near.model.predict(X).tolist()
    for leaf in np.unique(said, axis=0):
        here = (said == leaf).all(axis=1)
        counts = [np.sum(y[here] == label) + 1 for label in near.tree.classes]
        assert leaf == pytest.approx(np.array(counts) / sum(counts))
    assert near.model.predict_proba(X).max() > said.max() + 0.05
    assert f"(no {np.sum(y == 'no')}, yes {np.sum(y == 'yes')})" in str(near)
    written = near.to_python()
    assert all(str(p) in written for p in said.max(axis=1))


@pytest.mark.long
def test_its_accuracy_is_that_on_new_rows() -> None:
    """Decisions that have seen the rows to be judged made it better by six points."""
    told, true = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2150, 6))
        odds = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
        y = rng.random(2150) < 1 / (1 + np.exp(-odds))
        near = et.EveryTreeClassifier(time_limit=1).fit(X[:150], y[:150]).nearest_tree()
        told.append(near.accuracy)
        true.append(np.mean(near.predict(X[150:]) == y[150:]))
    assert np.mean(told) < np.mean(true) + 0.045


def test_columns_chosen_by_labels_make_it_too_good() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 70))
    model = et.EveryTreeClassifier(time_limit=1).fit(X, X[:, 0] + rng.normal(size=80) > 0)
    near = model.nearest_tree(1)
    assert near.too_good
    assert near.spread is not None or "too good, as columns were chosen with the labels" in str(near)


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


def test_the_nearest_tree_keeps_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=300) > 0).astype(int)
    model = et.EveryTreeClassifier(time_limit=1, memory_limit=40_000_000).fit(X, y)
    given = []
    genuine = et.OptimalTreeClassifier.fit_table

    def fit_table(self, table, *more):
        given.append(self.memory_limit)
        return genuine(self, table, *more)

    monkeypatch.setattr(et.OptimalTreeClassifier, "fit_table", fit_table)
    model.nearest_tree()
    assert given
    assert all(0 < limit < 40_000_000 - model._held() for limit in given)
    model.set_params(memory_limit=model._held() + 1000)
    with pytest.raises(et.LimitReached, match="the tree nearest to 300 examples would take"):
        model.nearest_tree()
    assert "Without the nearest tree: memory limit reached" in model.summary()
    given.clear()
    model.set_params(memory_limit=None).nearest_tree()
    assert set(given) == {None}
