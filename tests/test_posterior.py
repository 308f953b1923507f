"""The posterior: identities between its answers, draws, rules, pickling, and what bad input is told."""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from everytree import reference
from everytree.bayes.posterior import Posterior
from everytree.errors import DataError, EverytreeError, QueryError
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import CodingPrior, LeafPenaltyPrior, Prior, ShapePrior, SizePrior, UniformPrior

PRIORS = [
    UniformPrior(),
    SizePrior(),
    LeafPenaltyPrior(0.3),
    ShapePrior(),
    CodingPrior(),
    CodingPrior(weight=0.4),
]
TWIN_PRIORS = {
    UniformPrior: reference.UniformPrior(),
    SizePrior: reference.SizePrior(),
    LeafPenaltyPrior: reference.LeafPenaltyPrior(0.3),
    ShapePrior: reference.ShapePrior(),
}


def small(
    seed: int, max_depth: int | None = 2, min_leaf: int = 2, n_tests: int = 4, n: int = 14
) -> TreeSpace:
    """A space of some dozens or hundreds of trees."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = (X[:, 0] ^ (rng.random(n) < 0.2)).astype(int) + (rng.random(n) < 0.2)
    return TreeSpace(X, y, max_depth, min_leaf, classes=range(3))


def twin_of(post: Posterior) -> reference.Bayes:
    """The same posterior in the reference."""
    table = post.space.table
    rows = reference.Table(table.rows.tolist(), table.class_counts.tolist())
    space = reference.Space(rows, post.space.max_depth, post.space.min_leaf)
    prior = post.prior
    twin = (
        reference.CodingPrior(weight=prior.weight)
        if isinstance(prior, CodingPrior)
        else TWIN_PRIORS[type(prior)]
    )
    return reference.Bayes(space, twin, post.dirichlet)  # type: ignore[arg-type]


# Identities -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_identities(prior: Prior, seed: int) -> None:
    """Between answers of the engine alone: no reference is needed for these to hold."""
    space = small(seed, max_depth=[1, 2, 3, None][seed], n_tests=3)
    post = space.posterior(prior, 0.5)
    every = post.top_trees(space.n_trees)
    probabilities = np.array([tree.info["probability"] for tree in every])

    assert post.log_evidence >= post.map_tree().info["log_joint"]
    assert every[0].info["log_joint"] == pytest.approx(post.map_tree().info["log_joint"], rel=1e-12)
    assert len(every) == len({tree.key for tree in every}) == space.n_trees
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-10)
    assert (np.diff(probabilities) <= 1e-15).all()
    for k in (1, 2, 5):
        assert sum(tree.info["probability"] for tree in post.top_trees(k)) <= 1 + 1e-12

    used = np.array([[test in tree.key for test in range(space.n_tests)] for tree in every])
    np.testing.assert_allclose(post.test_inclusion(), probabilities @ used, rtol=1e-9, atol=1e-12)
    roots = np.array([[tree.key[0] == test for test in range(space.n_tests)] for tree in every])
    np.testing.assert_allclose(post.root_distribution(), probabilities @ roots, rtol=1e-9, atol=1e-12)
    leaf = math.exp(post.log_prob((-1,)))
    assert post.root_distribution().sum() + leaf == pytest.approx(1.0, abs=1e-10)

    leaves, depths = post.leaves_distribution(), post.depth_distribution()
    assert leaves.sum() == pytest.approx(1.0, abs=1e-10)
    assert depths.sum() == pytest.approx(1.0, abs=1e-10)
    assert leaves[1] == pytest.approx(leaf, rel=1e-9)
    assert depths[0] == pytest.approx(leaf, rel=1e-9)
    assert post.expected_leaves == pytest.approx(np.arange(len(leaves)) @ leaves, rel=1e-9)
    assert post.expected_size == pytest.approx(2 * post.expected_leaves - 1, rel=1e-12)
    assert post.expected_depth == pytest.approx(np.arange(len(depths)) @ depths, rel=1e-9)
    assert post.expected_leaves == pytest.approx(probabilities @ [tree.n_leaves for tree in every], rel=1e-9)
    assert post.expected_depth == pytest.approx(probabilities @ [tree.depth for tree in every], rel=1e-9)

    rows = np.array([[row >> test & 1 for test in range(space.n_tests)] for row in range(2**space.n_tests)])
    average = sum(p * tree.predict_proba(rows) for p, tree in zip(probabilities, every, strict=True))
    np.testing.assert_allclose(post.predict_proba(rows), average, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(post.predict_proba(rows).sum(axis=1), 1.0, rtol=1e-12)


def test_the_last_point_of_the_front_is_the_optimum() -> None:
    for seed in range(10):
        space = small(seed, 3, 1)
        front, best = space.front(), space.best()
        assert front[-1][:2] == (best.size, best.error)
        assert front[0][0] == 1
        assert all(tree.error == error and tree.size == size for size, error, tree in front)


def test_a_duplicated_column() -> None:
    """At depth 1 the copy adds one tree, which weighs what the split on the first column weighs."""
    space = small(3, 1, 2)
    X = np.repeat(space.table.rows, space.table.class_counts.sum(axis=1), axis=0)
    y = np.concatenate([np.repeat(range(3), counts) for counts in space.table.class_counts])
    both = TreeSpace(np.concatenate([X, X[:, :1]], axis=1), y, 1, 2, classes=range(3))
    plain, twice = space.posterior("uniform"), both.posterior("uniform")
    assert both.n_trees == space.n_trees + 1
    extra = math.exp(plain.log_joint((0, -1, -1)))
    assert math.exp(twice.log_evidence) == pytest.approx(math.exp(plain.log_evidence) + extra)
    assert twice.test_inclusion()[0] == twice.test_inclusion()[4]
    assert both.best().key == space.best().key  # the lower index wins a tie
    # Under the shapes prior the two copies share the weight of tests among five instead of four.
    assert both.posterior("shapes").map_tree().error == space.posterior("shapes").map_tree().error


def test_ties_go_to_the_smaller_tree_then_to_the_lower_test() -> None:
    one_class = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]], [0] * 4, 2)
    assert one_class.posterior("uniform").map_tree().key == (-1,)
    twins = TreeSpace([[0, 0, 0], [1, 1, 1]] * 20, [0, 1] * 20, 2)
    assert twins.posterior().map_tree().key == (0, -1, -1)
    assert [tree.key[0] for tree in twins.posterior().top_trees(3)] == [0, 1, 2]
    assert twins.best().key == (0, -1, -1)


@pytest.mark.parametrize("seed", range(30))
def test_the_map_tree_is_the_reference_s_where_it_is_unique(seed: int) -> None:
    post = small(seed, 3, 1).posterior(dirichlet=0.7)
    model = twin_of(post)
    first, second = (model.log_joint(tree) for tree in reference.top_trees(model, 2))
    if first - second > 1e-9:
        assert post.map_tree().nested == reference.map_tree(model)


def test_predict_takes_the_most_probable_label() -> None:
    space = TreeSpace([[0], [1], [1]] * 5, ["no", "yes", "yes"] * 5, 1)
    post = space.posterior()
    assert post.predict([[0], [1]]).tolist() == ["no", "yes"]
    assert post.predict_proba(np.zeros((0, 1))).shape == (0, 2)


def test_batches_give_what_single_rows_give() -> None:
    post = small(1, 3, 1, n_tests=6, n=40).posterior()
    rows = np.random.default_rng(0).integers(0, 2, (200, 6)).astype(np.uint8)
    batch = post.predict_proba(rows)
    single = np.concatenate([post.predict_proba(row[None]) for row in rows])
    np.testing.assert_allclose(batch, single, rtol=1e-12)
    np.testing.assert_allclose(post.predict_proba(rows.astype(bool)), batch, rtol=0)
    np.testing.assert_allclose(post.predict_proba(np.asfortranarray(rows)), batch, rtol=0)


# Draws ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize(
    ("max_depth", "frontier"), [(1, True), (2, True), (2, False), (3, True), (None, True)]
)
def test_draws_follow_the_posterior(prior: Prior, max_depth: int | None, frontier: bool) -> None:
    """χ² of the frequencies of trees against exp(log_prob), rare trees together; the seed is fixed."""
    space = small(7, max_depth, 3, n_tests=3)
    space.switches["frontier"] = frontier
    post = space.posterior(prior)
    n = 20_000
    seen = Counter(tree.key for tree in post.sample(n, random_state=11))
    expected = {tree.key: n * tree.info["probability"] for tree in post.top_trees(space.n_trees)}
    assert set(seen) <= set(expected)
    common = [key for key, times in expected.items() if times >= 10]
    observed = np.array([seen[key] for key in common] + [n - sum(seen[key] for key in common)], dtype=float)
    wanted = np.array([expected[key] for key in common] + [n - sum(expected[key] for key in common)])
    keep = wanted > 1e-6
    statistic = float(((observed - wanted)[keep] ** 2 / wanted[keep]).sum())
    assert statistic < chi2.ppf(1 - 1e-4, max(1, int(keep.sum()) - 1))


def test_draws_are_reproducible_and_independent_of_threads() -> None:
    space = small(1, 3, 1)
    post = space.posterior()
    keys = [tree.key for tree in post.sample(50, random_state=3)]
    assert keys == [tree.key for tree in post.sample(50, random_state=3)]
    assert keys != [tree.key for tree in post.sample(50, random_state=4)]
    generator = np.random.default_rng(3)
    assert keys == [tree.key for tree in post.sample(50, random_state=generator)]
    assert keys != [tree.key for tree in post.sample(50, random_state=generator)]
    assert post.sample(0) == []
    threads = TreeSpace.from_table(space.table, 3, 1, n_jobs=3).posterior()
    assert keys == [tree.key for tree in threads.sample(50, random_state=3)]


@pytest.mark.parametrize("seed", [-1, 1.5, "a"])
def test_seeds_that_are_none(seed: Any) -> None:
    post = small(1, 2, 1).posterior()
    message = re.escape(f"random_state={seed!r}; expected a whole number ≥ 0, a numpy Generator, or None")
    with pytest.raises(QueryError, match=message):
        post.sample(1, seed)
    with pytest.raises(QueryError, match=message):
        post.interval(np.zeros((1, post.space.n_tests), dtype=int), random_state=seed)


# Trees and their probability --------------------------------------------------------------------------------


def test_log_prob_takes_trees_and_keys() -> None:
    post = small(2, 2, 2).posterior()
    for tree in post.top_trees(5):
        assert post.log_prob(tree) == post.log_prob(tree.key) == pytest.approx(tree.info["log_prob"])
        assert post.log_joint(tree) - post.log_evidence == post.log_prob(list(tree.key))
        assert post.log_prob(Tree.from_dict(tree.to_dict())) == post.log_prob(tree)


def test_trees_outside_the_space_have_probability_zero() -> None:
    space = TreeSpace([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 1, 0, 1], 1, min_leaf=2)
    post = space.posterior()
    assert post.log_prob((0, -1, -1)) > -math.inf
    assert post.log_prob((1, -1, -1)) == -math.inf  # one side has a single example
    assert post.log_prob((0, 1, -1, -1, -1)) == -math.inf  # too deep
    assert post.log_prob((0, 0, -1, -1, -1)) == -math.inf  # a test splits nothing the second time


def test_leaf_probabilities_follow_the_dirichlet() -> None:
    space = TreeSpace([[0], [0], [1], [1], [1]], [0, 0, 1, 1, 0], 1)
    tree = space.posterior(dirichlet=[2.0, 0.5]).map_tree()
    assert tree.key == (0, -1, -1) or tree.key == (-1,)
    counts = tree.counts + np.array([2.0, 0.5])
    np.testing.assert_allclose(tree.proba, counts / counts.sum(axis=1, keepdims=True))
    deep = space.posterior(dirichlet=DepthDecay(0.5, 0.5)).top_trees(2)
    split = next(tree for tree in deep if tree.depth == 1)
    assert split.proba[1].tolist() == pytest.approx([2.25 / 2.5, 0.25 / 2.5])


# Rules ------------------------------------------------------------------------------------------------------


def leaf_weights(model: reference.Bayes) -> dict[tuple[tuple[int, int], ...], float]:
    """P(path is a leaf) for every path, by listing every tree."""
    weights: Counter[tuple[tuple[int, int], ...]] = Counter()
    for tree, p in reference.Listing(model).posterior.items():
        for leaf in reference.leaves_of(tree, model.table):
            weights[tuple(sorted(leaf.path))] += p  # type: ignore[assignment]
    return dict(weights)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
@pytest.mark.parametrize(
    ("max_depth", "frontier"), [(0, True), (1, True), (2, True), (3, False), (3, True), (None, True)]
)
def test_rules_are_the_paths_of_leaves(prior: Prior, max_depth: int | None, frontier: bool) -> None:
    space = small(5, max_depth, 2, n_tests=3)
    space.switches["frontier"] = frontier
    post = space.posterior(prior)
    model = twin_of(post)
    wanted = leaf_weights(model)
    rules = post.rules(top=10**6)
    assert {rule.items for rule in rules} == {items for items, weight in wanted.items() if weight > 1e-12}
    for rule in rules:
        assert rule.weight == pytest.approx(wanted[rule.items], rel=1e-9, abs=1e-12)
        cover = model.table.cover_of(frozenset(rule.items))
        assert rule.counts == model.table.class_counts(cover)
        assert rule.proba == pytest.approx(model.theta(cover, len(rule.items)))
    weights = [rule.weight for rule in rules]
    assert weights == sorted(weights, reverse=True)
    assert [rule.items for rule in post.rules(top=3)] == [rule.items for rule in rules[:3]]
    assert sum(rule.weight for rule in rules) == pytest.approx(post.expected_leaves, rel=1e-9)


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_the_rules_of_a_row_make_its_prediction(prior: Prior) -> None:
    """For a row the weights of its rules sum to one, and their mixture is the prediction."""
    space = small(6, 3, 1, n_tests=4)
    post = space.posterior(prior, [0.5, 1.0, 2.0])
    wanted = leaf_weights(twin_of(post))
    for row in np.random.default_rng(0).integers(0, 2, (6, 4)):
        rules = post.rules(row, top=10**6)
        assert all(row[test] == outcome for rule in rules for test, outcome in rule.items)
        assert sum(rule.weight for rule in rules) == pytest.approx(1.0, abs=1e-9)
        mixture = sum(rule.weight * np.array(rule.proba) for rule in rules)
        np.testing.assert_allclose(mixture, post.predict_proba(row[None])[0], atol=1e-9)
        for rule in rules:
            assert rule.weight == pytest.approx(wanted[rule.items], rel=1e-9)
        assert len(post.rules(row, top=2)) == min(2, len(rules))


@pytest.mark.parametrize("seed", range(8))
def test_the_heaviest_rules_of_a_wider_space(seed: int) -> None:
    """The search for the heaviest rules prunes; nothing heavy may be missed."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (40, 6))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(40) < 0.25)
    post = TreeSpace(X, y.astype(int), 3, 2).posterior(dirichlet=0.5)
    model = twin_of(post)
    # log v · Vleaf / u is the same weight without listing the trees.
    weights = {
        tuple(sorted(path)): math.exp(
            log_v + model.log_leaf(model.table.cover_of(path), len(path)) - model.log_evidence
        )
        for path, log_v in model.log_v().items()
    }
    heaviest = sorted(weights.values(), reverse=True)
    rules = post.rules(top=25)
    assert [rule.weight for rule in rules] == pytest.approx(heaviest[:25], rel=1e-9)
    for rule in rules:
        assert rule.weight == pytest.approx(weights[rule.items], rel=1e-9)


