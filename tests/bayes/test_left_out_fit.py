"""Hyper-parameters by the exact leave-one-out log-loss, against refits without each example at every point."""

from __future__ import annotations

import json
import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import everytree as et
from everytree.bayes import left_out_fit
from everytree.bayes.exponent import best_exponent, log_loss_at
from everytree.bayes.hyper import ALPHAS, BETAS, OMEGAS, POWERS, SHARES, STRENGTHS, SYMMETRIC
from everytree.bayes.leave_one_out import LeaveOneOut
from everytree.bayes.posterior import Posterior
from everytree.verify import verify_model


def table(n: int = 40, n_tests: int = 3, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = np.where(rng.random(n) < 0.75, X[:, 0] + (X[:, 1] & X[:, 2]), rng.integers(0, n_classes, n))
    return X, np.minimum(y, n_classes - 1)


def refitted(X: np.ndarray, y: np.ndarray, prior, dirichlet, power: float) -> np.ndarray:
    """What is said of each example by the average over all others, which is folded anew."""
    said = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        space = et.TreeSpace(X[rest], y[rest], max_depth=2)
        said.append(space.posterior(prior, dirichlet, power=power).predict_proba(X[i : i + 1])[0])
    return np.array(said)


def loss_of(said: np.ndarray, y: np.ndarray, exponent: bool) -> float:
    ones = np.ones(len(y))
    return log_loss_at(best_exponent(said, y, ones) if exponent else 1.0, said, y, ones)


def grids(word: str) -> list[tuple[str, list]]:
    sizes = [
        et.SizePrior(0.8, 0.8),
        *(et.SizePrior(a, b) for a in ALPHAS for b in BETAS if (a, b) != (0.8, 0.8)),
    ]
    return {
        "power": ("power", list(POWERS)),
        "dirichlet": ("dirichlet", [1.0, *(a for a in SYMMETRIC if a != 1)]),
        "base": ("dirichlet", [et.BaseRate(s) for s in STRENGTHS]),
        "decay": ("dirichlet", [et.DepthDecay(), *(et.DepthDecay(a, b) for a in SHARES for b in SHARES)]),
        "size": ("prior", sizes),
        "leaf_penalty": ("prior", [et.LeafPenaltyPrior(), *(et.LeafPenaltyPrior(o) for o in OMEGAS)]),
    }[word]


ASKED = {
    "power": {"power": "loo"},
    "dirichlet": {"dirichlet": "loo", "power": 0.5},
    "base": {"dirichlet": "loo_base", "power": 1.0},
    "decay": {"dirichlet": "loo_decay", "power": 1.0},
    "size": {"prior": "loo", "power": 1.0},
    "leaf_penalty": {"prior": "loo_leaf_penalty", "power": 0.25},
}


@pytest.mark.parametrize("word", ASKED)
@pytest.mark.parametrize("exponent", [False, True])
def test_every_point_is_what_refits_without_each_example_say(word: str, exponent: bool) -> None:
    X, y = table(24)
    space = et.TreeSpace(X, y, max_depth=2)
    found = et.fit_leave_one_out(space, **ASKED[word], exponent=exponent)
    name, values = grids(word)
    shares = np.bincount(y) / len(y)
    given = {"prior": "size", "dirichlet": 1.0, "power": 1.0} | ASKED[word]
    losses = []
    for value in values:
        point = given | {name: value}
        if isinstance(value, et.BaseRate):  # They are those of all examples.
            point["dirichlet"] = tuple((value.strength * shares).tolist())
        losses.append(loss_of(refitted(X, y, **point), y, exponent))
    by_value = {repr(value): loss for value, loss in zip(values, losses, strict=True)}
    wanted = [by_value[key] for key in dict.fromkeys(repr(value) for value in values)]
    np.testing.assert_allclose([point.log_loss for point in found.curve], wanted, rtol=1e-10)
    assert found.best.log_loss == min(point.log_loss for point in found.curve)
    assert found.gain == found.default.log_loss - found.best.log_loss
    assert found.gain >= 0
    assert found.stop_reason == "grid"
    chosen = found.best
    assert (found.posterior.prior, found.posterior.power) == (chosen.prior, chosen.power)
    if not exponent:
        assert found.posterior.loo_log_loss == pytest.approx(chosen.log_loss, rel=1e-12)
        assert chosen.exponent == 1
    assert chosen.log_loss_error == found.posterior.loo_log_loss_error


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("cuts", ["global", "local"])
@pytest.mark.parametrize("calibrate", [None, "loo"])
def test_the_classifier_takes_the_best_of_all_combinations(
    weighed: bool, cuts: str, calibrate: str | None
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 3)).round(1)
    y = (X[:, 0] + rng.normal(0, 0.8, 50) > 0).astype(int) + (X[:, 1] > 1)
    w = rng.integers(1, 4, 50) if weighed else None
    model = et.BayesOptimalClassifier(
        2, bins=3, cuts=cuts, power="loo", dirichlet="loo", calibrate=calibrate
    ).fit(X, y, sample_weight=w)
    losses = {}
    for a, power in product([1.0, 0.25, 0.5, 2.0, 4.0], POWERS):
        one = et.BayesOptimalClassifier(2, bins=3, cuts=cuts, power=power, dirichlet=a, calibrate="loo").fit(
            X, y, sample_weight=w
        )
        losses[a, power] = one.calibrated_loo_log_loss_ if calibrate else one.loo_log_loss_
    best = min(losses, key=lambda point: losses[point])
    assert (model.dirichlet_, model.power_) == best
    assert model.loo_fit_ is not None
    assert [point.log_loss for point in model.loo_fit_.curve] == pytest.approx(
        list(losses.values()), rel=1e-12
    )
    wanted = et.BayesOptimalClassifier(
        2, bins=3, cuts=cuts, power=best[1], dirichlet=best[0], calibrate=calibrate
    ).fit(X, y, sample_weight=w)
    assert (model.predict_proba(X) == wanted.predict_proba(X)).all()
    assert model.in_force() == wanted.in_force()
    again = pickle.loads(pickle.dumps(clone(model).fit(X, y, sample_weight=w)))
    assert again.power_ == model.power_


