"""MCMCTreeClassifier: draws, predictions beside the exact average, diagnostics, search, limits, files."""

from __future__ import annotations

import copy
import json
import math
import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import everytree as et
from everytree.common.json_text import digest
from everytree.errors import DataError, QueryError
from everytree.files.model_file import model_from_dict, model_to_dict

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(seed=0, n=80, n_tests=6, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = np.where(rng.random(n) < 0.6, X[:, 0] + X[:, 1] * (n_classes > 2), rng.integers(0, n_classes, n))
    return X, y


STUMP = et.TreeSpace([[0] * 6, [1] * 6], [0, 1]).tree_of((0, -1, -1))


def quick(**options):
    defaults = {"max_depth": 3, "n_draws": 200, "burn_in": 50, "thin": 10, "random_state": 0}
    return et.MCMCTreeClassifier(**{**defaults, **options})


# --- predictions


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior": "coding", "dirichlet": "decay"},
        {"prior": et.SizePrior(0.9, 0.5, attribute_fair=True), "dirichlet": "1/C"},
        {"prior": "leaf_penalty", "min_leaf": 5, "tempering": 1},
        {"prior": "uniform", "informed": 0, "moves": {"grow": 1, "prune": 1, "change": 1, "swap": 1}},
        {"prior": "shapes", "dirichlet": 0.5, "min_leaf": 1, "tempering": [1, 0.5]},
    ],
    ids=str,
)
def test_predictions_are_the_exact_average_within_their_error(options, n_classes):
    X, y = data(1, n_classes=n_classes)
    shared = {name: value for name, value in options.items() if name in ("prior", "dirichlet", "min_leaf")}
    exact = et.BayesOptimalClassifier(max_depth=3, **shared).fit(X, y)
    z, leaves, used = [], [], []
    for seed in range(3):
        model = quick(**options, n_draws=700, thin=20, random_state=seed).fit(X, y)
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
        z.append((proba - exact.predict_proba(X)) / model.predict_error(X))
        leaves.append(model.draws_.n_leaves.mean())
        used.append(model.draws_.test_inclusion())
    # rows of one run err together, so one run alone would tell little
    assert np.sqrt(np.square(z).mean()) < 1.5
    assert np.abs(np.mean(z, axis=0)).max() * math.sqrt(3) < 4.5
    assert np.abs(np.mean(used, axis=0) - exact.posterior_.test_inclusion()).max() < 0.05
    assert abs(np.mean(leaves) - exact.posterior_.expected_leaves) < 0.15


@pytest.mark.long
def test_predictions_converge_at_the_monte_carlo_rate():
    X, y = data(2)
    exact = et.BayesOptimalClassifier(max_depth=3).fit(X, y).predict_proba(X)
    error = []
    for n_draws in (50, 800):
        off = [
            quick(n_draws=n_draws, thin=30, n_chains=2, random_state=seed).fit(X, y).predict_proba(X) - exact
            for seed in range(12)
        ]
        error.append(np.sqrt(np.mean(np.square(off))))
    # 16 times the draws: a quarter of the error
    assert 2.7 < error[0] / error[1] < 6
    assert error[1] < 0.01


def test_predictions_are_means_over_the_draws():
    X, y = data(3, n_classes=3)
    for options in (
        {},
        {"dirichlet": "decay"},
        {"dirichlet": [1, 2, 0.5]},
        {"target": "risk", "dirichlet": 0.3},
    ):
        model = quick(n_draws=40, **options).fit(X, y, sample_weight=np.arange(80) % 3)
        mean = np.mean([tree.predict_proba(X) for tree in model.draws_], axis=0)
        np.testing.assert_allclose(model.predict_proba(X), mean, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), model.classes_[mean.argmax(axis=1)])


