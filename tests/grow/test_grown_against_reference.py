"""What the core grows on whole columns, beside its plain twin: structure, weights, folds and predictions."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from grown_cases import (
    PRIORS,
    View,
    Weights,
    core_columns,
    dirichlets,
    mixed,
    new_rows,
    same_fold,
    same_graph,
    settings_of,
    training_columns,
)

from everytree.reference.grower import Grower
from everytree.reference.grown import fold_grown, grow_columns, predict_grown, restructure_columns, walk
from everytree.reference.whole_columns import WholeColumns

NEAR = 1e-9  # decisions closer than this are the rounding's


def grower_of(seed: int, data: WholeColumns, **given: object) -> tuple[Grower, Weights]:
    """A twin with options that go round with the seed, and the weights of the core for it."""
    rng = Random(1000 + seed)
    ours, theirs = PRIORS[seed % len(PRIORS)]
    dirichlet = rng.choice(dirichlets(data.n_classes))
    options = {
        "min_leaf": rng.choice((1, 1, 2, 3)),
        "max_depth": rng.choice((0, 1, 2, 3, None, None)),
        "stop_factor": rng.choice((0.0, 0.3, 0.75, 1.0, 2.0)),
        "split_pure": rng.random() < 0.3,
        "beam": rng.choice((None, 1, 2)),
        "n_cuts": rng.choice((2, 3, 32)),
    } | given
    grower = Grower(data, theirs, dirichlet, **options)
    return grower, Weights(ours, dirichlet, data.n_classes)


def compare(seeds: range, **given: object) -> list[int]:
    """Both growers on many tables; returns the number of nodes of each graph that was compared."""
    sizes, near = [], 0
    for seed in seeds:
        data = mixed(seed)
        grower, weights = grower_of(seed, data, **given)
        root = grow_columns(grower)
        if grower.closest < NEAR:
            near += 1
            continue
        graph, report = weights.grow(training_columns(data), settings_of(grower))
        assert not report["budget_reached"]
        view = View(graph)
        pairs = same_graph(grower, root, view)
        rows = new_rows(data, seed)
        for prune in ("smooth", "map", "none"):
            folded, fold = fold_grown(grower, root, prune), weights.fold(graph, prune)
            if grower.closest < NEAR:
                near += 1
                break
            same_fold(folded, fold, view, pairs)
            assert fold.log_evidence == pytest.approx(folded.log_s[root], rel=1e-9, abs=1e-9)
            proba = weights.predict(graph, fold, core_columns(rows, data.kinds))
            expected = [predict_grown(grower, root, folded, row) for row in rows]
            assert np.abs(proba - np.array(expected)).max() <= 1e-10
        sizes.append(view.n_nodes)
    assert near <= 0.02 * len(seeds)
    return sizes


@pytest.mark.parametrize("options", [(1.0, None), (0.05, 2), (0.005, None)])
@pytest.mark.parametrize("each_cut", [False, True])
@pytest.mark.parametrize("binary_nominal", [False, True])
@pytest.mark.parametrize(("score", "plies"), [("quality", 1), ("quality", 2), ("quality", 3), ("bayes", 1)])
def test_grown_graphs(score, plies, binary_nominal, each_cut, options):
    option_factor, max_options = options
    given = {"max_depth": 2} if option_factor < 0.05 or plies == 3 else {}
    n = 40 if plies == 1 else 20
    sizes = compare(
        range(n * plies, n * plies + n),
        score=score,
        plies=plies,
        binary_nominal=binary_nominal,
        each_cut=each_cut,
        option_factor=option_factor,
        max_options=max_options,
        **given,
    )
    assert sum(size > 1 for size in sizes) > 5
    assert max(sizes) > 4


@pytest.mark.parametrize("binary_nominal", [False, True])
def test_trees_by_gain_ratio(binary_nominal):
    sizes = compare(range(150), score="gain_ratio", binary_nominal=binary_nominal)
    assert sum(size > 1 for size in sizes) > 40


@pytest.mark.long
@pytest.mark.parametrize("binary_nominal", [False, True])
def test_which_leaves_are_closed_among_many_cuts(binary_nominal):
    # Columns that are constant on one side of many cuts: the lower branch opens, or the upper one closes, far from the
    # ends, and groups of a nominal column are closed though they are large.
    for seed in range(48):
        rng = Random(seed)
        n, closed = 50, rng.randrange(5, 45)
        order = list(range(n))
        rng.shuffle(order)
        numeric = [float(x) if x % 7 else float(x - 1) for x in order]
        nominal = ["a" if x < closed else rng.choice("bcd") for x in order]
        columns = [numeric, nominal] if seed % 3 else [nominal, [1.0 if x < closed else 2.0 for x in order]]
        if seed % 4 == 0:
            columns[0] = [None if x % 9 == 0 else value for x, value in zip(order, columns[0], strict=True)]
        kinds = ["numeric", tuple("abcd")] if seed % 3 else [tuple("abcd"), "numeric"]
        data = WholeColumns(columns, kinds, [rng.randrange(2) for _ in range(n)], 2)
        grower, weights = grower_of(
            seed, data, stop_factor=0.0, min_leaf=1 + seed % 6, plies=1 + (seed % 8 == 0), max_depth=2,
            binary_nominal=binary_nominal,
        )  # fmt: skip
        root = grow_columns(grower)
        assert grower.closest > NEAR
        graph, _ = weights.grow(training_columns(data), settings_of(grower))
        same_graph(grower, root, View(graph))


def test_trees_of_more_examples():
    # many cuts per column, so that those of a lookahead are picked
    for seed in range(12):
        rng = Random(seed)
        n = 60
        columns = [[rng.randrange(40) / 8 for _ in range(n)], [rng.choice("abc") for _ in range(n)]]
        columns[0][0] = None
        classes = [int((x or 0) * 3 + ord(v)) % 2 for x, v in zip(*columns, strict=True)]
        data = WholeColumns(columns, ["numeric", tuple("abc")], classes, 2)
        grower, weights = grower_of(
            seed, data, plies=1 + seed % 2, n_cuts=(4, 7, 32)[seed % 3], stop_factor=0.75
        )
        root = grow_columns(grower)
        assert grower.closest > NEAR
        graph, _ = weights.grow(training_columns(data), settings_of(grower))
        same_graph(grower, root, View(graph))


def test_the_prior_over_every_tree_sums_to_one():
    # one class: every marginal is 1
    for seed in range(20):
        data = mixed(seed)
        one = WholeColumns(data.columns, data.kinds, [0] * len(data.classes), 1, data.weights)
        grower, weights = grower_of(
            seed, one, each_cut=True, split_pure=True, stop_factor=0.0, option_factor=0.0, max_depth=3
        )
        weights = Weights(PRIORS[1 + seed % 2][0], 1.0, 1)
        graph, _ = weights.grow(training_columns(one), settings_of(grower))
        assert weights.fold(graph).log_evidence == pytest.approx(0.0, abs=1e-10)


def test_weights_are_repetitions_and_rows_have_no_order():
    rng = np.random.default_rng(0)
    for seed in range(40):
        data = mixed(seed)
        times = np.repeat(np.arange(len(data.classes)), data.weights)
        order = rng.permutation(times).tolist()
        again = WholeColumns(
            [[column[i] for i in order] for column in data.columns],
            data.kinds,
            [data.classes[i] for i in order],
            data.n_classes,
        )
        grower, weights = grower_of(seed, data, option_factor=0.1, max_depth=3)
        one, _ = weights.grow(training_columns(data), settings_of(grower))
        other, _ = weights.grow(training_columns(again), settings_of(grower))
        assert one.n_nodes == other.n_nodes
        assert weights.fold(one).log_evidence == pytest.approx(weights.fold(other).log_evidence, rel=1e-12)


def test_random_growth_follows_its_law():
    checked = 0
    for seed in range(60):
        data = mixed(seed)
        grower, weights = grower_of(seed, data, score="quality", plies=1, max_depth=1, stop_factor=0.75)
        law = grower.split_law(data.everything, 0)
        if len(law) < 3:
            continue
        checked += 1
        columns, n = training_columns(data), 600
        drawn: dict[tuple[int, float], int] = {}
        splits: dict[tuple[int, float], float] = {}
        for number in range(n):
            graph, _ = weights.grow(columns, settings_of(grower, random=True, seed=seed, number=number))
            arrays = View(graph).arrays
            key = (arrays["attribute"][0], str(arrays["threshold"][0]))
            drawn[key] = drawn.get(key, 0) + 1
            splits[key] = arrays["log_split"][0]
        expected = {
            (test.column, str(math.nan if test.cut is None else threshold(data, test))): (test, p)
            for test, p in law.items()
        }
        assert set(drawn) <= set(expected)
        for key, (test, p) in expected.items():
            assert abs(drawn.get(key, 0) - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1
            if key in splits:
                assert splits[key] == pytest.approx(grower.log_split(data.everything, 0, test), abs=1e-9)
        if checked == 8:
            break
    assert checked == 8


def threshold(data, test):
    kind = data.kinds[test.column]
    return float(test.cut) if kind == "numeric" else float(kind.index(test.cut))


def test_random_trees_are_those_of_their_number():
    data = mixed(7)
    grower, weights = grower_of(7, data, plies=1, max_depth=None, min_leaf=1, stop_factor=0.1)
    columns = training_columns(data)
    one, same, other = (
        [
            View(weights.grow(columns, settings_of(grower, random=True, seed=s, number=k))[0]).arrays
            for k in range(20)
        ]
        for s in (1, 1, 2)
    )
    assert str(one) == str(same) != str(other)
    assert len(set(map(str, one))) > 3


@pytest.mark.parametrize("plies", [1, 2])
def test_restructured_trees(plies):
    kept = regrown = compared = values_since = 0
    for seed in range(150):
        data = mixed(seed)
        grower, weights = grower_of(seed, data, plies=plies, stop_factor=0.5, max_depth=None)
        early = first_half(data)
        values_since += early.kinds != data.kinds
        before = Grower(**{**vars_of(grower), "data": early, "dirichlet": 0.7})
        old = grow_columns(before)
        lead = (1.0, 3.0, math.inf)[seed % 3]
        new = restructure_columns(grower, old, lead, early.kinds)
        if min(grower.closest, before.closest) < NEAR:
            continue
        then = Weights(PRIORS[seed % len(PRIORS)][0], 0.7, early.n_classes)
        graph, _ = then.grow(training_columns(early), settings_of(before))
        same_graph(before, old, View(graph))
        result, report = weights.restructure(training_columns(data), graph, lead, settings_of(grower))
        same_graph(grower, new, View(result))
        kept += report["n_kept"]
        regrown += report["n_regrown"]
        compared += 1
    assert compared > 140
    assert kept > 20
    assert regrown > 10
    assert values_since > 30


def first_half(data: WholeColumns) -> WholeColumns:
    """The first half of the examples, with the values and classes that were known by then."""
    m = (len(data.classes) + 1) // 2
    columns = [column[:m] for column in data.columns]
    kinds = [
        kind
        if kind == "numeric"
        else kind[: 1 + max((kind.index(x) for x in column if x is not None), default=0)]
        for kind, column in zip(data.kinds, columns, strict=True)
    ]
    return WholeColumns(columns, kinds, data.classes[:m], 1 + max(data.classes[:m]), data.weights[:m])


def vars_of(grower: Grower) -> dict[str, object]:
    """The options of a twin, without what it has seen."""
    return {
        name: value for name, value in vars(grower).items() if not name.startswith("_") and name != "closest"
    }


def test_an_infinite_lead_on_subsamples_is_ordinary_growth():
    for seed in range(30):
        data = mixed(seed)
        grower, weights = grower_of(seed, data, plies=1)
        more = {"subsample_lead": math.inf, "subsample_first": 2, "subsample_growth": 2.0}
        root = grow_columns(grower)
        if grower.closest < NEAR:
            continue
        graph, _ = weights.grow(training_columns(data), settings_of(grower, **more))
        same_graph(grower, root, View(graph))


def test_subsamples_install_the_best_cut_of_the_column_they_chose():
    rng = np.random.default_rng(3)
    n = 2000
    rows = np.column_stack([rng.random((n, 3)).round(1), rng.integers(0, 3, n)])
    classes = ((rows[:, 0] > 0.4) ^ (rng.random(n) < 0.1)).astype(int).tolist()
    columns = [rows[:, j].tolist() for j in range(3)] + [[("a", "b", "c")[int(v)] for v in rows[:, 3]]]
    data = WholeColumns(columns, ["numeric"] * 3 + [("a", "b", "c")], classes, 2)
    grower, weights = grower_of(1, data, plies=1, max_depth=1, min_leaf=1, stop_factor=1.0)
    more = {"subsample_lead": 100.0, "subsample_first": 50, "subsample_growth": 2.0, "seed": 5}
    graph, report = weights.grow(training_columns(data), settings_of(grower, **more))
    same_graph(grower, grow_columns(grower), View(graph))  # a clear case: the same column
    assert report["cells_seen"] < 0.3 * report["cells_all"]


def test_a_budget_of_nodes_leaves_the_rest_as_leaves():
    reached = 0
    for seed in range(60):
        data = mixed(seed)
        grower, weights = grower_of(
            seed,
            data,
            plies=1,
            max_depth=3,
            min_leaf=1,
            stop_factor=0.3,
            option_factor=0.05,
            split_pure=False,
        )
        full = grow_columns(grower)
        if grower.closest < NEAR:
            continue
        options = {}
        for node in walk(full):
            tests = [(o.test.column, str(o.log_split)[:8]) for o in node.options]
            options.setdefault((node.depth, node.counts), []).append(tests)
        n_full = len(list(walk(full)))
        n_options = sum(len(node.options) for node in walk(full))
        last = 0
        for budget in (1, 4, 10, 40, 10**6):
            graph, report = weights.grow(training_columns(data), settings_of(grower, max_nodes=budget))
            view = View(graph)
            assert last <= view.n_nodes <= max(budget, 1)
            last = view.n_nodes
            whole = view.n_nodes == n_full and graph.n_options == n_options
            assert report["budget_reached"] == (not whole)
            reached += report["budget_reached"]
            for node in range(view.n_nodes):
                tests = [
                    (view.arrays["attribute"][o], str(view.arrays["log_split"][o])[:8])
                    for o in view.options(node)
                ]
                same = options[view.arrays["depth"][node], view.counts(node)]
                assert not tests or tests in same
        assert last == n_full
    assert reached > 30
