"""Batches with local cuts: the result is that of all rows at once, whatever comes later."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.data.binarizer import Binarizer
from everytree.data.frames import read_frame
from everytree.data.local_tally import LocalTally
from everytree.data.table import Table
from everytree.errors import DataError, LimitReached, QueryError


def frame_of(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of every kind, sorted so that each batch has values, classes and gaps that the others lack."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "few": np.sort(rng.normal(size=n).round(1)),
            "many": rng.permutation(np.linspace(-3, 3, n)),
            "whole": rng.integers(0, 2, size=n) * rng.integers(0, 9, size=n),
            "flag": rng.integers(0, 2, size=n).astype(bool),
            "text": np.array(["c", "a", "d", "b"], dtype=object)[np.arange(n) * 4 // n],
            "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 5, size=n)),
        }
    )
    frame.loc[: n // 3, "gaps"] = np.nan
    y = np.where(frame["few"] + rng.normal(size=n) / 2 > 0.8, "up", "down")
    return frame, np.where(np.arange(n) > 0.9 * n, "late", y)


def test_what_is_kept_for_batches_counts_to_the_memory() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    model = et.BayesOptimalClassifier(2, cuts="local", memory_limit=10**8).fit(X, y)
    kept = X.nbytes + y.nbytes
    assert model._tally.n_bytes == kept
    space = model.posterior_.space
    held = space.limits.held
    space.beside = 0
    assert space.limits.held == held - kept
    model.partial_fit(X[:50] + 9, y[:50])
    assert model.posterior_.space.beside == model._tally.n_bytes == 250 * (3 * 8 + 2 * 8)
    assert model.fit_table(space.table).posterior_.space.beside == 0


def pieces(n: int, parts: int = 3) -> list[slice]:
    edges = np.linspace(0, n, parts + 1).astype(int)
    return [slice(a, b) for a, b in itertools.pairwise(edges)]


@pytest.mark.parametrize("missing", ["category", "impute"])
@pytest.mark.parametrize("bins", [3, "all", {"few": [-0.5, 0.5], "many": 2}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_tally_is_the_table_of_all_rows(missing, bins, weighted):
    frame, y = frame_of(90)
    weights = np.random.default_rng(1).integers(1, 4, size=90) if weighted else None
    rules = {"bins": bins, "missing": missing, "cuts": "local"}
    tally = LocalTally(Binarizer(**rules))
    for part in pieces(90):
        tally = tally.add(read_frame(frame[part]), y[part], None if weights is None else weights[part])
    binarizer, table = tally.binarized()
    whole = Table.from_frame(frame.assign(y=y, w=1 if weights is None else weights), "y", weight="w", **rules)
    assert tally.total == whole.total
    assert table == whole
    assert table.fingerprint() == whole.fingerprint()
    assert binarizer.dropped_ == whole.binarizer.dropped_
    np.testing.assert_array_equal(binarizer.transform(frame), whole.binarizer.transform(frame))


@pytest.mark.parametrize("n", [80, 700])  # fewer and more values than there are fine codes
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_partial_fit_is_fit_on_all_rows(n, begin):
    frame, y = frame_of(n)
    options = {"max_depth": 2, "min_leaf": 4, "cuts": "local"}
    whole = et.BayesOptimalClassifier(**options).fit(frame, y)
    model = et.BayesOptimalClassifier(**options)
    first, *rest = pieces(n)
    getattr(model, begin)(frame[first], y[first])
    for part in rest:
        model = pickle.loads(pickle.dumps(model)).partial_fit(frame[part], y[part])
    assert model.log_evidence_ == whole.log_evidence_
    assert model.fingerprint_ == whole.fingerprint_
    new, _ = frame_of(60, seed=5)
    np.testing.assert_array_equal(model.predict_proba(new), whole.predict_proba(new))


@pytest.mark.long
def test_chunks_are_counted_as_one_frame():
    frame, y = frame_of(120)
    frame = frame.assign(y=y)
    whole = Table.from_frame(frame, "y", cuts="local")
    assert Table.from_chunks((frame[part] for part in pieces(120, 4)), "y", cuts="local") == whole
    with pytest.raises(LimitReached, match="memory limit"):
        Table.from_chunks([frame], "y", cuts="local", memory_limit=1000)


def test_equal_rows_are_kept_once():
    frame, y = read_frame([[1.0, "a"], [2.0, "b"]] * 50), np.array([0, 1] * 50)
    tally = LocalTally(Binarizer(cuts="local"))
    sizes = []
    for _ in range(4):
        tally = tally.add(frame, y, None)
        sizes.append(tally.n_bytes)
    assert sizes[1] == sizes[3] < sizes[0]
    assert tally.total == 400


def test_large_whole_numbers_stay_whole():
    low, high = np.array([[1], [2]]), np.array([[2**63 + 1], [2**63 + 3]], dtype=np.uint64)
    tally = LocalTally(Binarizer(cuts="local"))
    for X in (low, high):
        tally = tally.add(read_frame(X), np.array([0, 1]), None)
    assert tally.binarized()[0].tests_[-1].value == 2**63 + 2


def test_what_is_given_may_change_later():
    X, y = np.arange(20.0).reshape(10, 2), np.array([0, 1] * 5)
    model = et.BayesOptimalClassifier(max_depth=1, cuts="local").fit(X, y)
    both = et.BayesOptimalClassifier(max_depth=1, cuts="local").fit(np.vstack([X, X + 1]), np.tile(y, 2))
    more = X + 1
    X[:], labels = 0, y.copy()
    y[:] = 0
    assert model.partial_fit(more, labels).log_evidence_ == both.log_evidence_


def test_a_batch_that_does_not_go_with_earlier_ones_changes_nothing():
    frame, y = frame_of(60)
    model = et.BayesOptimalClassifier(max_depth=1, cuts="local").partial_fit(frame[:30], y[:30])
    before = model.log_evidence_
    with pytest.raises(DataError, match="held numbers in earlier batches and holds text now"):
        model.partial_fit(frame[30:].assign(few="x"), y[30:])
    with pytest.raises(QueryError, match="have changed since the first batch"):
        model.set_params(cuts="global").partial_fit(frame[30:], y[30:])
    assert model.set_params(cuts="local").log_evidence_ == before


def test_left_out_examples_are_told_by_row():
    frame, y = frame_of(60)
    model = et.BayesOptimalClassifier(max_depth=2, cuts="local", calibrate="loo").fit(frame, y)
    assert model.loo_proba_.shape == (60, 3)
    chosen = model.loo_proba_[np.arange(60), np.searchsorted(model.classes_, y)]
    assert -np.log(chosen).mean() == pytest.approx(model.loo_log_loss_, abs=1e-9)
