"""Identities between the growers on whole columns and the exact engine on 0/1 tests, and among the folds."""

from __future__ import annotations

import numpy as np
import pytest
from grown_cases import (
    PRIORS,
    View,
    Weights,
    columns_of,
    core_columns,
    mixed,
    new_rows,
    settings,
    training_columns,
)

from everytree import TreeSpace, reference
from everytree.weights.dirichlet import DepthDecay


def binary_data(seed, n, n_tests, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = np.where(
        rng.random(n) < 0.7, (X[:, 0] + 2 * X[:, 1] * X[:, 2]) % n_classes, rng.integers(0, n_classes, n)
    )
    y[:n_classes] = np.arange(n_classes)
    return X, y


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("prior", [ours for ours, _ in PRIORS])
def test_all_options_are_the_posterior_of_the_engine(prior, numeric):
    for seed, (n, n_tests, depth, min_leaf, dirichlet) in enumerate(
        [(40, 5, 3, 1, 1.0), (300, 6, 4, 5, "1/C"), (80, 4, None, 2, DepthDecay(0.8, 0.7))]
    ):
        n_classes = 2 + seed % 2
        X, y = binary_data(seed, n, n_tests, n_classes)
        posterior = TreeSpace(X, y, max_depth=depth, min_leaf=min_leaf).posterior(prior, dirichlet)
        plain = reference.DepthDecay(0.8, 0.7) if seed == 2 else dirichlet
        weights = Weights(prior, plain, n_classes)
        every = settings(
            option_factor=0.0,
            stop_factor=0.0,
            split_pure=True,
            each_cut=seed % 2 == 0,  # a column has one test: the average over its cuts is that test
            max_depth=-1 if depth is None else depth,
            min_leaf=min_leaf,
        )
        graph, _ = weights.grow(columns_of(X, y, n_classes, numeric=numeric), every)
        fold = weights.fold(graph)
        assert fold.log_evidence == pytest.approx(posterior.log_evidence, abs=1e-9)
        rows = np.random.default_rng(seed).integers(0, 2, (20, n_tests))
        proba = weights.predict(graph, fold, columns_of(rows, None, n_classes, numeric=numeric))
        assert np.abs(proba - posterior.predict_proba(rows)).max() < 1e-10
        # The most probable tree of all, and the shares of the root
        best = posterior.log_joint(posterior.map_tree())
        assert weights.fold(graph, "map").log_evidence == pytest.approx(best, abs=1e-9)
        view, shares = View(graph), np.zeros(n_tests)
        for option in view.options(0):
            shares[view.arrays["attribute"][option]] += fold.p_option[option]
        assert shares == pytest.approx(posterior.root_distribution(), abs=1e-10)


@pytest.mark.parametrize(("ours", "plain"), PRIORS)
def test_no_other_test_at_the_root_has_a_tree_of_larger_joint_probability(ours, plain):
    # Equation 5: the leaves that a test makes count too, and some of them are closed.
    for seed in range(100):
        n_classes = 2 + seed % 2
        X, y = binary_data(seed, 6 + seed % 30, 4, n_classes)
        min_leaf, max_depth = 1 + seed % 3, 1 + seed % 4
        table = reference.Table.from_data(X.tolist(), y.tolist(), n_classes)
        model = reference.Bayes(reference.Space(table, max_depth, min_leaf), plain)
        weights = Weights(ours, 1.0, n_classes)
        graph, _ = weights.grow(
            columns_of(X, y, n_classes), settings(split_pure=True, min_leaf=min_leaf, max_depth=max_depth)
        )
        joint = {
            test: model.log_joint((test, None, None)) for test in model.space.feasible(model.space.root, 0)
        }
        options = View(graph).options(0)
        best = max(joint.values(), default=-np.inf)
        if abs(best - model.log_joint(None)) > 1e-9:
            assert len(options) == (best > model.log_joint(None))
        for option in options:
            assert joint[View(graph).arrays["attribute"][option]] == pytest.approx(best, abs=1e-9)


def test_fewer_options_have_less_evidence_and_pruning_is_one_of_the_trees():
    # With each_cut an option weighs the same whatever the others, so that more options are more trees.
    for seed in range(60):
        data = mixed(seed)
        weights = Weights(PRIORS[seed % len(PRIORS)][0], 0.7, data.n_classes)
        last = None
        for factor in (1.0, 0.3, 0.01, 0.0):
            graph, _ = weights.grow(
                training_columns(data),
                settings(option_factor=factor, stop_factor=0.2, each_cut=True, max_depth=3),
            )
            smooth, best, grown = (
                weights.fold(graph, kind).log_evidence for kind in ("smooth", "map", "none")
            )
            assert best <= smooth + 1e-12
            assert grown <= smooth + 1e-12
            if factor == 1.0:
                assert grown <= best + 1e-12  # one option: the tree as grown is one of its prunings
            assert last is None or smooth >= last - 1e-12
            last = smooth


def test_one_option_is_smoothing_and_the_leaf_alone_is_its_prior():
    for seed in range(40):
        data = mixed(seed)
        weights = Weights(PRIORS[seed % len(PRIORS)][0], "1/C", data.n_classes)
        given = {"stop_factor": 0.3, "lookahead": 1 + seed % 2}
        tree, _ = weights.grow(training_columns(data), settings(**given))
        one, _ = weights.grow(training_columns(data), settings(option_factor=0.5, max_options=1, **given))
        assert str(View(tree).arrays) == str(View(one).arrays)
        rows = core_columns(new_rows(data, seed), data.kinds)
        a, b = (weights.predict(graph, weights.fold(graph), rows) for graph in (tree, one))
        assert (a == b).all()
        # a stop that nothing passes leaves the root
        leaf, _ = weights.grow(training_columns(data), settings(stop_factor=1e300))
        counts = np.array(View(leaf).counts(0))
        theta = (counts + 1 / data.n_classes) / (counts.sum() + 1)
        assert leaf.n_nodes == 1
        assert weights.predict(leaf, weights.fold(leaf), rows) == pytest.approx(np.tile(theta, (12, 1)))
