"""Limits of long computations: time, memory, Ctrl-C, stopping from another thread, progress, hopeless jobs.

Times are checked with much room, because a busy machine may hold any thread back; what is meant is "promptly".
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest

from everytree import _core
from everytree.bayes.posterior import Posterior
from everytree.common.aside import aside
from everytree.common.limits import Limits, threads, watching
from everytree.errors import LimitReached, QueryError
from everytree.space.tree_space import TreeSpace

SLACK = 0.6  # seconds that a busy machine may add


def wide(n: int = 1000, n_tests: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Noise, which no bound prunes: at depth 5 the graph has millions of states."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n, n_tests)).astype(np.uint8), rng.integers(0, 2, n)


def seconds(ask: Any) -> float:
    start = time.perf_counter()
    with pytest.raises(LimitReached, match="time limit"):
        ask()
    return time.perf_counter() - start


# Time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("question", ["posterior", "n_trees", "k best", "front"])
def test_time_limit(question: str, n_jobs: int) -> None:
    X, y = wide()
    space = TreeSpace(X, y, 5, 10, time_limit=0.2, n_jobs=n_jobs)
    space.estimate_states()  # so that the core's table is there
    asks = {
        "posterior": space.posterior,
        "n_trees": lambda: space.n_trees,
        "k best": lambda: space.best(k=5),
        "front": space.front,
    }
    assert 0.15 < seconds(asks[question]) < 0.2 + SLACK


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("shape", "limit"), [((1000, 200, 5), 0.3), ((40_000, 1000, 2), 0.01)])
def test_a_search_that_runs_out_of_time_gives_its_best(
    shape: tuple[int, int, int], limit: float, n_jobs: int
) -> None:
    n, n_tests, depth = shape
    X, y = wide(n, n_tests)
    space = TreeSpace(X, y, depth, 10, time_limit=limit, n_jobs=n_jobs)
    space.estimate_states()
    started = time.perf_counter()
    tree = space.best()
    assert time.perf_counter() - started < limit + SLACK
    assert not tree.info["optimal"]
    assert tree.info["stop_reason"] == "time limit"
    assert 0 <= tree.info["lower_bound"] <= tree.info["objective"] == tree.error
    assert tree.info["gap"] == (tree.error - tree.info["lower_bound"]) / tree.error
    assert tree.depth <= depth
    assert tree.counts[tree.leaves].sum(axis=1).min() >= 10


def test_a_search_that_runs_out_of_memory_gives_its_best_and_goes_on() -> None:
    X, y = wide(300, 30)
    space = TreeSpace(X, y, 5, 5, memory_limit=2**19)
    part = space.best()
    assert part.info["stop_reason"] == "memory limit"
    space.limits = Limits()
    whole = space.best()
    assert whole.info["optimal"]
    assert part.info["lower_bound"] <= whole.error <= part.error
    assert whole.error == TreeSpace(X, y, 5, 5).best().error


def test_a_bound_that_may_still_be_met_is_not_called_infeasible() -> None:
    X, y = wide()
    space = TreeSpace(X, y, 5, 10, time_limit=0.2)
    with pytest.raises(
        LimitReached, match=r"time limit reached; the best tree so far has error \d+, the query asks"
    ):
        space.best(max_error=5)


def test_a_search_tells_its_best_and_its_bound() -> None:
    X, y = wide(600, 200)
    told: list[str] = []
    space = TreeSpace(X, y, 6, 5, time_limit=2, progress=lambda stage, *_: told.append(stage))
    space.best()
    assert any(stage.startswith("searching (best ") and "at least" in stage for stage in told)


def limited(post: Posterior, limit: float) -> Posterior:
    """The same posterior with a time limit for what is asked from now on."""
    post.space.limits = Limits(time_limit=limit)
    return post


@pytest.mark.long
@pytest.mark.parametrize("question", ["predict_proba", "sample", "test_inclusion", "map_tree", "top_trees"])
def test_time_limit_of_a_folded_posterior(question: str) -> None:
    """Questions to a posterior have the limit too. The fold itself has none here, so it must be small."""
    X, y = wide(600, 500)
    post = limited(TreeSpace(X, y, 3, 5).posterior(), 0.05)
    rows = np.random.default_rng(1).integers(0, 2, (20_000, 500)).astype(np.uint8)
    asks = {
        "predict_proba": lambda: post.predict_proba(rows),
        "sample": lambda: post.sample(3_000_000, random_state=0),
        "test_inclusion": post.test_inclusion,
        "map_tree": post.map_tree,
        "top_trees": lambda: post.top_trees(1000),
    }
    assert seconds(asks[question]) < 0.05 + SLACK


@pytest.mark.parametrize("question", ["posterior", "n_trees", "front"])
def test_time_limit_inside_one_large_state(question: str) -> None:
    """At depth 2 the whole space is a single state with half a million pairs of tests: a second of work."""
    X, y = wide(40_000, 1000)
    space = TreeSpace(X, y, 2, 5, time_limit=0.01)
    space.estimate_states()
    asks: dict[str, Callable[[], Any]] = {
        "posterior": space.posterior, "n_trees": lambda: space.n_trees, "front": space.front,
    }  # fmt: skip
    started = time.perf_counter()
    with pytest.raises(LimitReached, match="time limit"):
        asks[question]()
    assert time.perf_counter() - started < 0.1 + SLACK


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    X, y = wide(100, 10)
    plain, limited = TreeSpace(X, y, 3, 2), TreeSpace(X, y, 3, 2, time_limit=60, memory_limit=10**9)
    assert plain.posterior().log_evidence == limited.posterior().log_evidence
    assert plain.n_trees == limited.n_trees


def test_a_space_can_be_asked_again_after_a_limit() -> None:
    X, y = wide(300, 120)
    space = TreeSpace(X, y, 4, 10, time_limit=0.02)
    with pytest.raises(LimitReached):
        space.posterior()
    space.limits = Limits()
    smaller = TreeSpace.from_table(space.table, 2, 10)
    assert space.subspace(2, 10).n_trees == smaller.n_trees
    assert space.subspace(2, 10).posterior().log_evidence == smaller.posterior().log_evidence


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_limits_of_the_general_fold(n_jobs: int) -> None:
    """Thousands of trees in every list: the limits hold inside a state too."""
    X, y = wide(300, 60)
    space = TreeSpace(X, y, 4, 5, n_jobs=n_jobs, time_limit=0.5)
    assert seconds(lambda: space.best(("depth", "error", "gini"), max_error=150, k=5000)) < 0.5 + SLACK
    small = TreeSpace(X[:, :20], y, 3, 5, n_jobs=n_jobs, memory_limit=600_000, time_limit=30)
    with pytest.raises(LimitReached, match="memory limit"):
        small.best(("depth", "error", "gini"), max_error=150, k=100_000)


# Memory and hopeless jobs -----------------------------------------------------------------------------------


def test_memory_limit_names_the_limit_and_the_way_out() -> None:
    X, y = wide(300, 60)
    with pytest.raises(
        LimitReached, match=r"memory limit .*try max_depth=\d+ or min_leaf=\d+, or fewer tests"
    ):
        TreeSpace(X, y, 4, 5, memory_limit=200_000).posterior()


@pytest.mark.parametrize("ask", ["posterior", "front", "n_trees"])
@pytest.mark.parametrize("max_depth", [8, None])
def test_a_hopeless_job_is_refused_at_once(ask: str, max_depth: int | None) -> None:
    X, y = wide(2000, 200)
    space = TreeSpace(X, y, max_depth, 2)
    started = time.perf_counter()
    with pytest.raises(
        LimitReached, match=r"about \d+·10\^\d+ states.*try max_depth=4 or min_leaf=20, or fewer"
    ):
        getattr(space, ask)() if ask != "n_trees" else space.n_trees
    assert time.perf_counter() - started < SLACK


def test_a_job_within_the_limit_is_not_refused() -> None:
    """Merged covers make the graph far smaller than the paths suggest: a limit must not refuse what would fit."""
    X, y = wide(60, 12)
    assert TreeSpace(X, y, None, 1, memory_limit=100 * 2**20).n_trees > 10**9


# Progress ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_grows(n_jobs: int) -> None:
    X, y = wide(800, 110)
    told: list[tuple[str, int, int, float]] = []
    space = TreeSpace(X, y, 4, 10, n_jobs=n_jobs, progress=lambda *each: told.append(each))
    space.posterior()
    assert len(told) >= 3
    for stage, steps in groupby(told, key=lambda each: each[0]):
        done = [each[1:] for each in steps]
        assert isinstance(stage, str)
        assert stage
        assert all(0 <= d <= total for d, total, _ in done)
        assert all(a[0] <= b[0] and a[2] <= b[2] for a, b in pairwise(done)), f"{stage} went back"


@pytest.mark.long
def test_progress_is_regular() -> None:
    """A bar that rich shows should move several times a second."""
    X, y = wide(800, 110)
    times: list[float] = []
    space = TreeSpace(X, y, 4, 10, progress=lambda *each: times.append(time.perf_counter()))
    space.posterior()
    assert len(times) >= 3
    assert max(b - a for a, b in pairwise(times)) < 0.1 + SLACK


class Broken(Exception):
    """What the callback raises."""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_in_the_callback_propagates(n_jobs: int) -> None:
    X, y = wide()

    def fail(stage: str, done: int, total: int, spent: float) -> None:
        raise Broken(f"at {done} of {total}")

    space = TreeSpace(X, y, 5, 10, n_jobs=n_jobs, progress=fail)
    started = time.perf_counter()
    with pytest.raises(Broken, match=r"at \d+ of \d+"):
        space.posterior()
    assert time.perf_counter() - started < 0.1 + SLACK


# Stopping ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2])
def test_stop_from_another_thread(n_threads: int) -> None:
    X, y = wide()
    space = TreeSpace(X, y, 5, 10)
    control = _core.Control()
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.perf_counter())
        control.stop()

    timer = threading.Timer(0.15, stop)
    timer.start()
    with pytest.raises(LimitReached, match="stopped"):
        _core.Graph(space.core_table(), 5, 10, True, True, True, n_threads, control)
    assert time.perf_counter() - stopped[0] < 0.1 + SLACK
    timer.join()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("ask", [TreeSpace.posterior, TreeSpace.front])
def test_a_space_is_stopped_from_another_thread(ask: Callable[[TreeSpace], Any], n_jobs: int) -> None:
    X, y = wide()
    space = TreeSpace(X, y, 5, 10, n_jobs=n_jobs)
    stopped: list[float] = []

    def stop() -> None:
        stopped.append(time.perf_counter())
        space.stop()

    timer = threading.Timer(0.2, stop)
    timer.start()
    with pytest.raises(LimitReached, match="stopped"):
        ask(space)
    assert time.perf_counter() - stopped[0] < 0.1 + SLACK
    timer.join()
    space.stop()  # nothing is running: nothing happens, also not to the next question
    assert space.subspace(1, 10).n_trees == 201


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stopped_search_gives_its_best(n_jobs: int) -> None:
    X, y = wide()
    space = TreeSpace(X, y, 5, 10, n_jobs=n_jobs)
    timer = threading.Timer(0.2, space.stop)
    timer.start()
    tree = space.best()
    timer.join()
    assert tree.info["stop_reason"] == "stopped"
    assert not tree.info["optimal"]


def test_many_threads_ask_one_space() -> None:
    X, y = wide(200, 25)
    expected = TreeSpace(X, y, 3, 5).posterior().log_evidence
    space = TreeSpace(X, y, 3, 5)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: space.posterior().log_evidence, range(24)))
        proba = list(pool.map(lambda post: post.predict_proba(X[:20]), [space.posterior()] * 8))
    assert set(found) == {expected}
    assert all(np.array_equal(proba[0], other) for other in proba)


def test_other_threads_run_meanwhile() -> None:
    """The core works without the interpreter's lock."""
    X, y = wide()
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(LimitReached):
            TreeSpace(X, y, 5, 10, time_limit=0.4).posterior()
    finally:
        done.set()
        thread.join()
    assert len(ticks) > 10


