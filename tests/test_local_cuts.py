"""Spaces whose states choose their own cuts: the offers, every tree, the best one, the average, against brute force."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.data.cuts import cut_between, equal_frequency_breaks
from everytree.data.local_columns import Reach
from everytree.errors import DataError


def frame_of(seed, n=24):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n), 1),
            "c": rng.choice(list("xyz"), n),
            "e": rng.integers(0, 2, n).astype(float),
            "d": rng.choice(["u", "v"], n),
        }
    )
    if seed % 2:
        for name in "acde":
            frame.loc[rng.random(n) < 0.2, name] = None if name in "cd" else np.nan
    y = np.where(frame.a.fillna(0).to_numpy() > 0, rng.integers(0, 2, n), rng.integers(0, 3, n))
    return frame, y


def space_of(seed, max_depth, bins=3, min_leaf=None):
    frame, y = frame_of(seed)
    given = 1 + seed % 3 if min_leaf is None else min_leaf
    return frame, y, et.TreeSpace.from_frame(frame, y, bins=bins, max_depth=max_depth, min_leaf=given)


def core_reads_reaches():
    """Whether the compiled core chooses cuts by state, and reads how far rows reach."""
    frame, _, space = space_of(0, 2)
    try:
        space.posterior().predict_proba(frame)
    except TypeError:
        return False
    return True


needs_core = pytest.mark.skipif(not core_reads_reaches(), reason="the compiled core has no local cuts yet")


def offers(frame, rows, bins):
    """What a state asks, from the values of its rows: (column, value or threshold) by the words of the law."""
    found = {}
    for name in frame.columns:
        values = frame[name].iloc[rows]
        gone = bool(values.isna().any())
        held = sorted(set(values.dropna()))
        if name == "a":
            counts = np.array([(values == value).sum() for value in held])
            for j in equal_frequency_breaks(counts, bins) if len(held) > 1 else []:
                found[f"a <= {cut_between(held[j], held[j + 1]):g}"] = values <= held[j]
            if gone and held:
                found["a is missing"] = values.isna()
        elif name == "e":
            if len(held) == 2:
                found["e"] = values == 1
            if gone and held:
                found["e is missing"] = values.isna()
        else:
            whole_gone = frame[name].isna().any()
            if len(held) + gone < 2:
                continue
            if len(held) + gone == 2:
                # A column of two values without a missing one has the test of its second value alone.
                second = sorted(set(frame[name].dropna()))[-1]
                value = second if len(frame[name].dropna().unique()) == 2 and not whole_gone else held[-1]
                found[f"{name} == {value}"] = values == value
                continue
            for value in held:
                found[f"{name} == {value}"] = values == value
            if gone:
                found[f"{name} is missing"] = values.isna()
    return {name: np.asarray(holds, dtype=bool) for name, holds in found.items()}


@pytest.mark.parametrize("seed", range(8))
def test_states_offer_what_the_law_says(seed):
    frame, _, space = space_of(seed, 2, min_leaf=1)
    rng = np.random.default_rng(seed)
    codes = space.table.columns.codes_of_rows(space.table.rows)
    mine = space.table.columns.codes(et_frame(frame))
    place = [int(np.flatnonzero((codes == row).all(axis=1))[0]) for row in mine]
    for _ in range(12):
        kept = np.flatnonzero(rng.random(len(frame)) < rng.choice([0.2, 0.6, 1.0]))
        if not kept.size:
            continue
        rows = np.unique([place[i] for i in kept])
        members = np.flatnonzero(np.isin(place, rows))
        expected = offers(frame, members, 3)
        found = space.local_cuts.offered(rows)
        names = {space.table.columns.test(test, upper).name: test for test, upper in found.items()}
        assert set(names) == set(expected)
        for name, test in names.items():
            holds = space.table.rows[:, test] > 0
            np.testing.assert_array_equal(holds[[place[i] for i in members]], expected[name])


def et_frame(frame):
    from everytree.data.frames import read_frame

    return read_frame(frame)


def every_tree(space):
    """The keys of all trees of a space, in nested form, from the offers alone."""
    cuts, weights, rows_of = space.local_cuts, space.table.class_counts.sum(axis=1), space.table.rows

    def grown(rows, depth, given):
        yield (-1,)
        if depth == space.max_depth:
            return
        tests = list(cuts.offered(rows, space.min_leaf)) if given is None else given
        below = tests if space.max_depth - depth == 2 else None
        for test in tests:
            holds = rows_of[rows, test] > 0
            inside = weights[rows[holds]].sum()
            if not space.min_leaf <= inside <= weights[rows].sum() - space.min_leaf:
                continue
            ones = list(grown(rows[holds], depth + 1, below))
            for zero in grown(rows[~holds], depth + 1, below):
                yield from ((test, *zero, *one) for one in ones)

    return list(grown(np.arange(space.table.n_rows), 0, None))


@needs_core
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 2])
def test_all_trees_are_counted_and_the_best_is_among_them(seed, depth):
    _, _, space = space_of(seed, depth)
    keys = every_tree(space)
    assert space.n_trees == len(keys) == len(set(keys))
    trees = [space.tree_of(key) for key in keys]
    for tree in trees:
        space.check_offered(tree.key)
    best = space.best()
    assert (best.error, best.size) == min((tree.error, tree.size) for tree in trees)
    assert best in trees or any(best.same_structure(tree) for tree in trees)


@needs_core
@pytest.mark.parametrize("seed", range(6))
def test_the_average_is_that_over_every_tree(seed):
    _frame, _, space = space_of(seed, 2)
    posterior = space.posterior()
    keys = every_tree(space)
    logs = np.array([posterior.log_joint(key) for key in keys])
    assert posterior.log_evidence == pytest.approx(np.logaddexp.reduce(logs), abs=1e-9)
    rng = np.random.default_rng(seed)
    new = frame_of(seed + 50)[0]
    new["a"] = rng.normal(size=len(new))
    rows = space.rows_of(new)
    weights = np.exp(logs - posterior.log_evidence)
    average = sum(
        weight * posterior.tree_of(key).predict_proba(rows) for key, weight in zip(keys, weights, strict=True)
    )
    np.testing.assert_allclose(posterior.predict_proba(new), average, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_nodes_ask_in_the_words_of_their_own_cut(seed):
    frame, _, space = space_of(seed, 3, min_leaf=1)
    rng = np.random.default_rng(seed)
    keys = []
    cuts = space.local_cuts
    everything = np.arange(space.table.n_rows)
    for test in cuts.offered(everything):
        holds = space.table.rows[:, test] > 0
        below = list(cuts.offered(np.flatnonzero(holds)))
        if below:
            keys.append((test, -1, below[int(rng.integers(len(below)))], -1, -1))
    new = frame_of(seed + 10)[0]
    new["a"] = rng.normal(size=len(new))
    rows = space.rows_of(new)
    for key in keys:
        tree = space.tree_of(key)
        assert tree.asks[2] in offers(frame, members_of(space, frame, key[0]), 3)
        expected = []
        for i in range(len(new)):
            node = 0
            while tree.test[node] >= 0:
                node = int(tree.children[node, int(asked(tree.node_name(node), new.iloc[i]))])
            expected.append(node)
        assert tree.apply(rows).tolist() == expected
        assert tree.asks[0] in str(tree)
        assert tree.asks[2] in tree.to_svg().replace("&lt;", "<")
        assert [rule.conditions[0] for rule in tree.rules()].count(tree.asks[0]) == 2


def members_of(space, frame, test):
    return np.flatnonzero(space.binarizer.transform(frame)[:, test])


def asked(name, row):
    if name.endswith(" is missing"):
        return bool(pd.isna(row[name.removesuffix(" is missing")]))
    if " <= " in name:
        column, cut = name.split(" <= ")
        return bool(row[column] <= float(cut))
    if " == " in name:
        column, value = name.split(" == ")
        return bool(row[column] == value)
    return bool(row[name] == 1)


def test_a_tree_is_the_same_after_pickle_json_and_dict():
    _, _, space = space_of(0, 3)
    test = next(iter(space.local_cuts.offered(np.arange(space.table.n_rows))))
    tree = space.tree_of((test, -1, -1))
    for again in (
        pickle.loads(pickle.dumps(tree)),
        et.Tree.from_json(tree.to_json()),
        et.Tree.from_dict(tree.to_dict()),
    ):
        assert again == tree
        assert again.upper.tolist() == tree.upper.tolist()
    other = tree.replace(upper=[tree.upper[0] + 1, 0, 0])
    assert other != tree
    assert not other.same_structure(tree)
    for changes, words in (
        ({"upper": [1, 1, 0]}, r"upper\[1\] is 1"),
        ({"upper": [1, 0]}, "upper has 2 entries"),
        ({"asks": ["", "", ""]}, r"asks\[0\]"),
        ({"upper": [70000, 0, 0]}, r"upper\[0\] is 70000"),
    ):
        with pytest.raises(DataError, match=words):
            tree.replace(**changes)


def test_a_tree_that_no_state_offers_is_refused():
    _, _, space = space_of(2, 2, min_leaf=1)
    offered = space.local_cuts.offered(np.arange(space.table.n_rows))
    column = space.table.columns.columns[0]
    cut = next(test for test in range(column.begin, column.end) if test not in offered)
    with pytest.raises(DataError, match="does not offer"):
        space.check_offered((cut, -1, -1))
    lowest = column.begin  # the same cut twice on a path splits nothing
    with pytest.raises(DataError, match="do not offer"):
        space.tree_of((lowest, -1, lowest, -1, -1)) if space.max_depth > 2 else et.TreeSpace.from_frame(
            *frame_of(2), bins=3, max_depth=3
        ).tree_of((lowest, -1, lowest, -1, -1))


def test_rows_are_read_as_frames_as_reaches_and_as_tests():
    frame, _, space = space_of(1, 2)
    reach = space.rows_of(frame)
    assert isinstance(reach, Reach)
    assert reach.dtype == np.uint16
    np.testing.assert_array_equal(space.rows_of(reach), reach)
    test = next(iter(space.local_cuts.offered(np.arange(space.table.n_rows))))
    tree = space.tree_of((test, -1, -1))
    by_tests = space.binarizer.transform(frame)
    np.testing.assert_array_equal(tree.apply(reach), tree.apply(by_tests))
    np.testing.assert_array_equal(tree.apply(space.rows_of(by_tests)), tree.apply(reach))
    with pytest.raises(DataError, match="feature names"):
        space.rows_of(frame[["a"]])
    with pytest.raises(DataError, match="reach"):
        et.TreeSpace([[0], [1]], [0, 1]).rows_of(reach)
    with pytest.raises(DataError, match="reach"):
        et.TreeSpace([[0], [1]], [0, 1]).best().predict(reach)


def test_a_space_of_global_cuts_reads_frames_too():
    frame, y = frame_of(1)
    space = et.TreeSpace.from_frame(frame, y, cuts="global", max_depth=2)
    model = et.BayesOptimalClassifier(max_depth=2, min_leaf=1).fit(frame, y)
    np.testing.assert_array_equal(space.posterior().predict_proba(frame), model.predict_proba(frame))
    by_tests = et.TreeSpace(space.binarizer.transform(frame), y, max_depth=2)
    assert space.n_trees == by_tests.n_trees
    assert math.isclose(space.posterior().log_evidence, by_tests.posterior().log_evidence, rel_tol=1e-12)


def test_weights_are_repetitions_for_local_cuts():
    frame, y = frame_of(3)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    first = et.TreeSpace.from_frame(frame, y, max_depth=2, sample_weight=weights, classes=[0, 1, 2])
    again = np.repeat(np.arange(len(y)), weights)
    second = et.TreeSpace.from_frame(frame.iloc[again], y[again], max_depth=2, classes=[0, 1, 2])
    assert first.table == second.table


@needs_core
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depth", [1, 2])
def test_rules_are_the_leaves_of_every_tree(seed, depth):
    """The weight of a rule is the share of the trees that have it as a leaf; a row's rules weigh one together."""
    _, _, space = space_of(seed, depth)
    posterior = space.posterior()
    expected = {}
    for key in every_tree(space):
        tree = posterior.tree_of(key)
        for rule in tree.rules():
            words = frozenset(rule.conditions)
            expected[words] = expected.get(words, 0.0) + tree.info["probability"]
    plain = {"not (e)": "not e"}
    found = {frozenset(plain.get(n, n) for n in rule.names): rule for rule in posterior.rules(top=10**4)}
    assert set(found) <= set(expected)
    for words, weight in expected.items():
        if weight > 1e-9:
            assert found[words].weight == pytest.approx(weight, abs=1e-12)
    new = frame_of(seed + 30)[0]
    new["a"] = np.random.default_rng(seed).normal(size=len(new))
    for i in range(3):
        told = posterior.explain(new.iloc[[i]], top=10**4)
        assert math.fsum(rule.weight for rule in told.rules) == pytest.approx(1, abs=1e-9)
        average = sum(rule.weight * np.array(rule.proba) for rule in told.rules)
        np.testing.assert_allclose(average, posterior.predict_proba(new.iloc[[i]])[0], atol=1e-9)