def test_the_stack_counts_a_tree_once_for_each_order():
    from everytree import reference

    X, y = data(4, n=40, n_tests=3)
    model = quick(kernel="stack", max_depth=2, n_draws=4000, thin=20, tempering=1).fit(X, y)
    posterior = et.BayesOptimalClassifier(max_depth=2).fit(X, y).posterior_
    share = np.bincount(model.draws_.which.ravel()) / len(model.draws_)
    trees = [model.draws_.space.tree_of(model.draws_.key(k)) for k in range(model.draws_.n_distinct)]
    law = np.array([math.exp(posterior.log_prob(t)) * reference.n_orders(t.nested) for t in trees])
    assert 0.5 * np.abs(share - law / law.sum()).sum() < 0.05
    plain = np.exp([posterior.log_prob(t) for t in trees])
    assert 0.5 * np.abs(share - plain / plain.sum()).sum() > 0.05


def test_the_stack_draws_from_the_target_if_each_tree_counts_once():
    X, y = data(4, n=40, n_tests=3)
    model = quick(kernel="stack", orders="once", max_depth=2, n_draws=4000, thin=20).fit(X, y)
    posterior = et.BayesOptimalClassifier(max_depth=2).fit(X, y).posterior_
    share = np.bincount(model.draws_.which.ravel()) / len(model.draws_)
    trees = [model.draws_.space.tree_of(model.draws_.key(k)) for k in range(model.draws_.n_distinct)]
    law = np.exp([posterior.log_prob(t) for t in trees])
    assert 0.5 * np.abs(share - law / law.sum()).sum() < 0.05
    z = np.abs(model.predict_proba(X) - posterior.predict_proba(X)) / model.predict_error(X)
    assert z.max() < 5


@pytest.mark.parametrize("options", [{}, {"kernel": "stack", "orders": "once"}], ids=str)
def test_a_column_then_a_cut_by_its_density_changes_no_law(options):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.integers(0, 5, 60), rng.integers(0, 2, 60)])
    y = np.where(rng.random(60) < 0.5, X[:, 0] > 2, rng.integers(0, 2, 60)).astype(int)
    given = {"max_depth": 2, "min_leaf": 4, "bins": "all"}
    model = quick(**given, density="columns", informed=0, n_draws=3000, thin=30, **options).fit(X, y)
    posterior = et.BayesOptimalClassifier(**given).fit(X, y).posterior_
    share = np.bincount(model.draws_.which.ravel()) / len(model.draws_)
    trees = [model.draws_.space.tree_of(model.draws_.key(k)) for k in range(model.draws_.n_distinct)]
    law = np.exp([posterior.log_prob(t) for t in trees])
    assert 0.5 * np.abs(share - law).sum() + 0.5 * (1 - law.sum()) < 0.06


def test_an_unknown_density_is_refused():
    with pytest.raises(QueryError, match="density='rows'; expected a dict"):
        quick(density="rows").fit(*data())


# --- draws


def test_draws_are_trees_that_know_what_they_are():
    X, y = data(5)
    model = quick(n_draws=30).fit(X, y)
    draws = model.draws_
    posterior = et.BayesOptimalClassifier(max_depth=3).fit(X, y).posterior_
    assert len(draws) == 120
    assert (draws.n_chains, draws.n_draws) == (4, 30)
    trees = list(draws)
    for k, tree in enumerate(trees):
        assert (tree.info["chain"], tree.info["draw"]) == divmod(k, 30)
        assert tree == draws[k]
        assert dict(tree.info) == dict(draws[k].info)
        assert tree.n_leaves == draws.n_leaves[divmod(k, 30)]
        assert tree.depth == draws.depth[divmod(k, 30)]
        expected = posterior.log_prob(tree) + posterior.log_evidence
        assert tree.info["log_joint"] == pytest.approx(expected, abs=1e-9)
        assert draws.log_target[divmod(k, 30)] == tree.info["log_joint"]
    assert draws[3:7] == trees[3:7]
    assert draws[-1] == trees[-1]
    assert len({tree.key for tree in trees}) == draws.n_distinct
    with pytest.raises(IndexError):
        draws[120]
    share = [np.mean([t in tree.key for tree in trees]) for t in range(6)]
    np.testing.assert_allclose(draws.test_inclusion(), share, atol=1e-12)
    assert "4 chains × 30 draws" in repr(draws)


