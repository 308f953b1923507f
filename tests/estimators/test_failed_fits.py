"""A fit that ends in an error, wherever that comes, leaves the object as it was: unfitted, or with what it knew."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import everytree as et

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (40, 3)).astype(float)
OLD, NEW = (X[:, 0] > 1).astype(int), np.array(["a", "b", "c"])[RNG.integers(0, 3, 40)]
PLACES = 12

MADE: dict[str, Callable[[], Any]] = {
    "optimal": lambda: et.OptimalTreeClassifier(max_depth=1),
    "local": lambda: et.OptimalTreeClassifier(max_depth=1, cuts="local", bins=2),
    "map": lambda: et.MAPTreeClassifier(max_depth=1),
    "average": lambda: et.BayesOptimalClassifier(max_depth=1, dirichlet="fit"),
    "calibrated": lambda: et.BayesOptimalClassifier(max_depth=1, calibrate="cv"),
    "chains": lambda: et.MCMCTreeClassifier(max_depth=1, n_draws=4, burn_in=4, random_state=0),
    "c45": et.C45TreeClassifier,
    "cart": lambda: et.CARTTreeClassifier(folds=2, random_state=0),
    "path": et.PathAverageTreeClassifier,
    "smoothed": et.SmoothedTreeClassifier,
    "option": lambda: et.OptionTreeClassifier(max_depth=1),
    "compressed": lambda: et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=1), 0.02),
    "every": lambda: et.EveryTreeClassifier(time_limit=2),
}


def broken_off(work: Callable[[], Any], at: int | None) -> int:
    """Do the work until this line of the classifiers, where Ctrl-C comes; return how many lines there were."""
    lines = 0

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        name = frame.f_code.co_filename
        if "estimators" not in name or name.endswith("one_fit.py") or "tests" in name:
            return None
        if event == "line":
            lines += 1
            if lines == at:
                raise KeyboardInterrupt
        return look

    sys.settrace(look)
    try:
        work()
    except KeyboardInterrupt:
        if at is None:
            raise
    finally:
        sys.settrace(None)
    return lines


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", MADE)
def test_a_fit_that_is_broken_off_leaves_what_was_there(kind: str) -> None:
    n_lines = broken_off(lambda: MADE[kind]().fit(X, NEW), None)
    known = MADE[kind]().fit(X, OLD)
    held, before = dict(vars(known)), known.predict_proba(X)
    for at in np.linspace(2, n_lines - 1, PLACES).astype(int).tolist():
        fresh = MADE[kind]()
        if broken_off(lambda fresh=fresh: fresh.fit(X, NEW), at) == at:  # the time is not always the same
            with pytest.raises(NotFittedError):
                fresh.predict_proba(X)
        if broken_off(lambda known=known: known.fit(X, NEW), at) == at:
            assert vars(known).keys() == held.keys(), at
            assert all(vars(known)[name] is value for name, value in held.items()), at
            assert (known.predict_proba(X) == before).all(), at
        else:
            known = MADE[kind]().fit(X, OLD)
            held, before = dict(vars(known)), known.predict_proba(X)
