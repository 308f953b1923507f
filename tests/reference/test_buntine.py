"""Buntine: option trees against the list of the trees they stand for, growth against its definition."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from reference_helpers import ATTRIBUTES, all_dirichlets, all_priors, random_table

from everytree.reference import (
    Bayes,
    CodingPrior,
    Listing,
    ShapePrior,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    all_options,
    attribute_quality,
    best_tree,
    grow,
    grow_options,
    grow_random,
    key,
    leaf_path,
    log_quality,
    log_s,
    log_sum,
    map_pruning,
    map_tree,
    one_option,
    predict_options,
    quality,
    size,
    trees_of,
)

XOR = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(6, 0), (0, 6), (0, 6), (6, 0)])


def models(n_seeds: int) -> list[Bayes]:
    """Random spaces × every prior."""
    found = []
    for seed in range(n_seeds):
        table = random_table(seed, 3, 10, 2 + seed % 3, weights=seed % 2 == 1)
        space = Space(table, (2, None, 3)[seed % 3], min(1 + seed % 2, table.n_examples))
        dirichlets = all_dirichlets(table.n_classes)
        found += [Bayes(space, prior, dirichlets[(seed + i) % 4]) for i, prior in enumerate(all_priors(3))]
    return found


@pytest.mark.parametrize("model", models(4))
def test_the_folds_of_an_option_tree_are_sums_over_its_trees(model: Bayes) -> None:
    grown = grow(model, factor=0.0)
    for options in (
        one_option(grown),
        grow_options(model, within=20, factor=0.0),
        grow_options(model, 5, 2),
        (),
    ):
        trees = list(trees_of(options))
        assert len(set(trees)) == len(trees)
        joint = {tree: model.log_joint(tree) for tree in trees}
        total = log_sum(joint.values())
        assert log_s(model, options) == pytest.approx(total, abs=1e-10)
        if total > -math.inf:
            for row in ((0, 0, 0), (1, 0, 1)):
                expected = [0.0] * model.table.n_classes
                for tree, log_joint in joint.items():
                    path = leaf_path(tree, row)
                    theta = model.theta(model.table.cover_of(path), len(path))
                    expected = [
                        e + math.exp(log_joint - total) * t for e, t in zip(expected, theta, strict=True)
                    ]
                assert predict_options(model, options, row) == pytest.approx(expected, abs=1e-10)
            pruned = map_pruning(model, options)
            assert pruned in joint
            assert joint[pruned] == pytest.approx(max(joint.values()), abs=1e-10)


@pytest.mark.parametrize("model", models(3))
def test_all_options_are_the_whole_space(model: Bayes) -> None:
    options = all_options(model)
    assert set(trees_of(options)) == set(model.space.enumerate_trees())
    assert log_s(model, options) == pytest.approx(model.log_evidence, abs=1e-10)
    assert predict_options(model, options, (1, 0, 1)) == pytest.approx(
        model.predict_proba((1, 0, 1)), abs=1e-10
    )
    assert map_pruning(model, options) == map_tree(model)


def test_options_that_keep_everything_are_all_options() -> None:
    model = Bayes(Space(random_table(5, 3, 9), 2), UniformPrior())
    assert set(trees_of(grow_options(model, within=math.inf, factor=0.0))) == set(
        model.space.enumerate_trees()
    )


def test_smoothing_by_hand() -> None:
    # Coding prior, a = (1, 1), rows 0 (class 0) and 1 (class 1): Vleaf(root) = ½ · 1/6, Vint = ½,
    # each child ½ · ½. s = 1/12 + ½ · 1/4 · 1/4 = 11/96, so the root is a leaf with probability 8/11.
    model = Bayes(Space(Table([(0,), (1,)], [(1, 0), (0, 1)])), CodingPrior())
    options = one_option((0, None, None))
    assert math.exp(log_s(model, options)) == pytest.approx(11 / 96)
    assert predict_options(model, options, (0,))[0] == pytest.approx(8 / 11 / 2 + 3 / 11 * 2 / 3)
    # Minimum encoding prunes the split: 1/12 against 1/32.
    assert map_pruning(model, options) is None


def test_quality_by_hand() -> None:
    # (2, 0) and (0, 1) with a = (1, 1): 1/3 · 1/2; three outcomes, the last empty: the same.
    assert math.exp(log_quality([(2, 0), (0, 1)], (1, 1))) == pytest.approx(1 / 6)
    assert math.exp(log_quality([(2, 0), (0, 1), (0, 0)], (1, 1), math.log(0.5))) == pytest.approx(1 / 12)


@pytest.mark.parametrize("model", models(3))
def test_one_ply_is_the_joint_probability_of_the_tree_with_that_test(model: Bayes) -> None:
    for test in model.space.feasible(model.space.root, 0):
        expected = model.log_joint((test, None, None))
        assert quality(model, model.space.root, 0, test) == pytest.approx(expected)


def test_lookahead_is_the_best_shallow_tree() -> None:
    # With the uniform prior, N-ply quality is the largest marginal of a tree of depth ≤ N with that root.
    for seed in range(6):
        model = Bayes(Space(random_table(seed, 3, 10)), UniformPrior())
        for plies in (1, 2, 3):
            listing = Listing(Bayes(Space(model.table, plies), UniformPrior()))
            for test in model.space.feasible(model.space.root, 0):
                rooted = [j for tree, j in listing.log_joint.items() if tree is not None and tree[0] == test]
                assert quality(model, model.space.root, 0, test, plies) == pytest.approx(max(rooted))


def test_a_beam_lies_between_one_ply_and_full_lookahead() -> None:
    for seed in range(6):
        model = Bayes(Space(random_table(seed, 4, 14)), ShapePrior())
        for test in model.space.feasible(model.space.root, 0):
            one, narrow, wide, full = (
                quality(model, model.space.root, 0, test, plies, beam)
                for plies, beam in [(1, None), (3, 1), (3, 2), (3, None)]
            )
            assert one <= narrow <= full + 1e-12
            assert wide <= full + 1e-12
            assert quality(model, model.space.root, 0, test, 3, 4) == pytest.approx(full)


def test_one_ply_misses_xor_and_two_ply_finds_it() -> None:
    model = Bayes(Space(XOR, 2), UniformPrior())
    assert grow(model, plies=1) is None
    assert grow(model, plies=2) == (0, (1, None, None), (1, None, None)) == best_tree(model.space)
    assert grow_options(model, plies=2, within=1.0) == all_options(model)  # the two roots tie
    assert grow_options(model, plies=2, within=1.0, at_most=1) == one_option(grow(model, plies=2))


def test_growth_picks_the_best_test_and_stops_by_the_factor() -> None:
    for seed in range(8):
        model = Bayes(Space(random_table(seed, 3, 12)), UniformPrior())
        trees = [grow(model, factor=factor) for factor in (0.0, 1.0, 3.0, 1e9)]
        sizes = [size(tree) for tree in trees]
        assert sizes == sorted(sizes, reverse=True)
        assert trees[-1] is None
        root = model.space.root
        values = {test: quality(model, root, 0, test) for test in model.space.feasible(root, 0)}
        assert trees[0] is not None
        assert trees[0][0] == min(values, key=lambda test: (-values[test], test))
        # Split at factor 1 exactly if some test beats the leaf.
        assert (trees[1] is not None) == (max(values.values()) > model.log_m(root, 0))


def test_attributes_are_averaged_over_their_cut_points() -> None:
    model = Bayes(Space(random_table(2, 5, 16)), ShapePrior(ATTRIBUTES))
    root = model.space.root
    averaged = attribute_quality(model, root, 0, ATTRIBUTES)
    for attribute, value in averaged.items():
        tests = [test for test in model.space.feasible(root, 0) if ATTRIBUTES[test] == attribute]
        marginals = [
            math.exp(sum(model.log_m(child, 1) for child in model.table.children(root, test)))
            for test in tests
        ]
        # Pr(attribute) · mean over its cut-points.
        assert math.exp(value) == pytest.approx(sum(marginals) / len(tests) / len(averaged))
    tree = grow(model, factor=0.0, attributes=ATTRIBUTES)
    assert tree is not None
    chosen = ATTRIBUTES[tree[0]]
    assert averaged[chosen] == max(averaged.values())
    assert quality(model, root, 0, tree[0]) == max(
        quality(model, root, 0, test) for test in model.space.feasible(root, 0) if ATTRIBUTES[test] == chosen
    )


def test_random_growth_draws_roots_by_quality() -> None:
    model = Bayes(Space(random_table(6, 3, 8), 1), SizePrior())
    root = model.space.root
    values = {test: math.exp(quality(model, root, 0, test)) for test in model.space.feasible(root, 0)}
    rng = Random(7)
    n = 3000
    drawn = Counter(key(grow_random(model, rng, factor=0.0))[0] for _ in range(n))
    assert set(drawn) <= set(values)
    for test, value in values.items():
        p = value / sum(values.values())
        assert abs(drawn[test] - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1
    assert grow_random(model, rng, factor=1e9) is None


def test_bad_arguments_are_refused() -> None:
    model = Bayes(Space(XOR, 2))
    with pytest.raises(ValueError, match="plies=0"):
        quality(model, XOR.everything, 0, 0, plies=0)
    with pytest.raises(ValueError, match="beam=0"):
        quality(model, XOR.everything, 0, 0, beam=0)
    with pytest.raises(ValueError, match="factor=-1"):
        grow(model, factor=-1)
    with pytest.raises(ValueError, match=r"within=0\.5"):
        grow_options(model, within=0.5)
    with pytest.raises(ValueError, match="at_most=0"):
        grow_options(model, at_most=0)
    never = Bayes(Space(Table([(0,), (1,)], [(1, 0), (0, 1)])), SizePrior(1.0, 0.0))
    with pytest.raises(ValueError, match="prior probability zero"):
        map_pruning(never, ())