@needs_core
@pytest.mark.parametrize("seed", range(3))
def test_near_best_trees_and_draws_are_in_the_space(seed):
    frame, _, space = space_of(seed, 2)
    near = space.near_best(0.3, 0.02)
    for tree in near[:20]:
        space.check_offered(tree.key)
        assert tree in near
    mean = sum(tree.predict_proba(space.rows_of(frame)) for tree in near) / near.n_trees
    np.testing.assert_allclose(near.predict_proba(frame), mean, atol=1e-9)
    posterior = space.posterior()
    for tree in posterior.sample(30, random_state=0) + list(posterior.top_trees(5)):
        space.check_offered(tree.key)
        assert posterior.log_joint(tree) == pytest.approx(tree.info["log_joint"], abs=1e-9)
    assert posterior.map_tree().info["log_joint"] == pytest.approx(
        space.most_probable().info["log_joint"], abs=1e-9
    )


def test_questions_without_a_local_answer_are_refused():
    _, _, space = space_of(0, 2)
    for ask in (lambda: space.best(strategy="closed"), space.mine):
        with pytest.raises(et.QueryError, match='use cuts="global"'):
            ask()
    with pytest.raises(et.QueryError, match="whole columns"):
        space.subspace(2, 1, list(range(1, space.n_tests)))
    assert (
        space.subspace(2, 1, list(range(space.table.columns.columns[0].stop, space.n_tests))).n_tests
        < space.n_tests
    )