def test_the_best_tree_visited():
    X, y = data(6)
    model = quick().fit(X, y)
    best = et.MAPTreeClassifier(max_depth=3).fit(X, y)
    assert model.log_joint_ >= model.draws_.log_target.max() - 1e-9
    assert model.log_joint_ == pytest.approx(best.log_joint_)
    assert model.tree_.info["log_joint"] == model.log_joint_
    np.testing.assert_allclose(model.tree_.predict_proba(X), best.tree_.predict_proba(X))


def test_a_draw_takes_little_memory():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 40)), rng.integers(0, 2, 300)
    draws = quick(max_depth=None, prior="coding").fit(X, y).draws_
    assert draws.nbytes < 100 * (2 * draws.n_leaves - 1).sum()
    assert draws.nbytes < 100 * sum(len(draws.key(k)) for k in range(draws.n_distinct))


def same(one, other, X):
    assert np.array_equal(one.draws_.which, other.draws_.which)
    assert [one.draws_.key(k) for k in range(one.draws_.n_distinct)] == [
        other.draws_.key(k) for k in range(other.draws_.n_distinct)
    ]
    assert one.tree_ == other.tree_
    assert one.acceptance_ == other.acceptance_
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("options", [{}, {"target": "risk", "anneal": True}, {"kernel": "stack"}], ids=str)
def test_the_same_seed_gives_the_same_draws_however_it_is_run(options):
    X, y = data(7)
    model = quick(**options).fit(X, y)
    same(model, quick(**options, n_jobs=3).fit(X, y), X)
    same(model, quick(**options, progress=True).fit(X, y), X)
    calls = []
    same(model, quick(**options, progress=lambda *told: calls.append(told)).fit(X, y), X)
    other = quick(**options, random_state=1).fit(X, y)
    assert model.acceptance_ != other.acceptance_
    assert all(0 <= done <= total for _, done, total, _ in calls)


@pytest.mark.parametrize(
    "options", [{}, {"target": "risk", "anneal": (0.5, 2)}, {"kernel": "stack"}], ids=str
)
def test_sampling_goes_on(options):
    X, y = data(8)
    whole = quick(n_draws=120, **options).fit(X, y)
    model = quick(n_draws=50, **options).fit(X, y).continue_sampling(30).continue_sampling(40)
    assert model.draws_.n_draws == 120
    same(whole, model, X)
    if "target" in options:
        assert np.array_equal(whole.risk_trace_, model.risk_trace_)
        assert np.array_equal(whole.energy_trace_, model.energy_trace_)
    assert quick(n_draws=50, **options).fit(X, y).continue_sampling().draws_.n_draws == 100
    with pytest.raises(QueryError, match="n_draws=0; expected a whole number"):
        model.continue_sampling(0)


def test_copies_go_on_from_the_last_draws(tmp_path):
    X, y = data(9)
    model = quick(n_draws=50).fit(X, y)
    model.save(tmp_path / "m.json")
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), et.load_model(tmp_path / "m.json")]
    for other in others:
        same(model, other, X)
        other.continue_sampling(20)
        assert other.draws_.n_draws == 70
        assert np.array_equal(other.draws_.log_target[:, :50], model.draws_.log_target)
        assert other.tree_.info["log_joint"] >= model.tree_.info["log_joint"]
    same(others[0], others[1], X)
    same(others[0], others[2], X)


# --- diagnostics


def test_the_summary_in_numbers_and_words():
    X, y = data(10)
    model = quick(n_draws=400, thin=20).fit(X, y)
    summary = model.summary(top=2)
    assert [q.name for q in summary][:3] == ["log_target", "n_leaves", "depth"]
    assert len(list(summary)) == 5
    assert summary["n_leaves"].mean == pytest.approx(model.draws_.n_leaves.mean())
    assert summary.rhat == max(q.rhat for q in summary) < 1.05
    assert 100 < summary.ess <= 1600
    assert "the chains agree" in str(summary)
    assert "accepted: grow" in str(summary)
    told = summary.to_dict()
    assert told["rhat"] == summary.rhat
    assert json.loads(json.dumps(told))["quantities"][0]["name"] == "log_target"
    assert set(model.acceptance_) == {"grow", "prune", "change", "swap", "regrow", "exchange"}
    assert all(0 <= share <= 1 for share in model.acceptance_.values())


