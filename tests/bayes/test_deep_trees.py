"""Deep trees: the core against the checker's own trees, all prunings listed, and refitting without an example."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.bayes.deep_trees import CUTS, STRENGTH, columns_tried, deep_trees
from everytree.bayes.forest import Forest, joined
from everytree.common.fields import sealed, without_seal
from everytree.common.limits import Limits
from everytree.data.binarizer import Binarizer, reach_of_frame
from everytree.data.coded_rows import CodedRows
from everytree.data.example_weights import ExampleWeights
from everytree.errors import LimitReached
from everytree.files.every_file import every_from_dict, every_to_dict
from everytree.verify.deep_trees import Codes, said_of_left_out
from everytree.verify.prove import GivenUp


def table(seed: int, n: int = 40, classes: int = 3, weights: str = "none", missing: bool = True) -> tuple:
    """Columns of every kind, some of them with missing values, as rows of codes; and the frame they came from."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "fine": rng.normal(size=n).round(1 + seed % 2),
            "coarse": rng.integers(0, 4, n).astype(float),
            "word": pd.Series(rng.choice(["a", "b", "c", "d"], n)),
            "pair": pd.Series(rng.choice(["yes", "no"], n)),
            "bit": rng.integers(0, 2, n),
        }
    )
    if missing:
        for name in ("fine", "word"):
            X.loc[rng.random(n) < 0.15, name] = np.nan
    y = (rng.integers(0, classes, n) * (rng.random(n) < 0.4) + (X["coarse"] > 1)).astype(int) % classes
    y[:classes] = range(classes)
    given = {"none": None, "whole": rng.integers(1, 4, n), "parts": rng.integers(1, 6, n) / 4}[weights]
    model = et.EveryTreeClassifier()
    frame, _, own = model._read(X, y, given, reset=True)
    binarizer = Binarizer(bins=4, missing="category", cuts="local")
    coded, place = CodedRows.of_frame(binarizer, frame, y.to_numpy(), range(classes), own)
    assert own is None or isinstance(own, ExampleWeights)
    return coded, frame, place


def as_codes(coded: CodedRows) -> Codes:
    columns = coded.columns.columns
    return Codes(
        tuple(column.kind == 1 for column in columns),
        tuple(column.n_codes for column in columns),
        coded.codes.tolist(),
        coded.counts.tolist(),
        coded.per_example,
    )


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("weights", ["none", "whole", "parts"])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("missing", [False, True])
def test_the_checker_grows_the_same_trees(cuts, weights, classes, missing):
    for seed in range(4):
        coded, _, _ = table(seed, 30 + 10 * seed, classes, weights, missing)
        made = deep_trees(coded, cuts, seed, 1, rounds=2)
        expected = said_of_left_out(
            as_codes(coded), cuts, 2, made.columns_at_node, seed, time.monotonic() + 60
        )
        entries = zip(*(each.tolist() for each in np.nonzero(coded.counts)), strict=True)
        np.testing.assert_allclose(made.said, [expected[entry] for entry in entries], rtol=0, atol=1e-12)
        assert made.forest.n_trees == 10


def prunings(forest: Forest, at: int):
    """All prunings below a node, each as the list of its leaves with the logarithm of their prior."""
    yield [at], 0.0 if not forest.is_split[at] else math.log(0.5)
    if forest.is_split[at]:
        below = [list(prunings(forest, int(forest.nodes[at, 2 + k]))) for k in (0, 1)]
        for (left, one), (right, two) in itertools.product(*below):
            yield left + right, one + two + math.log(0.5)


def cover(forest: Forest, root: int, coded: CodedRows) -> dict[int, list[int]]:
    """The rows of codes at each node of a tree."""
    outcomes = coded.columns.rows(coded.codes)
    found: dict[int, list[int]] = {}

    def send(at: int, rows: list[int]) -> None:
        found[at] = rows
        if forest.is_split[at]:
            test, _, no, yes = forest.nodes[at].tolist()
            send(no, [r for r in rows if not outcomes[r, test]])
            send(yes, [r for r in rows if outcomes[r, test]])

    send(root, list(range(len(outcomes))))
    return found


def marginal(counts: np.ndarray, a: np.ndarray) -> float:
    total = math.lgamma(a.sum()) - math.lgamma(a.sum() + counts.sum())
    return total + sum(math.lgamma(x + n) - math.lgamma(x) for x, n in zip(a, counts, strict=True))


