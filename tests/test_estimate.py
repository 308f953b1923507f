"""Estimates before a job: near the truth in states, bytes and seconds, and honest about what they are."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

from everytree import Estimate, TreeSpace
from everytree.engine.estimate import in_time, log_most_covers, power
from everytree.errors import LimitReached

CP4IM = Path(__file__).parents[2] / "shared" / "data" / "cp4im"
SETS = (
    "anneal", "audiology", "australian-credit", "breast-wisconsin", "diabetes", "german-credit", "heart-cleveland",
    "hepatitis", "lymph", "primary-tumor", "soybean", "tic-tac-toe", "vote", "zoo-1",
)  # fmt: skip


def cp4im(name: str) -> tuple[np.ndarray, np.ndarray]:
    path = CP4IM / f"{name}.txt"
    if not path.exists():
        pytest.skip(
            f"needs {path.name} of the CP4IM files (pydl8.5's datasets folder) in ../shared/data/cp4im"
        )
    data = np.loadtxt(path, dtype=np.uint8)
    return data[:, 1:], data[:, 0]


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("min_leaf", [2, 10])
def test_states_and_bytes_are_near_the_truth(depth: int, min_leaf: int) -> None:
    errors = []
    for name in SETS:
        space = TreeSpace(*cp4im(name), max_depth=depth, min_leaf=min_leaf)
        about, graph = space.estimate(), space.graph()
        errors.append(abs(np.log(about.states / graph.n_states)))
        errors.append(abs(np.log(max(about.bytes, 2**20) / max(graph.n_bytes, 2**20))))
    assert np.median(errors) < np.log(3)
    assert max(errors) < np.log(10)


def test_seconds_are_near_the_truth() -> None:
    """In time of the processor, and with room for a busy machine: what is meant is a factor of three."""
    errors = []
    for name in SETS[4:9]:
        space = TreeSpace(*cp4im(name), max_depth=4, min_leaf=2)
        about = space.estimate()
        start = time.process_time()
        space.posterior()
        errors.append(abs(np.log(about.seconds / (time.process_time() - start))))
    assert np.median(errors) < np.log(5)


def test_exact_where_nothing_is_random() -> None:
    """Tests that all differ: 1 + 2n states above the frontier of depth 3, each cover with one path."""
    X = np.array([[r >> t & 1 for t in range(6)] for r in range(64)])
    y = np.arange(64) % 2
    assert TreeSpace(X, y, 3).estimate().states == pytest.approx(13)
    assert TreeSpace(X, y, 4).estimate().states == pytest.approx(TreeSpace(X, y, 4).n_states)
    assert TreeSpace(X, y, 0).estimate().states == pytest.approx(1)


def test_merged_covers_are_counted_once() -> None:
    """Thresholds of one number: paths are many, intervals few."""
    value = np.arange(60)
    X = (value[:, None] <= np.arange(1, 59)).astype(int)
    space = TreeSpace(X, value % 2, 5)
    about = space.estimate_states()
    assert space.n_states / 3 < about < space.n_states * 3


def test_the_same_size_every_time_and_a_text_that_says_what_it_is() -> None:
    rng = np.random.default_rng(0)
    space = TreeSpace(rng.integers(0, 2, (300, 40)), rng.integers(0, 2, 300), 5)
    one, two = space.estimate(), space.estimate()
    assert isinstance(one, Estimate)
    assert (one.states, one.bytes) == (two.states, two.bytes)
    assert one.states == space.estimate_states()
    assert one.seconds > 0
    assert not one.hopeless
    for word in ("states", "estimated from random descents", "factor of three"):
        assert word in str(one)


def test_hopeless() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (1000, 200)), rng.integers(0, 2, 1000)
    assert TreeSpace(X, y, 7, memory_limit=2**30).estimate().hopeless
    assert TreeSpace(X, y, 5, time_limit=0.01, memory_limit=2**40).estimate().hopeless
    with pytest.raises(LimitReached) as limit:
        TreeSpace(X, y, 7, memory_limit=2**30).posterior()
    assert limit.value.reason == "hopeless"
    message = str(limit.value)
    assert "far beyond the memory limit of 1.0 GiB" in message
    assert "years" in message or "days" in message
    assert "max_depth=4 would take about" in message
    assert "MiB" in message


def test_numbers_for_people() -> None:
    assert [power(x) for x in (1, 5298, 99_999, 123_456, 6.4e13)] == [
        "1",
        "5300",
        "100000",
        "1·10^5",
        "6·10^13",
    ]
    assert [in_time(s) for s in (0.00123, 119, 600, 7200, 2e5, 1e9)] == [
        "0.0012 s", "120 s", "10 minutes", "2 hours", "2.3 days", "32 years",
    ]  # fmt: skip


@pytest.mark.long
def test_cuts_of_one_attribute_are_not_refused_without_a_depth_limit() -> None:
    n = 300  # random descents alone would guess 5·10^9 states
    X = (np.arange(n)[:, None] <= np.arange(n - 1)[None, :]).astype(np.uint8)
    space = TreeSpace(X, (np.arange(n) // 3) % 2, max_depth=None, memory_limit=2**28)
    assert space.estimate().states == pytest.approx(n * (n + 1) / 2)
    assert space.n_states == n * (n + 1) / 2


def test_no_more_covers_than_the_bound() -> None:
    rng = np.random.default_rng(5)
    for case in range(60):
        n, n_tests = rng.integers(1, 9), rng.integers(0, 6)
        X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
        if case % 2:
            X = (rng.integers(0, 5, n)[:, None] <= np.sort(rng.integers(0, 5, n_tests))).astype(np.uint8)
        if case % 6 == 1 and n_tests:
            X[:, -1] = rng.integers(0, 2, n)
        covers = set()
        for chosen in itertools.product((None, 0, 1), repeat=n_tests):
            cover = np.ones(n, dtype=bool)
            for test, outcome in enumerate(chosen):
                if outcome is not None:
                    cover &= X[:, test] == outcome
            if cover.any():
                covers.add(cover.tobytes())
        assert len(covers) <= np.exp(log_most_covers(X)) + 1e-6