CHILD = """
import signal, sys, time
import numpy as np
from everytree.data.table import Table
from everytree.space.tree_space import TreeSpace

# Programs that run in the background of a shell start with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
n, n_tests, depth, what = {n}, {n_tests}, {depth}, {what!r}
X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
table = Table.from_arrays(X, rng.integers(0, 2, n), 2)
space = TreeSpace.from_table(table, depth, 10, n_jobs={n_jobs})
space.estimate_states()
print("ready", flush=True)
try:
    space.posterior() if what == "posterior" else space.best()
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
    sys.exit(7)
print("finished", flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("n", "n_tests", "depth", "what", "n_jobs"),
    [
        (1000, 200, 5, "posterior", 1),
        (1000, 200, 5, "posterior", 2),
        (1000, 200, 5, "best", 1),
        (
            1000,
            200,
            5,
            "best",
            2,
        ),  # a split of the root takes seconds, and only one thread hears of the signal
        (1000, 160, 4, "posterior", 1),  # folding, not building
        (40_000, 3000, 2, "posterior", 1),  # inside a single state
    ],
)
def test_ctrl_c(n: int, n_tests: int, depth: int, what: str, n_jobs: int) -> None:
    """SIGINT ends the work within a tenth of a second, as a KeyboardInterrupt."""
    script = CHILD.format(n=n, n_tests=n_tests, depth=depth, what=what, n_jobs=n_jobs)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.1)  # the quickest of them takes a quarter of a second
            sent = time.monotonic()
            os.kill(child.pid, signal.SIGINT)
            word, _, when = child.stdout.readline().strip().partition(" ")
            assert child.wait(timeout=20) == 7, "the signal did not end the work"
        finally:
            child.kill()
    assert word == "interrupted"
    assert float(when) - sent < 0.1 + SLACK / 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_does_not_wait_for_work_that_looks_at_no_signal() -> None:
    ended = threading.Event()

    def work() -> None:
        time.sleep(1.0)  # not in the main thread: no signal ends it
        ended.set()

    # A job of the background inherits that the signal is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        aside(work)
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 0.9
    assert ended.wait(20), "it goes on to its end"


def test_what_goes_wrong_aside_goes_wrong_here() -> None:
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(aside, threading.current_thread).result() is not threading.main_thread()


# Values -----------------------------------------------------------------------------------------------------


def test_numbers_of_threads() -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert threads(None) == 1
    assert threads(3) == 3
    assert threads(-1) == cores
    assert threads(-1000) == 1
    for bad in (0, True, 1.5, "2"):
        with pytest.raises(QueryError, match="n_jobs="):
            threads(bad)  # type: ignore[arg-type]


def test_limits_are_checked() -> None:
    for bad in (0, -1, float("nan")):
        with pytest.raises(QueryError, match=r"time_limit=.*expected .* above 0"):
            Limits(time_limit=bad)
        with pytest.raises(QueryError, match=r"memory_limit=.*expected .* above 0"):
            Limits(memory_limit=bad)  # type: ignore[arg-type]
    assert Limits().memory > 2**20
    assert Limits(memory_limit=12345).memory == 12345


def test_a_sample_too_large_for_memory_is_refused() -> None:
    """Before the memory is taken: a billion draws would need hundreds of gigabytes."""
    X, y = wide(100, 10)
    post = TreeSpace(X, y, 3, 5, memory_limit=2 * 2**20).posterior()
    with pytest.raises((LimitReached, QueryError), match=r"memory|too large"):
        post.sample(10**9, random_state=0)


@pytest.mark.parametrize("ask", ["predict_proba", "moments"])
def test_the_matrix_of_an_answer_is_part_of_the_memory(ask: str) -> None:
    """50 classes: the answer takes 40 or 120 MB, and sums of rows that are asked at once as much again."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 8)).astype(np.uint8), np.arange(400) % 50
    post = TreeSpace(X, y, 2, 5).posterior()
    rows = rng.integers(0, 2, (100_000, 8)).astype(np.uint8)
    post.space.limits = Limits(memory_limit=30_000_000)
    with pytest.raises(LimitReached, match="memory limit"):
        getattr(post, ask)(rows)
    # In small batches the answer is the same, but for the order of sums, which depends on how many rows are asked.
    few = rows[:2000]
    post.space.limits = Limits(memory_limit=4_500_000)
    narrow = getattr(post, ask)(few)
    post.space.limits = Limits()
    free = getattr(post, ask)(few)
    pairs = [(narrow, free)]
    if ask == "moments":
        pairs = [(getattr(narrow, name), getattr(free, name)) for name in ("mean", "between", "within")]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=0)


