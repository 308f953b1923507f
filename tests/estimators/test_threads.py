"""One classifier and several threads: copies while others ask, and fits one at a time."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.estimators.registry import methods

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


def test_a_fit_inside_a_fit_of_the_same_object_is_refused() -> None:
    raised: list[str] = []

    def again(*told: object) -> None:
        with pytest.raises(et.QueryError) as error:
            model.fit(X, Y)
        raised.append(str(error.value))

    model = et.MCMCTreeClassifier(max_depth=2, n_chains=1, n_draws=20_000, progress=again, random_state=0)
    quiet = et.MCMCTreeClassifier(max_depth=2, n_chains=1, n_draws=20_000, random_state=0).fit(X, Y)
    assert np.array_equal(model.fit(X, Y).predict_proba(X), quiet.predict_proba(X))
    assert raised
    assert all("fits it again" in each for each in raised)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot copy a process")
def test_a_copy_of_the_process_fits_what_a_thread_was_fitting(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ready, go = et.BayesOptimalClassifier(max_depth=2), threading.Event(), threading.Event()
    genuine = type(model)._read

    def slow(*args: Any, **kwargs: Any) -> Any:
        ready.set()
        assert go.wait(60)
        return genuine(*args, **kwargs)

    monkeypatch.setattr(type(model), "_read", slow)
    thread = threading.Thread(target=model.fit, args=(X, Y))
    thread.start()
    assert ready.wait(60)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of a fork beside threads, which is what is meant
        child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            code = int(model.fit(X, Y).predict_proba(X).shape != (120, 2))
        finally:
            os._exit(code)
    go.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


QUICK = {"max_depth": 2, "n_chains": 1, "n_draws": 20, "time_limit": 0.5}


LEARNING = [
    (word, name)
    for word, each in methods().items()
    for name in ("fit", "partial_fit")
    if hasattr(each.made, name)
]


@pytest.mark.parametrize(("word", "learns"), LEARNING)
def test_of_two_fits_of_one_object_one_is_refused(
    word: str, learns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: Any = methods()[word].made
    model = kind(**{name: value for name, value in QUICK.items() if name in signature(kind).parameters})
    genuine, raised = kind._read, []

    def fitted_elsewhere() -> None:
        for other in {"fit", learns}:
            try:
                getattr(model, other)(X, Y)
            except et.QueryError as error:
                raised.append(str(error))

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        """While the columns are read, another thread fits, too."""
        monkeypatch.setattr(kind, "_read", genuine)
        before = set(vars(self))
        thread = threading.Thread(target=fitted_elsewhere)
        thread.start()
        thread.join()
        assert set(vars(self)) == before
        return genuine(self, *args, **kwargs)

    monkeypatch.setattr(kind, "_read", read)
    getattr(model, learns)(X, Y)
    assert len(raised) == len({"fit", learns})
    assert all("being fitted by another thread" in each for each in raised)
    assert model.fit(X, Y).predict_proba(X).shape == (120, 2)
    assert not {"_fitter", "_began", "_own"} & set(vars(model))


@pytest.mark.parametrize("kind", [et.OptimalTreeClassifier, et.BayesOptimalClassifier])
def test_refused_fits_leave_the_answer_of_the_one_that_ran(kind: type) -> None:
    model = kind(max_depth=2)
    wanted = kind(max_depth=2).fit(X, Y).predict_proba(X)
    raised = side_by_side(*[lambda: model.fit(X, Y)] * 3)
    assert {type(each) for each in raised} == {et.QueryError}
    assert np.array_equal(model.predict_proba(X), wanted)
