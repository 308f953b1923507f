"""Runs of chains over trees: the same whatever the threads and the memory, starts, limits, and bad input."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from chain_cases import DIRICHLETS, EVEN, Small, keys_of

import everytree._core as core
from everytree.common.limits import Limits
from everytree.errors import DataError, LimitReached
from everytree.estimators.mcmc import MCMCTreeClassifier
from everytree.space.tree_space import TreeSpace
from everytree.trees.answers import with_dirichlet
from everytree.weights.dirichlet import dirichlet_rows

NAMES = (
    "keys",
    "orders",
    "ends",
    "leaves",
    "depths",
    "which",
    "log_prior",
    "log_data",
    "proposed",
    "accepted",
)


def same(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> bool:
    return all(np.array_equal(x[name], y[name]) for x, y in zip(a, b, strict=True) for name in NAMES) and [
        (x["best"], x["best_log_target"]) for x in a
    ] == [(y["best"], y["best_log_target"]) for y in b]


@pytest.mark.parametrize("kernel", ["chipman", "stack"])
@pytest.mark.parametrize("blind", [1.0, 0.2])
@pytest.mark.parametrize("ladder", [[1.0], [1.0, 0.3]])
def test_threads_and_memory_change_nothing(kernel: str, blind: float, ladder: list[float]) -> None:
    odds = (0.2, 0.2, 0.2, 0.2, 0.2)
    given: dict[str, Any] = {"odds": odds, "blind": blind, "ladder": ladder, "n_chains": 3}
    small = Small(2, "fair size", n=40, n_tests=6, max_depth=None, min_leaf=2)
    runs = [
        small.chains(kernel, seed=9, **given, **options).run(60, 3, 7, [], small.control())[0]
        for options in ({}, {"n_threads": 3}, {"state_bytes": 0}, {"state_bytes": 300_000, "n_threads": 2})
    ]
    assert all(same(runs[0], run) for run in runs[1:])
    other = small.chains(kernel, seed=8, **given).run(60, 3, 7, [], small.control())[0]
    assert not same(runs[0], other)
    assert not same(runs[0][:1], runs[0][1:2])


def test_chains_go_on_from_where_they_are() -> None:
    small = Small(4, "size", n=40, max_depth=4)
    whole, _ = small.chains(n_chains=2).run(50, 10, 9, [], small.control())
    chains = small.chains(n_chains=2)
    chains.run(0, 10, 9, [], small.control())
    first, _ = chains.run(20, 0, 9, [], small.control())
    second, _ = chains.run(30, 0, 9, [], small.control())
    for a, b, c in zip(whole, first, second, strict=True):
        assert keys_of(a) == keys_of(b) + keys_of(c)
        np.testing.assert_array_equal(a["log_data"], np.concatenate([b["log_data"], c["log_data"]]))
        assert a["best"] == c["best"]


def test_a_draw_tells_what_it_is() -> None:
    small = Small(5, "coding", n=50, n_tests=5, max_depth=4, min_leaf=2, n_classes=3)
    (chain,), _ = small.chains().run(200, 0, 5, [], small.control())
    keys = keys_of(chain)
    chains = small.chains()
    for k in range(0, 200, 11):
        assert chains.log_target(list(keys[k])) == pytest.approx(
            (chain["log_prior"][k], chain["log_data"][k])
        )
        assert chain["leaves"][chain["which"][k]] == keys[k].count(-1)
        assert chain["depths"][chain["which"][k]] == small.space.tree_of(list(keys[k])).depth
    assert int(chain["proposed"].sum()) == 1000
    assert (chain["accepted"] <= chain["proposed"]).all()
    assert chain["orders"].size == 0
    nodes = chain["ends"][-1]
    assert sum(chain[name].nbytes for name in NAMES) < 100 * nodes


@pytest.mark.parametrize("dirichlet", ["1", "decay"])
def test_the_average_over_draws(dirichlet: str) -> None:
    small = Small(
        5, "size", n=60, n_tests=6, max_depth=None, min_leaf=2, n_classes=3, dirichlet=dirichlet, weights=True
    )
    (chain,), _ = small.chains().run(300, 0, 5, [], small.control())
    weights = np.bincount(chain["which"], minlength=len(chain["ends"])) / 300
    assert len(weights) > 64  # several blocks of trees
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (700, 6)).astype(np.uint8)
    table, parameters = small.space.core_table(), dirichlet_rows(DIRICHLETS[dirichlet][0], 3, 12)
    got = [
        core.predict_draws(
            table,
            chain["keys"],
            chain["ends"],
            weights,
            core.Dirichlet(parameters),
            rows,
            threads,
            small.control(),
        )
        for threads in (1, 3)
    ]
    np.testing.assert_array_equal(got[0], got[1])
    want = np.zeros((700, 3))
    for key in keys_of(chain):
        want += with_dirichlet(small.space.tree_of(list(key)), parameters).predict_proba(rows) / 300
    np.testing.assert_allclose(got[0], want, rtol=1e-12)


def test_draws_that_are_no_trees() -> None:
    small = Small(1)
    rows = np.zeros((2, 4), np.uint8)

    def predict(keys: list[int], ends: list[int], weights: list[float], rows: Any = rows) -> Any:
        return core.predict_draws(
            small.space.core_table(),
            np.array(keys, np.int32),
            np.array(ends, np.uint64),
            np.array(weights),
            core.Dirichlet([[1.0, 1.0]]),
            rows,
            1,
            small.control(),
        )

    assert predict([-1], [1], [1.0]).sum() == pytest.approx(2)
    assert predict([], [], []).sum() == 0
    for arguments, message in (
        (([0, -1], [2], [1.0]), "ends before its tree is complete"),
        (([-1, -1], [2], [1.0]), "goes on after its tree is complete"),
        (([4, -1, -1], [3], [1.0]), "a key has test 4; the table has 4"),
        (([-1], [2], [1.0]), "must rise, to their number"),
        (([-1, -1], [2, 1], [1.0, 1.0]), "after its tree|must rise"),
        (([-1], [1], []), "one weight for each tree"),
        (([-1], [1], [1.0], np.zeros((2, 3), np.uint8)), "one column per test"),
    ):
        with pytest.raises(DataError, match=message):
            predict(*arguments)


def test_starts() -> None:
    small = Small(6, "size", max_depth=2, min_leaf=2, n=30)
    chains = small.chains(n_chains=2)
    tree = [0, 1, -1, -1, 2, -1, -1]
    chains.start(1, tree)
    (a, b), _ = chains.run(1, 0, 1, [], small.control())
    assert a["keys"].size <= 3
    assert b["keys"].size in (5, 7)
    assert b["best_log_target"] >= sum(chains.log_target(tree)) - 1e-12
    for key, message in (
        ([0, -1], "ends before the tree is complete"),
        ([-1, -1], "goes on after the tree is complete"),
        ([0, 0, -1, -1, -1], "test 0 is not feasible where the key uses it"),
        ([7, -1, -1], "test 7 is not feasible where the key uses it"),
        ([-2, -1, -1], "test -2 is not feasible where the key uses it"),
        ([0, 1, 2, -1, -1, -1, -1], "test 2 is not feasible where the key uses it"),
    ):
        with pytest.raises(DataError, match=message):
            chains.start(0, key)
    with pytest.raises(DataError, match="no chain 2"):
        chains.start(2, [-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"odds": (0.5, 0.5, 0.5, 0.0, 0.0)}, "must sum to one"),
        ({"odds": (0.5, 0.0, 0.5, 0.0, 0.0)}, "grow and prune undo each other"),
        ({"odds": (1.5, 0.5, -1.0, 0.0, 0.0)}, "must not be negative"),
        ({"odds": (0.5, 0.5)}, "probabilities of 5 kinds of moves, not 2"),
        ({"odds": (float("nan"), 0.5, 0.5, 0.0, 0.0)}, "must not be negative"),
        ({"odds": EVEN, "n_chains": 0}, "n_chains must be at least 1"),
        ({"ladder": []}, "begins with 1 and falls"),
        ({"ladder": [0.9, 0.5]}, "begins with 1 and falls"),
        ({"ladder": [1.0, 0.5, 0.5]}, "begins with 1 and falls"),
        ({"ladder": [1.0, -0.5]}, "begins with 1 and falls"),
        ({"exchange_every": 0}, "exchange_every must be at least 1"),
        ({"density": [1.0, 2.0]}, "one number for each of the 4 tests, not 2"),
        ({"density": [1.0, 2.0, 0.0, 1.0]}, "must be positive"),
        ({"blind": 0.0}, r"must lie in \(0, 1\]"),
        ({"kernel": "gibbs"}, "expected 'chipman' or 'stack'"),
        ({"orders": "twice"}, "expected 'counted' or 'once'"),
    ],
)
def test_bad_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Small(1).chains(**options)


def test_bad_runs_and_targets() -> None:
    small = Small(1)
    table = small.space.core_table()
    with pytest.raises(DataError, match="powers must be finite and at least 0"):
        small.chains().run(10, 0, 1, [1.0, -1.0], small.control())
    with pytest.raises(DataError, match="expected 'misclassification', 'gini' or 'entropy'"):
        core.TreeTarget.risk(table, "error", 1.0, 1.0)
    with pytest.raises(DataError, match="must be finite"):
        core.TreeTarget.risk(table, "gini", float("nan"), 1.0)
    with pytest.raises(DataError, match="no such kind"):
        small.chains().propose([-1], 9, 0, 1, small.control())
    never = core.Prior([0.0], [-np.inf], [-np.inf], False)
    zero = core.TreeTarget.posterior(table, never, core.Dirichlet([[1.0, 1.0]]), core.Control())
    with pytest.raises(DataError, match="the single leaf has probability 0"):
        core.TreeChains(table, 3, 1, zero, "chipman", list(EVEN), 1.0, 1, 0, 1, core.Control())
    with pytest.raises(DataError, match="fewer examples than min_leaf"):
        core.TreeChains(table, 3, 1000, small.target(), "chipman", list(EVEN), 1.0, 1, 0, 1, core.Control())


def test_no_proposal_keeps_the_trees() -> None:
    small = Small(1)
    chains, stopped = small.chains().run(3, 0, 0, [], small.control())
    for chain in chains:
        assert not stopped
        assert len(chain["which"]) == 3
        assert len(set(chain["which"])) == 1
        assert not np.any(chain["proposed"])


def test_a_limit_before_the_first_draw_is_no_later_for_a_proposal_of_many_tests() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 5000)), rng.integers(0, 50, 300)
    began = time.process_time()
    with contextlib.suppress(LimitReached):  # where preparing took all the time
        MCMCTreeClassifier(time_limit=1.0, random_state=0).fit(X, y)
    assert time.process_time() - began < 1.8


def test_a_limit_keeps_the_draws_there_are() -> None:
    small = Small(8, n=60, n_tests=6, max_depth=None)
    control = Limits(time_limit=0.15).control()
    chains, stopped = small.chains(n_chains=3).run(10**8, 0, 1000, [], control)
    assert stopped == "time limit reached"
    lengths = {len(chain["which"]) for chain in chains}
    assert len(lengths) == 1
    assert lengths.pop() > 0
    for chain in chains:
        assert len(chain["ends"]) == chain["which"][-1] + 1
        assert chain["ends"][-1] == len(chain["keys"])
    control = Limits(memory_limit=20_000).control()
    chains, stopped = small.chains().run(10**6, 0, 1, [], control)
    assert stopped == "memory limit reached"
    assert 20 < len(chains[0]["which"]) < 20_000


def test_ctrl_c_ends_a_long_run() -> None:
    rng = np.random.default_rng(0)
    small = Small(1)
    small.space = TreeSpace(rng.integers(0, 2, (3000, 60)), rng.integers(0, 2, 3000), None, 1)
    chains = small.chains()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    begin = time.perf_counter()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            chains.run(10**9, 0, 1000, [], small.control())
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - begin < 10
    # The chain is where it was interrupted, and can go on.
    (chain,), _ = chains.run(2, 0, 10, [], small.control())
    assert len(chain["which"]) == 2