def test_deepening_leaves_out_predictions_that_do_not_fit_the_memory() -> None:
    """A form over 1,200 tests takes 12 MB, the evidence of stumps and of depth 2 next to nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 1200)).astype(np.uint8), rng.integers(0, 2, 60)
    free = TreeSpace(X, y, 2, 5).deepen()
    profile = TreeSpace(X, y, 2, 5, memory_limit=8_000_000).deepen()
    assert profile.complete
    assert [step.log_evidence for step in profile] == [step.log_evidence for step in free]
    assert free[1].largest_change is not None
    assert profile[1].largest_change is None


# What a stopped search may not be taken for ------------------------------------------------------------------


def doubtful() -> tuple[np.ndarray, np.ndarray]:
    """Noise with three rows that stand in both classes: at least three errors, but far more to be proved."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 40)).astype(np.uint8), rng.integers(0, 2, 400)
    return np.vstack([X, X[:3]]), np.append(y, 1 - y[:3])


def test_the_least_is_not_told_from_a_stopped_search() -> None:
    X, y = doubtful()
    with pytest.raises(QueryError) as told:
        TreeSpace(X, y, 5, 1, time_limit=0.2).best("error", max_error=0)
    assert "the least is" not in str(told.value)


def test_a_front_by_depth_is_whole_or_refused() -> None:
    X, y = doubtful()
    with pytest.raises(LimitReached, match="time limit"):
        TreeSpace(X, y, 5, 1, time_limit=0.05).front(by="depth")