def test_files_and_the_checker_know_what_was_chosen(tmp_path) -> None:
    X, y = table(60, 4, 3)
    path = tmp_path / "data.csv"
    lines = [",".join([*map(str, row), f"c{c}"]) for row, c in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("p,q,r,s,cls\n" + "\n".join(lines) + "\n")
    rows, labels = et.read_csv(path, target="cls").split("cls")
    for params in (
        {"power": "loo", "dirichlet": "loo_base", "calibrate": "loo"},
        {"power": "loo"},
        {"prior": "loo_leaf_penalty", "dirichlet": "loo"},
    ):
        model = et.BayesOptimalClassifier(2, **params).fit(rows, labels)
        model.save(tmp_path / "m.json", target="cls")
        loaded = et.load_model(tmp_path / "m.json")
        assert (loaded.predict_proba(rows) == model.predict_proba(rows)).all()
        assert (loaded.power_, loaded.prior_, loaded.dirichlet_) == (
            model.power_,
            model.prior_,
            model.dirichlet_,
        )
        assert loaded.loo_fit_ is None
        report = verify_model(tmp_path / "m.json", path)
        assert report.ok
        assert report.unchecked == tuple(
            f"{name} in force" for name in ("prior", "dirichlet", "power") if name in params
        )
    content = json.loads((tmp_path / "m.json").read_text())
    assert "power" not in content["claims"]
    et.BayesOptimalClassifier(2, power="loo").fit(rows, labels).save(tmp_path / "m.json", target="cls")
    content = json.loads((tmp_path / "m.json").read_text())
    for wrong in (0.3, 2, "low", None):
        (tmp_path / "bad.json").write_text(
            json.dumps(content | {"claims": content["claims"] | {"power": wrong}})
        )
        with pytest.raises(et.DataError):
            et.load_model(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text(json.dumps(content | {"claims": content["claims"] | {"power": 0.3}}))
    assert not verify_model(tmp_path / "bad.json", path).ok


def test_refusals() -> None:
    X, y = table(40)
    numbers = np.random.default_rng(0).normal(size=(40, 2))
    for params, message in (
        ({"dirichlet": "loo", "prior": "fit"}, "choose all by"),
        ({"power": "loo", "prior": "average"}, "choose all by"),
        ({"power": "loo", "dirichlet": "fit"}, "power='loo'"),
        ({"dirichlet": "loo_per_class"}, "loo_base"),
        ({"prior": "loo_decay"}, "loo_leaf_penalty"),
        ({"power": "loo", "bins": "mdl"}, "classes chose the cuts"),
        ({"dirichlet": "loo", "method": "collapsed"}, "collapsed"),
        ({"power": "loo", "method": "collapsed"}, "collapsed"),
        ({"power": "high"}, "power"),
    ):
        with pytest.raises(et.QueryError, match=message):
            et.BayesOptimalClassifier(2, **params).fit(numbers, y)
    with pytest.raises(et.QueryError, match="not a single tree"):
        et.MAPTreeClassifier(2, dirichlet="loo").fit(X, y)
    for model in (
        et.MCMCTreeClassifier(2, dirichlet="loo"), et.MCMCTreeClassifier(2, power="loo"),
        et.SmoothedTreeClassifier(dirichlet="loo"), et.OptionTreeClassifier(dirichlet="loo"),
    ):  # fmt: skip
        with pytest.raises(et.QueryError, match="loo"):
            model.fit(X, y)
    space = et.TreeSpace(X, y, max_depth=2)
    with pytest.raises(et.QueryError, match="are all given"):
        et.fit_leave_one_out(space, power=0.5)
    with pytest.raises(et.QueryError, match="by evidence"):
        et.fit_leave_one_out(space, dirichlet="fit")
    with pytest.raises(et.QueryError, match="fit_leave_one_out"):
        et.fit_evidence(space, dirichlet="loo")
    with pytest.raises(et.QueryError, match="not chosen here"):
        et.fit_leave_one_out(space, power="loo", grid={"alpha": [0.5]})


def test_own_grids_and_time() -> None:
    X, y = table(60)
    space = et.TreeSpace(X, y, max_depth=2)
    found = et.fit_leave_one_out(space, power="loo", grid={"power": [0.7, 0.1]})
    assert [point.power for point in found.curve] == [1.0, 0.7, 0.1]
    assert "leave-one-out log-loss" in str(found)
    hurried = et.TreeSpace(X, y, max_depth=2, time_limit=1e-9)
    try:
        few = et.fit_leave_one_out(hurried, prior="loo", dirichlet="loo", power="loo")
    except et.LimitReached:
        return  # Not even the first point was finished.
    assert few.stop_reason == "time limit"
    assert len(few.curve) < 200


def test_leaving_out_has_the_time_that_the_fold_left(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(60)
    clock = iter(range(0, 1000, 4))  # every look at the clock is four seconds later
    monkeypatch.setattr(left_out_fit.time, "monotonic", lambda: float(next(clock)))
    given = []
    leave_out = Posterior.leave_one_out

    def asked(posterior: Posterior) -> LeaveOneOut:
        given.append(posterior.space.limits.time_limit)
        return leave_out(posterior)

    monkeypatch.setattr(Posterior, "leave_one_out", asked)
    space = et.TreeSpace(X, y, max_depth=2, time_limit=30)
    found = et.fit_leave_one_out(space, power="loo")
    assert given[0] < 30 - 4  # the whole limit again, when leaving out began a clock of its own
    assert found.posterior.space is space


def test_a_point_counts_the_best_one_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(60)
    beside = []
    fold = left_out_fit.Posterior

    def folded(space: et.TreeSpace, *rest: object) -> Posterior:
        beside.append(space.limits.held)
        return fold(space, *rest)

    monkeypatch.setattr(left_out_fit, "Posterior", folded)
    found = et.fit_leave_one_out(et.TreeSpace(X, y, max_depth=2, memory_limit=10**9), power="loo")
    assert beside[0] == 0
    assert min(beside[1:]) > found.posterior.leave_one_out().proba.nbytes


def test_batches_and_limits() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 4))
    y = X[:, 0] ^ (rng.random(60) < 0.2)
    model = et.BayesOptimalClassifier(2, power="loo", calibrate="loo")
    parts = clone(model).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    whole = model.fit(X, y)
    assert parts.power_ == whole.power_
    assert (parts.predict_proba(X) == whole.predict_proba(X)).all()
    limited = clone(model).set_params(time_limit=60.0).fit(X, y)
    assert (limited.predict_proba(X) == whole.predict_proba(X)).all()
