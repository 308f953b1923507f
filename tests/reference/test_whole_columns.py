"""Growth on whole columns: on 0/1 columns it is ``buntine`` with ``options``; beyond them, identities, and by hand."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from reference_helpers import all_dirichlets, random_table

from everytree.reference import (
    Bayes,
    CodingPrior,
    LeafPenaltyPrior,
    ShapePrior,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    grow,
    grow_options,
    log_marginal,
    log_s,
    map_pruning,
    one_option,
    predict_options,
    restructure,
    size,
)
from everytree.reference.grower import Grower, looked_at
from everytree.reference.grown import (
    GrownNode,
    choose_column,
    fold_grown,
    grow_columns,
    grow_columns_on_subsamples,
    predict_grown,
    restructure_columns,
    walk,
)
from everytree.reference.whole_columns import ColumnTest, WholeColumns

PRIORS = [
    UniformPrior(),
    SizePrior(),
    SizePrior(0.95, 0.5),
    LeafPenaltyPrior(0.3),
    ShapePrior(),
    CodingPrior(),
]


def columns_of(table: Table, kind: object) -> WholeColumns:
    """A 0/1 table as whole columns, all numeric or all nominal; a row with several examples has a weight."""
    rows = [
        (row, c, n)
        for row, counts in zip(table.rows, table.counts, strict=True)
        for c, n in enumerate(counts)
        if n
    ]
    columns = [[row[j] for row, _, _ in rows] for j in range(table.n_tests)]
    kinds = [kind] * table.n_tests
    return WholeColumns(columns, kinds, [c for _, c, _ in rows], table.n_classes, [n for _, _, n in rows])


def as_options(node: GrownNode) -> tuple[object, ...]:
    """Grown nodes on 0/1 columns as the option tree of ``options``."""
    return tuple((o.test.column, as_options(o.children[0]), as_options(o.children[1])) for o in node.options)


def mixed(seed: int, n_classes: int = 2, n_rows: int = 12, missing: float = 0.15) -> WholeColumns:
    """Two numeric columns with ties, two nominal ones, some missing values, some weights."""
    rng = Random(seed)

    def some(value: object) -> object:
        return None if rng.random() < missing else value

    columns = [
        [some(rng.randrange(6) / 2) for _ in range(n_rows)],
        [some(rng.choice("abc")) for _ in range(n_rows)],
        [some(rng.randrange(3)) for _ in range(n_rows)],
        [some(rng.choice("xy")) for _ in range(n_rows)],
    ]
    weights = [rng.randrange(1, 4) for _ in range(n_rows)] if seed % 2 else None
    kinds = ["numeric", ("a", "b", "c", "never"), "numeric", ("x", "y")]
    return WholeColumns(columns, kinds, [rng.randrange(n_classes) for _ in range(n_rows)], n_classes, weights)


@pytest.mark.parametrize("kind", ["numeric", (0, 1)])
@pytest.mark.parametrize("prior", PRIORS)
def test_on_0_1_columns_it_is_buntine(prior, kind) -> None:
    sizes = []
    for seed in range(12):
        table = random_table(seed, 4, 14, 2 + seed % 3, weights=seed % 2 == 1)
        dirichlet = all_dirichlets(table.n_classes)[seed % 4]
        max_depth, min_leaf = (2, None, 3)[seed % 3], min(1 + seed % 2, table.n_examples)
        model = Bayes(Space(table, max_depth, min_leaf), prior, dirichlet)
        data = columns_of(table, kind)
        plies, beam, factor = 1 + seed % 3, (None, 2)[seed // 3 % 2], (0.0, 1.0, 0.75)[seed // 2 % 3]
        grower = Grower(data, prior, dirichlet, "quality", plies, beam, 32, min_leaf, max_depth, factor, True)
        grower.tie = 0.0  # as there
        root = grow_columns(grower)
        tree = grow(model, plies, factor, beam)
        # a beam is of columns, the last ply of a lookahead sees all of them: with one test a column, the same
        assert as_options(root) == one_option(tree)
        sizes.append(size(tree))
        for within, at_most in ((20.0, 2), (1e6, None)):
            grower.option_factor, grower.max_options = 1 / within, at_most
            root = grow_columns(grower)
            options = grow_options(model, within, at_most, plies, factor, beam)
            assert as_options(root) == options
            folded = fold_grown(grower, root)
            assert folded.log_s[root] == pytest.approx(log_s(model, options), abs=1e-12)
            row = tuple(Random(seed).randrange(2) for _ in range(4))
            assert predict_grown(grower, root, folded, row) == pytest.approx(
                predict_options(model, options, row), abs=1e-12
            )
            pruned = fold_grown(grower, root, "map")
            assert pruned.log_s[root] == pytest.approx(
                model.log_joint(map_pruning(model, options)), abs=1e-12
            )
    assert max(sizes) > 5


@pytest.mark.parametrize("prior", PRIORS)
def test_restructuring_on_0_1_columns_is_the_known_one(prior) -> None:
    changed = 0
    for seed in range(30):
        early, late = random_table(seed, 3, 8), random_table(seed + 1000, 3, 16)
        model = Bayes(Space(early + late), prior)
        old = grow(Bayes(Space(early), prior), factor=0.1)
        before = Grower(columns_of(early, (0, 1)), prior, 1.0, stop_factor=0.1, split_pure=True)
        after = Grower(columns_of(early + late, (0, 1)), prior, 1.0, stop_factor=0.1, split_pure=True)
        before.tie = after.tie = 0.0
        for lead in (1.0, 3.0, math.inf):
            new = restructure(model, old, lead, factor=0.1)
            assert as_options(restructure_columns(after, grow_columns(before), lead)) == one_option(new)
            changed += new != old and lead > 1
    assert changed > 10


@pytest.mark.parametrize("prior", [SizePrior(0.9, 0.5), ShapePrior(), CodingPrior()])
def test_every_cut_an_option_is_the_average_over_every_tree(prior) -> None:
    # Every combination of values occurs, so that a node has all cuts within its limits, and no two of them the same
    # rows: the feasible 0/1 tests are those of the node.
    rng = Random(5)
    for _ in range(3):
        cells = [(x, v, b) for x in (1.0, 2.0, 4.0) for v in "abc" for b in (0.0, 1.0)]
        cells = cells if rng.random() < 0.5 else cells[:-1] + cells[-1:] * 2
        classes = [rng.randrange(2) for _ in cells]
        columns = [list(column) for column in zip(*cells, strict=True)]
        data = WholeColumns(columns, ["numeric", ("a", "b", "c"), "numeric"], classes, 2)
        tests = [[x <= 1.5, x <= 3, v != "a", v != "b", v != "c", b <= 0.5] for x, v, b in cells]
        fair = type(prior)(**{**vars(prior), "attributes": (0, 0, 1, 1, 1, 2)})
        for max_depth, min_leaf in ((2, 1), (3, 2)):
            table = Table.from_data([[int(test) for test in row] for row in tests], classes, 2)
            model = Bayes(Space(table, max_depth, min_leaf), fair, 0.5)
            grower = Grower(data, prior, 0.5, min_leaf=min_leaf, max_depth=max_depth, stop_factor=0.0)
            grower.split_pure = grower.binary_nominal = grower.each_cut = True
            grower.option_factor = 0.0
            root = grow_columns(grower)
            folded = fold_grown(grower, root)
            assert folded.log_s[root] == pytest.approx(model.log_evidence, abs=1e-11)
            for cell, row in list(zip(cells, tests, strict=True))[::5]:
                assert predict_grown(grower, root, folded, cell) == pytest.approx(
                    model.predict_proba([int(test) for test in row]), abs=1e-11
                )


@pytest.mark.parametrize("binary", [False, True])
def test_the_prior_over_every_tree_sums_to_one(binary) -> None:
    # With one class every marginal is 1, and the evidence is the sum of the prior.
    for seed in range(6):
        grower = Grower(mixed(seed, n_classes=1, n_rows=7), SizePrior(0.9, 0.4), min_leaf=1 + seed % 2)
        grower.max_depth, grower.stop_factor, grower.option_factor = 2 + seed % 2, 0.0, 0.0
        grower.split_pure = grower.each_cut = True
        grower.binary_nominal = binary
        root = grow_columns(grower)
        assert len(root.options) > 5
        assert fold_grown(grower, root).log_s[root] == pytest.approx(0.0, abs=1e-11)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_installed_cut_stands_for_all_cuts_of_its_column(prior) -> None:
    # With children that stay leaves, and without the prior of leaves, Vint · Π M(children) is exp Q_j.
    for seed in range(8):
        grower = Grower(mixed(seed), prior, max_depth=1, stop_factor=0.0, option_factor=0.0, n_cuts=3)
        for plies in (1, 2):
            grower.plies = plies
            for option in grower.options(grower.data.everything, 0):
                worth = grower.worth(grower.data.everything, 0, option.test, plies)
                assert option.log_split + worth == pytest.approx(option.quality, abs=1e-12)
                log_column = grower.log_column(grower.data.everything, 0, option.test.column)
                assert option.log_split <= log_column + 1e-12  # a mean is at most the best


def test_folds_by_listing_every_tree() -> None:
    def trees(node: GrownNode, leaf_too: bool) -> list[tuple[float, dict[GrownNode, object]]]:
        """(log weight, what each node of the tree does) of every tree below a node."""
        log_leaf = grower.log_leaf(node.rows, node.depth)
        found = [(log_leaf, {node: None})] if leaf_too or not node.options else []
        for option in node.options:
            parts = [(option.log_split, {node: option})]
            for child in option.children.values():
                parts = [(a + b, f | g) for a, f in parts for b, g in trees(child, leaf_too)]
            found += parts
        return found

    for seed in range(10):
        grower = Grower(mixed(seed, 3, 9), PRIORS[seed % 6], stop_factor=0.3, option_factor=0.2)
        grower.max_options, grower.max_depth, grower.min_leaf = 2, 2, 2
        root = grow_columns(grower)
        for prune in ("smooth", "map", "none"):
            every = trees(root, prune != "none")
            top = max(log_weight for log_weight, _ in every)
            if prune == "map":
                every = [one for one in every if one[0] > top - 1e-9][:1]
            total = top + math.log(math.fsum(math.exp(log_weight - top) for log_weight, _ in every))
            folded = fold_grown(grower, root, prune)
            assert folded.log_s[root] == pytest.approx(total, abs=1e-11)
            if prune == "map":
                continue  # several trees may tie
            for row in ((1.2, "a", 0.0, "x"), (None, "never", 5.0, None), (0.0, "new", None, "y")):
                expected = [0.0] * 3
                for log_weight, tree in every:
                    node = root
                    while tree[node] is not None:
                        slot = grower.data.slot(tree[node].test, row[tree[node].test.column])
                        if slot not in tree[node].children:
                            break
                        node = tree[node].children[slot]
                    share = math.exp(log_weight - total)
                    expected = [
                        e + share * p
                        for e, p in zip(expected, grower.theta(node.rows, node.depth), strict=True)
                    ]
                assert predict_grown(grower, root, folded, row) == pytest.approx(expected, abs=1e-11)


def test_map_pruning_has_no_more_evidence_than_smoothing() -> None:
    for seed in range(12):
        grower = Grower(mixed(seed, 2, 20), PRIORS[seed % 6], stop_factor=0.5)
        root = grow_columns(grower)
        smooth, best, grown = (fold_grown(grower, root, how).log_s[root] for how in ("smooth", "map", "none"))
        assert grown <= best + 1e-12 <= smooth + 2e-12
        assert (best < smooth) == bool(root.options)


def test_tests_of_a_node() -> None:
    data = WholeColumns(
        [[3.0, 1.0, None, 1.0, 2.0], ["a", None, "b", "a", "a"]],
        ["numeric", ("a", "b", "c")],
        [0, 1, 0, 1, 1],
        2,
    )
    cuts = [test.cut for test in data.tests(data.everything, 0)]
    assert cuts == [1.5, 2.5, math.inf]
    assert [test.cut for test in data.tests((0, 1), 0)] == [2.0]
    assert data.branches(data.everything, ColumnTest(0, math.inf)) == {0: (0, 1, 3, 4), 2: (2,)}
    assert data.branches(data.everything, ColumnTest(1)) == {0: (0, 3, 4), 1: (2,), 3: (1,)}
    assert data.branches(data.everything, ColumnTest(1, "b")) == {0: (2,), 1: (0, 3, 4), 2: (1,)}
    grower = Grower(data, binary_nominal=True)
    assert grower.feasible(data.everything, 0)[1] == [ColumnTest(1, value) for value in "ab"]
    # where one value is known and others are missing, "that value or not" parts them
    assert grower.feasible((0, 1, 3), 0)[1] == [ColumnTest(1, "a")]
    assert 1 not in grower.feasible((0, 3), 0)
    assert 1 not in Grower(data, min_leaf=2).feasible(data.everything, 0)
    assert Grower(data, min_leaf=2).feasible(data.everything, 0)[0] == [ColumnTest(0, 1.5)]
    low = 1.0
    high = math.nextafter(low, 2)
    near = WholeColumns([[low, high]], ["numeric"], [0, 1], 2)
    assert near.tests((0, 1), 0) == [ColumnTest(0, low)]
    huge = WholeColumns([[-1.7e308, 1.7e308]], ["numeric"], [0, 1], 2)
    assert huge.tests((0, 1), 0) == [ColumnTest(0, 0.0)]


def test_growth_by_hand() -> None:
    # x: 1 2 | 3 4 parts the classes; a = (1, 1)
    data = WholeColumns([[1.0, 2.0, 3.0, 4.0]], ["numeric"], [0, 0, 1, 1], 2)
    grower = Grower(data, CodingPrior(), 1.0, stop_factor=0.4)  # Q / leaf is 0.49
    root = grow_columns(grower)
    (option,) = root.options
    assert option.test == ColumnTest(0, 2.5)
    # products of marginals: 1.5 → 1/2 · 1/12, 2.5 → 1/3 · 1/3, 3.5 as 1.5; the prior ½ for the column
    mean = (1 / 24 + 1 / 9 + 1 / 24) / 3
    assert math.exp(option.log_split) == pytest.approx(mean / 2 / (1 / 9))
    folded = fold_grown(grower, root)
    leaf, split = 1 / 2 / 30, mean / 2 / (1 / 9) * (1 / 6) ** 2
    assert math.exp(folded.log_s[root]) == pytest.approx(leaf + split)
    assert folded.p_leaf[root] == pytest.approx(leaf / (leaf + split))
    # a missing value has no branch here: the root answers
    assert predict_grown(grower, root, folded, (None,)) == pytest.approx((0.5, 0.5))
    assert predict_grown(grower, root, folded, (0.0,))[0] == pytest.approx(
        (leaf * 0.5 + split * 0.75) / (leaf + split)
    )


def test_scores_without_prior() -> None:
    for seed in range(20):
        data = mixed(seed, 3, 20)
        grower = Grower(data, SizePrior(), score="bayes", stop_factor=2.0, min_leaf=2)
        rows = data.everything
        a = (1 / 3,) * 3
        worth = {
            test: math.fsum(log_marginal(data.counts(part), a) for part in data.branches(rows, test).values())
            for tests in grower.feasible(rows, 0).values()
            for test in tests
        }
        best = max(worth.values())
        options = grower.options(rows, 0)
        assert bool(options) == (best > log_marginal(data.counts(rows), a) + math.log(2))
        for option in options:
            assert worth[option.test] == pytest.approx(best)


def test_gain_ratio_by_hand() -> None:
    # "s" parts the classes in 3 branches: gain 1 bit, ratio 1/1.5; "t" parts half: gain about 0.31, ratio about 0.38.
    data = WholeColumns(
        [["a", "a", "b", "c"], ["x", "y", "y", "y"], [1.0, 2.0, 3.0, 4.0]],
        [("a", "b", "c"), ("x", "y"), "numeric"],
        [0, 0, 1, 1],
        2,
    )
    grower = Grower(data, score="gain_ratio")
    assert grower.by_gain_ratio(data.everything, 0) == [(ColumnTest(0), pytest.approx(1 / 1.5))]
    # without it, the cut at 2.5: gain 1 − log2(3)/4
    narrow = WholeColumns(data.columns[1:], data.kinds[1:], data.classes, 2)
    ((test, ratio),) = Grower(narrow, score="gain_ratio").by_gain_ratio(data.everything, 0)
    assert (test, ratio) == (ColumnTest(1, 2.5), pytest.approx(1 - math.log2(3) / 4))
    # a column that says nothing has no gain: a leaf
    useless = WholeColumns([["x", "y", "x", "y"]], [("x", "y")], [0, 0, 1, 1], 2)
    assert grow_columns(Grower(useless, score="gain_ratio")).options == []


def test_lookahead_sees_pairs_of_numbers() -> None:
    # class = whether exactly one of two numbers is large
    rng = Random(3)
    pairs = [(rng.randrange(4), rng.randrange(4)) for _ in range(40)]
    classes = [int((x < 2) != (y < 2)) for x, y in pairs]
    data = WholeColumns([list(column) for column in zip(*pairs, strict=True)], ["numeric"] * 2, classes, 2)
    one, two = (grow_columns(Grower(data, dirichlet=1.0, plies=plies)) for plies in (1, 2))
    assert [len(list(walk(root))) for root in (one, two)][1] == 7
    assert two.options[0].test.cut == 1.5
    assert (
        fold_grown(Grower(data, dirichlet=1.0), one).log_s[one]
        < fold_grown(Grower(data, dirichlet=1.0), two).log_s[two]
    )


def test_more_plies_and_a_wider_beam_see_no_less() -> None:
    for seed in range(6):
        grower = Grower(mixed(seed), ShapePrior(), n_cuts=2)
        rows = grower.data.everything
        for column in grower.feasible(rows, 0):
            found = []
            for plies, beam in ((1, None), (2, None), (3, 1), (3, 3), (3, None)):
                one = Grower(grower.data, ShapePrior(), plies=plies, beam=beam)
                found.append(one.column_quality(rows, 0, column, plies))
            assert found[0] <= found[1] + 1e-12
            assert found[1] <= found[2] + 1e-12 or found[1] <= found[4] + 1e-12
            assert found[2] <= found[4] + 1e-12
            assert found[3] <= found[4] + 1e-12
    assert looked_at(100, 5, 50) == [12, 37, 50, 62, 87]
    assert looked_at(100, 5, 37) == [12, 37, 62, 87]


def test_random_growth_draws_a_column_by_its_quality_then_a_cut() -> None:
    for seed in range(8):
        grower = Grower(mixed(seed), SizePrior(), stop_factor=0.0)
        rows = grower.data.everything
        law = grower.split_law(rows, 0)
        assert math.fsum(law.values()) == pytest.approx(1)
        values = {test: math.exp(grower.quality(rows, 0, test, 1)) for test in law}
        for test, p in law.items():
            assert p == pytest.approx(values[test] / math.fsum(values.values()))
    assert Grower(mixed(0), stop_factor=1e9).split_law(mixed(0).everything, 0) == {}


def test_subsamples() -> None:
    seen = Counter()
    for seed in range(20):
        data = mixed(seed, 2, 60)
        grower = Grower(data, SizePrior(), 1.0)
        full = grow_columns(grower)
        every = grow_columns_on_subsamples(grower, Random(seed), math.inf, 4)
        assert [o.test for node in walk(full) for o in node.options] == [
            o.test for node in walk(every) for o in node.options
        ]
        choice = choose_column(grower, data.everything, 0, Random(seed), 2.0, 8)
        assert choice is not None
        assert choice.n_seen == data.n(data.everything) or choice.log_lead >= math.log(2)
        seen[choice.n_seen == data.n(data.everything)] += 1
        part = grow_columns_on_subsamples(grower, Random(seed), 2.0, 8)
        for node in walk(part):
            for option in node.options:
                assert option.test == grower.best_test(node.rows, node.depth, option.test.column)
    assert seen[False] >= 5


def test_restructuring_keeps_what_no_other_leads() -> None:
    kept = changed = 0
    for seed in range(30):
        data = mixed(seed, 2, 40)
        early = WholeColumns(
            [column[:15] for column in data.columns], data.kinds, data.classes[:15], 2, data.weights[:15]
        )
        old = grow_columns(Grower(early, stop_factor=0.5))
        grower = Grower(data, stop_factor=0.5)
        strict = restructure_columns(grower, old, 1.0)
        # a factor of 1 keeps nothing that is not best, so that it is growth anew, up to splits that are not made now
        for node in walk(strict):
            for option in node.options:
                column = option.test.column
                qualities = [
                    grower.column_quality(node.rows, node.depth, j, 1)
                    for j in grower.feasible(node.rows, node.depth)
                ]
                assert grower.column_quality(node.rows, node.depth, column, 1) >= max(qualities) - 1e-9
        loose = restructure_columns(grower, old, math.inf)
        for a, b in ((strict, 1.0), (loose, math.inf)):
            assert a.counts == grower.data.counts(grower.data.everything), b
        if old.options:
            kept += loose.options[0].test == old.options[0].test
            changed += not strict.options or strict.options[0].test != old.options[0].test
    assert kept > 10
    assert changed > 5
    same = grow_columns(Grower(mixed(3, 2, 40), stop_factor=0.5))
    again = restructure_columns(Grower(mixed(3, 2, 40), stop_factor=0.5), same, 3.0)
    assert [(n.rows, [o.test for o in n.options]) for n in walk(same)] == [
        (n.rows, [o.test for o in n.options]) for n in walk(again)
    ]


def test_bad_arguments_are_refused() -> None:
    data = mixed(0)
    for name, value in (
        ("score", "gini"),
        ("plies", 0),
        ("beam", 0),
        ("n_cuts", 1),
        ("min_leaf", 0),
        ("max_options", 0),
        ("option_factor", 1.5),
        ("stop_factor", -1.0),
    ):
        with pytest.raises(ValueError, match=f"{name}={value!r}"):
            Grower(data, **{name: value})
    with pytest.raises(ValueError, match="give one kind per column"):
        WholeColumns([[1.0]], [], [0], 2)
    with pytest.raises(ValueError, match=r"column 0: 2 values for 1 classes"):
        WholeColumns([[1.0, 2.0]], ["numeric"], [0], 2)
    with pytest.raises(ValueError, match="weights of at least 1"):
        WholeColumns([[1.0]], ["numeric"], [0], 2, [0])
    bad = WholeColumns([["q"]], [("a",)], [0], 2)
    with pytest.raises(ValueError, match="not declared"):
        bad.branches((0,), ColumnTest(0))
    grower = Grower(data)
    with pytest.raises(ValueError, match="prune='best'"):
        fold_grown(grower, grow_columns(grower), "best")
    with pytest.raises(ValueError, match=r"lead=0\.5"):
        restructure_columns(grower, grow_columns(grower), 0.5)
    with pytest.raises(ValueError, match="first=0"):
        choose_column(grower, data.everything, 0, Random(0), first=0)
    with pytest.raises(ValueError, match="random growth draws by 'quality'"):
        Grower(data, score="bayes").split_law(data.everything, 0)
