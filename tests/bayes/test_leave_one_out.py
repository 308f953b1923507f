"""Exact leave-one-out in one pass, against a sum over every tree for each example that is left out."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from powers import PRIORS, Case

import everytree as et
from everytree import DataError, DepthDecay, TreeSpace, fit_evidence
from everytree import reference as ref

POWERS = (1.0, 0.5, 0.25, 0.1)
CASES = {
    "two classes": (26, 4, 2, 3, 1, 0, 1),
    "three classes": (24, 3, 3, 3, 2, 1, 1),
    "weights": (20, 4, 2, 2, 1, 2, 5),
    "three classes, weights": (18, 3, 3, 4, 1, 3, 3),
    "any depth": (16, 3, 2, None, 1, 4, 2),
    "depth 0": (12, 3, 2, 0, 1, 5, 2),
    "depth 1": (16, 4, 3, 1, 2, 6, 1),
    "depth 4": (30, 5, 2, 4, 2, 7, 1),
    "one class": (8, 3, 1, 2, 1, 8, 2),
}


def compare(case: Case, prior: str, dirichlet: object, power: float) -> None:
    twin = {type(dirichlet): dirichlet}.get(DepthDecay)
    a = dirichlet if twin is None else ref.DepthDecay(twin.scale, twin.rate)
    post = case.space.posterior(PRIORS[prior][0], dirichlet, power)
    left = post.leave_one_out()
    plain = case.left_out(prior, a, power)
    assert len(plain) == len(left.codes)
    all_of_them = case.plain(prior, a, power).log_evidence
    assert math.isclose(post.log_evidence, all_of_them, rel_tol=1e-11, abs_tol=1e-11)
    for row, c, count, p, log_ratio in zip(
        left.rows, left.codes, left.counts, left.proba, left.log_ratio, strict=True
    ):
        wanted, log_evidence = plain[tuple(row.tolist()), int(c)]
        np.testing.assert_allclose(p, wanted, rtol=1e-11)
        assert math.isclose(log_ratio, log_evidence - all_of_them, rel_tol=1e-9, abs_tol=1e-11)
        assert count == case.twin.table.counts[case.twin.table.rows.index(tuple(row.tolist()))][c]


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", CASES)
def test_one_pass_is_a_sum_for_each_example(name: str, prior: str, power: float) -> None:
    compare(Case(*CASES[name]), prior, 1.0, power)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize(
    "dirichlet", [0.01, 30.0, (0.2, 1.5), DepthDecay(0.8, 0.5)], ids=["small", "large", "per class", "decay"]
)
def test_dirichlet_parameters(dirichlet: object, power: float) -> None:
    for name in ("two classes", "weights", "any depth"):
        compare(Case(*CASES[name]), "size", dirichlet, power)


def test_tiny_parameters_keep_their_digits() -> None:
    # r is about 1e9 for an example that stands alone in its leaf; the others must not lose digits to it.
    for power in (1.0, 0.5):
        compare(Case(*CASES["two classes"]), "uniform", 1e-9, power)


@pytest.mark.parametrize("name", ["two classes", "three classes, weights"])
def test_listing_every_tree(name: str) -> None:
    case = Case(*CASES[name])
    post = case.space.posterior(PRIORS["size"][0], 1.0, 0.5)
    left = post.leave_one_out()
    rows = case.twin.table.rows
    for k in range(0, len(left.codes), 5):
        row = tuple(left.rows[k].tolist())
        model = case.plain("size", 1.0, 0.5, (rows.index(row), int(left.codes[k])))
        np.testing.assert_allclose(left.proba[k], ref.Listing(model).predict_proba(row), rtol=1e-10)


def test_refitting_without_the_row() -> None:
    # Where no cover comes near min_leaf, the space without an example is that of all: refit it.
    rng = np.random.default_rng(3)
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4)
    y = np.where(rng.random(len(X)) < 0.8, X[:, 0], 1 - X[:, 0])
    for power in (1.0, 0.25):
        post = TreeSpace(X, y, max_depth=3).posterior(power=power)
        proba = post.loo_proba(X, y)
        for i in range(0, len(X), 5):
            rest = np.arange(len(X)) != i
            refit = TreeSpace(X[rest], y[rest], max_depth=3).posterior(power=power)
            np.testing.assert_allclose(proba[i], refit.predict_proba(X[i : i + 1])[0], rtol=1e-12)


def test_weights_are_repetitions_and_threads_change_nothing() -> None:
    case = Case(*CASES["weights"])
    again = TreeSpace(
        np.repeat(case.X, case.weights, axis=0), np.repeat(case.y, case.weights), max_depth=2, n_jobs=3
    )
    one, other = case.space.posterior(power=0.5), again.posterior(power=0.5)
    assert (one.loo_proba(case.X, case.y) == other.loo_proba(case.X, case.y)).all()
    assert one.loo_log_loss == pytest.approx(other.loo_log_loss, rel=1e-14)
    assert one.loo_log_loss_error == pytest.approx(other.loo_log_loss_error, rel=1e-12)


def test_log_loss_and_its_error_are_those_of_the_examples() -> None:
    case = Case(*CASES["three classes"])
    post = case.space.posterior()
    p = post.loo_proba(case.X, case.y)
    losses = -np.log(p[np.arange(len(case.y)), case.y])
    assert post.loo_log_loss == pytest.approx(losses.mean(), rel=1e-13)
    assert post.loo_log_loss_error == pytest.approx(losses.std(ddof=1) / math.sqrt(len(losses)), rel=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-13)


def test_without_fast_paths() -> None:
    case = Case(*CASES["depth 4"])
    fast = case.space.posterior("size", power=0.5).leave_one_out()
    for switch in ("linear", "frontier", "merge"):
        slow = TreeSpace(case.X, case.y, max_depth=4, min_leaf=2)
        slow.switches[switch] = False
        np.testing.assert_allclose(
            slow.posterior("size", power=0.5).leave_one_out().proba, fast.proba, rtol=1e-11
        )


def test_mixture_leaves_out_of_every_part() -> None:
    case = Case(*CASES["two classes"])
    mixture = fit_evidence(case.space, prior="size", dirichlet="fit", keep=True, refine=False).average()
    found = mixture.leave_one_out()
    for k in range(0, len(found.codes), 4):
        row, c = tuple(found.rows[k].tolist()), int(found.codes[k])
        at = case.twin.table.rows.index(row), c
        parts = [case.plain("size", each.dirichlet, 1.0, at) for each in mixture.posteriors]
        whole = [case.plain("size", each.dirichlet, 1.0) for each in mixture.posteriors]
        w = mixture.weights * np.exp(
            [p.log_evidence - q.log_evidence for p, q in zip(parts, whole, strict=True)]
        )
        wanted = sum(x * np.array(p.predict_proba(row)) for x, p in zip(w / w.sum(), parts, strict=True))
        np.testing.assert_allclose(found.proba[k], wanted, rtol=1e-10)


def test_rows_of_other_examples_are_predicted_as_they_are() -> None:
    post = TreeSpace([[0, 0], [0, 0], [1, 1], [1, 1]], [0, 0, 1, 1], max_depth=1).posterior()
    p = post.loo_proba([[0, 1], [0, 0]], [0, 1])
    assert (p == post.predict_proba([[0, 1], [0, 0]])).all()


def test_bad_questions_are_refused() -> None:
    post = TreeSpace([[0], [1]], ["a", "b"], max_depth=1).posterior()
    with pytest.raises(DataError, match="both X and y"):
        post.loo_proba([[0]])
    with pytest.raises(DataError, match="the label 'c'"):
        post.loo_proba([[0]], ["c"])
    with pytest.raises(DataError, match="1 labels for 2 rows"):
        post.loo_proba([[0], [1]], ["a"])


@pytest.mark.parametrize("cuts", ["local", "global"])
def test_rows_keep_the_order_in_which_they_were_given(cuts: str) -> None:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 40) / 2, "b": rng.choice(["x", "y", "z"], 40)})
    y, weight = rng.choice(["no", "yes"], 40), rng.integers(0, 3, 40)
    space = et.TreeSpace.from_frame(frame, y, cuts=cuts, max_depth=2, sample_weight=weight)
    post = space.posterior()
    said, asked = post.loo_proba(), post.loo_proba(frame, y)
    assert said.shape == (40, 2)
    assert np.isnan(said[weight == 0]).all()
    assert (said[weight > 0] == asked[weight > 0]).all()
    losses = -np.log(said[np.arange(40), (y == "yes").astype(int)])
    assert np.average(losses[weight > 0], weights=weight[weight > 0]) == pytest.approx(
        post.loo_log_loss, rel=1e-12
    )
    # Of a row given alone, without weights, and of 0/1 tests the same holds.
    tests = et.Binarizer(bins=4).fit_transform(frame)
    plain = et.TreeSpace(tests, y, max_depth=2).posterior()
    assert (plain.loo_proba() == plain.loo_proba(tests, y)).all()
    table = et.TreeSpace.from_table(pickle.loads(pickle.dumps(space.table)), 2).posterior()
    assert len(table.loo_proba()) == len(table.leave_one_out().codes)


@pytest.mark.parametrize("a", [1e-4, 1e-9, 1e-16, 1e-30, 1e-100])
def test_small_dirichlet_parameters_keep_their_digits(a: float) -> None:
    """Sums over the three trees of two tests, in fractions; a − 1 would have lost the digits of a."""
    rows, codes = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 1], [1, 0]], [0, 1, 0, 1, 1, 0, 0]
    post = TreeSpace(rows, codes, max_depth=1).posterior("uniform", dirichlet=a)
    left = post.leave_one_out()
    for row, y, proba in zip(left.rows.tolist(), left.codes.tolist(), left.proba, strict=True):
        out = next(i for i in range(len(rows)) if (rows[i], codes[i]) == (row, y))
        rest = [i for i in range(len(rows)) if i != out]
        sums = [Fraction(0), Fraction(0)]
        for test in (None, 0, 1):
            weight, own = Fraction(1), [0, 0]
            for side in (0, 1) if test is not None else (None,):
                here = [codes[i] for i in rest if test is None or rows[i][test] == side]
                counts = [here.count(0), here.count(1)]
                for c, n in enumerate(counts):
                    for k in range(n):
                        weight *= (Fraction(a) + k) / (2 * Fraction(a) + k + sum(counts[:c]))
                own = counts if test is None or row[test] == side else own
            for c in (0, 1):
                sums[c] += weight * (own[c] + Fraction(a)) / (sum(own) + 2 * Fraction(a))
        assert proba == pytest.approx([float(x / sum(sums)) for x in sums], rel=1e-12)