@needs_core
@pytest.mark.parametrize("seed", range(4))
def test_columns_are_required_and_forbidden_whole(seed):
    frame, y, space = space_of(seed, 2, min_leaf=1)
    for name in frame.columns:
        own = {k for k, attribute in enumerate(space.attribute_names) if attribute == name}
        without = space.best(forbid=name)
        assert not own & set(without.key)
        rest = et.TreeSpace.from_frame(frame.drop(columns=name), y, bins=3, max_depth=2)
        assert without.error == rest.best().error
        assert own & set(space.best(require=name).key)
        assert space.best(require=name).error >= space.best().error


@needs_core
def test_a_single_cut_is_neither_required_nor_forbidden():
    _, _, space = space_of(1, 2)
    for wanted in ("a <= 0.25", "a is missing", "c == x", 0):
        column = "c" if wanted == "c == x" else "a"
        for what in ("require", "forbid"):
            words = f"{what}=.* with cuts='local' .* name the column '{column}' instead"
            with pytest.raises(et.QueryError, match=words):
                space.best(**{what: wanted})
    with pytest.raises(et.QueryError, match="'nothing' is no column; expected a name such as 'a', 'c'"):
        space.best(forbid="nothing")
    with pytest.raises(et.QueryError, match="expected the name of a column, or the number of its only test"):
        space.best(forbid=10_000)
    _, _, space = space_of(0, 2)  # nothing is missing, so that e is one test
    only = space.attribute_names.index("e")
    assert space.best(require=only).key == space.best(require="e").key