def test_constant_chains_are_no_disagreement():
    model = et.MCMCTreeClassifier(n_draws=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit([[0], [0], [0]], ["a", "b", "a"])
    summary = model.summary()
    assert summary.rhat == 1
    assert summary.ess == 80
    assert "every draw is the same" in summary.words
    assert "constant" in str(summary)


@pytest.mark.parametrize(
    ("n_draws", "expected"), [(1, "too few to tell"), (3, "too few to tell"), (200, "stuck")]
)
def test_chains_that_cannot_move(n_draws, expected):
    # Swaps alone never leave a tree of one split.
    X, y = data(11, n_tests=4)
    trees = [et.TreeSpace(X, y, 1).tree_of((t, -1, -1)) for t in range(4)]
    model = quick(n_draws=n_draws, start=trees, moves={"swap": 1}, tempering=1)
    if expected == "stuck":
        with pytest.warns(
            ConvergenceWarning, match="the chains are stuck: log_target does not move in any of them"
        ):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert expected in model.summary().words
    assert model.draws_.n_distinct == 4


def test_a_warning_in_plain_words():
    X, y = data(12, n=400, n_tests=30)
    with pytest.warns(
        ConvergenceWarning, match=r"the chains disagree: R-hat of .* continue_sampling\(n_draws\)"
    ):
        quick(n_draws=40, burn_in=0, thin=1, tempering=1, informed=0).fit(X, y)


def test_inference_data_names_what_it_needs(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"everytree\[mcmc\]"):
        quick(n_draws=5).fit(*data()).to_inference_data()


def test_inference_data():
    pytest.importorskip("xarray", reason="needs xarray, of everytree[mcmc]")
    X, y = data(13)
    model = quick(n_draws=300).fit(X, y)
    told = model.to_inference_data()
    draws = model.draws_
    assert np.array_equal(told["sample_stats"]["lp"].values, draws.log_target)
    assert np.array_equal(told["sample_stats"]["energy"].values, -draws.log_target)
    assert np.array_equal(told["posterior"]["n_leaves"].values, draws.n_leaves)
    mean = told["posterior"]["inclusion"].mean(("chain", "draw"))
    np.testing.assert_allclose(mean.values, draws.test_inclusion()[draws.test_inclusion() > 0])
    moves = told["moves"]
    total = moves["accepted"].sum("chain") / moves["proposed"].sum("chain")
    assert dict(zip(moves["move"].values.tolist(), total.values.tolist(), strict=True)) == pytest.approx(
        model.acceptance_
    )
    arviz_stats = pytest.importorskip("arviz_stats", reason="needs arviz-stats, of everytree[mcmc]")
    theirs = arviz_stats.rhat(told, method="split")["n_leaves"].item()
    assert theirs == pytest.approx(model.summary()["n_leaves"].rhat, abs=0.002)


# --- search


@pytest.mark.parametrize("risk", ["misclassification", "gini", "entropy"])
@pytest.mark.parametrize("scale", [None, 30.0])
def test_low_risk_is_what_the_exact_search_finds(risk, scale):
    X, y = data(14)
    options = {"target": "risk", "risk": risk, "scale": scale, "leaf_penalty": 1.5}
    model = quick(**options, anneal=(0.5, 8), burn_in=300, thin=30).fit(X, y)
    cost = {"misclassification": "error"}.get(risk, risk)
    factor = len(y) if scale is None else scale
    best = et.TreeSpace(X, y, 3, 2).best(cost, leaf_penalty=1.5 * len(y) / factor)
    assert model.energy_ == pytest.approx(best.info["objective"] * factor / len(y))
    assert model.energy_ == pytest.approx(factor * model.risk_ + 1.5 * model.tree_.n_leaves)
    assert model.risk_trace_.shape == model.energy_trace_.shape == (4, 500)
    assert model.energy_ <= model.energy_trace_.min() + 1e-9
    assert np.array_equal(model.energy_trace_[:, 300:], -model.draws_.log_target)
    kept = model.draws_[0]
    assert kept.info["energy"] == model.energy_trace_[0, 300]
    assert kept.info["risk"] == pytest.approx(model.risk_trace_[0, 300])
    if risk == "misclassification":
        assert model.risk_ == pytest.approx(model.tree_.error / len(y))
    assert not hasattr(model, "log_joint_")


def test_a_small_penalty_is_told():
    with pytest.warns(UserWarning, match="leaf_penalty=1.3 is below ln 4"):
        quick(target="risk", leaf_penalty=1.3, n_draws=5).fit(*data())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(target="risk", leaf_penalty=1.4, n_draws=2).fit(*data())


def test_starts():
    X, y = data(15, n=200, n_tests=8)
    still = {"burn_in": 0, "n_draws": 1, "thin": 1, "tempering": 1}
    best = et.MAPTreeClassifier(max_depth=3).fit(X, y)
    assert quick(start="map", **still).fit(X, y).log_joint_ == pytest.approx(best.log_joint_)
    risk = quick(target="risk", start="optimal", **still).fit(X, y)
    assert risk.energy_ == et.TreeSpace(X, y, 3, 2).best("error", leaf_penalty=2.0).info["objective"]
    least = et.OptimalTreeClassifier(max_depth=3, min_leaf=2).fit(X, y).tree_
    for start in ("optimal", least, [least] * 4):
        model = quick(start=start, moves={"swap": 1}, **still).fit(X, y)
        assert all(tree.error == least.error or tree.size == least.size for tree in model.draws_)
    stump = et.TreeSpace(X, y, 1).tree_of((2, -1, -1))
    model = quick(start=stump, **still).fit(X, y)
    assert all(tree.n_leaves <= 5 for tree in model.draws_)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("best", "start='best'; expected 'leaf', 'map', 'optimal', a Tree"),
        (3, "start=3; expected"),
        ([et.TreeSpace([[0, 1]], [0]).tree_of((-1,))], "start has 1 trees; expected one for each of 4 chains"),
        (et.TreeSpace([[0, 1]], [0]).tree_of((-1,)), "a tree over 2 tests, and there are 6 here"),
        (STUMP.replace(test_names=list("abcdef")), "test 0 of the start is 'a'"),
        (et.TreeSpace([[0] * 6, [1] * 6], [0, 1]).tree_of((0, 0, -1, -1, -1)), "test 0 is not feasible"),
    ],
    ids=str,
)  # fmt: skip
def test_starts_that_are_none(start, message):
    with pytest.raises((QueryError, DataError), match=message):
        quick(start=start).fit(*data())