def average(
    forest: Forest, root: int, rows: dict[int, list[int]], counts: np.ndarray, a: np.ndarray, row: int
):
    """The mean over all prunings of what their leaves say of a row, each weighed by its posterior."""
    logs, said = [], []
    for leaves, prior in prunings(forest, root):
        logs.append(prior + sum(marginal(counts[rows[leaf]].sum(axis=0), a) for leaf in leaves))
        own = counts[rows[next(leaf for leaf in leaves if row in rows[leaf])]].sum(axis=0)
        said.append((own + a) / (own.sum() + a.sum()))
    share = np.exp(np.array(logs) - max(logs))
    return share @ np.array(said) / share.sum()


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_answers_are_the_mean_of_all_prunings_and_left_out_ones_of_refitting(cuts, classes):
    """Each tree alone: a tree's hidden rows are those that the sum of left-out answers grows for."""
    checked = 0
    for seed in range(14):
        coded, _, _ = table(seed, 9, classes)
        a = STRENGTH * coded.shares()
        made = deep_trees(coded, cuts, seed, 1, rounds=1)
        said = np.zeros_like(made.said)
        for tree in range(made.forest.n_trees):
            root = int(made.forest.trees[tree, 0])
            rows = cover(made.forest, root, coded)
            if len(rows) > 13:
                break
            for leaf in (at for at in rows if not made.forest.is_split[at]):
                for row in rows[leaf]:
                    expected = average(made.forest, root, rows, coded.counts, a, row)
                    np.testing.assert_allclose(made.forest.theta[leaf], expected, rtol=0, atol=1e-12)
            for k, (row, y) in enumerate(zip(*np.nonzero(coded.counts), strict=True)):
                less = coded.counts.copy()
                less[row, y] -= 1
                refitted = average(made.forest, root, rows, less, a, row)
                if np.allclose(refitted, made.said[k], rtol=0, atol=1e-12):
                    said[k] = refitted
        else:
            # In one round an example is hidden from one of the trees: what is said of it is what that one says.
            np.testing.assert_allclose(said, made.said, rtol=0, atol=1e-12)
            checked += 1
    assert checked >= 3


@pytest.mark.parametrize("cuts", CUTS)
def test_trees_do_not_see_what_they_are_asked_about(cuts):
    """With another class of one row nothing but what is said of other rows may change, and of its own by its counts."""
    for seed in range(6):
        coded, _, _ = table(seed, 30, 2)
        single = np.flatnonzero(coded.counts.sum(axis=1) == 1)
        row = int(single[seed % single.size])
        y = int(coded.counts[row].argmax())
        made = deep_trees(coded, cuts, seed, 1, rounds=3)
        # Two examples instead of one, both left out of their own answer's growth: the trees without the row's part see
        # neither, so that they stay as they are.
        more = coded.counts.copy()
        more[row, y] += 1
        other = deep_trees(
            CodedRows(coded.binarizer, coded.codes, more, coded.classes),
            cuts,
            seed,
            1,
            rounds=3,
            columns_at_node=made.columns_at_node,
        )
        hidden = [
            k
            for k in range(made.forest.n_trees)
            if np.array_equal(tree_shape(made.forest, k), tree_shape(other.forest, k))
        ]
        assert len(hidden) >= 3  # one in each round at least


def tree_shape(forest: Forest, k: int) -> np.ndarray:
    return forest.some(k, 1).nodes


