"""One classifier and several threads: copies while others ask, and fits one at a time."""

from __future__ import annotations

import copy
import pickle
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import everytree as et

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(120, 4)), RNG.integers(0, 2, 120)


def side_by_side(*works: Callable[[], object], seconds: float = 1.0) -> list[BaseException]:
    """Do each work again and again in a thread of its own; return what they raised."""
    raised: list[BaseException] = []
    until = time.monotonic() + seconds

    def repeat(work: Callable[[], object]) -> None:
        while time.monotonic() < until:
            try:
                work()
            except Exception as error:
                raised.append(error)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.parametrize("made", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_classifier_is_copied_while_a_thread_fits_it(made: Callable[[object], object]) -> None:
    model = et.BayesOptimalClassifier(max_depth=1).fit(X, Y)
    raised = side_by_side(lambda: model.fit(X, Y), lambda: made(model))
    assert not raised, raised[:3]


def test_a_copy_made_during_a_fit_can_be_fitted() -> None:
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, Y)
    with model._one_clock():
        other = copy.deepcopy(model)
    assert (other.fit(X, Y).predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("kind", [et.OptimalTreeClassifier, et.BayesOptimalClassifier])
def test_of_two_fits_of_one_object_one_is_refused(kind: type) -> None:
    model = kind(max_depth=2)
    wanted = kind(max_depth=2).fit(X, Y).predict_proba(X)
    raised = side_by_side(*[lambda: model.fit(X, Y)] * 3)
    assert raised
    for error in raised:
        assert isinstance(error, et.QueryError)
        assert "being fitted by another thread" in str(error)
    assert np.array_equal(model.fit(X, Y).predict_proba(X), wanted)