# --- limits


def test_a_time_limit_keeps_the_draws_there_are():
    X, y = data(16, n=300, n_tests=30)
    with pytest.warns(
        ConvergenceWarning, match=r"time limit reached: \d+ of 1000000 draws in each of 4 chains"
    ):
        model = quick(n_draws=10**6, time_limit=0.3).fit(X, y)
    assert model.stop_reason_ == "time limit"
    assert 1 <= model.draws_.n_draws < 10**6
    assert model.predict_proba(X).shape == (300, 2)
    n = model.draws_.n_draws
    model.set_params(time_limit=None)
    assert model.continue_sampling(7).draws_.n_draws == n + 7
    assert model.stop_reason_ == "complete"


def test_a_memory_limit_keeps_the_draws_there_are():
    X, y = data(16, n=300, n_tests=30)
    with pytest.warns(ConvergenceWarning, match=r"memory limit reached: \d+ of 100000 draws"):
        model = quick(n_draws=10**5, thin=1, memory_limit=300_000, tempering=1).fit(X, y)
    assert model.stop_reason_ == "memory limit"
    assert model.draws_.nbytes < 300_000


def test_a_limit_in_the_burn_in_leaves_where_the_chains_are():
    X, y = data(17)
    for options in ({}, {"target": "risk"}):
        with pytest.warns(ConvergenceWarning, match="time limit reached: 1 of 5 draws"):
            model = quick(n_draws=5, burn_in=10**8, time_limit=0.2, **options).fit(X, y)
        assert len(model.draws_) == 4
        assert model.predict_proba(X).shape == (80, 2)