def test_rules_in_words() -> None:
    space = TreeSpace([[0], [1]] * 6, [0, 1] * 6, 1, test_names=["age <= 30"])
    rules = space.posterior().rules()
    assert {rule.names for rule in rules} == {("age <= 30",), ("not (age <= 30)",), ()}
    assert "age <= 30" in str(rules[0])
    assert len(rules) == 3


# Pickling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_a_pickled_posterior_gives_the_same_answers(prior: Prior) -> None:
    post = small(4, 3, 1).posterior(prior, DepthDecay(0.8, 0.7))
    rows = np.random.default_rng(0).integers(0, 2, (20, 4))
    for again in (pickle.loads(pickle.dumps(post)), copy.deepcopy(post)):
        assert again.log_evidence == post.log_evidence
        assert again.prior == post.prior
        assert again.dirichlet == post.dirichlet
        assert np.array_equal(again.predict_proba(rows), post.predict_proba(rows))
        assert np.array_equal(again.test_inclusion(), post.test_inclusion())
        assert again.map_tree() == post.map_tree()
        assert [t.key for t in again.sample(9, 1)] == [t.key for t in post.sample(9, 1)]


def test_a_posterior_keeps_its_space_alive() -> None:
    post = small(4, 3, 1).posterior()
    assert np.isfinite(post.predict_proba(np.zeros((1, 4)))).all()
    assert "log_evidence" in repr(post)


