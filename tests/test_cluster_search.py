"""The best tree in parts: the tree of one process, also among equals; limits, refusals, and what a search learns."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import joblib
import numpy as np
import pytest

import everytree as et
import everytree._core as _core
import everytree.cluster.search as driver
from everytree import cluster
from everytree.cluster.splits import above, below
from everytree.errors import DataError, LimitReached, NoTreeError, QueryError


def space_of(seed: int, most_rows: int = 150) -> et.TreeSpace:
    rng = np.random.default_rng(seed)
    n_classes, depths = int(rng.integers(2, 4)), [None, 0, 1, 2, 3, 4, 4, 5]
    rows, tests = int(rng.integers(10, most_rows)), int(rng.integers(2, 9))
    X = rng.integers(0, 2, (rows, tests))
    y = np.where(rng.random(rows) < 0.4, X[:, 0] ^ X[:, 1], rng.integers(0, n_classes, rows))
    return et.TreeSpace(
        X,
        y,
        depths[int(rng.integers(len(depths)))],
        int(rng.integers(1, 5)),
        rng.integers(1, 4, rows) if rng.random() < 0.3 else None,
        classes=range(n_classes),
    )


QUERIES: dict[str, dict[str, Any]] = {
    "default": {},
    "error": {"minimize": "error"},
    "price": {"leaf_penalty": 0.7},
    "small price": {"leaf_penalty": 0.01, "minimize": ("error",)},
    "expected": {"minimize": ("expected_error", "size")},
    "gini": {"minimize": "gini"},
    "entropy": {"minimize": ("entropy", "size"), "leaf_penalty": 0.05},
    "balanced": {"class_weight": "balanced"},
    "margin": {"leaf": [et.Margin(2), et.Support(3)]},
    "chi2": {"leaf": et.ChiSquare(0.5)},
    "forbid": {"forbid": [0]},
    "bound": {"max_error": 12},
    "accuracy": {"min_accuracy": 0.75},
    "depth": {"max_depth": 3},
}


def told(ask: Any) -> Any:
    """A tree and what is known of it, or why there is none."""
    try:
        tree = ask()
    except QueryError as error:
        return type(error), str(error)
    return tree.key, {name: x for name, x in tree.info.items() if name not in ("n_states", "n_bytes")}


@pytest.mark.parametrize("name", QUERIES)
def test_the_tree_is_that_of_one_process(name: str) -> None:
    for seed in range(10):
        space = space_of(seed)
        query = dict(QUERIES[name])
        expected = told(lambda s=space, q=query: s.best(**q))
        for levels in (1, 2, 3) if seed % 3 == 0 else (1 + seed % 2,):
            assert told(lambda s=space, q=query, k=levels: cluster.best(s, levels=k, **q)) == expected


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_the_tree_is_that_of_one_process_on_many_workers(backend: str) -> None:
    with joblib.parallel_config(backend=backend, n_jobs=3 if backend == "threading" else 2):
        for seed in range(6 if backend == "threading" else 2):
            for query in ({}, {"minimize": "error"}, {"leaf_penalty": 0.3}):
                # A new space for each query: one that was asked before may know another of the best trees.
                space = space_of(seed, 300)
                for levels in (1, 2):
                    assert told(lambda s=space, q=query, k=levels: cluster.best(s, levels=k, **q)) == told(
                        lambda s=space, q=query: s.best(**q)
                    )


def test_costs_of_a_matrix_may_be_below_zero() -> None:
    for seed in range(8):
        space = space_of(seed)
        matrix = np.random.default_rng(seed).integers(-3, 5, (len(space.classes),) * 2)
        for minimize in ("cost", ("cost", "size")):
            expected = told(lambda s=space, m=minimize, c=matrix: s.best(m, cost_matrix=c))
            for levels in (1, 2):
                assert (
                    told(
                        lambda s=space, m=minimize, c=matrix, k=levels: cluster.best(
                            s, m, levels=k, cost_matrix=c
                        )
                    )
                    == expected
                )


def test_a_query_object_and_its_refusals() -> None:
    space = space_of(3)
    assert cluster.best(space, et.Query(("error", "size"), max_depth=2)) == space.best(max_depth=2)
    with pytest.raises(QueryError, match=r"require=\[0\].* is not answered in parts; .*use space\.best"):
        cluster.best(space, require=[0])
    for query in (
        {"max_size": 7},
        {"minimize": ("size", "error"), "min_accuracy": 0.5},
        {"minimize": ("error", "gini")},
    ):
        with pytest.raises(QueryError, match="is not answered in parts"):
            cluster.best(space, **query)
    with pytest.raises(QueryError, match="levels=0"):
        cluster.best(space, levels=0)
    with pytest.raises(TypeError, match="k"):
        cluster.best(space, k=3)
    with pytest.raises(NoTreeError, match="no tree reaches error ≤ 0"):
        cluster.best(et.TreeSpace([[0, 0], [0, 0], [1, 1]] * 9, [0, 1, 1] * 9, max_depth=4), max_error=0)


def hard(rows: int = 600, tests: int = 60, **limits: Any) -> et.TreeSpace:
    """A space whose best tree of depth 5 takes minutes to prove."""
    rng = np.random.default_rng(8)
    X = (rng.random((rows, tests)) < 0.5).astype(np.uint8)
    return et.TreeSpace(X, rng.integers(0, 2, rows), max_depth=5, **limits)


@pytest.mark.parametrize("levels", [1, 2])
def test_at_a_time_limit_the_best_so_far_with_a_bound(levels: int) -> None:
    space = hard(time_limit=1.0)
    began = time.monotonic()
    with joblib.parallel_config(backend="threading", n_jobs=2):
        tree = cluster.best(space, levels=levels)
    assert time.monotonic() - began < 20  # a busy machine may be slow, but not the minutes of a proof
    info = tree.info
    assert not info["optimal"]
    assert info["stop_reason"] == "time limit"
    assert 0 <= info["lower_bound"] < info["objective"] == tree.error
    assert tree.error <= hard().best(max_depth=2).error
    assert 0 < info["gap"] <= 1


def test_bounds_at_a_limit_are_true() -> None:
    for seed in range(12):
        space = space_of(seed, 400)
        least = space.best().error
        for seconds in (1e-9, 1e-4, 2e-3):
            limited = et.TreeSpace.from_table(
                space.table, space.max_depth, space.min_leaf, time_limit=seconds
            )
            try:
                tree = cluster.best(limited, levels=1 + seed % 2)
            except LimitReached:
                continue
            assert tree.info["lower_bound"] <= least <= tree.error
            assert not tree.info["optimal"] or tree.error == least


def test_at_a_memory_limit_the_best_so_far() -> None:
    space = hard(memory_limit=400_000)
    tree = cluster.best(space)
    assert tree.info["stop_reason"] == "memory limit"
    assert not tree.info["optimal"]
    assert tree.info["lower_bound"] < tree.error


def test_it_can_be_stopped_from_another_thread() -> None:
    space = hard()
    stop = threading.Timer(0.5, space.stop)
    stop.start()
    try:
        with joblib.parallel_config(backend="threading", n_jobs=2):
            tree = cluster.best(space)
    finally:
        stop.join()
    assert tree.info["stop_reason"] == "stopped"
    assert not tree.info["optimal"]


def test_an_interruption_ends_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[driver.Question] = []

    def interrupted(function: Any, tasks: Any, n_jobs: Any) -> Any:
        question = tasks[0][1]
        questions.append(question)
        worker = threading.Thread(target=function, args=tasks[0])
        worker.start()
        while not question._running:
            time.sleep(0.001)
        threads.append(worker)
        raise KeyboardInterrupt

    threads: list[threading.Thread] = []
    monkeypatch.setattr(driver, "distribute", interrupted)
    space = hard()
    with pytest.raises(KeyboardInterrupt):
        cluster.best(space)
    threads[0].join(timeout=60)
    assert not threads[0].is_alive()
    assert not space.running


def test_progress_tells_of_bounds() -> None:
    seen: list[tuple[str, int, int, float]] = []
    space = hard(rows=120, tests=20, progress=lambda *told: seen.append(told))
    cluster.best(space, max_depth=4, levels=1)
    stages = [stage for stage, *_ in seen if stage.startswith("searching on a cluster (best")]
    assert len(stages) >= 2
    assert all(0 <= done <= total for _, done, total, _ in seen)


def fail(*_: Any) -> None:
    raise DataError("no disk")


def test_an_error_of_a_worker_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_answer", fail)
    with pytest.raises(DataError, match="no disk"):
        cluster.best(hard(rows=100, tests=20))


def test_the_work_is_handed_out_in_rounds_that_share_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts: list[float] = []

    def watched(function: Any, tasks: list[Any], n_jobs: Any) -> list[Any]:
        cuts.append(min(job.cut for task in tasks for job in task[4]))
        return cluster.distribute(function, tasks, n_jobs=n_jobs)

    monkeypatch.setattr(driver, "distribute", watched)
    space = hard(rows=200, tests=30)
    tree = cluster.best(space, max_depth=4, levels=1)
    assert len(cuts) >= 3
    assert cuts[0] > cuts[1] > cuts[-1] >= above(tree.error)
    assert tree == space.best(max_depth=4)


def test_margins_of_costs() -> None:
    assert below(10.0) < 10 < above(10.0)
    assert below(10.0) > 9.99
    assert below(-10.0) < -10 < above(-10.0)
    assert above(0.0) > 0
    assert math.isfinite(above(1e300))


def search_of(space: et.TreeSpace) -> tuple[_core.Search, _core.Control]:
    cost = _core.LeafCost("error", 2)
    return _core.Search(space.core_table(), cost, space.min_leaf), space.limits.control()


def test_steps_and_bounds_from_elsewhere_are_checked() -> None:
    space = et.TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 9, [0, 1, 1, 0] * 9, max_depth=4)
    search, control = search_of(space)
    none = np.zeros((0, 9))
    for steps in ([(2, 0)], [(-1, 0)], [(0, 2)], [(0, 1), (0, 0)]):
        with pytest.raises(DataError, match="step"):
            search.look(steps, 4, False, control)
    with pytest.raises(DataError, match="expected a node of a tree"):
        search.look([(0, 0), (1, 0)], 1, False, control)
    part = search.look([], 4, True, control)
    assert part.upper == 0
    assert list(part.key) == [0, 1, -1, -1, 1, -1, -1]
    with pytest.raises(DataError, match="not the first of those that split the state alike"):
        search.work([], 4, none, [7], 1.0, 0, control)
    for column, value in ((1, math.nan), (0, -1.0), (4, -1.0), (8, 1e10)):
        wrong = np.zeros((1, 9))
        wrong[0, column] = value
        with pytest.raises(DataError, match="a split has"):
            search.learn([], 4, wrong, control)
    with pytest.raises(DataError, match="closed"):
        search.work([(0, 0)], 2, none, [1], 1.0, 0, control)


def test_a_wrong_promise_does_not_change_the_answer() -> None:
    for seed in range(20):
        space = space_of(seed)
        if len(space.classes) != 2:
            continue
        depth = -1 if space.max_depth is None else space.max_depth
        search, control = search_of(space)
        right = search.run(depth, True, control)
        search, control = search_of(space)
        found = search.run(depth, True, control, right.cost / 2 - 1, 1)
        assert (found.cost, found.key, found.proved) == (right.cost, right.key, True)
