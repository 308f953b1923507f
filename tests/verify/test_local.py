"""Models whose nodes choose their own cuts: the checker finds the offers itself, and refuses any other cut."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import everytree as et
from everytree.data.cuts import cut_between, equal_frequency_breaks
from everytree.data.fine_codes import FineCodes
from everytree.data.ordered_cuts import ordered_cuts
from everytree.verify import verify_model
from everytree.verify.local import breaks_of, threshold, upper_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_local_cuts import every_tree, frame_of, needs_core


def test_bins_are_filled_as_the_package_fills_them():
    rng = np.random.default_rng(0)
    for i in range(3000):
        counts = rng.integers(1, (2, 4, 10, 40)[i % 4], size=int(rng.integers(2, 30)))
        bins = int(rng.integers(2, 12))
        assert breaks_of(counts.tolist(), bins) == equal_frequency_breaks(counts, bins)


def test_thresholds_are_those_of_the_package():
    rng = np.random.default_rng(1)
    for digits in (1, 5, 6, 15):
        values = np.unique(np.round(rng.normal(size=40) * 10, digits))
        low = tuple(values.tolist())
        for _ in range(40):
            lo, hi = sorted(rng.choice(len(low), 2, replace=False).tolist())
            assert threshold(low, low, False, lo, hi) == cut_between(values[lo], values[hi])
            codes = FineCodes(values, values, 4)
            uppers = ordered_cuts(codes, lo, lo + 1).uppers
            expected = hi if uppers is None else uppers[0, hi]
            assert upper_of(low, low, False, lo, hi) == expected


def saved(tmp_path, seed, bins=3, min_leaf=1):
    """A file of the best of all trees, found by listing them, and its data."""
    frame, y = frame_of(seed)
    space = et.TreeSpace.from_frame(frame, y, bins=bins, max_depth=2, min_leaf=min_leaf)
    model = et.OptimalTreeClassifier(max_depth=2, min_leaf=min_leaf, bins=bins, cuts="local", leaf_penalty=0)
    trees = [space.tree_of(key) for key in every_tree(space)]
    tree = min(trees, key=lambda tree: (tree.error, tree.size))
    counts = tree.counts + 1.0
    model.tree_ = tree.replace(proba=counts / counts.sum(axis=1, keepdims=True))
    model.classes_, model.binarizer_, model.n_features_in_ = np.array([0, 1, 2]), space.binarizer, 4
    model.feature_names_in_, model.target_name_ = np.array(list(frame.columns), dtype=object), "y"
    model.fingerprint_ = space.table.fingerprint()
    model.objective_ = model.lower_bound_ = float(tree.error)
    model.error_, model.optimal_, model.gap_, model.stop_reason_ = tree.error, True, 0.0, "proved"
    model.n_states_ = 1
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    model.save(tmp_path / "model.json")
    return model, trees


@pytest.mark.long
@pytest.mark.parametrize(("seed", "bins"), [(0, 3), (1, 3), (2, 3), (3, 3), (1, "all")])
def test_a_true_model_is_proved(tmp_path, seed, bins):
    model, _ = saved(tmp_path, seed, bins, 1 + seed % 2)
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
    assert report.proved, str(report)
    assert report["cuts of nodes"].found == model.tree_.n_leaves - 1
    assert report["optimal"].found is True
    again = et.load_model(tmp_path / "model.json")
    assert again.tree_ == model.tree_
    frame = frame_of(seed + 20)[0]
    assert again.predict(frame).tolist() == model.predict(frame).tolist()


def changed(tmp_path, change):
    data = json.loads((tmp_path / "model.json").read_text())
    change(data)
    (tmp_path / "model.json").write_text(json.dumps(data))
    return verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")


def test_other_cuts_are_false(tmp_path):
    saved(tmp_path, 0)

    def cut(data):
        node = data["tree"]["upper"].index(max(data["tree"]["upper"]))
        data["tree"]["upper"][node] += 1

    report = changed(tmp_path, cut)
    assert not report.ok
    assert any(fact.name.startswith("cut of node") and fact.verdict == "false" for fact in report.facts)


def test_other_words_are_false(tmp_path):
    saved(tmp_path, 0)

    def words(data):
        data["tree"]["asks"][0] = "a <= 0.123"

    assert not changed(tmp_path, words).ok
    with pytest.raises(et.DataError, match=r"tree\.asks\[0\]"):
        et.load_model(tmp_path / "model.json")


def test_other_codes_are_not_those_of_the_data(tmp_path):
    saved(tmp_path, 0)

    def bins(data):
        data["columns"][0]["fine"]["bins"] = 5

    report = changed(tmp_path, bins)
    assert not report.ok


def test_a_worse_tree_is_not_the_best(tmp_path):
    model, trees = saved(tmp_path, 2)
    worst = max(trees, key=lambda tree: (tree.error, -tree.size))
    counts = worst.counts + 1.0
    model.tree_ = worst.replace(proba=counts / counts.sum(axis=1, keepdims=True))
    model.error_, model.objective_, model.lower_bound_ = worst.error, float(worst.error), float(worst.error)
    model.save(tmp_path / "model.json")
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
    assert report["optimal"].found is False
    assert report.better_tree


@needs_core
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("depth", [2, 3])
def test_fitted_models_are_proved(tmp_path, seed, depth):
    frame, y = frame_of(seed)
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    for made in (et.OptimalTreeClassifier, et.MAPTreeClassifier, et.BayesOptimalClassifier):
        made(max_depth=depth, min_leaf=2, bins=3, cuts="local").fit(frame, y).save(tmp_path / "model.json")
        report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
        assert report.proved, str(report)