# Watching ---------------------------------------------------------------------------------------------------


def test_a_watch_hears_of_every_question_and_stops_it() -> None:
    X, y = wide()
    heard: list[str] = []

    def stop(stage: str, done: int, total: int, seconds: float) -> None:
        heard.append(stage)
        assert watch.stop() >= 1

    with watching(stop) as watch:
        tree = TreeSpace(X, y, 6, 10).best()
        assert tree.info["stop_reason"] == "stopped"
        with pytest.raises(LimitReached, match="stopped") as limit:
            TreeSpace(X, y, 5, 10).posterior()
        assert limit.value.reason == "stopped"
        del limit  # its traceback holds the question
    assert len(heard) >= 2
    gc.collect()  # a free-threaded Python counts some references late
    assert watch.stop() == 0  # controls that are done are gone
    count = len(heard)
    assert TreeSpace(X[:50, :5], y[:50], 2).best().info["optimal"]
    assert len(heard) == count


def test_a_watch_stops_what_runs_while_threads_begin_more() -> None:
    """A signal's handler may do so: an error there would be the end of it, and the signal lost."""
    ended, kept = threading.Event(), [Limits().control()]
    raised: list[Exception] = []

    def begin() -> None:
        while not ended.is_set():
            try:
                kept.append(Limits().control())
            except Exception as error:
                raised.append(error)

    workers = [threading.Thread(target=begin) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with watching() as watch:
            kept += [Limits().control() for _ in range(5000)]
            for thread in workers:
                thread.start()
            for _ in range(20):
                assert watch.stop() >= 5000
    finally:
        ended.set()
        for thread in workers:
            thread.join()
        sys.setswitchinterval(before)
    assert not raised


def test_a_question_with_its_own_progress_keeps_it_and_can_be_stopped() -> None:
    X, y = wide()
    own: list[str] = []
    other: list[str] = []

    def stop(stage: str, done: int, total: int, seconds: float) -> None:
        own.append(stage)
        watch.stop()

    with watching(lambda *told: other.append(told[0])) as watch:
        tree = TreeSpace(X, y, 6, 10, progress=stop).best()
    assert tree.info["stop_reason"] == "stopped"
    assert own
    assert other == []
