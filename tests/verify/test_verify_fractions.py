"""The checker on models whose examples have weights with fractions, and on weights of classes."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

import everytree as et
from everytree.data.example_weights import example_weights
from everytree.verify import verify_model as verify
from everytree.verify.parts import counted

MADE = {
    "optimal": et.OptimalTreeClassifier(2, leaf_penalty=0.5),
    "average": et.BayesOptimalClassifier(2),
    "average, left out": et.BayesOptimalClassifier(2, power=0.5, calibrate="loo"),
    "most probable": et.MAPTreeClassifier(2),
    "smoothed": et.SmoothedTreeClassifier(),
    "path average": et.PathAverageTreeClassifier(),
    "C4.5": et.C45TreeClassifier(),
    "CART": et.CARTTreeClassifier(folds=2),
}
WEIGHTS = ("halves", "thirds", "floats")


def data(kind: str):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, (40, 2))
    y = np.where(rng.random(40) < 0.8, X[:, 0] > 1, rng.random(40) < 0.5).astype(int)
    whole = rng.integers(1, 7, 40)
    w = {"halves": whole / 2, "thirds": whole / 3, "floats": 0.1 + rng.random(40)}[kind]
    return X, np.array(["no", "yes"])[y], w


def written(tmp_path, X, y, w):
    path = tmp_path / "data.csv"
    lines = [f"{a},{b},{label},{weight!r}" for (a, b), label, weight in zip(X, y, w.tolist(), strict=True)]
    path.write_text("\n".join(["a,b,label,w", *lines]) + "\n", encoding="utf-8")
    return path


def frame(X):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=["a", "b"])


def fitted(name, X, y, w, **more):
    model = MADE[name].__class__(**(MADE[name].get_params() | more))
    return model.fit(frame(X), y, sample_weight=w)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", MADE)
def test_true_models_are_told_true(name, kind, tmp_path):
    X, y, w = data(kind)
    fitted(name, X, y, w).save(tmp_path / "m.json", "label")
    report = verify(tmp_path / "m.json", written(tmp_path, X, y, w), target="label", weights="w")
    json.dumps(report.to_dict(), allow_nan=False)  # what `--json` prints
    wrong = [fact for fact in report.facts if fact.verdict == "false"]
    assert not wrong, wrong
    assert any(fact.verdict == "true" for fact in report.facts)
    # Without the weights, or with others, it is not what was trained on.
    other = verify(tmp_path / "m.json", written(tmp_path, X, y, np.roll(w, 1)), target="label", weights="w")
    assert any(fact.verdict == "false" for fact in other.facts)


@pytest.mark.parametrize("name", ["average", "most probable", "smoothed", "C4.5"])
@pytest.mark.parametrize("of_class", ["balanced", {"no": 0.5, "yes": 1.25}, {"yes": 3}])
def test_weights_of_classes(name, of_class, tmp_path):
    X, y, w = data("halves")
    fitted(name, X, y, w, class_weight=of_class).save(tmp_path / "m.json", "label")
    path = written(tmp_path, X, y, w)
    report = verify(tmp_path / "m.json", path, target="label", weights="w")
    wrong = [fact for fact in report.facts if fact.verdict == "false"]
    assert not wrong, wrong
    changed = json.loads((tmp_path / "m.json").read_text())
    changed["params"]["class_weight"] = None
    (tmp_path / "m.json").write_text(json.dumps(changed))
    assert any(
        fact.verdict == "false"
        for fact in verify(tmp_path / "m.json", path, target="label", weights="w").facts
    )


def test_both_count_alike():
    rng = np.random.default_rng(0)
    for w in (
        [0.5, 1.0],
        [0.1, 0.3],
        rng.random(50),
        rng.integers(0, 9, 30) / 7,
        [1 / 3, 1e-9, 5.0],
        [2.0, 3.0],
    ):
        mine = example_weights(np.asarray(w), len(w))
        counts, parts = counted([Fraction(float(x)) for x in w])
        assert (mine.counts.tolist(), mine.per_example) == (counts, parts)