# --- messages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gibbs"}, "kernel='gibbs'; expected one of 'chipman', 'stack'"),
        ({"orders": "twice"}, "orders='twice'; expected one of 'counted', 'once'"),
        ({"target": "error"}, "target='error'; expected one of 'posterior', 'risk'"),
        ({"target": "risk", "risk": "error"}, "risk='error'; expected one of 'misclassification'"),
        ({"target": "risk", "leaf_penalty": -1}, "leaf_penalty=-1; expected a finite number"),
        ({"target": "risk", "scale": 0}, "scale=0; expected a finite number between 0"),
        ({"target": "risk", "start": "map"}, "which has no prior; expected start='optimal'"),
        ({"n_chains": 0}, "n_chains=0; expected a whole number ≥ 1"),
        ({"n_draws": 0}, "n_draws=0"),
        ({"burn_in": -1}, "burn_in=-1"),
        ({"thin": 0}, "thin=0"),
        ({"anneal": (1,)}, "expected powers of the target from first to last"),
        ({"anneal": "fast"}, "anneal='fast'"),
        ({"anneal": (0, 1)}, r"anneal\[0\]=0; expected a finite number between 0"),
        ({"moves": {"jump": 1}}, "expected a dict from 'grow'"),
        ({"moves": {"grow": 1}}, "grow and prune undo each other"),
        ({"moves": {"swap": -1}}, r"moves\['swap'\]=-1"),
        ({"informed": 2}, "informed=2; expected a finite number from 0 to 1"),
        ({"tempering": 0}, "tempering=0; expected a whole number ≥ 1"),
        ({"tempering": [1, 1.0]}, "expected numbers that fall from 1"),
        ({"tempering": [0.5]}, "expected numbers that fall from 1"),
        ({"prior": "fit"}, "draws do not tell the evidence"),
        ({"dirichlet": "average"}, "draws do not tell the evidence"),
        ({"progress": "yes"}, "progress='yes'; expected True, False or a function"),
        ({"random_state": "a"}, "random_state='a'"),
        ({"min_leaf": 100}, "fewer than min_leaf=100"),
    ],
    ids=str,
)
def test_messages(options, message):
    with pytest.raises(QueryError, match=message):
        quick(**options).fit(*data())


# --- files


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"target": "risk", "anneal": True},
        {"kernel": "stack", "dirichlet": "decay"},
        {"kernel": "stack", "orders": "once"},
        {"prior": et.CodingPrior()},
    ],
    ids=str,
)
def test_files(options, tmp_path):
    X, y = data(18, n_classes=3)
    model = quick(n_draws=30, **options).fit(X, y)
    model.save(tmp_path / "m.json")
    loaded = et.load_model(tmp_path / "m.json")
    same(model, loaded, X)
    assert model.summary() == loaded.summary()
    assert np.array_equal(loaded.predict_error(X), model.predict_error(X))
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    np.savetxt(
        tmp_path / "d.csv", np.column_stack([X, y]), "%d", ",", header="x0,x1,x2,x3,x4,x5,y", comments=""
    )
    report = et.verify_model(tmp_path / "m.json", tmp_path / "d.csv", target="y")
    assert report["fingerprint"].verdict == "true"
    assert report.ok, [fact for fact in report.facts if fact.verdict != "true"]
    assert report.unchecked == ("draws",)  # How often each tree was drawn, no data can tell.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trees": [[0, -1]]}, r"claims.draws.trees\[0\]: the key"),
        ({"trees": [[9, -1, -1]]}, r"claims.draws.trees\[0\] is .*expected tests below 6"),
        ({"trees": [[-1]]}, "expected one for each of 1 trees"),
        ({"trees": []}, "at least one tree"),
        ({"which": [[0], [99999]]}, "claims.draws.which holds 99999"),
        ({"which": [[0], [0, 0]]}, "lists of the same length"),
        ({"which": [[0]]}, "of every chain"),
        ({"which": [[0]] * 4}, "a tree that no draw is"),
        ({"which": 5}, "claims.draws.which is 5"),
        ({"log_data": ["a"]}, r"claims.draws.log_data\[0\] is 'a'; expected a finite number"),
        ({"log_data": [1.0]}, "claims.draws.log_data has 1 numbers"),
        ({"best": [True]}, "claims.draws.best is"),
        ({"best": [0, 0, -1, -1, -1]}, "test 0 is not feasible"),
        ({"seed": -1}, "claims.draws.seed is -1"),
        ({"proposed": [[1]] * 4}, "claims.draws.proposed is"),
        ({"proposed": {"grow": [1, 2], "prune": [1]}}, "lists of the same length"),
        (
            {"accepted": {"fly": [1, 1]}},
            "claims.draws.accepted is .*by kind of move, among grow, prune, change",
        ),
        ({"more": 1}, "expected an object with trees"),
    ],
    ids=str,
)
def test_damaged_files(change, message):
    written = model_to_dict(quick(n_draws=10).fit(*data(19)))
    written["claims"]["draws"].update(change)
    del written["claims"]["draws"]["fingerprint"]  # it would be the first to tell
    with pytest.raises(DataError, match=message):
        model_from_dict(written)
    written["claims"]["draws"] = None
    with pytest.raises(DataError, match=r"claims\.draws is None"):
        model_from_dict(written)


