"""Whatever was asked of a classifier before, it answers like one that is new.

A machine of hypothesis fits, fits again, adds batches, meets limits, is stopped, is saved and loaded, pickled, and
asked from threads, in any order. After every step its answers are compared with those of a fresh object that got the
same examples in one call.
"""

from __future__ import annotations

import json
import os
import pickle
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone

import everytree as et
from everytree.common.limits import Limits
from everytree.errors import EverytreeError, LimitReached

ROWS = st.integers(6, 30)
SEEDS = st.integers(0, 10_000)


def examples(seed: int, n: int, wide: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Numbers with ties and a missing value, and two classes, both of them there."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 7, (n, wide)).astype(float)
    X[rng.integers(n), rng.integers(wide)] = np.nan
    y = ((X[:, 0] > 3) ^ (rng.random(n) < 0.2)).astype(int)
    y[0], y[1] = 0, 1
    return X, y


class Life(RuleBasedStateMachine):
    """The life of one classifier; ``made`` is what makes it, and ``batches`` whether it takes examples in batches."""

    made: Any = None
    batches = False

    @initialize(seed=SEEDS, n=ROWS)
    def first(self, seed: int, n: int) -> None:
        self.model = self.made()
        self.X, self.y = examples(seed, n)
        self.asked, _ = examples(seed + 1, 12)
        self.model.fit(self.X, self.y)
        self.by_batches = False

    @rule(seed=SEEDS, n=ROWS)
    def fit(self, seed: int, n: int) -> None:
        self.X, self.y = examples(seed, n)
        self.model.fit(self.X, self.y)
        self.by_batches = False

    @precondition(lambda self: self.batches)
    @rule(seed=SEEDS, n=ROWS, cut=st.integers(2, 5))
    def fit_in_batches(self, seed: int, n: int, cut: int) -> None:
        self.X, self.y = examples(seed, n)
        self.model = self.made()
        for part in range(0, n, cut):
            self.model.partial_fit(self.X[part : part + cut], self.y[part : part + cut], classes=[0, 1])
        self.by_batches = True

    @rule(depth=st.integers(0, 3))
    def other_depth(self, depth: int) -> None:
        self.model.set_params(max_depth=depth)
        self.model.fit(self.X, self.y)
        self.by_batches = False

    @rule()
    def refused(self) -> None:
        """A call that is refused changes nothing."""
        with pytest.raises((EverytreeError, ValueError)):
            self.model.predict_proba(np.zeros((2, 9)))
        with pytest.raises((EverytreeError, ValueError)):
            clone(self.model).fit(self.X, self.y[:-1])

    @rule()
    def met_a_limit(self) -> None:
        """What a limit cut short is whole when it is asked again without one."""
        space = getattr(self.model, "space_", None)
        if space is None:
            return
        before, space.limits = space.limits, Limits(time_limit=1e-9)
        try:
            self.model.predict_proba(self.asked)
        except LimitReached:
            pass
        finally:
            space.limits = before

    @rule()
    def stopped(self) -> None:
        """A question that another thread may stop; nothing is lost if it does."""
        space = getattr(self.model, "space_", None)
        if space is None:
            return
        stopper = threading.Thread(target=space.stop)
        stopper.start()
        try:
            self.model.predict_proba(self.asked)
        except LimitReached:
            pass
        finally:
            stopper.join()

    @rule()
    def saved_and_loaded(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.model.save(os.path.join(folder, "model.json"))
            loaded = et.load_model(os.path.join(folder, "model.json"))
        before, after = (json.dumps(model.get_params(), sort_keys=True) for model in (self.model, loaded))
        assert after == before  # a tuple is a list in a file
        np.testing.assert_array_equal(loaded.predict_proba(self.asked), self.model.predict_proba(self.asked))

    @rule()
    def pickled(self) -> None:
        self.model = pickle.loads(pickle.dumps(self.model))

    @rule()
    def asked_by_threads(self) -> None:
        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: self.model.predict_proba(self.asked), range(4)))
        for answer in answers[1:]:
            np.testing.assert_array_equal(answer, answers[0])

    @invariant()
    def like_a_new_one(self) -> None:
        if not hasattr(self, "model"):
            return
        fresh = self.made().set_params(max_depth=self.model.max_depth).fit(self.X, self.y)
        np.testing.assert_allclose(
            self.model.predict_proba(self.asked), fresh.predict_proba(self.asked), rtol=1e-12, atol=1e-14
        )
        assert self.model.fingerprint() == fresh.fingerprint()


def life(name: str, made: Any, batches: bool) -> Any:
    machine = type(name, (Life,), {"made": staticmethod(made), "batches": batches})
    case = machine.TestCase
    case.settings = settings(
        max_examples=6, stateful_step_count=6, deadline=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    return case


warnings.filterwarnings("ignore", message=".*limit.*")
TestOptimal = life("Optimal", lambda: et.OptimalTreeClassifier(max_depth=2), False)
# With global cuts, batches are all rows at once only if the cut-points are given.
CUTS = {f"x{j}": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5] for j in range(3)}
TestAverage = life("Average", lambda: et.BayesOptimalClassifier(max_depth=2, bins=CUTS), True)
TestLocalAverage = life("LocalAverage", lambda: et.BayesOptimalClassifier(max_depth=2, cuts="local"), True)
TestMostProbable = life("MostProbable", lambda: et.MAPTreeClassifier(max_depth=2, bins=CUTS), True)
