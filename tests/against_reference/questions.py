"""Every question to the engine, each with the comparison that decides whether the answer is right.

Numbers agree to 1e-9 relative (predictions to 1e-10); counts, errors and sizes agree exactly. Where several
trees are equally good their objective is compared, and the tree given must lie in the space and have that
objective.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from random import Random

import numpy as np
from engine_cases import Twins, cost_matrix
from oracle import cheapest, front_of, price, random_tree

from everytree import Posterior, reference
from everytree.reference import Query
from everytree.trees.tree import Tree

TIGHT = {"rel_tol": 1e-9, "abs_tol": 1e-11}
COMPARED = [0]  # how many numbers were compared in this process; ``million.py`` tells it


def rounding(twins: Twins) -> float:
    """What a probability may lose to rounding: log joints of a million examples are known to 1e-9 only."""
    return 1e-15 * abs(twins.bayes.log_evidence)


def close(ours: float, theirs: float) -> bool:
    """Equal to 1e-9 relative; infinities only to themselves."""
    COMPARED[0] += 1
    return math.isclose(ours, theirs, **TIGHT)


def assert_close(ours: float, theirs: float, what: str) -> None:
    assert close(ours, theirs), f"{what}: the engine says {ours!r}, the reference {theirs!r}"


def assert_all_close(
    ours: object, theirs: object, what: str, rtol: float = 1e-9, atol: float = 1e-11
) -> None:
    COMPARED[0] += np.size(theirs)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=rtol, atol=atol, err_msg=what)


def assert_in_space(tree: Tree, twins: Twins) -> None:
    assert tree.nested in twins.twin, f"{tree.nested} is not in the space"


def query_of(twins: Twins, cost: str, *then: str) -> Query:
    """The reference's query that ranks by a cost of leaves, then by other criteria."""
    n_classes = twins.data.n_classes
    matrix = cost_matrix(n_classes, twins.case.seed) if cost == "cost" else None
    return Query(rank=(cost, *then), cost_matrix=matrix)


def count(twins: Twins) -> None:
    trees = twins.twin.count()
    assert twins.space.n_trees == trees
    assert_close(twins.space.log_n_trees, math.log(trees), "log_n_trees")


def best_error(twins: Twins) -> None:
    """Error first, then size: both are whole numbers, so the ranking must hold to the last example."""
    tree = twins.space.best(("error", "size"))
    rank = reference.best(twins.twin, Query(rank=("error", "size")))[0].rank
    assert_in_space(tree, twins)
    parts = twins.space.table.per_example  # of an example, where weights have fractions
    assert (round(tree.error * parts), tree.size) == (rank[0] * parts, rank[1])
    assert tree.info["objective"] == float(rank[0])


def best_cost(twins: Twins) -> None:
    """The least cost of the case's leaf cost."""
    query = query_of(twins, twins.case.cost)
    tree = twins.space.best((twins.case.cost, "size"), cost_matrix=query.cost_matrix)
    assert_in_space(tree, twins)
    (least,) = cheapest(twins.twin, query, 1)
    assert_close(price(tree.nested, twins.twin, query), least, f"{twins.case.cost} of the tree returned")
    assert_close(tree.info["objective"], least, "objective")


def k_best(twins: Twins) -> None:
    query = query_of(twins, twins.case.cost)
    k = 2 + twins.case.seed % 9
    trees = twins.space.best(twins.case.cost, k=k, cost_matrix=query.cost_matrix)
    assert len({tree.key for tree in trees}) == len(trees), "the k best trees must be distinct"
    for tree in trees:
        assert_in_space(tree, twins)
        assert_close(tree.info["objective"], price(tree.nested, twins.twin, query), "objective of one of k")
    least = cheapest(twins.twin, query, k)
    assert len(trees) == len(least), f"asked for {k}, the space holds {twins.twin.count()}"
    assert_all_close([tree.info["objective"] for tree in trees], least, "objectives of the k best")


def k_best_sizes(twins: Twins) -> None:
    """The k best by error, then size: the ranks must be the reference's, in order."""
    trees = twins.space.best(("error", "size"), k=6)
    found = reference.best(twins.twin, Query(rank=("error", "size")), k=6)
    parts = twins.space.table.per_example
    ranks = [(answer.rank[0] * parts, answer.rank[1]) for answer in found]
    assert [(round(tree.error * parts), tree.size) for tree in trees] == ranks
    assert len({tree.key for tree in trees}) == len(trees)