@needs_core
@pytest.mark.parametrize("seed", range(3))
def test_intervals_hold_the_draws_of_new_rows(seed):
    """The interval of almost all probability holds the average; moments are those over every tree."""
    _, _, space = space_of(seed, 2)
    posterior = space.posterior()
    new = frame_of(seed + 40)[0]
    new["a"] = np.random.default_rng(seed).normal(size=len(new))
    low, high = posterior.interval(new, 0.99, random_state=0)
    mean = posterior.predict_proba(new)
    assert low.shape == mean.shape
    assert ((low <= mean) & (mean <= high)).all()
    np.testing.assert_allclose(posterior.moments(new).mean, mean, atol=1e-12)


def test_columns_without_any_value_are_no_tests_and_the_shares_are_answered():
    X = np.full((8, 1), np.nan)
    model = et.BayesOptimalClassifier(2, cuts="local").fit(X, [0, 0, 0, 1] * 2)
    assert model.predict_proba(X[:1])[0].tolist() == pytest.approx([0.7, 0.3])


def test_a_memory_limit_where_columns_have_few_tests() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 8)).astype(float), rng.integers(0, 2, 60)
    model = et.BayesOptimalClassifier(cuts="local", memory_limit=50_000_000).fit(X, y)
    free = et.BayesOptimalClassifier(cuts="local").fit(X, y)
    assert model.posterior_.log_evidence == free.posterior_.log_evidence
