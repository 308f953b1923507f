"""calibrate="cv": the exponent of chains, option trees, smoothed trees, path averages and sampled averages."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import everytree as et
from everytree.bayes.exponent import chosen_exponent, log_loss_at, tempered
from everytree.data.example_weights import example_weights
from everytree.data.frames import read_frame
from everytree.estimators.dealt_rows import dealt_rows
from everytree.verify import verify_model

CHAINS = {
    "max_depth": 2,
    "n_draws": 20,
    "burn_in": 5,
    "thin": 5,
    "n_chains": 2,
    "random_state": 0,
    "tempering": 1,
}
MODELS = {
    "chains": et.MCMCTreeClassifier(**CHAINS),
    "options": et.OptionTreeClassifier(max_nodes=200),
    "smoothed": et.SmoothedTreeClassifier(),
    "several": et.SmoothedTreeClassifier(n_trees=3, random_state=0),
    "path": et.PathAverageTreeClassifier(),
    "by classes": et.BayesOptimalClassifier(2, bins="mdl"),
    "sampled": et.BayesOptimalClassifier(2, method="collapsed", n_draws=20, random_state=0),
    "exact": et.BayesOptimalClassifier(2, power=0.25, cuts="local"),
}
EACH = pytest.mark.parametrize("name", MODELS)


def data(n: int = 120, n_classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.7, n), np.linspace(-0.5, 0.5, n_classes - 1))
    return X, np.array(["d", "c", "a", "b"])[y]  # not in the order of their names


def made(name: str, **params) -> et.MCMCTreeClassifier:
    return clone(MODELS[name]).set_params(**({"calibrate": "cv"} | params))


def quietly(model, *rows, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # These chains are short.
        return model.fit(*rows, **more)


@EACH
@pytest.mark.parametrize("weighed", [False, True])
def test_the_exponent_is_that_of_a_cross_validation_by_hand(name: str, weighed: bool) -> None:
    X, y = data()
    w = np.random.default_rng(1).integers(1, 4, len(y)) / 2 if weighed else None
    model = quietly(made(name), X, y, sample_weight=w)
    plain = made(name, calibrate=None)
    codes = np.searchsorted(model.classes_, y)
    dealt = dealt_rows(read_frame(X), codes, example_weights(w, len(y)), 5)
    p, own_codes, ones, rows = [], [], [], []
    for fold in range(5):
        train, test = dealt.to_learn(fold) / dealt.per_example, dealt.counts[:, fold] / dealt.per_example
        seen, judged = dealt.first[train > 0], dealt.first[test > 0]
        one = quietly(clone(plain), X[seen], y[seen], sample_weight=train[train > 0])
        p.append(one.predict_proba(X[judged]))
        own_codes.append(codes[judged])
        ones.append(test[test > 0])
        rows.append(judged)
    if not weighed:  # Every row is in one fold.
        np.testing.assert_allclose(model.cv_proba_[np.concatenate(rows)], np.concatenate(p), rtol=1e-12)
    p, codes, ones = np.concatenate(p), np.concatenate(own_codes), np.concatenate(ones)
    found = minimize_scalar(lambda g: log_loss_at(g, p, codes, ones), bounds=(0, 10), method="bounded")
    assert model.exponent_ == pytest.approx(found.x, abs=1e-4)
    own = -np.log(p[np.arange(len(p)), codes])
    assert model.cv_log_loss_ == pytest.approx(np.average(own, weights=ones), rel=1e-12)
    assert model.calibrated_cv_log_loss_ <= model.cv_log_loss_
    spread = np.average((own - model.cv_log_loss_) ** 2, weights=ones) / (ones.sum() - 1)
    assert model.cv_log_loss_error_ == pytest.approx(np.sqrt(spread), rel=1e-12)
    whole = quietly(plain, X, y, sample_weight=w)
    assert (model.raw_proba(X) == whole.predict_proba(X)).all()
    powers = model.raw_proba(X) ** model.exponent_
    np.testing.assert_allclose(model.predict_proba(X), powers / powers.sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.exponent_ != 1
    assert (model.predict(X) == whole.predict(X)).all()
    assert (whole.raw_proba(X) == whole.predict_proba(X)).all()
    assert not hasattr(whole, "exponent_")


@EACH
def test_copies_refits_and_refusals(name: str) -> None:
    X, y = data(80)
    model = quietly(made(name), X, y)
    again = quietly(clone(model), X, y)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()  # the folds are the same every time
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.predict_proba(X) == model.predict_proba(X)).all()
    quietly(model.set_params(calibrate=None), X, y)
    for gone in ("exponent_", "cv_log_loss_", "cv_log_loss_error_", "calibrated_cv_log_loss_", "cv_proba_"):
        assert not hasattr(model, gone)
    for bad in ("both", 1, ["cv"]):
        with pytest.raises(et.QueryError, match="calibrate"):
            made(name, calibrate=bad).fit(X, y)
    if hasattr(model, "partial_fit") and name != "by classes":
        with pytest.raises(et.QueryError, match="all rows into folds"):
            made(name).partial_fit(X, y)
    if hasattr(model, "fit_table"):
        with pytest.raises(et.QueryError, match="all rows into folds"):
            made(name).fit_table(
                et.Table.from_arrays((X > 0).astype(np.uint8), np.unique(y, return_inverse=True)[1])
            )


@EACH
def test_costs_class_weights_and_rows_of_weight_zero(name: str) -> None:
    X, y = data(90, 2)
    cost = [[0, 1], [5, 0]]
    model = quietly(made(name, cost_matrix=cost), X, y)
    plain = quietly(made(name), X, y)
    assert (model.predict_proba(X) == plain.predict_proba(X)).all()
    p = model.predict_proba(X)
    assert (model.predict(X) == model.classes_[(p @ np.array(cost)).argmin(axis=1)]).all()
    w = np.ones(90)
    w[::7] = 0
    some = quietly(made(name), X, y, sample_weight=w)
    fewer = quietly(made(name), X[w > 0], y[w > 0])
    assert some.exponent_ == pytest.approx(fewer.exponent_, rel=1e-12)
    assert np.isnan(some.cv_proba_[w == 0]).all()
    assert not np.isnan(some.cv_proba_[w > 0]).any()
    doubled = quietly(made(name, class_weight={"c": 2}), X, y)
    by_rows = quietly(made(name), X, y, sample_weight=np.where(y == "c", 2, 1))
    assert doubled.exponent_ == by_rows.exponent_


@EACH
def test_weights_are_repetitions_and_no_order_matters(name: str) -> None:
    if name == "several":
        return  # Chance has a part in these, and goes another way.
    X, y = data(60, 2)
    w = np.random.default_rng(0).integers(0, 4, 60)
    weighed = quietly(made(name), X, y, sample_weight=w)
    order = np.random.default_rng(1).permutation(int(w.sum()))
    repeated = quietly(made(name), np.repeat(X, w, axis=0)[order], np.repeat(y, w)[order])
    assert weighed.exponent_ == pytest.approx(repeated.exponent_, rel=1e-9)
    assert weighed.cv_log_loss_ == pytest.approx(repeated.cv_log_loss_, rel=1e-12)
    assert weighed.cv_log_loss_error_ == pytest.approx(repeated.cv_log_loss_error_, rel=1e-12)


@pytest.mark.parametrize("weight", [None, 1, 0.5, 7, 1.25])
def test_folds_of_examples(weight: float | None) -> None:
    rng = np.random.default_rng(0)
    X = [[float(a), str(b), None if c else "x"] for a, b, c in rng.integers(0, 3, (200, 3)).tolist()]
    codes = rng.integers(0, 3, 200)
    codes[-1] = 5  # a class of its own
    w = None if weight is None else np.full(200, weight)
    dealt = dealt_rows(read_frame(X), codes, example_weights(w, 200), 5)
    share = dealt.counts / dealt.per_example
    known = {(*row, c): g for row, c, g in zip(X, codes.tolist(), dealt.group.tolist(), strict=True)}
    assert len(known) == len(dealt.first) == len(set(known.values()))  # equal rows, and only these, are one
    assert (share.sum(axis=1) + dealt.alone / dealt.per_example).sum() == 200 * (weight or 1)
    for fold in range(5):
        learned = dealt.to_learn(fold)
        assert set(codes[dealt.first[dealt.counts[:, fold] > 0]]) <= set(codes[dealt.first[learned > 0]])
        assert (learned + dealt.counts[:, fold] == dealt.alone + dealt.counts.sum(axis=1)).all()
    if weight in (None, 1):
        assert dealt.alone.tolist() == [0] * (len(dealt.first) - 1) + [1]
        for c in range(3):
            per_fold = share[codes[dealt.first] == c].sum(axis=0)
            assert per_fold.max() - per_fold.min() <= 1
    order = rng.permutation(200)
    moved = dealt_rows(
        read_frame([X[i] for i in order]),
        codes[order],
        example_weights(None if w is None else w[order], 200),
        5,
    )
    assert (moved.counts == dealt.counts).all()
    if weight == 7:
        again = dealt_rows(read_frame(X * 7), np.tile(codes, 7), None, 5)
        assert (again.counts == dealt.counts).all()
    assert dealt_rows(read_frame([[1.0], [2.0]]), np.array([0, 1]), None, 5).judged == []
    assert len(dealt_rows(read_frame([[1.0], [1.0], [2.0]]), np.array([0, 0, 1]), None, 5).judged) == 2


def test_where_nothing_can_be_learned_the_most_probable_class_is_still_predicted() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 6))
    y = rng.permutation(np.arange(60) % 2)
    model = made("smoothed", prune="none", stop_factor=0).fit(X, y)
    assert 0.01 <= model.exponent_ < 0.1
    assert (model.predict(X) == model.classes_[model.raw_proba(X).argmax(axis=1)]).all()


@EACH
def test_a_class_of_one_row_is_learned_from_and_never_judged_by(name: str) -> None:
    X, y = data(60, 2)
    y[17] = "z"
    model = quietly(made(name), X, y)
    assert model.classes_.tolist() == ["c", "d", "z"]
    assert np.isnan(model.cv_proba_[17]).all()
    assert not np.isnan(np.delete(model.cv_proba_, 17, axis=0)).any()
    assert np.isfinite(model.cv_log_loss_)
    single = quietly(made(name), X[:3], ["a", "b", "c"])
    assert (single.exponent_, single.cv_log_loss_) == (1.0, None)
    same = quietly(made(name), np.arange(36).reshape(9, 4), ["a"] * 9)
    assert (same.exponent_, same.cv_log_loss_) == (1.0, 0.0)
    assert (same.predict_proba(X) == 1).all()


@pytest.mark.parametrize("name", [name for name in MODELS if name != "sampled"])
def test_files_hold_the_exponent(name: str, tmp_path) -> None:
    X, y = data(80)
    model = quietly(made(name), X, y)
    model.save(tmp_path / "m.json")
    loaded = et.load_model(tmp_path / "m.json")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert (loaded.raw_proba(X) == model.raw_proba(X)).all()
    for kept in ("exponent_", "cv_log_loss_", "cv_log_loss_error_", "calibrated_cv_log_loss_"):
        assert getattr(loaded, kept) == getattr(model, kept)
    assert not hasattr(loaded, "cv_proba_")
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "m.json").read_text()
    content = json.loads((tmp_path / "m.json").read_text())
    content.pop("digest", None)
    for part, change in (
        ("claims", {"exponent": -1}), ("claims", {"exponent": "2"}), ("claims", {"exponent": None}),
        ("claims", {"cv_log_loss": "low"}), ("params", {"calibrate": None}), ("params", {"calibrate": "by hand"}),
    ):  # fmt: skip
        (tmp_path / "bad.json").write_text(json.dumps(content | {part: content[part] | change}))
        with pytest.raises(et.DataError, match=r"exponent|cv_log_loss|calibrate"):
            et.load_model(tmp_path / "bad.json")


@pytest.mark.parametrize("name", ["chains", "options", "smoothed", "path", "exact"])
def test_the_checker_says_that_the_exponent_is_not_chosen_again(name: str, tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 3))
    y = np.where(rng.random(60) < 0.8, X[:, 0], rng.integers(0, 2, 60))
    path = tmp_path / "data.csv"
    lines = [",".join([*map(str, row), f"c{c}"]) for row, c in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("p,q,r,cls\n" + "\n".join(lines) + "\n")
    rows, labels = et.read_csv(path, target="cls").split("cls")
    quietly(made(name), rows, labels).save(tmp_path / "m.json", target="cls")
    report = verify_model(tmp_path / "m.json", path)
    assert report.ok
    assert report["exponent"].verdict == "not checked"
    assert report["exponent"].predicts
    content = json.loads((tmp_path / "m.json").read_text())
    content["claims"] |= {"calibrated_cv_log_loss": 5.0, "cv_log_loss": 1.0}
    (tmp_path / "bad.json").write_text(json.dumps(content))
    assert not verify_model(tmp_path / "bad.json", path).ok
    content["params"]["calibrate"] = None
    (tmp_path / "bad.json").write_text(json.dumps(content))
    assert verify_model(tmp_path / "bad.json", path)["exponent"].verdict == "false"
    content["params"]["calibrate"] = "cv"
    content["claims"]["exponent"] = 11
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(et.DataError, match="exponent"):
        verify_model(tmp_path / "bad.json", path)


@EACH
def test_explanations_say_what_is_answered(name: str) -> None:
    X, y = data(80)
    model = quietly(made(name), X, y)
    if name == "sampled":
        return
    why = model.explain_row(X[:1])
    assert why.exponent == model.exponent_
    answer = model.predict_proba(X[:1])[0]
    if name in ("by classes", "exact"):  # Rules add up to the average, and the exponent comes after.
        np.testing.assert_allclose(tempered(np.array([why.proba]), why.exponent)[0], answer, rtol=1e-12)
        best = model.classes_[answer.argmax()]
        assert str(why).endswith(f"the answer is P({best}) = {answer.max():.3f}")
    else:
        np.testing.assert_allclose(why.proba, answer, rtol=1e-12)
        whole = model.explain_row(X[:1], 10**6)
        if whole.covered > 1 - 1e-9:  # An option tree lists its leaves only so far.
            mean = sum(leaf.weight * np.array(leaf.proba) for leaf in whole.leaves)
            np.testing.assert_allclose(mean, model.raw_proba(X[:1])[0], rtol=1e-9)
        assert "to the power" in str(why)
    assert "to the power" in model.headline("")
    assert "exponent" in {fact.name for fact in model.facts()}
    plain = quietly(made(name, calibrate=None), X, y)
    assert "to the power" not in f"{plain.explain_row(X[:1])}{plain.headline('')}"


def test_a_path_average_is_exported_as_it_answers() -> None:
    X, y = data(80)
    model = made("path").fit(X, y)
    space: dict = {}
    exec(model.to_python(), space)
    found = next(each for key, each in space.items() if callable(each) and "proba" in key)
    for row, wanted in zip(X[:20], model.predict_proba(X[:20]), strict=True):
        said = found({f"x{j}": float(value) for j, value in enumerate(row)})
        told = list(said.values()) if isinstance(said, dict) else list(said)
        np.testing.assert_allclose(told, wanted, rtol=1e-12)


def test_limits_leave_the_average_as_it_is() -> None:
    X, y = data(400)

    def late(self, *rows):
        raise et.LimitReached("time limit reached", "time")

    for name in ("options", "path"):
        model = made(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(model), "_without", late)
            with pytest.warns(ConvergenceWarning, match="exponent_ is 1") as told:
                model.fit(X, y)
        assert told[0].filename == __file__
        assert (model.exponent_, model.cv_log_loss_) == (1.0, None)
        assert (model.predict_proba(X) == model.raw_proba(X)).all()


def test_all_chains_share_the_time(monkeypatch) -> None:
    X, y = data(80)
    limits = []
    run = et.MCMCTreeClassifier._limits

    def seen(self):
        limits.append(run(self))
        return limits[-1]

    monkeypatch.setattr(et.MCMCTreeClassifier, "_limits", seen)
    quietly(made("chains", time_limit=60.0), X, y)
    assert len(limits) == 6
    assert all(9 < each.time_limit <= 10 for each in limits)


def test_an_error_in_a_fold_leaves_the_model_as_it_was() -> None:
    X, y = data(80)
    model = quietly(made("chains"), X, y)
    before = model.predict_proba(X)
    start = model.tree_
    with pytest.raises(et.EverytreeError) as caught:
        quietly(model.set_params(start=start), X + 0.01 * np.arange(80)[:, None], y)
    assert isinstance(caught.value, et.EverytreeError)
    assert (model.predict_proba(X) == before).all()


def test_numbers_of_known_answers() -> None:
    p = np.array([[0.9, 0.1]] * 3 + [[0.1, 0.9]])
    found = chosen_exponent(p, np.zeros(4, dtype=np.intp), np.ones(4))
    assert found.exponent == pytest.approx(0.5)  # three of four: the sigmoid of log 3
    assert found.calibrated_log_loss == pytest.approx(-0.75 * np.log(0.75) - 0.25 * np.log(0.25))
    assert found.log_loss == pytest.approx(-0.75 * np.log(0.9) - 0.25 * np.log(0.1))
    assert np.isnan(chosen_exponent(p[:1], np.zeros(1, dtype=np.intp), np.ones(1)).log_loss_error)
