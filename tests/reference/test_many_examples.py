"""Growth from many examples, and from more and more of them, against ordinary growth."""

from __future__ import annotations

import math
from random import Random

import pytest
from reference_helpers import all_dirichlets, all_priors, random_table

from everytree.reference import (
    Bayes,
    Space,
    Table,
    Tree,
    UniformPrior,
    choose_on_subsample,
    grow,
    grow_on_subsamples,
    key,
    nodes_of,
    quality,
    restructure,
)


def models(n_seeds: int) -> list[Bayes]:
    """Random spaces × every prior."""
    found = []
    for seed in range(n_seeds):
        table = random_table(seed, 4, 24, 2 + seed % 2, weights=seed % 2 == 1)
        space = Space(table, 3, min(1 + seed % 2, table.n_examples))
        dirichlets = all_dirichlets(table.n_classes)
        found += [Bayes(space, prior, dirichlets[(seed + i) % 4]) for i, prior in enumerate(all_priors(4))]
    return found


def clear_table(n: int) -> Table:
    """Test 1 decides the class but for one example in ten; the others are noise."""
    rng = Random(7)
    X = [[rng.randrange(2) for _ in range(3)] for _ in range(n)]
    return Table.from_data(X, [row[1] ^ (rng.random() < 0.1) for row in X], n_classes=2)


@pytest.mark.parametrize("model", models(4))
def test_an_infinite_lead_sees_everything_and_grows_the_same_tree(model: Bayes) -> None:
    for factor in (0.0, 1.0, 5.0):
        grown = grow_on_subsamples(model, Random(0), math.inf, first=1, factor=factor)
        assert grown == grow(model, factor=factor)
    choice = choose_on_subsample(model, model.space.root, 0, Random(1), math.inf, first=2)
    tests = model.space.feasible(model.space.root, 0)
    if choice is None:
        assert not tests
    elif len(tests) > 1:
        assert choice.n_seen == model.table.n_examples
        found = sorted((quality(model, model.space.root, 0, test) for test in tests), reverse=True)
        if found[0] > -math.inf:
            assert choice.log_lead == pytest.approx(found[0] - found[1], abs=1e-9)


def test_a_clear_winner_needs_few_examples() -> None:
    model = Bayes(Space(clear_table(4000), 2), UniformPrior())
    seen = []
    for lead in (1.0, 10.0, 1e6, 1e30):
        choice = choose_on_subsample(model, model.space.root, 0, Random(3), lead, first=8)
        assert choice is not None
        assert choice.log_lead >= math.log(lead)
        seen.append(choice.n_seen)
    assert seen[0] == 8
    assert seen == sorted(seen)
    assert seen[-1] < 1000
    assert choice.test == 1


def test_subsamples_grow_until_the_lead_is_reached() -> None:
    model = Bayes(Space(clear_table(400), 2), UniformPrior())
    for growth in (1.01, 1.5, 3.0):
        choice = choose_on_subsample(model, model.space.root, 0, Random(5), 1e8, 1, growth)
        assert choice is not None
        # One size earlier the lead was still too small.
        m, sizes = 1, []
        while m < choice.n_seen:
            sizes.append(m)
            m = max(m + 1, math.floor(m * growth))
        assert m == choice.n_seen
        for size in sizes:
            earlier = choose_on_subsample(model, model.space.root, 0, Random(5), 1.0, size)
            assert earlier is not None
            assert earlier.n_seen == size
            assert earlier.log_lead < math.log(1e8)


def test_tests_that_split_alike_are_never_told_apart() -> None:
    table = Table.from_data([[x, x, 0] for x in (0, 1) * 20], [0, 1] * 20)
    choice = choose_on_subsample(Bayes(Space(table, 2)), table.everything, 0, Random(0), 1.5, 4)
    assert choice == (0, 40, 0.0)
    alone = Bayes(Space(Table.from_data([[x, 0] for x in (0, 1) * 20], [0, 1] * 20), 2))
    assert choose_on_subsample(alone, alone.space.root, 0, Random(0), 1e9, 4) == (0, 4, math.inf)