@pytest.mark.parametrize("cuts", CUTS)
def test_rows_of_training_reach_the_leaf_of_their_codes(cuts):
    for seed in range(6):
        coded, frame, place = table(seed, 60)
        made = deep_trees(coded, cuts, seed, 1, rounds=2).forest
        reach = reach_of_frame(coded.binarizer, frame)
        expected = np.zeros((len(coded.codes), coded.counts.shape[1]))
        for k in range(made.n_trees):
            rows = cover(made, int(made.trees[k, 0]), coded)
            for at, here in rows.items():
                if not made.is_split[at]:
                    expected[here] += made.theta[at]
        np.testing.assert_allclose(
            made.mean(reach, 1, Limits().control()), expected[place] / made.n_trees, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("cuts", CUTS)
def test_threads_batches_and_parts_of_a_forest_change_nothing(cuts):
    coded, _, _ = table(3, 80)
    one, two = (deep_trees(coded, cuts, 5, n_jobs, rounds=7) for n_jobs in (1, 3))
    assert np.array_equal(one.said, two.said)
    for name in ("nodes", "trees", "theta"):
        assert np.array_equal(getattr(one.forest, name), getattr(two.forest, name))
    again = joined(one.forest.some(0, 4), one.forest.some(4, 20), one.forest.some(24, 99))
    assert np.array_equal(again.nodes, one.forest.nodes)
    assert np.array_equal(again.trees, one.forest.trees)
    assert np.array_equal(again.theta, one.forest.theta)
    other = deep_trees(coded, cuts, 6, 1, rounds=7)
    assert not np.array_equal(other.said, one.said)


def test_no_time_is_said_and_some_time_leaves_whole_rounds():
    coded, _, _ = table(1, 3000)
    with pytest.raises(LimitReached):
        deep_trees(coded, "best", 0, 1, seconds=1e-6)
    made = deep_trees(coded, "best", 0, 1, seconds=0.3)
    assert made.forest.n_trees == 5 * made.rounds
    again = deep_trees(coded, "best", 0, 1, rounds=made.rounds, columns_at_node=made.columns_at_node)
    assert np.array_equal(again.said, made.said)


def test_impossible_arrays_are_refused():
    coded, _, _ = table(2, 20)
    wrong = CodedRows(coded.binarizer, coded.codes + 1000, coded.counts, coded.classes)
    with pytest.raises(ValueError, match="code that its column does not have"):
        deep_trees(wrong, "best", 0, 1, rounds=1)


def test_deep_trees_are_used_where_they_help_saved_and_checked(tmp_path):
    """Parity of four columns with noise of others: no average on few levels sees it, deep trees do."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{j}": rng.integers(0, 10, 400) for j in range(4)})
    y = pd.Series((X % 3 == 0).sum(axis=1) + (X["x0"] > X["x1"]), name="y")
    model = et.EveryTreeClassifier(time_limit=2).fit(X, y)
    assert model.n_deep_trees >= 5
    assert len(model.weights_) == len(model.models_) + len(model.forests_)
    assert model.evidence_of(X[:3]).shape == (3, len(model.classes_), len(model.weights_))
    model.save(tmp_path / "m.json", target="y")
    loaded = et.load_model(tmp_path / "m.json")
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-13)
    small = model.compress()
    assert small.bound_ < 0.3
    assert "deep trees" in model.summary()
    assert "deep trees" in str(model.explain_row(X[:1]))


@pytest.mark.parametrize("change", ["cuts", "rounds", "loo_log_loss", "seed", "weights"])
def test_a_forest_that_was_changed_is_found(tmp_path, change):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({f"x{j}": rng.integers(0, 6, 60) for j in range(3)})
    y = pd.Series((X["x0"] + X["x1"]) % 3, name="y")
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    model.forests_ = [deep_trees(model.coded_, cuts, 0, 1, rounds=3) for cuts in CUTS]
    model._take_weights(np.vstack([model.weights_by_class_[: len(model.models_)], np.full((2, 3), 0.5)]))
    X.assign(y=y).to_csv(tmp_path / "d.csv", index=False)

    def facts() -> dict[str, str]:
        report = et.verify_model(tmp_path / "m.json", tmp_path / "d.csv")
        return {fact.name: fact.verdict for fact in report.facts}

    model.save(tmp_path / "m.json", target="y")
    assert facts()["forest 0: loo_log_loss"] == facts()["forest 1: loo_log_loss"] == "true"
    content = without_seal(json.loads((tmp_path / "m.json").read_text()))[0]
    first = content["forests"][0]
    if change == "seed":
        content["params"]["random_state"] = 1
    elif change == "weights":
        first["weights"][0] += 0.2
    else:
        first[change] = {"cuts": "random", "rounds": 2, "loo_log_loss": first["loo_log_loss"] + 1e-6}[change]
    (tmp_path / "m.json").write_text(json.dumps(sealed(content)))
    wrong = "pooled_log_loss" if change == "weights" else "forest 0: loo_log_loss"
    assert facts()[wrong] == "false"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("cuts", "some", "expected one of best, random"),
        ("rounds", 0, "whole number from 1 to 100"),
        ("rounds", 10**9, "whole number from 1 to 100"),
        ("columns_at_node", 0, "whole number from 1 to 1"),
        ("columns_at_node", 2, "whole number from 1 to 1"),
        ("weights", [1.0], "expected 3 numbers"),
        ("weights", [-1.0, 0, 0], "not below zero"),
        ("loo_log_loss", "low", "expected a number"),
        ("more", 1, "expected an object with cuts"),
    ],
)
def test_torn_forests_are_refused(tmp_path, field, value, message):
    X = pd.DataFrame({"x": [1, 2, 3, 4, 5, 6]})
    model = et.EveryTreeClassifier().fit(X, ["a", "b", "c", "a", "b", "c"])
    model.forests_ = [deep_trees(model.coded_, "best", 0, 1, rounds=1)]
    model._take_weights(np.vstack([model.weights_by_class_[: len(model.models_)], np.full((1, 3), 0.5)]))
    content = without_seal(every_to_dict(model))[0]
    content["forests"][0][field] = value
    with pytest.raises(et.DataError, match=message):
        every_from_dict(sealed(content))


@pytest.mark.parametrize(
    ("n_columns", "tried"),
    [(1, (1,)), (2, (1, 2)), (4, (2, 4)), (9, (3, 5, 6, 9)), (30, (5, 10, 15, 30)), (100, (10, 20, 50, 100))],
)
def test_the_numbers_of_columns_that_are_tried(n_columns, tried):
    assert columns_tried(n_columns) == tried


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("seed", range(4))
def test_more_columns_are_taken_where_the_first_rounds_speak_for_them(cuts, seed):
    coded, _, _ = table(seed, n=120)
    tried = columns_tried(len(coded.columns.columns))
    made = deep_trees(coded, cuts, seed, 1, rounds=15)
    rows, classes = np.nonzero(coded.counts)
    times = coded.counts[rows, classes]
    best, expected = None, tried[0]
    for number in tried:
        said = deep_trees(coded, cuts, seed, 1, 10, number).said
        shares = coded.shares()
        powers = [shares * (said / shares) ** factor for factor in np.geomspace(0.5, 8, 17)]
        kept = 1 / (4 * times.sum())  # of every answer, for what has not been seen
        proba = [(1 - kept) * each / each.sum(axis=1, keepdims=True) + kept * shares for each in powers]
        told = [-np.log(each[np.arange(len(rows)), classes]) for each in proba]
        losses = min((np.repeat(each, times) for each in told), key=np.mean)
        gain = 0 if best is None else best - losses  # of each example, beside the best before
        if best is None or gain.mean() > gain.std(ddof=1) / math.sqrt(len(gain)):
            best, expected = losses, number
    assert made.columns_at_node == expected
    again = deep_trees(coded, cuts, seed, 2, 15, made.columns_at_node)
    np.testing.assert_array_equal(again.said, made.said)
    np.testing.assert_array_equal(again.forest.nodes, made.forest.nodes)


def test_where_few_columns_decide_a_node_draws_many():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (300, 36)), columns=[f"x{j}" for j in range(36)])
    y = np.where(X["x0"] == 1, X["x1"], X["x2"])
    coded = et.EveryTreeClassifier(time_limit=0.1).fit(X, y).coded_
    for cuts in CUTS:
        made, root = deep_trees(coded, cuts, 0, 1, rounds=20), deep_trees(coded, cuts, 0, 1, 20, 6)
        assert made.columns_at_node > 6
        assert made.loss(coded) < 0.5 * root.loss(coded)


def test_files_of_the_version_before_draw_the_root(tmp_path):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 3, (80, 9)), columns=list("abcdefghi"))
    y = (X["a"] + X["b"] > 2).astype(int)
    model = et.EveryTreeClassifier().fit(X, y)
    model.forests_ = [deep_trees(model.coded_, "best", 0, 1, 3, 3)]
    model._take_weights(np.vstack([model.weights_by_class_[: len(model.models_)], np.full((1, 2), 0.5)]))
    content = without_seal(every_to_dict(model))[0]
    content["version"] = 4
    assert content["forests"][0].pop("columns_at_node") == 3
    older = every_from_dict(sealed(content))
    np.testing.assert_array_equal(older.predict_proba(X), model.predict_proba(X))


def test_memory_leaves_out_rounds_and_then_the_forest() -> None:
    coded, _, _ = table(3, n=400)[:3]
    full = deep_trees(coded, "best", 0, 1, 30, 2)
    each = full.forest.nbytes // 30
    some = deep_trees(coded, "best", 0, 1, 30, 2, memory=full.forest.nbytes)
    assert 1 <= some.rounds < 30
    assert 2 * some.forest.nbytes <= full.forest.nbytes
    # They are the first ones, whatever ended them.
    np.testing.assert_array_equal(some.forest.theta, full.forest.theta[: len(some.forest.theta)])
    with pytest.raises(LimitReached) as told:
        deep_trees(coded, "best", 0, 1, rounds=30, memory=each)
    assert told.value.reason == "memory"
    with pytest.raises(LimitReached):
        deep_trees(coded, "best", 0, 2, rounds=30, memory=1)


def test_the_checker_gives_up_at_its_deadline() -> None:
    coded, _, _ = table(0)
    with pytest.raises(GivenUp, match="no time"):
        said_of_left_out(as_codes(coded), "best", 1, 1, 0, time.monotonic() - 1)
