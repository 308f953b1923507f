"""Local cuts between numbers of many digits, where a cut may fall when the value above it rises: the plain twin judges.

The twin cuts between the values of a node's own rows, as the law says, and knows neither codes nor uppers.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree import _core
from everytree.data.binarizer import Binarizer
from everytree.data.frames import read_frame
from everytree.data.local_columns import LARGEST
from everytree.reference import (
    Bayes,
    ColumnTable,
    Listing,
    LocalSpace,
)
from everytree.reference.columns import cut_between
from everytree.reference.trees import key as key_of
from everytree.reference.trees import leaf_of
from everytree.verify import verify_model

KINDS = ("doubles", "twins", "mixed")
CLOSE = {"atol": 1e-10, "rtol": 0}
# Mid-points of few digits, and almost the same ones of many.
TWINS = np.array([0, 5.44, 5.4400001, 10.88, 10.8800002, 21.76, 21.7600004, 3.3, 40, 40.0000123])


def numbers(rng, n, kind):
    """Numbers whose cuts are not in the order of the values above them, or are equal."""
    if kind == "doubles":
        return rng.normal(size=n) * 10.0 ** rng.integers(-3, 4)
    if kind == "twins":
        return rng.choice(TWINS, n)
    return np.array([round(x, int(rng.integers(0, 9))) for x in (rng.normal(size=n) * 20).tolist()])


def examples(seed, kind, n=8):
    """Training rows of two columns, classes, and new rows at, and next to, every cut that there could be."""
    rng = np.random.default_rng([seed, len(kind)])
    X = np.column_stack([numbers(rng, n, kind) for _ in range(2)])
    y = rng.integers(0, 2 + seed % 2, n)
    y[:3] = np.arange(3) % (2 + seed % 2)
    cuts = []
    for column in X.T:
        values = np.unique(column).tolist()
        found = {float(cut_between(a, b)) for a in values for b in values if a < b}
        cuts.append([near for cut in found for near in (cut, np.nextafter(cut, np.inf))])
    new = np.column_stack([rng.choice(column, 16) for column in cuts])
    return X, y, new


def both(seed, kind, bins, depth):
    """The space, its twin, and new rows as a frame and as lists."""
    X, y, new = examples(seed, kind)
    frame, more = (pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, new))
    space = et.TreeSpace.from_frame(frame, y, bins=bins, max_depth=depth, min_leaf=1)
    twin = LocalSpace(ColumnTable.from_data(X.tolist(), y.tolist(), bins=bins, kinds=["numeric"] * 2), depth)
    return space, twin, more, new.tolist()


CASES = [
    (seed, kind, bins, depth)
    for kind in KINDS
    for bins in (2, 3, "all")
    for seed, depth in enumerate((1, 2, 3, None))
]


@pytest.mark.parametrize(("seed", "kind", "bins", "depth"), CASES)
def test_the_average_says_of_new_rows_what_its_twin_says(seed, kind, bins, depth):
    space, twin, frame, rows = both(seed, kind, bins, depth)
    assert space.n_trees == twin.count()
    model = Bayes(twin)
    posterior = space.posterior(et.SizePrior())
    assert posterior.log_evidence == pytest.approx(model.log_evidence, abs=1e-10)
    expected = [model.predict_proba(row) for row in rows]
    np.testing.assert_allclose(posterior.predict_proba(frame), expected, **CLOSE)
    moments = [model.moments(row) for row in rows[:10]]
    np.testing.assert_allclose(posterior.moments(frame[:10]).mean, [m.mean for m in moments], **CLOSE)


def spelled(tree):
    """What the inner nodes of a tree of the package ask, in preorder."""
    return [text for text in tree.asks if text]


def spelled_twin(part):
    """The same of a tree of the twin."""
    if part is None:
        return []
    (column, _, cut), zero, one = part
    return [f"{'ab'[column]} <= {cut:g}" if cut == float(f"{cut:g}") else f"{'ab'[column]} <= {cut!r}"] + (
        spelled_twin(zero) + spelled_twin(one)
    )


@pytest.mark.parametrize(("seed", "kind"), [(s, kind) for kind in KINDS for s in range(3)])
@pytest.mark.parametrize("depth", [2, 3])
def test_trees_ask_and_answer_as_their_twins(seed, kind, depth):
    """The best tree, the most probable one, draws and near-best sets: each tree says of new rows what its twin says."""
    space, twin, frame, rows = both(seed, kind, 3, depth)
    model = Bayes(twin)
    trees = {tuple(key_of(tree)): tree for tree in twin.enumerate_trees()}
    posterior = space.posterior(et.SizePrior())
    found = [
        space.best(),
        space.most_probable(),
        posterior.map_tree(),
        *posterior.sample(20, random_state=seed),
    ]
    reach = space.rows_of(frame)
    for tree in found:
        same = trees[tuple(tree.key)]
        assert spelled(tree) == spelled_twin(twin.spell(same))
        ends = [leaf_of(same, twin.table, tuple(row)) for row in rows]
        counts = [twin.table.class_counts(cover) for cover, _ in ends]
        np.testing.assert_array_equal(tree.counts[tree.apply(reach)], counts)
        again = et.Tree.from_json(tree.to_json())
        np.testing.assert_array_equal(again.apply(reach), tree.apply(reach))
    near = space.near_best(0.3, 0.02, dirichlet=1.0)
    means = np.zeros((len(rows), len(space.classes)))
    for tree in near:
        same = trees[tuple(tree.key)]
        means += [model.theta(*leaf_of(same, twin.table, tuple(row))) for row in rows]
    np.testing.assert_allclose(near.predict_proba(frame), means / near.n_trees, **CLOSE)


@pytest.mark.parametrize(("seed", "kind"), [(s, kind) for kind in KINDS for s in range(2)])
def test_sampled_tops_and_trees_answer_as_their_twins(seed, kind):
    space, twin, frame, rows = both(seed, kind, 3, 3)
    listing = Listing(Bayes(twin))
    collapsed = space.collapsed(et.SizePrior(), n_draws=60, n_chains=2, burn_in=10, random_state=seed)
    expected = np.zeros((len(rows), len(space.classes)))
    for top, share in collapsed.tops(10**6):
        # Three levels: a top is a leaf, or a test at the root and all that may lie below it.
        assert top == (-1,) or top[1:] == (-1, -1)
        below = {
            tree: p for tree, p in listing.posterior.items() if (-1 if tree is None else tree[0]) == top[0]
        }
        for tree, p in below.items():
            says = [listing.model.theta(*leaf_of(tree, twin.table, tuple(row))) for row in rows]
            expected += share * p / sum(below.values()) * np.array(says)
    np.testing.assert_allclose(collapsed.predict_proba(frame), expected, **CLOSE)

    trees = {tuple(key_of(tree)): tree for tree in listing.posterior}
    drawn = [tuple(tree.key) for tree in space.posterior(et.SizePrior()).sample(30, random_state=seed)]
    control = _core.Control()
    found = _core.predict_draws(
        space.core_table(control),
        np.concatenate(drawn).astype(np.int32),
        np.cumsum([len(key) for key in drawn], dtype=np.uint64),
        np.full(len(drawn), 1 / len(drawn)),
        _core.Dirichlet([[1.0] * len(space.classes)]),
        space.rows_of(frame).view(np.ndarray),
        1,
        control,
        3,
    )
    says = [
        [listing.model.theta(*leaf_of(trees[key], twin.table, tuple(row))) for row in rows] for key in drawn
    ]
    np.testing.assert_allclose(found, np.mean(says, axis=0), **CLOSE)


@pytest.mark.parametrize(("seed", "kind"), [(s, kind) for kind in KINDS for s in range(2)])
def test_rules_of_a_row_have_the_cuts_of_their_own_states(seed, kind):
    space, twin, frame, rows = both(seed, kind, 3, 2)
    posterior, model = space.posterior(et.SizePrior()), Bayes(twin)
    names = [rule.names for rule in posterior.rules(top=10**4)]
    assert len(set(names)) == len(names)  # equal cuts are one, whatever values they lie between
    for i in range(6):
        told = posterior.explain(frame.iloc[[i]], top=10**4)
        average = sum(rule.weight * np.array(rule.proba) for rule in told.rules)
        np.testing.assert_allclose(average, model.predict_proba(rows[i]), **CLOSE)


@pytest.mark.parametrize(("seed", "kind"), [(s, kind) for kind in KINDS for s in range(2)])
def test_files_keep_the_cuts_and_are_verified(tmp_path, seed, kind):
    X, y, new = examples(seed, kind)
    frame, more = (pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, new))
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    for made in (et.OptimalTreeClassifier, et.BayesOptimalClassifier):
        model = made(max_depth=3, min_leaf=1, bins=3, cuts="local").fit(frame, y)
        model.save(tmp_path / "model.json")
        report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
        assert report.proved, str(report)
        again = et.load_model(tmp_path / "model.json")
        assert getattr(again, "tree_", None) == getattr(model, "tree_", None)
        np.testing.assert_array_equal(again.predict_proba(more), model.predict_proba(more))


def test_an_upper_that_no_cut_has_is_refused(tmp_path):
    frame, y = pd.DataFrame({"a": [0, 10.88, 10.8800002, 10.8800003]}), [0, 1, 1, 1]
    model = et.OptimalTreeClassifier(max_depth=1, bins="all", cuts="local", leaf_penalty=0).fit(frame, y)
    assert model.tree_.asks[0] == "a <= 5.44"
    assert model.tree_.upper.tolist() == [2, 0, 0]  # 5.0 lies below it, and two pairs of values share that
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    changed = text.replace('"upper": [2, 0, 0]', '"upper": [3, 0, 0]').replace(
        '"upper":[2,0,0]', '"upper":[3,0,0]'
    )
    assert changed != text
    (tmp_path / "model.json").write_text(changed)
    with pytest.raises(et.DataError, match=r"tree\.upper\[0\] is 3; expected that of a cut of test 0"):
        et.load_model(tmp_path / "model.json")


def test_very_large_columns_are_cut_at_the_running_maximum():
    rng = np.random.default_rng(0)
    values = np.unique(np.append(rng.normal(size=LARGEST) * 100, TWINS))
    columns = Binarizer("all", cuts="local").fit(values[:, None]).columns_
    assert columns.uppers() == [None]
    column = columns.columns[0]
    assert column.n_codes > LARGEST
    x = rng.normal(size=(8, 1)) * 100
    reach = columns.reach(read_frame(x))
    for i in range(8):
        lo = int(np.searchsorted(values, x[i, 0])) - int(rng.integers(1, 8))
        hi = lo + int(rng.integers(1, 16))
        cut = max(cut_between(values[lo], values[h]) for h in range(lo + 1, hi + 1))
        assert columns.threshold(lo, columns.upper(column, lo, hi)) == cut
        assert (reach[i, lo] <= hi) == (x[i, 0] <= cut)
