"""The option graph and its folds against the plain option trees, on 0/1 tables; hand-made graphs; hostile arrays."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import numpy as np
import pytest
from option_cases import KINDS, NO_CHILD, as_arrays, columns_of, graph_arrays, random_model_parts

import everytree._core as core
from everytree.common.limits import Limits
from everytree.errors import DataError, LimitReached
from everytree.reference import (
    Bayes,
    CodingPrior,
    DepthDecay,
    LeafPenaltyPrior,
    ShapePrior,
    SizePrior,
    UniformPrior,
    all_options,
    from_key,
    grow,
    grow_options,
    log_s,
    map_pruning,
    one_option,
    predict_options,
    trees_of,
)
from everytree.weights import priors
from everytree.weights.dirichlet import DepthDecay as Decay
from everytree.weights.dirichlet import dirichlet_rows

PRIORS = {
    "uniform": (UniformPrior(), priors.UniformPrior()),
    "size": (SizePrior(0.7, 0.5), priors.SizePrior(0.7, 0.5)),
    "leaf_penalty": (LeafPenaltyPrior(0.3), priors.LeafPenaltyPrior(0.3)),
    "shapes": (ShapePrior(), priors.ShapePrior()),
    "coding": (CodingPrior(), priors.CodingPrior()),
}
DIRICHLET = ("number", "per class", "1/C", "decay")


def parameters(kind, n_classes):
    """The same parameters for the reference and, as rows, for the core."""
    if kind == "decay":
        return DepthDecay(0.9, 0.6), dirichlet_rows(Decay(0.9, 0.6), n_classes, 8)
    value = {"number": 1.0, "per class": [0.4 + 0.3 * c for c in range(n_classes)], "1/C": "1/C"}[kind]
    return value, dirichlet_rows(value, n_classes, 8)


def control(**limits):
    return Limits(**limits).control()


def leaf_prior(log_leaf_open, log_leaf_closed):
    """The prior of leaves; splits weigh what their options say."""
    return core.Prior([0.0], log_leaf_open, log_leaf_closed, False)


def folded(graph, prior, rows, kind="smooth"):
    tables = prior.tables(8)
    return graph.fold(
        leaf_prior(tables.log_leaf_open, tables.log_leaf_closed), core.Dirichlet(rows), kind, control()
    )


CASES = list(product(PRIORS, DIRICHLET, (2, 3), (1, 2, None)))


@pytest.mark.parametrize(("prior", "dirichlet", "n_classes", "max_depth"), CASES)
def test_folds_and_predictions_are_those_of_the_reference(prior, dirichlet, n_classes, max_depth):
    seed = CASES.index((prior, dirichlet, n_classes, max_depth))
    plain, rows = parameters(dirichlet, n_classes)
    reference_prior, our_prior = PRIORS[prior]
    rng = Random(seed)
    space = random_model_parts(seed, n_classes, max_depth=max_depth, min_leaf=rng.choice((1, 3)))
    model = Bayes(space, reference_prior, plain)
    kinds = [rng.choice(KINDS) for _ in range(space.table.n_tests)]
    shapes = [
        one_option(grow(model, factor=0.0)),
        grow_options(model, within=50.0, factor=0.1),
        all_options(model),
    ]
    for part, merge in product(shapes, (False, True)):
        graph = core.OptionGraph(**graph_arrays(model, part, kinds, merge))
        fold = folded(graph, our_prior, rows)
        assert fold.log_evidence == pytest.approx(log_s(model, part), rel=1e-12)
        every = list(product((0, 1), repeat=space.table.n_tests))
        ours = graph.predict(fold, core.Dirichlet(rows), columns_of(every, kinds), control())
        theirs = [predict_options(model, part, row) for row in every]
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)

        best = folded(graph, our_prior, rows, "map")
        tree = map_pruning(model, part)
        assert best.log_evidence == pytest.approx(model.log_joint(tree), rel=1e-12)
        assert best.log_evidence <= fold.log_evidence
        alone = graph.likeliest(best, control())
        assert folded(alone, our_prior, rows, "none").log_evidence == pytest.approx(
            best.log_evidence, rel=1e-12
        )
        assert model.log_joint(as_tree(alone)) == pytest.approx(model.log_joint(tree), rel=1e-12)


def as_tree(graph, node=0):
    """A graph with at most one option per node as a nested tuple."""
    arrays = graph.arrays()
    first, end = arrays["option_begin"][node : node + 2]
    if first == end:
        return None
    assert end == first + 1
    begin = arrays["child_begin"][first]
    zero, one = (as_tree(graph, int(arrays["child"][begin + k])) for k in (0, 1))
    return (int(arrays["attribute"][first]), zero, one)


def test_map_ties_go_to_the_smaller_tree_then_to_the_lower_column_and_cut():
    # Two copies of one column, and a leaf that weighs as much as the split.
    nodes = [(0, True, (2, 2)), (1, False, (2, 0)), (1, False, (0, 2))]
    log_leaf = math.log(1 / 30)  # M(2, 2) for a = (1, 1)
    even = log_leaf - 2 * math.log(1 / 3)
    options = [(0, 1, 0.5, even, [1, 2, NO_CHILD]), (0, 0, 0.7, even, [1, 2, NO_CHILD])]
    options += [(0, 0, 0.5, even, [1, 2, NO_CHILD])]

    def chosen(options):
        graph = core.OptionGraph(**as_arrays(nodes, options, 2))
        fold = graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet([[1.0, 1.0]]), "map", control())
        return fold.p_leaf[0], fold.p_option.tolist()

    assert chosen(options) == (1.0, [0.0, 0.0, 0.0])
    heavier = [(*option[:3], option[3] + 1e-6, option[4]) for option in options]
    assert chosen(heavier) == (0.0, [0.0, 0.0, 1.0])


def test_draws_have_the_probabilities_of_their_trees():
    space = random_model_parts(5, n_tests=2, n=9)
    model = Bayes(space, SizePrior(), 1.0)
    part = all_options(model)
    graph = core.OptionGraph(**graph_arrays(model, part, KINDS[:2], merge=True))
    fold = folded(graph, priors.SizePrior(), [[1.0, 1.0]])
    n = 4000
    drawn = [as_tree(tree) for tree in graph.draw(fold, 7, n, control())]
    assert drawn[:20] == [as_tree(tree) for tree in graph.draw(fold, 7, 20, control())]
    trees = list(trees_of(part))
    assert len(trees) == len(set(trees)) == 5
    for tree in trees:
        p = math.exp(model.log_joint(tree) - fold.log_evidence)
        assert abs(drawn.count(tree) / n - p) < 4.5 * math.sqrt(p * (1 - p) / n)


def test_reach_and_light_options():
    space = random_model_parts(11, n_tests=3, n=30)
    model = Bayes(space, UniformPrior(), 1.0)
    part = all_options(model)
    graph = core.OptionGraph(**graph_arrays(model, part, KINDS, merge=True)).in_order(control())
    fold = folded(graph, priors.UniformPrior(), [[1.0, 1.0]])
    reach = graph.reach(fold, control())
    expected = sum(
        math.exp(model.log_joint(tree) - fold.log_evidence) * leaves(tree) for tree in trees_of(part)
    )
    assert float(reach @ fold.p_leaf) == pytest.approx(expected, rel=1e-10)  # E[number of leaves]
    assert reach[0] == 1

    assert graph.without_light_options(fold, 0.0, control()).n_options == graph.n_options
    lighter = graph.without_light_options(fold, 0.2, control())
    arrays, kept = graph.arrays(), lighter.arrays()
    assert 0 < lighter.n_options < graph.n_options
    assert lighter.n_nodes < graph.n_nodes
    root = slice(0, arrays["option_begin"][1])
    assert kept["attribute"][: kept["option_begin"][1]].tolist() == [
        a for a, p in zip(arrays["attribute"][root], fold.p_option[root], strict=True) if p >= 0.2
    ]
    assert folded(lighter, priors.UniformPrior(), [[1.0, 1.0]]).log_evidence < fold.log_evidence
    none = graph.without_light_options(fold, 1.1, control())
    assert (none.n_nodes, none.n_options) == (1, 0)


def leaves(tree):
    return 1 if tree is None else leaves(tree[1]) + leaves(tree[2])


def hand_made():
    """A cut with a missing branch, and a nominal column of which two of four values occur."""
    nodes = [(0, True, (4, 4)), (1, True, (3, 1)), (1, False, (1, 2)), (1, False, (0, 1))]
    nodes += [(2, False, (3, 0)), (2, False, (0, 1)), (1, False, (2, 4)), (1, False, (2, 0))]
    options = [
        (0, 0, 1.5, -1.0, [1, 2, 3]),
        (0, 1, 2.0, -0.5, [6, NO_CHILD, 7]),
        (1, 1, math.nan, -0.7, [4, NO_CHILD, 5, NO_CHILD, NO_CHILD]),
    ]
    return core.OptionGraph(**as_arrays(nodes, options, 2))


def test_rows_without_a_branch_stop_at_the_node():
    graph, a = hand_made(), [[0.5, 0.25]]
    fold = graph.fold(leaf_prior([-0.2], [-0.1]), core.Dirichlet(a), "smooth", control())
    arrays = graph.arrays()

    def theta(node):
        counts = np.zeros(2)
        at = slice(arrays["count_begin"][node], arrays["count_begin"][node + 1])
        counts[arrays["count_class"][at]] = arrays["count"][at]
        return (counts + a[0]) / (counts.sum() + 0.75)

    p, q = fold.p_leaf, fold.p_option
    assert p[0] + q[0] + q[1] == pytest.approx(1)
    assert min(p[0], q[0], q[1]) > 0
    columns = core.Columns(4)
    columns.add_numeric(np.array([1.0, 2.0, np.nan, 1.5]))
    columns.add_nominal(np.array([0, 2, -1, -2], np.int32), 4)
    ours = graph.predict(fold, core.Dirichlet(a), columns, control())
    first = p[1] * theta(1) + q[2] * theta(4)
    stays = p[1] * theta(1) + q[2] * theta(1)  # unseen: the multiway test below has no branch either
    assert ours[0] == pytest.approx(p[0] * theta(0) + q[0] * first + q[1] * theta(0), rel=1e-13)
    assert ours[1] == pytest.approx(p[0] * theta(0) + q[0] * theta(2) + q[1] * theta(6), rel=1e-13)
    assert ours[2] == pytest.approx(p[0] * theta(0) + q[0] * theta(3) + q[1] * theta(7), rel=1e-13)
    assert ours[3] == pytest.approx(p[0] * theta(0) + q[0] * stays + q[1] * theta(0), rel=1e-13)

    none = graph.fold(leaf_prior([-0.2], [-0.1]), core.Dirichlet(a), "none", control())
    assert none.p_leaf.tolist() == [0, 0, 1, 1, 1, 1, 1, 1]
    assert none.p_option[:2].sum() == pytest.approx(1)


def test_a_prediction_does_not_depend_on_the_other_rows():
    space = random_model_parts(3, n_classes=3, n_tests=4, n=60)
    model = Bayes(space, SizePrior(), "1/C")
    graph = core.OptionGraph(**graph_arrays(model, all_options(model), ["numeric"] * 4, merge=True))
    rows = dirichlet_rows("1/C", 3, 8)
    fold = folded(graph, priors.SizePrior(), rows)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 4)).tolist()
    together = graph.predict(fold, core.Dirichlet(rows), columns_of(X, ["numeric"] * 4), control())
    for i in (0, 63, 64, 299):
        alone = graph.predict(fold, core.Dirichlet(rows), columns_of([X[i]], ["numeric"] * 4), control())
        assert alone[0].tolist() == together[i].tolist()


def test_counts_and_parameters_of_any_size():
    # logM of (n, m) for huge counts, and for parameters so large that log Γ(a) would drown the rest
    for counts in ((10**12, 10**12), (3, 10**15), (70000, 1), (2**52, 2**52)):
        graph = core.OptionGraph(**as_arrays([(0, False, counts)], [], 2))
        for a in (1e-100, 0.5, 31.9, 32.0, 1e6):
            got = graph.fold(
                leaf_prior([0.0], [0.0]), core.Dirichlet([[a, a]]), "smooth", control()
            ).log_evidence
            n, m = counts
            want = math.lgamma(2 * a) - 2 * math.lgamma(a)
            want += math.lgamma(a + n) + math.lgamma(a + m) - math.lgamma(2 * a + n + m)
            size = math.lgamma(2 * a + n + m)  # of the terms: what rounding is relative to
            assert got == pytest.approx(want, abs=1e-15 * size + 1e-9)
        got = graph.fold(
            leaf_prior([0.0], [0.0]), core.Dirichlet([[1e100, 1e100]]), "smooth", control()
        ).log_evidence
        assert got == pytest.approx(-sum(counts) * math.log(2), rel=1e-12)


def test_weights_of_zero():
    nodes = [(0, True, (1, 1)), (1, False, (1, 0)), (1, False, (0, 1))]
    graph = core.OptionGraph(**as_arrays(nodes, [(0, 0, 0.5, -math.inf, [1, 2, NO_CHILD])], 2))
    fold = graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet([[1.0, 1.0]]), "smooth", control())
    assert (fold.p_leaf[0], fold.p_option[0]) == (1, 0)
    none = graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet([[1.0, 1.0]]), "none", control())
    assert none.log_evidence == -math.inf
    assert none.p_leaf[0] == 1
    assert (
        graph.fold(
            leaf_prior([-math.inf], [0.0]), core.Dirichlet([[1.0, 1.0]]), "map", control()
        ).log_evidence
        == -math.inf
    )


def good_arrays():
    nodes = [(0, True, (2, 2)), (1, False, (2, 0)), (1, False, (0, 2))]
    return as_arrays(nodes, [(0, 0, 0.5, 0.0, [1, 2, NO_CHILD])], 2)


HOSTILE = [
    ({"depth": []}, "no node"),
    ({"depth": [1, 1, 1]}, "depth 0"),
    ({"depth": [0, 2, 1]}, "one level below"),
    ({"depth": [0, 3, 3]}, "deeper"),
    ({"open": [1]}, "differ in length"),
    ({"n_classes": 0}, "at least one class"),
    ({"count_begin": [0, 2, 3]}, "count_begin"),
    ({"count_begin": [0, 3, 2, 4]}, "count_begin"),
    ({"count_begin": [0, 2, 3, 9]}, "count_begin"),
    ({"count_class": [0, 2, 0, 1]}, "known and in order"),
    ({"count_class": [1, 0, 0, 1]}, "known and in order"),
    ({"count": [2, 2, 0, 2]}, "at least 1"),
    ({"count": [2, 2, -2, 2]}, "at least 1"),
    ({"count": [2**53, 2**53, 2, 2]}, "2\\^53"),
    ({"count": [2, 2, 1, 2]}, "share out"),
    ({"count": [3, 1, 2, 2]}, "share out"),
    ({"option_begin": [0, -1, 1, 1]}, "option_begin"),
    ({"option_begin": [0, 2, 1, 1]}, "option_begin"),
    ({"threshold": []}, "differ in length"),
    ({"log_split": [math.inf]}, "below infinity"),
    ({"log_split": [math.nan]}, "below infinity"),
    ({"child_begin": [0, 2]}, "child_begin"),
    ({"child": [1, 3, NO_CHILD]}, "no such child"),
    ({"child": [1, 0, NO_CHILD]}, "one level below"),
    ({"child": [1, 1, NO_CHILD]}, "share out"),
    ({"child": [1, NO_CHILD, NO_CHILD]}, "share out"),
]


@pytest.mark.parametrize(("change", "message"), HOSTILE)
def test_hostile_arrays_are_refused(change, message):
    arrays = good_arrays()
    core.OptionGraph(**arrays)
    for name, value in change.items():
        arrays[name] = value if name == "n_classes" else np.array(value, dtype=arrays[name].dtype)
    with pytest.raises(DataError, match=message):
        core.OptionGraph(**arrays)


def test_graphs_that_do_not_fit_the_columns_are_refused():
    rows = [[1.0, 1.0]]
    for attribute, threshold, message in (
        (1, 0.5, "no such column"),
        (-1, 0.5, "no such column"),
        (0, math.nan, "needs a threshold"),
        (0, -math.inf, "needs a threshold"),
    ):
        arrays = good_arrays()
        arrays["attribute"][0], arrays["threshold"][0] = attribute, threshold
        graph = core.OptionGraph(**arrays)
        fold = graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet(rows), "smooth", control())
        with pytest.raises(DataError, match=message):
            graph.predict(fold, core.Dirichlet(rows), columns_of([[0]], ["numeric"]), control())
    graph = core.OptionGraph(**good_arrays())
    fold = graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet(rows), "smooth", control())
    with pytest.raises(DataError, match="one of its codes"):
        graph.predict(fold, core.Dirichlet(rows), columns_of([[0]], ["binary"]), control())
    wide = core.Columns(1)
    wide.add_nominal(np.zeros(1, np.int32), 7)
    arrays = good_arrays()
    arrays["threshold"][0] = math.nan
    with pytest.raises(DataError, match="does not fit the column"):
        core.OptionGraph(**arrays).predict(fold, core.Dirichlet(rows), wide, control())
    with pytest.raises(DataError, match="not one of this"):
        hand_made().predict(fold, core.Dirichlet(rows), columns_of([[0]], ["numeric"]), control())
    with pytest.raises(DataError, match="one parameter per class"):
        graph.predict(fold, core.Dirichlet([[1.0]]), columns_of([[0]], ["numeric"]), control())
    with pytest.raises(DataError, match='"smooth", "map" or "none"'):
        graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet(rows), "sum", control())
    with pytest.raises(DataError, match="positive"):
        graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet([[0.0, 1.0]]), "smooth", control())


def test_limits_are_kept():
    graph = hand_made()
    with pytest.raises(LimitReached, match="memory"):
        graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet([[1.0, 1.0]]), "smooth", control(memory_limit=10))
    fold = graph.fold(leaf_prior([0.0], [0.0]), core.Dirichlet([[1.0, 1.0]]), "smooth", control())
    columns = core.Columns(1)
    columns.add_numeric(np.zeros(1))
    columns.add_nominal(np.zeros(1, np.int32), 4)
    with pytest.raises(LimitReached, match="time"):
        graph.predict(fold, core.Dirichlet([[1.0, 1.0]]), columns, control(time_limit=1e-9))
    with pytest.raises(LimitReached, match="memory"):
        graph.draw(fold, 1, 1, control(memory_limit=10))


def test_from_key_is_the_inverse_of_as_tree():
    space = random_model_parts(2)
    model = Bayes(space, UniformPrior(), 1.0)
    tree = grow(model, factor=0.0)
    arrays = graph_arrays(model, one_option(tree), KINDS, merge=False)
    assert as_tree(core.OptionGraph(**arrays)) == tree != from_key((-1,))