def front(twins: Twins) -> None:
    query = query_of(twins, twins.case.cost)
    points = twins.space.front(twins.case.cost, query.cost_matrix)
    wanted = front_of(twins.twin, query)
    if twins.case.cost in ("error", "expected_error"):
        assert [size for size, _, _ in points] == [size for size, _ in wanted]
    # Other costs tie up to rounding, so a point of no real gain may appear: compare the two step functions.
    for size, value, tree in points:
        assert_in_space(tree, twins)
        assert tree.size == size
        assert_close(value, price(tree.nested, twins.twin, query), f"the tree of size {size}")
        assert_close(value, min(v for s, v in wanted if s <= size), f"the front at size {size}")
    for size, value in wanted:
        assert_close(min(v for s, v, _ in points if s <= size), value, f"the front at size {size}")
    assert all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(points))


def log_evidence(twins: Twins) -> None:
    assert_close(twins.posterior.log_evidence, twins.bayes.log_evidence, "log_evidence")


def map_tree(twins: Twins) -> None:
    tree = twins.posterior.map_tree()
    assert_in_space(tree, twins)
    best = reference.log_map(twins.bayes)
    assert_close(twins.bayes.log_joint(tree.nested), best, "log joint of the MAP tree")
    assert_close(tree.info["log_joint"], best, "log_joint told with the MAP tree")
    thetas = [
        twins.bayes.theta(node.cover, node.depth) for node in reference.nodes_of(tree.nested, twins.table)
    ]
    assert_all_close(tree.proba, thetas, "class probabilities in the nodes of the MAP tree")


def top_trees(twins: Twins) -> None:
    k = 1 + twins.case.seed % 8
    trees = twins.posterior.top_trees(k)
    wanted = [twins.bayes.log_joint(tree) for tree in reference.top_trees(twins.bayes, k)]
    assert len(trees) == len(wanted)
    assert len({tree.key for tree in trees}) == len(trees)
    assert_all_close([tree.info["log_joint"] for tree in trees], wanted, "log joints of the top trees")
    for tree in trees:
        assert_in_space(tree, twins)
        assert_close(tree.info["log_prob"], twins.bayes.log_prob(tree.nested), "log_prob of a top tree")
        assert_close(tree.info["probability"], math.exp(tree.info["log_prob"]), "probability of a top tree")


def predict_proba(twins: Twins) -> None:
    rows = twins.rows(4)
    wanted = [twins.bayes.predict_proba(row) for row in rows.tolist()]
    ours = twins.posterior.predict_proba(rows)
    assert_all_close(ours, wanted, "predict_proba", rtol=1e-10, atol=1e-10 + rounding(twins))
    assert_all_close(ours.sum(axis=1), np.ones(len(rows)), "the sum of a prediction", rtol=1e-12, atol=0)


def moments(twins: Twins) -> None:
    rows = twins.rows(3)
    wanted = [twins.bayes.moments(row) for row in rows.tolist()]
    ours = twins.posterior.moments(rows)
    loose = 1e-12 + rounding(twins)
    # Means alone may come from tables of all outcomes, which add the same numbers up in another order.
    assert np.allclose(ours.mean, twins.posterior.predict_proba(rows), rtol=0, atol=1e-13)
    assert_all_close(ours.second, [each.second_moment for each in wanted], "E θ²", rtol=1e-10, atol=loose)
    assert_all_close(ours.between, [each.between for each in wanted], "between trees", rtol=1e-9, atol=loose)
    assert_all_close(ours.within, [each.within for each in wanted], "within leaves", rtol=1e-9, atol=loose)
    assert (ours.between >= 0).all()
    assert (ours.within >= 0).all()


def attribute_inclusion(twins: Twins) -> None:
    wanted = reference.attribute_inclusion(twins.bayes, twins.attributes)
    ours = twins.posterior.attribute_inclusion()
    assert list(ours) == [str(name) for name in dict.fromkeys(twins.attributes)]
    for name, p in wanted.items():
        assert_all_close(ours[str(name)], p, f"attribute {name}", atol=1e-11 + rounding(twins))


def prior_total(twins: Twins) -> None:
    """The prior alone, and with it the Bayes factor against the single leaf."""
    assert_close(twins.posterior.log_prior_total, reference.log_prior_total(twins.bayes), "log_prior_total")
    if "size" in twins.case.prior:
        assert abs(twins.posterior.log_prior_total) < 1e-12
    assert_all_close(
        twins.posterior.log_bayes_factor,
        reference.log_bayes_factor(twins.bayes),
        "log_bayes_factor",
        atol=1e-11 + rounding(twins),
    )


def root_distribution(twins: Twins) -> None:
    assert_all_close(
        twins.posterior.root_distribution(),
        reference.root_distribution(twins.bayes),
        "root_distribution",
        atol=1e-11 + rounding(twins),
    )


