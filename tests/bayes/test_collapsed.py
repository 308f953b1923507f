"""Collapsed sampling against exact answers: weights of tops, moves, frequencies, predictions and their errors."""

from __future__ import annotations

import copy
import math
import pickle
import signal
import threading
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from tops import DIRICHLETS, PRIORS, Key, Small

from everytree.bayes.collapsed import CollapsedPosterior
from everytree.bayes.moves import core_moves
from everytree.common.limits import Limits
from everytree.errors import DataError, EverytreeError, LimitReached, QueryError
from everytree.space.tree_space import TreeSpace
from everytree.weights.priors import SizePrior

UNDONE_BY = {"grow": "prune", "prune": "grow", "change": "change", "swap": "swap", "regrow": "regrow"}


def probabilities(small: Small) -> dict[Key, float]:
    log = small.log_tops()
    return {key: math.exp(x - small.bayes.log_evidence) for key, x in log.items()}


def quiet(small: Small, **options: Any) -> CollapsedPosterior:
    """Draws without the warning that short chains disagree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return small.sampled(**options)


# Exact parts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("dirichlet", DIRICHLETS)
def test_weights_and_predictions_given_the_tops(prior: str, dirichlet: str) -> None:
    """The mixture of all tops with their exact weights is the exact posterior: evidence and every prediction."""
    spaces: list[dict[str, Any]] = [
        {"max_depth": 3},
        {"max_depth": 3, "min_leaf": 2, "n_classes": 3},
        {"max_depth": 4, "min_leaf": 3, "n_classes": 1},
        {"max_depth": 4, "min_leaf": 3, "n": 30},
        {"max_depth": None, "min_leaf": 3, "n": 26},
        {"max_depth": 2},
        {"max_depth": 0},
    ]
    for seed, options in enumerate(spaces):
        small = Small(seed, prior=prior, dirichlet=dirichlet, **options)
        exact = probabilities(small)
        assert math.fsum(exact.values()) == pytest.approx(1)
        core = quiet(small, n_draws=20, n_chains=1, burn_in=0, random_state=0)._core
        log_tops = small.log_tops()
        for key in list(log_tops)[:: max(1, len(log_tops) // 40)]:
            assert core.log_joint(list(key)) == pytest.approx(log_tops[key], rel=1e-12, abs=1e-12)
        rng = np.random.default_rng(seed)
        rows = np.concatenate([rng.integers(0, 2, (6, small.X.shape[1])).astype(np.uint8), small.X[:3]])
        control = small.space.limits.control()
        got = core.predict([list(key) for key in exact], [[(0, p)] for p in exact.values()], 1, rows, control)
        want = small.space.posterior(small.prior, small.dirichlet).predict_proba(rows)
        np.testing.assert_allclose(np.reshape(got, want.shape), want, rtol=1e-11, atol=1e-13)


# Moves ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "options"),
    [
        ("size", {"max_depth": 4, "min_leaf": 4, "n": 34}),
        ("fair shapes", {"max_depth": 4, "min_leaf": 4, "n_classes": 3, "n": 36}),
        ("uniform", {"max_depth": 3, "n_classes": 3}),
        ("penalty", {"max_depth": None, "min_leaf": 4, "n": 32}),
        ("fair coding", {"max_depth": 5, "min_leaf": 5, "n": 45}),
    ],
)
def test_detailed_balance_move_by_move(prior: str, options: dict[str, Any]) -> None:
    """What a proposal says of itself is true, and agrees with what its undoing says of itself."""
    small = Small(5, prior=prior, dirichlet="0.3", **options)
    log_tops = small.log_tops()
    core = quiet(small, n_draws=20, n_chains=1, burn_in=0, random_state=0)._core
    control = small.space.limits.control()
    rng = np.random.default_rng(0)
    # The heaviest tops and some at random, so that many moves lead from one of them to another.
    ranked = sorted(log_tops, key=lambda key: -log_tops[key])
    chosen = ranked[:40] + [ranked[k] for k in rng.integers(0, len(ranked), 20)]
    forward: dict[tuple[str, Key, int, Key], float] = {}
    reverse: dict[tuple[str, Key, int, Key], float] = {}
    n = 1000
    for number, top in enumerate(dict.fromkeys(chosen)):
        for k, kind in enumerate(core_moves()):
            moves = core.propose(list(top), k, number, n, control)
            drawn = Counter[tuple[int, Key]]()
            density: dict[tuple[int, Key], float] = {}
            for move in moves:
                if move is None:
                    continue
                tests, place, log_target, log_forward, log_reverse = move
                key = tuple(tests)
                assert abs(log_target - (log_tops[key] - log_tops[top])) < 1e-9
                forward[kind, top, place, key] = log_forward
                reverse[kind, top, place, key] = log_reverse
                density[place, key] = math.exp(log_forward)
                drawn[place, key] += 1
            # Proposals come as often as they say.
            for outcome, p in density.items():
                assert abs(drawn[outcome] - n * p) < 6 * math.sqrt(n * p) + 6
            # And all of them together are not more than certain; staying put is the rest.
            assert math.fsum(density.values()) <= 1 + 1e-9
            stayed = moves.count(None) / n
            assert math.fsum(density.values()) + stayed <= 1 + 5 * math.sqrt(
                max(stayed * (1 - stayed), 1 / n) / n
            )
    met = Counter[str]()
    for (kind, top, place, key), log_reverse in reverse.items():
        undone = (UNDONE_BY[kind], key, place, top)
        if undone in forward:
            met[kind] += 1
            assert abs(forward[undone] - log_reverse) < 1e-9
            assert abs(reverse[undone] - forward[kind, top, place, key]) < 1e-9
    # At depth 3 the top is at most one split: there is nothing to swap.
    assert all(met[kind] >= 4 for kind in core_moves() if kind != "swap" or options["max_depth"] != 3), met


# Frequencies ------------------------------------------------------------------------------------------------

FREQUENCIES: list[dict[str, Any]] = [
    {
        "prior": prior,
        "dirichlet": list(DIRICHLETS)[k % 4],
        "max_depth": (3, 4, 5, None)[k % 4],
        "min_leaf": (1, 3, 5, 4)[k % 4],
        "n": (20, 30, 44, 34)[k % 4],
        "n_classes": (2, 3, 2)[k % 3],
    }
    for k, prior in enumerate([*PRIORS, *PRIORS][:12])
]


@pytest.mark.parametrize("case", range(len(FREQUENCIES)))
def test_tops_are_drawn_as_often_as_they_should(case: int) -> None:
    small = Small(case, **FREQUENCIES[case])
    exact = probabilities(small)
    sampled = quiet(small, n_draws=1500, n_chains=8, burn_in=20, thin=1, random_state=case)
    n = sampled.n_chains * sampled.n_draws
    drawn = dict(sampled.tops(len(exact)))
    assert set(drawn) <= set(exact)
    # With fifty proposals between them, draws of spaces this small are nearly independent: χ² with little slack.
    common = {key: p for key, p in exact.items() if n * p >= 10}
    statistic = sum((n * drawn.get(key, 0.0) - n * p) ** 2 / (n * p) for key, p in common.items())
    rest = 1 - math.fsum(common.values())
    degrees = len(common) - 1
    if n * rest >= 10:
        statistic += n * (1 - math.fsum(drawn.get(key, 0.0) for key in common) - rest) ** 2 / rest
        degrees += 1
    assert statistic < 1.5 * chi2.isf(1e-4, max(degrees, 1))
    distance = 0.5 * math.fsum(abs(drawn.get(key, 0.0) - p) for key, p in exact.items())
    expected = 0.5 * math.fsum(math.sqrt(2 * p * (1 - p) / (math.pi * n)) for p in exact.values())
    assert distance < 1.5 * expected + 0.01


def test_without_data_the_prior_is_sampled() -> None:
    """One class only: every tree has the same likelihood 1, so tops come as the size prior has them."""
    rng = np.random.default_rng(3)
    space = TreeSpace(rng.integers(0, 2, (40, 3)), np.zeros(40, int), max_depth=4)
    sampled = space.collapsed(n_draws=2000, burn_in=50, random_state=0)
    share, error = sampled.root_distribution(return_error=True)
    assert abs(share.sum() - 0.8) < 5 * math.sqrt(0.8 * 0.2 / 4000)
    assert (abs(share - 0.8 / 3) < 5 * error).all()


# Predictions and their errors -------------------------------------------------------------------------------


@pytest.mark.long
def test_errors_are_calibrated() -> None:
    """Standardised errors have a spread of about one; they are meant to be on the safe side."""
    scores = []
    for seed in range(24):
        small = Small(seed % 6, n=40, n_tests=5, max_depth=4, min_leaf=3, n_classes=2 + seed % 2)
        rows = np.unique(small.X, axis=0)[:12]
        want = small.space.posterior().predict_proba(rows)
        proba, error = quiet(small, n_draws=300, burn_in=50, random_state=seed).predict_proba(rows, True)
        scores.append(((proba - want) / error)[:, 0])
    flat = np.concatenate(scores)
    spread = float(np.sqrt(np.mean(flat**2)))
    assert 0.6 < spread < 1.25, spread
    assert np.mean(abs(flat) > 3) < 0.02


@pytest.mark.parametrize("options", [{"max_depth": 4}, {"max_depth": None, "min_leaf": 3}, {"max_depth": 3}])
@pytest.mark.parametrize("prior", ["size", "fair coding", "uniform"])
def test_predictions_agree_with_the_exact_ones(prior: str, options: dict[str, Any]) -> None:
    small = Small(11, n=50, n_tests=6, n_classes=3, prior=prior, **({"min_leaf": 2} | options))
    sampled = quiet(small, n_draws=500, burn_in=100, random_state=1)
    exact = small.space.posterior(small.prior)
    proba, error = sampled.predict_proba(small.X, return_error=True)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-9)
    assert (abs(proba - exact.predict_proba(small.X)) < 5.5 * error + 1e-6).all()
    np.testing.assert_array_equal(sampled.error(small.X), error)
    share, of_share = sampled.root_distribution(return_error=True)
    assert (abs(share - exact.root_distribution()) < 5.5 * of_share + 0.004).all()
    assert (sampled.predict(small.X) == np.argmax(proba, axis=1)).all()


def test_nothing_to_sample_is_exact_within_rounding() -> None:
    small = Small(2, max_depth=2)
    sampled = small.sampled(n_draws=20, random_state=0)
    proba, error = sampled.predict_proba(small.X, return_error=True)
    np.testing.assert_allclose(proba, small.space.posterior().predict_proba(small.X), rtol=1e-12)
    assert error.max() < 1e-12
    assert sampled.tops() == [((-1,), 1.0)]
    assert sampled.exact is False
    with pytest.raises(QueryError, match="nothing is sampled"):
        sampled.root_distribution()


def test_draws_that_all_say_the_class_frequencies_are_not_certain() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (24, 4)), rng.integers(0, 2, 24)
    space, prior = TreeSpace(X, y, max_depth=3), SizePrior(0.002, 0.0)
    sampled = space.collapsed(prior, n_draws=20, burn_in=10, n_chains=2, random_state=0)
    assert len(sampled.tops()) == 1
    proba, error = sampled.predict_proba(X, return_error=True)
    off = abs(proba - space.posterior(prior).predict_proba(X))
    assert off.max() > 1e-5
    assert (off < error).all()


def test_many_rows_and_equal_rows() -> None:
    small = Small(4, n=60, n_tests=8, max_depth=4)
    sampled = quiet(small, n_draws=50, burn_in=20, random_state=0)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (5000, 8)).astype(np.uint8)
    together = sampled.predict_proba(rows)
    alone = np.concatenate([sampled.predict_proba(rows[k : k + 1]) for k in range(50)])
    np.testing.assert_allclose(together[:50], alone, rtol=1e-12)
    assert sampled.predict_proba(np.zeros((0, 8), np.uint8)).shape == (0, 2)


# Determinism ------------------------------------------------------------------------------------------------


def test_same_draws_for_any_number_of_threads_and_any_length() -> None:
    runs = [
        quiet(Small(9, n=40, n_tests=6, max_depth=5, n_jobs=n_jobs), n_draws=n, random_state=7)
        for n_jobs, n in ((1, 120), (3, 120), (2, 60))
    ]
    np.testing.assert_array_equal(runs[0].log_joint, runs[1].log_joint)
    np.testing.assert_array_equal(runs[0].log_joint[:, :60], runs[2].log_joint)
    rows = runs[0].space.table.rows
    np.testing.assert_array_equal(runs[0].predict_proba(rows), runs[1].predict_proba(rows))
    other = quiet(Small(9, n=40, n_tests=6, max_depth=5), n_draws=120, random_state=8)
    assert (other.log_joint != runs[0].log_joint).any()


def test_a_forgetful_cache_changes_nothing() -> None:
    """With hardly any memory every state is computed again and again, with the same result."""
    rich, poor = (Small(9, n=40, n_tests=6, max_depth=5) for _ in range(2))
    poor.space.limits = Limits(memory_limit=100_000)
    a, b = (quiet(each, n_draws=40, burn_in=20, random_state=7) for each in (rich, poor))
    np.testing.assert_array_equal(a.log_joint, b.log_joint)


def test_pickle_and_copy_keep_the_draws() -> None:
    small = Small(1, n=40, n_tests=5, max_depth=4)
    sampled = quiet(small, n_draws=50, random_state=0)
    for twin in (pickle.loads(pickle.dumps(sampled)), copy.deepcopy(sampled)):
        np.testing.assert_array_equal(twin.predict_proba(small.X), sampled.predict_proba(small.X))
        assert repr(twin) == repr(sampled)


# Limits -----------------------------------------------------------------------------------------------------


def large() -> TreeSpace:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 150))
    return TreeSpace(X, X[:, 0] ^ (X[:, 1] & X[:, 2]), max_depth=7, time_limit=1.0)


@pytest.mark.long
def test_time_limit_leaves_the_draws_so_far() -> None:
    space = large()
    space.limits = Limits(time_limit=1.5)
    begin = time.monotonic()
    with pytest.warns(RuntimeWarning, match="time limit reached: [0-9]+ of 1000000 draws"):
        sampled = space.collapsed(n_draws=1_000_000, n_chains=2, burn_in=0, random_state=0)
    assert time.monotonic() - begin < 10
    assert sampled.stop_reason == "time limit reached"
    assert 20 <= sampled.n_draws < 1_000_000
    assert sampled.summary()["stop_reason"] == "time limit reached"
    longer = sampled.log_joint
    space.limits = Limits()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        again = space.collapsed(n_draws=20, n_chains=2, burn_in=0, random_state=0)
    np.testing.assert_array_equal(longer[:, :20], again.log_joint)


def test_too_early_a_limit_is_an_error() -> None:
    space = large()
    space.limits = Limits(time_limit=0.05)
    with pytest.raises(LimitReached, match="draws of each chain \\(at least 20 are needed\\)"):
        space.collapsed(random_state=0)
    space.limits = Limits(memory_limit=2000)
    with pytest.raises(LimitReached, match="memory limit reached"):
        space.collapsed(n_draws=5000, burn_in=0, random_state=0)


@pytest.mark.long
def test_stop_from_another_thread() -> None:
    space = large()
    space.limits = Limits(time_limit=60)
    timer = threading.Timer(1.5, space.stop)
    timer.start()
    with pytest.warns(RuntimeWarning, match="stopped"):
        sampled = space.collapsed(n_draws=1_000_000, n_chains=2, burn_in=0, random_state=0)
    timer.join()
    assert sampled.stop_reason == "stopped"


def test_interrupt() -> None:
    space = large()
    space.limits = Limits(time_limit=60)  # a signal that is lost must not hang the tests
    main = threading.main_thread().ident
    assert main is not None
    # Programs that run in the background of a shell start with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            space.collapsed(n_draws=1_000_000, random_state=0)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_progress_goes_forward() -> None:
    seen: list[tuple[str, int, int]] = []
    small = Small(3, n=60, n_tests=8, max_depth=5)
    small.space.limits = Limits(
        progress=lambda stage, done, total, seconds: seen.append((stage, done, total))
    )
    quiet(small, n_draws=2000, random_state=0)
    assert {stage for stage, _, _ in seen} == {"sampling tops"}
    assert {total for _, _, total in seen} == {4 * 2500}
    done = [each for _, each, _ in seen]
    assert done == sorted(done)


# Words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 5}, "n_draws=5; expected a whole number ≥ 20"),
        ({"n_draws": "many"}, "n_draws='many'"),
        ({"n_chains": 0}, "n_chains=0; expected a whole number ≥ 1"),
        ({"burn_in": -1}, "burn_in=-1"),
        ({"thin": 0}, "thin=0"),
        ({"random_state": "x"}, "random_state='x'; expected a whole number"),
        ({"random_state": -3}, "random_state=-3"),
        ({"prior": "flat"}, "prior='flat'"),
        ({"dirichlet": -1.0}, "dirichlet=-1.0"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(EverytreeError, match=message.replace("(", "\\(")):
        Small(0).space.collapsed(**options)


def test_bad_rows_and_missing_attributes() -> None:
    small = Small(0)
    sampled = quiet(small, n_draws=20, random_state=0)
    with pytest.raises(DataError, match="X has 3 columns; expected the 4 tests"):
        sampled.predict_proba(np.zeros((2, 3)))
    space = TreeSpace(small.X, small.y, max_depth=3)
    with pytest.raises(QueryError, match="attributes="):
        space.collapsed(PRIORS["fair size"][0])


def test_it_says_that_it_is_sampled() -> None:
    small = Small(6, n=60, n_tests=6, max_depth=4)
    sampled = quiet(small, n_draws=100, random_state=0)
    assert "sampled, not exact: 4 chains × 100 draws" in repr(sampled)
    told = sampled.summary()
    assert told["exact"] is False
    assert told["proposals"] == 4 * (500 + 100) * 50
    assert set(told["acceptance"]) == {*core_moves(), "all"}
    assert 0 < told["acceptance"]["all"] < 1
    assert sum(share for _, share in sampled.tops(10**6)) == pytest.approx(1)
    assert sampled.log_joint.shape == sampled.n_splits.shape == (4, 100)


def test_chains_that_disagree_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everytree.bayes.collapsed.UNSURE", 0.5)
    with pytest.warns(RuntimeWarning, match="the chains disagree .R-hat [01].* raise n_draws"):
        Small(0).sampled(n_draws=20, burn_in=0, random_state=0)


def test_a_pattern_that_no_look_ahead_shows_is_found() -> None:
    """A parity of four: two tests of it must be met by chance before the sum over two levels sees the rest."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 12))
    space = TreeSpace(X, X[:, 0] ^ X[:, 1] ^ X[:, 2] ^ X[:, 3], max_depth=4)
    proba, error = space.collapsed(n_draws=200, burn_in=100, random_state=0).predict_proba(X[:40], True)
    assert (abs(proba - space.posterior().predict_proba(X[:40])) < 5 * error + 1e-6).all()