def test_moves_are_told_by_name_and_those_of_older_files_by_position():
    X, y = data(19)
    model = quick(n_draws=10).fit(X, y)
    written = model_to_dict(model)
    draws = written["claims"]["draws"]
    assert list(draws["proposed"]) == ["grow", "prune", "change", "swap", "regrow", "exchange"]
    older = json.loads(json.dumps(draws))
    for name in ("proposed", "accepted"):
        older[name] = [list(chain) for chain in zip(*draws[name].values(), strict=True)]
    content = {name: value for name, value in older.items() if name != "fingerprint"}
    older["fingerprint"] = digest(content)
    written["claims"]["draws"] = older
    loaded = model_from_dict(written)
    assert loaded.acceptance_ == model.acceptance_
    assert model_to_dict(loaded)["claims"]["draws"] == draws
    # the order of the kinds plays no part, and one that is absent was not tried
    turned = {name: dict(reversed(draws[name].items())) for name in ("proposed", "accepted")}
    del turned["proposed"]["swap"], turned["accepted"]["swap"]
    written["claims"]["draws"] = {k: v for k, v in (draws | turned).items() if k != "fingerprint"}
    kept = {name: share for name, share in model.acceptance_.items() if name != "swap"}
    assert model_from_dict(written).acceptance_ == kept


def test_a_density_of_proposals_changes_the_draws_and_not_what_they_say(tmp_path):
    X, y = data(3)
    plain, given = (
        quick(n_draws=2000, max_depth=2),
        quick(n_draws=2000, max_depth=2, density={"x0": 9, "x1": 0.5}),
    )
    plain.fit(X, y)
    given.fit(X, y)
    assert not np.array_equal(plain.draws_.log_target, given.draws_.log_target)
    exact = et.BayesOptimalClassifier(max_depth=2, min_leaf=plain.min_leaf).fit(X, y).predict_proba(X)
    for model in (plain, given):
        assert np.abs(model.predict_proba(X) - exact).max() < 0.05
    given.save(tmp_path / "m.json")
    loaded = et.load_model(tmp_path / "m.json")
    assert np.array_equal(loaded.predict_proba(X), given.predict_proba(X))
    loaded.continue_sampling(10)
    with pytest.raises(QueryError, match="density names 'age', which is no column and no test"):
        quick(density={"age": 2}).fit(X, y)
    with pytest.raises(QueryError, match=r"density\['x0'\]=0"):
        quick(density={"x0": 0}).fit(X, y)
    with pytest.raises(QueryError, match="expected a dict"):
        quick(density=[1, 2]).fit(X, y)