def test_inclusion(twins: Twins) -> None:
    assert_all_close(
        twins.posterior.test_inclusion(),
        reference.test_inclusion(twins.bayes),
        "test_inclusion",
        atol=1e-11 + rounding(twins),
    )


test_inclusion.__test__ = False  # type: ignore[attr-defined]


def leaves_distribution(twins: Twins) -> None:
    ours = twins.posterior.leaves_distribution()
    wanted = reference.leaves_distribution(twins.bayes)
    assert ours[0] == 0
    assert len(ours) > max(wanted)
    assert_all_close(
        ours,
        [wanted.get(k, 0.0) for k in range(len(ours))],
        "leaves_distribution",
        atol=1e-11 + rounding(twins),
    )
    sizes = reference.size_distribution(twins.bayes)
    assert_all_close(
        twins.posterior.size_distribution(),
        [sizes.get(k, 0.0) for k in range(2 * len(ours) - 2)],
        "size_distribution",
        atol=1e-11 + rounding(twins),
    )
    assert_close(twins.posterior.expected_leaves, reference.expected_leaves(twins.bayes), "expected_leaves")
    assert_close(twins.posterior.expected_size, reference.expected_size(twins.bayes), "expected_size")


def depth_distribution(twins: Twins) -> None:
    ours = twins.posterior.depth_distribution()
    wanted = reference.depth_distribution(twins.bayes)
    assert len(ours) > max(d for d, p in wanted.items() if p > 1e-12)
    assert_all_close(
        ours,
        [wanted.get(d, 0.0) for d in range(len(ours))],
        "depth_distribution",
        atol=1e-11 + rounding(twins),
    )
    assert_close(twins.posterior.expected_depth, reference.expected_depth(twins.bayes), "expected_depth")


def log_prob(twins: Twins) -> None:
    """Trees of the space, and any trees at all: outside the space the answer is −inf."""
    rng = Random(twins.case.seed)
    trees = [reference.sample(twins.bayes, rng) for _ in range(3)]
    trees += [random_tree(rng, twins.table.n_tests, rng.randrange(6)) for _ in range(6)]
    for tree in trees:
        wanted = twins.bayes.log_prob(tree) if tree in twins.twin else -math.inf
        assert_close(twins.posterior.log_prob(reference.key(tree)), wanted, f"log_prob of {tree}")


def sample(twins: Twins) -> None:
    for tree in twins.posterior.sample(5, random_state=twins.case.seed):
        assert_in_space(tree, twins)
        assert_close(tree.info["log_prob"], twins.bayes.log_prob(tree.nested), "log_prob of a draw")


QUESTIONS: dict[str, Callable[[Twins], None]] = {
    question.__name__: question
    for question in (
        count, best_error, best_cost, k_best, k_best_sizes, front, log_evidence, map_tree, top_trees,
        predict_proba, moments, root_distribution, test_inclusion, attribute_inclusion, leaves_distribution,
        depth_distribution, prior_total, log_prob, sample,
    )
}  # fmt: skip


def tempered(twins: Twins) -> None:
    """Under a power: the evidence, predictions, and what is said of every example that is left out."""
    post = twins.space.posterior(twins._prior, twins._dirichlet, power=0.25)
    model = reference.Bayes(twins.twin, twins._twin_prior, twins.bayes.dirichlet, power=0.25)
    assert_close(post.log_evidence, model.log_evidence, "log evidence under a power")
    rows = twins.rows(2)
    wanted = [model.predict_proba(row) for row in rows.tolist()]
    loose = 1e-10 + rounding(twins)
    assert_all_close(post.predict_proba(rows), wanted, "predict_proba under a power", 1e-10, loose)
    left_out(post, model, loose)


def without_one(twins: Twins) -> None:
    """What is said of every example that is left out."""
    left_out(twins.posterior, twins.bayes, 1e-10 + rounding(twins))


def left_out(post: Posterior, model: reference.Bayes, loose: float) -> None:
    table = model.table
    wanted = {(table.rows[one.row], one.label): one.proba for one in reference.left_out_examples(model)}
    told = post.leave_one_out()
    theirs = [
        wanted[tuple(row), code] for row, code in zip(told.rows.tolist(), told.codes.tolist(), strict=True)
    ]
    assert len(theirs) == len(wanted)
    assert_all_close(told.proba, theirs, "left-out examples", 1e-9, loose)


# What only ``million.py`` asks of every case: it has tests of its own elsewhere.
FURTHER: dict[str, Callable[[Twins], None]] = {"without_one": without_one, "tempered": tempered}
