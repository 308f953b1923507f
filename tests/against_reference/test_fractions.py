"""Weights with fractions: searches, left-out examples and queries against the reference, which takes them as they are.

The cross product (``engine_cases``) has halves, thirds and floats among its weights; here is what it does not ask.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine_cases import PRIORS, counted_weights, dirichlets

import everytree as et
from everytree import reference
from everytree.data.example_weights import example_weights
from everytree.reference.leave_one_out import Without, leave_one_out

WEIGHTS = ("halves", "thirds", "small", "floats")


def data(seed: int, kind: str, n_classes: int) -> tuple[Any, Any, npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 26))
    X = rng.integers(0, 2, (n, int(rng.integers(2, 5))))
    y = np.where(rng.random(n) < 0.7, X[:, 0] ^ X[:, 1], rng.integers(0, n_classes, n))
    y[:n_classes] = range(n_classes)
    w = {
        "halves": rng.integers(1, 7, n) / 2,
        "thirds": rng.integers(1, 10, n) / 3,
        "small": rng.integers(1, 9, n) / 10,
        "floats": 0.05 + 2 * rng.random(n),
    }[kind]
    return X, y, w


def twin_of(space: et.TreeSpace, X: Any, y: Any, w: Any, n_classes: int) -> reference.Space:
    table = reference.Table.from_data(X.tolist(), y.tolist(), n_classes, counted_weights(w))
    return reference.Space(table, space.max_depth, space.min_leaf)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("power", [1.0, 0.4])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_left_out_examples_are_those_of_a_model_without_them(kind: str, power: float, n_classes: int) -> None:
    for seed in range(3):
        X, y, w = data(seed, kind, n_classes)
        space = et.TreeSpace(X, y, max_depth=(1, 2, 3)[seed], min_leaf=1, sample_weight=w)
        given, wanted = dirichlets(("1", "per class", "decay")[seed], n_classes)
        prior, twin_prior = PRIORS[("size", "uniform", "coding")[seed]]
        left = space.posterior(prior=prior, dirichlet=given, power=power).leave_one_out()
        model = reference.Bayes(twin_of(space, X, y, w, n_classes), twin_prior(None), wanted, power)
        place = {row: k for k, row in enumerate(model.table.rows)}
        for row, code, count, proba in zip(left.rows, left.codes, left.counts, left.proba, strict=True):
            k = place[tuple(map(int, row))]
            assert count == pytest.approx(float(model.table.counts[k][code]))
            assert proba == pytest.approx(leave_one_out(model, k, int(code)), abs=1e-11)
            assert proba == pytest.approx(Without(model, k, int(code)).predicted(), abs=1e-11)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior", ["uniform", "size", "leaf penalty", "shapes", "fair coding"])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_the_most_probable_tree_by_search(kind: str, prior: str, n_classes: int) -> None:
    for seed in range(4):
        X, y, w = data(seed, kind, n_classes)
        columns = list(range(X.shape[1]))
        space = et.TreeSpace(
            X,
            y,
            max_depth=(2, 3, None, None)[seed],
            min_leaf=1 + seed % 2,
            sample_weight=w,
            attributes=columns,
        )
        given, wanted = dirichlets(("1", "0.3", "decay", "per class")[seed], n_classes)
        mine, twin_prior = PRIORS[prior]
        model = reference.Bayes(twin_of(space, X, y, w, n_classes), twin_prior(columns), wanted)
        tree = space.most_probable(mine, given)
        assert tree.info["optimal"]
        assert tree.info["log_joint"] == pytest.approx(reference.log_map(model), abs=1e-9)
        assert model.log_joint(tree.nested) == pytest.approx(tree.info["log_joint"], abs=1e-9)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_moments_and_rules(kind: str) -> None:
    X, y, w = data(5, kind, 3)
    space = et.TreeSpace(X, y, max_depth=2, min_leaf=1, sample_weight=w)
    post = space.posterior(dirichlet=0.7)
    model = reference.Bayes(twin_of(space, X, y, w, 3), reference.SizePrior(), 0.7)
    rows = model.table.rows
    assert post.predict_proba(rows) == pytest.approx(np.array([model.predict_proba(row) for row in rows]))
    told, wanted = post.moments(rows), [model.moments(row) for row in rows]
    for part in ("mean", "between", "within"):
        assert getattr(told, part) == pytest.approx(
            np.array([getattr(each, part) for each in wanted]), abs=1e-12
        )
    for rule in post.rules(top=5):
        assert sum(rule.proba) == pytest.approx(1)
        assert sum(rule.counts) <= float(sum(map(Fraction, counted_weights(w)))) + 1e-9


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("cost", ["error", "expected_error", "gini", "entropy"])
def test_best_trees_under_constraints(kind: str, cost: str) -> None:
    for seed in range(4):
        X, y, w = data(seed, kind, 2)
        space = et.TreeSpace(X, y, max_depth=3, min_leaf=1, sample_weight=w)
        twin = twin_of(space, X, y, w, 2)
        leaf = (None, et.Margin(1), et.ChiSquare(0.8), et.Support(2))[seed]
        limits: dict[str, Any] = [{}, {"min_margin": 1}, {"min_chi2": 0.8}, {"min_support": 2}][seed]
        query = reference.Query(rank=(cost, "size"), **limits)
        try:
            wanted = reference.best(twin, query)
        except reference.NoTreeError:
            with pytest.raises(et.NoTreeError):
                space.best((cost, "size"), leaf=leaf)
            continue
        tree = space.best((cost, "size"), leaf=leaf)
        assert tree.info["objective"] == pytest.approx(float(wanted[0].rank[0]), abs=1e-9)
        assert tree.size == wanted[0].rank[1]


def test_local_cuts() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (24, 2)).astype(float)
    y = ((X[:, 0] > 4) ^ (rng.random(24) < 0.2)).astype(int)
    for w in (rng.integers(1, 7, 24) / 2, rng.integers(1, 9, 24) / 3):
        space = et.TreeSpace.from_frame(X, y, bins=3, cuts="local", max_depth=2, min_leaf=1, sample_weight=w)
        table = reference.ColumnTable.from_data(X.tolist(), y.tolist(), 2, counted_weights(w), bins=3)
        model = reference.Bayes(reference.LocalSpace(table, 2, 1), reference.SizePrior(), 1.0)
        assert space.posterior(et.SizePrior()).log_evidence == pytest.approx(model.log_evidence, abs=1e-9)


def test_weights_that_are_no_fractions_of_anything_are_rounded_by_a_millionth() -> None:
    rng = np.random.default_rng(0)
    w = rng.random(1000)
    counted = example_weights(w, 1000)
    assert counted is not None
    assert counted.per_example == 2**19
    assert 0 < counted.rounding < 2e-6  # of the average weight, which is a half
    assert np.abs(counted.examples - w).max() <= 0.5 / 2**19
    X, y = rng.integers(0, 2, (1000, 4)), rng.integers(0, 2, 1000)
    exact = reference.Table.from_data(X.tolist(), y.tolist(), 2, w.tolist())
    model = reference.Bayes(reference.Space(exact, 2, 1), reference.SizePrior(), 1.0)
    space = et.TreeSpace(X, y, max_depth=2, sample_weight=w)
    assert space.posterior().log_evidence == pytest.approx(model.log_evidence, abs=1e-4)


@pytest.mark.parametrize("factor", [1, 2, 5])
def test_a_unit_that_is_finer_than_needed_changes_nothing(factor: int) -> None:
    X, y, w = data(1, "halves", 2)
    table = et.Table.from_arrays(X, y, 2, w)
    finer = et.Table(table.rows, factor * table.class_counts, per_example=factor * table.per_example)
    one, other = (et.TreeSpace.from_table(each, 3, 2).posterior() for each in (table, finer))
    assert other.log_evidence == pytest.approx(one.log_evidence, abs=1e-10)
    assert other.predict_proba(table.rows) == pytest.approx(one.predict_proba(table.rows), abs=1e-12)
    assert other.loo_log_loss == pytest.approx(one.loo_log_loss, abs=1e-10)