# Messages ---------------------------------------------------------------------------------------------------

POST = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, 2, test_names=["a", "b"]).posterior()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: POST.predict_proba([[0]]), r"X has 1 columns; expected the 2 tests"),
        (lambda: POST.predict_proba([0, 1]), r"shape \(n_rows, n_tests\); got 1 dimension"),
        (lambda: POST.predict_proba([[0, 2]]), r"column 1 \('b'\) holds 2 in row 0"),
        (lambda: POST.predict_proba([[0, np.nan]]), r"column 1 \('b'\) holds nan"),
        (lambda: POST.predict_proba([["x", "y"]]), r"must hold only 0 and 1"),
        (lambda: POST.predict_proba([[0, 1], [1]]), r"rows differ in length"),
        (lambda: POST.rules([0]), r"expected one row of 2 tests"),
        (lambda: POST.rules([[0, 1], [1, 1]]), r"expected one row of 2 tests"),
        (lambda: POST.rules([0, 3]), r"holds 3"),
        (lambda: POST.log_prob(()), r"key ends before the tree is complete"),
        (lambda: POST.log_prob((0, -1)), r"key ends before the tree is complete"),
        (lambda: POST.log_prob((-1, -1)), r"key goes on after the tree is complete"),
    ],
)
def test_messages_about_data(ask: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ask()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: POST.top_trees(0), r"k=0; expected a whole number ≥ 1"),
        (lambda: POST.top_trees(1.5), r"k=1.5; expected a whole number"),  # type: ignore[arg-type]
        (lambda: POST.top_trees(True), r"k=True; expected a whole number"),
        (lambda: POST.sample(-1), r"n=-1; expected a whole number ≥ 0"),
        (lambda: POST.sample(0.5), r"n=0.5; expected a whole number"),  # type: ignore[arg-type]
        (lambda: POST.log_prob((5, -1, -1)), r"uses .*test.* 0 to 1"),
        (lambda: POST.log_prob((-2,)), r"uses .*test.* 0 to 1"),
        (lambda: POST.rules(top=0), r"top=0; expected a whole number ≥ 1"),
        (lambda: POST.space.posterior("flat"), r"prior='flat'; expected one of"),
        (lambda: POST.space.posterior(dirichlet=-1.0), r"dirichlet=-1.0; expected positive"),
        (lambda: POST.space.posterior(dirichlet=[1, 1, 1]), r"expected one number, or one for each of the 2"),
    ],
)
def test_messages_about_queries(ask: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        ask()


def test_a_tree_over_other_tests_is_refused() -> None:
    other = TreeSpace([[0, 1, 1], [1, 0, 1]], [0, 1], 1).best()
    with pytest.raises(QueryError, match="over 3 tests; the space has 2"):
        POST.log_prob(other)


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda: POST.top_trees("a"), "k="),  # type: ignore[arg-type]
        (lambda: POST.top_trees(None), "k="),  # type: ignore[arg-type]
        (lambda: POST.sample("a"), "n="),  # type: ignore[arg-type]
        (lambda: POST.rules(top=None), "top="),  # type: ignore[arg-type]
        (lambda: POST.log_prob(5), "key|tree"),  # type: ignore[arg-type]
        (lambda: POST.log_prob(None), "key|tree"),  # type: ignore[arg-type]
        (lambda: POST.log_prob(("a",)), "key|tree"),  # type: ignore[arg-type]
        (lambda: POST.log_prob((0.5, -1, -1)), "key|tree"),  # type: ignore[arg-type]
        (lambda: POST.log_prob((10**12, -1, -1)), "key|tree"),
    ],
)
def test_values_of_the_wrong_type_are_named(ask: Any, name: str) -> None:
    with pytest.raises(EverytreeError, match=name):
        ask()


def test_more_top_trees_than_there_are() -> None:
    for k in (100, 10**9):
        assert len(POST.top_trees(k)) == POST.space.n_trees
    with pytest.raises(QueryError, match="k=1000000000000 is too large"):
        POST.top_trees(10**12)