@pytest.mark.parametrize("model", models(4))
def test_an_up_to_date_tree_stays(model: Bayes) -> None:
    for factor in (0.0, 1.0):
        tree = grow(model, factor=factor)
        for lead in (1.0, 10.0, math.inf):
            assert restructure(model, tree, lead, factor=factor) == tree


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lead", [1.0, 3.0, 1000.0])
def test_new_examples_change_only_what_they_refute(seed: int, lead: float) -> None:
    old = random_table(seed, 4, 12)
    both = old + random_table(seed + 100, 4, 20)
    before = Bayes(Space(old, 3), UniformPrior())
    model = Bayes(Space(both, 3), UniformPrior())
    tree = grow(before, factor=0.0)
    updated = restructure(model, tree, lead, factor=0.0)
    model.space.check(updated)
    if lead == 1:  # every node has a test of the best quality
        for node in nodes_of(updated, both):
            tests = model.space.feasible(node.cover, node.depth)
            assert (node.test is None) == (not tests)
            if node.test is not None:
                found = {test: quality(model, node.cover, node.depth, test) for test in tests}
                assert found[node.test] == max(found.values())
    # From the root down: a test is kept unless another leads by the factor; then everything below is grown afresh.
    part, now, cover, depth = tree, updated, model.space.root, 0
    while part is not None and now is not None:
        found = {test: quality(model, cover, depth, test) for test in model.space.feasible(cover, depth)}
        if max(found.values()) > found[part[0]] + math.log(lead):
            assert now == grow(model, factor=0.0, cover=cover, depth=depth)
            break
        assert now[0] == part[0]
        cover, part, now, depth = both.children(cover, part[0])[1], part[2], now[2], depth + 1


def test_without_a_lead_the_root_vacillates_and_with_one_it_seldom_changes() -> None:
    """Two tests, equally good in the long run; examples come one by one."""
    changes = {1.0: 0, 20.0: 0}
    for seed in range(10):
        rng = Random(seed)
        trees: dict[float, Tree] = dict.fromkeys(changes)
        X, y = [], []
        for _ in range(80):
            label = rng.randrange(2)
            X.append([label ^ (rng.random() < 0.2), label ^ (rng.random() < 0.2)])
            y.append(label)
            model = Bayes(Space(Table.from_data(X, y, n_classes=2), 1), UniformPrior())
            for lead in changes:
                updated = restructure(model, trees[lead], lead)
                changes[lead] += trees[lead] is not None and updated != trees[lead]
                trees[lead] = updated
    assert changes[1.0] > 25
    assert changes[20.0] <= 5


def test_an_infinite_lead_keeps_every_test() -> None:
    old = Table.from_data([[0, 0], [1, 0]], [0, 1])
    tree = grow(Bayes(Space(old, 2), UniformPrior()), factor=0.0)
    assert key(tree) == (0, -1, -1)
    new = Table.from_data([[0, 1], [1, 1], [0, 0], [1, 0]] * 20, [1, 1, 0, 0] * 20)
    model = Bayes(Space(old + new, 2), UniformPrior())
    assert key(restructure(model, tree, math.inf)) == (0, 1, -1, -1, 1, -1, -1)
    assert key(restructure(model, tree, 10.0))[0] == 1


def test_a_test_that_is_not_feasible_is_regrown() -> None:
    table = Table.from_data([[0, 0], [0, 1]] * 5, [0, 1] * 5)
    model = Bayes(Space(table, 2), UniformPrior())
    assert restructure(model, (0, None, None), math.inf) == (1, None, None)


def test_bad_requests_are_refused() -> None:
    model = Bayes(Space(random_table(1), 2))
    root = model.space.root
    with pytest.raises(ValueError, match=r"lead=0\.5; the required Bayes factor must be at least 1"):
        choose_on_subsample(model, root, 0, Random(0), lead=0.5)
    with pytest.raises(ValueError, match="first=0; the first subsample needs at least one example"):
        choose_on_subsample(model, root, 0, Random(0), first=0)
    with pytest.raises(ValueError, match="growth=1; a subsample must grow"):
        choose_on_subsample(model, root, 0, Random(0), growth=1)
    with pytest.raises(ValueError, match="factor=-1; the required lead over the leaf"):
        grow_on_subsamples(model, Random(0), factor=-1)
    with pytest.raises(ValueError, match="lead=nan; the required Bayes factor must be at least 1"):
        restructure(model, None, lead=math.nan)
