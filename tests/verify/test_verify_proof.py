"""The checker's own search against the reference: every ranking, bound and leaf rule on small random tables."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from everytree import reference
from everytree.reference.chi2 import chi2_tail
from everytree.reference.criteria import Query as ReferenceQuery
from everytree.reference.criteria import value_of
from everytree.verify.chi2 import chi2_statistic, upper_tail
from everytree.verify.examples import Examples
from everytree.verify.prove import GivenUp, Space, best_tree, show_tree
from everytree.verify.query import LeafRule, Query

RANKS = [
    ("error", "size"),
    ("expected_error", "size"),
    ("cost", "size"),
    ("gini", "size"),
    ("entropy",),
    ("size", "error"),
    ("depth", "error", "size"),
    ("error", "depth", "size"),
    ("error", "expected_error", "size"),
]
BOUNDS = [{}, {"max_leaves": 3}, {"max_error": 4}, {"max_leaves": 4, "max_error": 5}]
LEAF_RULES = [{}, {"min_margin": 2}, {"min_chi2": 1.0}, {"max_p_value": 0.5}, {"min_support": 3}]
RULE_KINDS = {"min_margin": "margin", "min_chi2": "chi2", "max_p_value": "p_value", "min_support": "support"}


def random_table(rng: random.Random, n_classes: int) -> tuple[Examples, reference.Table]:
    n_tests = rng.randint(1, 4)
    counts: dict[int, list[int]] = {}
    for _ in range(rng.randint(4, 14)):
        row = counts.setdefault(rng.randrange(1 << n_tests), [0] * n_classes)
        row[rng.randrange(n_classes)] += rng.choice([1, 1, 1, 3])
    rows = [tuple(bits >> i & 1 for i in range(n_tests)) for bits in counts]
    return Examples(counts, n_tests, n_classes), reference.Table(rows, [tuple(c) for c in counts.values()])


def both_answers(rng, rank, bounds, leaf, n_classes, min_leaf, max_depth, penalty=0.0):
    examples, table = random_table(rng, n_classes)
    matrix = [[0 if c == k else rng.randint(1, 5) for k in range(n_classes)] for c in range(n_classes)]
    exact = tuple(tuple(Fraction(value) for value in row) for row in matrix)
    rules = tuple(LeafRule(RULE_KINDS[name], Fraction(repr(value))) for name, value in leaf.items())
    first = next(name for name in rank if name not in ("size", "depth"))
    own_bounds = {name: value for name, value in bounds.items() if name != "max_error"}
    if "max_error" in bounds:
        own_bounds["max_costs"] = ((first, Fraction(bounds["max_error"])),)
    query = Query(
        rank=rank, min_leaf=min_leaf, max_depth=max_depth, leaf_rules=rules, matrix=exact,
        penalty=Fraction(repr(penalty)), **own_bounds,
    )  # fmt: skip
    space = Space(examples, query, 10_000, 60)
    oracle_rank = tuple("penalised_error" if penalty and name == first else name for name in rank)
    oracle = ReferenceQuery(rank=oracle_rank, cost_matrix=matrix, penalty=penalty, **bounds, **leaf)
    try:
        expected = reference.best(reference.Space(table, max_depth, min_leaf), oracle)[0].rank
    except reference.NoTreeError:
        expected = None
    return best_tree(space), expected, space


def assert_same(found, expected) -> None:
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert [float(value) for value in found] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("rank", RANKS, ids=str)
@pytest.mark.parametrize("leaf", LEAF_RULES, ids=str)
def test_the_optimum_is_that_of_the_reference(rank, leaf) -> None:
    rng = random.Random(f"{rank}{leaf}")
    for bounds, n_classes, min_leaf, max_depth in itertools.product(BOUNDS, (2, 3), (1, 2), (0, 2, 3)):
        if "max_error" in bounds and next(r for r in rank if r not in ("size", "depth")) != "error":
            continue  # the reference bounds the plain error, a query its first cost
        if rank[0] in ("size", "depth") and not bounds:
            continue
        found, expected, _ = both_answers(rng, rank, bounds, leaf, n_classes, min_leaf, max_depth)
        assert_same(found.rank, expected)


@pytest.mark.parametrize("penalty", [0.1, 0.75, 2.0])
@pytest.mark.parametrize("max_depth", [2, None])
def test_a_price_per_leaf(penalty: float, max_depth: int | None) -> None:
    rng = random.Random(int(penalty * 100))
    for bounds in ({}, {"max_leaves": 3}, {"max_leaves": 2}):
        for _ in range(15):
            found, expected, _ = both_answers(rng, ("error", "size"), bounds, {}, 2, 1, max_depth, penalty)
            assert_same(found.rank, expected)


def test_a_required_test_is_used_and_a_forbidden_one_is_not() -> None:
    rng = random.Random(5)
    for _ in range(60):
        examples, table = random_table(rng, 2)
        last = examples.n_tests - 1
        oracle = reference.Space(table, 2, 1)
        trees = list(oracle.enumerate_trees(100_000))
        for use in (True, False):
            query = Query(
                max_depth=2,
                required=(frozenset({last}),) if use else (),
                forbidden=frozenset() if use else frozenset({last}),
            )
            space = Space(examples, query, 10_000, 60)
            found = best_tree(space)
            values = [(_error(tree, table), _size(tree)) for tree in trees if (last in _used(tree)) == use]
            assert found.rank == (min(values) if values else None)


def _used(tree) -> set[int]:
    return set() if tree is None else {tree[0]} | _used(tree[1]) | _used(tree[2])


def _size(tree) -> int:
    return 1 if tree is None else 1 + _size(tree[1]) + _size(tree[2])


def _error(tree, table) -> int:
    return value_of("error", tree, table, ReferenceQuery())


def test_the_tree_that_is_shown_has_the_counts_it_claims() -> None:
    examples = Examples({0b00: [1, 0], 0b01: [0, 1], 0b10: [0, 1], 0b11: [1, 0]}, 2, 2)
    space = Space(examples, Query(max_depth=2), 100, 60)
    found = best_tree(space)
    assert found.rank == (0, 7)
    assert found.tree is not None
    text = "\n".join(show_tree(space, found.tree, ["a", "b"], ["no", "yes"]))
    assert text.count("leaf (no 1, yes 0)") == 2
    assert text.count("leaf (no 0, yes 1)") == 2
    assert text.startswith("a?\n  yes: b?")


def test_giving_up_says_why() -> None:
    rng = random.Random(1)
    rows = {rng.randrange(1 << 20): [rng.randint(0, 1), 1] for _ in range(200)}
    examples = Examples(rows, 20, 2)
    with pytest.raises(GivenUp, match="stopped after 50 states"):
        best_tree(Space(examples, Query(max_depth=4), 50, 60))
    with pytest.raises(GivenUp, match="time limit"):
        best_tree(Space(examples, Query(max_depth=6), 10**9, 0.0))


def test_memory_bounds_the_states_of_large_tables() -> None:
    rows = {bits: [1, 0] for bits in range(4096)}
    assert Space(Examples(rows, 12, 2), Query(), 10**12, 60).max_states * (4096 // 8) < 2**30


def test_the_estimate_is_of_the_right_size() -> None:
    rng = random.Random(2)
    rows = {rng.randrange(1 << 12): [rng.randint(0, 2), 1] for _ in range(150)}
    space = Space(Examples(rows, 12, 2), Query(max_depth=4, min_leaf=2), 10**6, 60)
    about = space.estimate()
    best_tree(space)
    assert space.n_states / 3 < about < space.n_states * 3


def test_chi2_is_that_of_the_reference() -> None:
    rng = random.Random(3)
    for _ in range(200):
        total = [rng.randint(0, 9) for _ in range(rng.randint(2, 5))]
        if not any(total):
            continue
        leaf = [rng.randint(0, n) for n in total]
        assert float(chi2_statistic(leaf, total)) == pytest.approx(reference.chi2(leaf, total), abs=1e-12)
    for freedom in range(7):
        for x in (0.0, 0.3, 2.0, 11.5):
            assert upper_tail(x, freedom) == pytest.approx(chi2_tail(x, freedom))
