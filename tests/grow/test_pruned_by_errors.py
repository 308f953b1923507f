"""Grown trees pruned by their errors: cost complexity with folds, and pessimistically, beside their plain twins."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from random import Random

import numpy as np
import pandas as pd
import pytest
from grown_cases import View, mixed, new_rows, same_graph

import everytree as et
from everytree import reference as plain
from everytree.common.arguments import generator
from everytree.estimators.grown_pruning import examples_of
from everytree.reference.grower import Grower
from everytree.reference.grown import fold_grown, grow_columns, predict_grown, restructure_columns, walk
from everytree.reference.pruning import by_price, choose_price, pessimistic, price_errors
from everytree.reference.whole_columns import WholeColumns
from everytree.trees.cost_complexity import stratified_counts
from everytree.verify import verify_model

NEAR = 1e-9
PRIORS = {
    "uniform": plain.UniformPrior(),
    "leaf_penalty": plain.LeafPenaltyPrior(0.5),
    "coding": plain.CodingPrior(),
}


def larger(seed: int) -> WholeColumns:
    """A table as those of ``mixed``, with so many examples that folds have something to choose."""
    rng = Random(seed)
    n, n_classes = rng.randrange(20, 70), rng.randrange(2, 4)
    kinds = ["numeric", tuple("abc"), "numeric", (False, True)]
    columns = [
        [None if rng.random() < 0.1 else rng.randrange(6) / 2 for _ in range(n)],
        [rng.choice("abc") for _ in range(n)],
        [rng.randrange(9) / 4 for _ in range(n)],
        [None if rng.random() < 0.1 else rng.random() < 0.5 for _ in range(n)],
    ]
    classes = [
        (int(columns[2][i] > 1) + (columns[1][i] == "b")) % n_classes
        if rng.random() < 0.7
        else rng.randrange(n_classes)
        for i in range(n)
    ]
    weights = [rng.randrange(1, 4) for _ in range(n)] if seed % 3 == 0 else None
    return WholeColumns(columns, kinds, classes, n_classes, weights)


def frame_of(columns, kinds) -> pd.DataFrame:
    """Columns of the twin as a frame, with their declared values."""
    return pd.DataFrame(
        {
            f"x{j}": np.array([np.nan if v is None else v for v in column], dtype=float)
            if kind == "numeric"
            else pd.Categorical([v if v in kind else None for v in column], categories=list(kind))
            for j, (column, kind) in enumerate(zip(columns, kinds, strict=True))
        }
    )


def fitted(data: WholeColumns, **words) -> et.SmoothedTreeClassifier:
    model = et.SmoothedTreeClassifier(missing="category", **words)
    X = frame_of(data.columns, data.kinds)
    return model.partial_fit(X, data.classes, classes=range(data.n_classes), sample_weight=data.weights)


def same_model(model, grower, tree, seed) -> None:
    """The pruned tree of a model, its weights and its answers are those of the twin."""
    same_graph(grower, tree, View(model.tree_._graph))
    folded = fold_grown(grower, tree, "none")
    assert model.log_evidence_ == pytest.approx(folded.log_s[tree], rel=1e-10)
    rows = new_rows(grower.data, seed)
    X = frame_of([[row[j] for row in rows] for j in range(len(grower.data.kinds))], grower.data.kinds)
    known = [
        [
            None if kind != "numeric" and value not in kind else value
            for value, kind in zip(row, grower.data.kinds, strict=True)
        ]
        for row in rows
    ]  # a categorical makes undeclared values missing
    wanted = [predict_grown(grower, tree, folded, row) for row in known]
    np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=1e-9)


@pytest.mark.parametrize(("prior", "binary"), [*product(PRIORS, (False, True))])
def test_pessimistic_trees_are_those_of_the_reference(prior, binary):
    pruned = near = 0
    for seed in range(24):
        data = mixed(seed) if seed % 2 else larger(seed)
        stop = (0.0, 0.1, 0.5)[seed % 3]
        grower = Grower(data, PRIORS[prior], stop_factor=stop, binary_nominal=binary)
        root = grow_columns(grower)
        if grower.closest < NEAR:
            near += 1
            continue
        tree = pessimistic(root)
        model = fitted(
            data, prior=prior, prune="pessimistic", stop_factor=stop, nominal_tests="binary" if binary else "multiway"
        )  # fmt: skip
        same_model(model, grower, tree, seed)
        pruned += len(list(walk(tree))) < len(list(walk(root)))
    assert near <= 2
    assert pruned >= 3


def value_rows(cells, kinds):
    """Numbers and codes as values."""
    pairs = zip(cells, kinds, strict=True)
    return [None if np.isnan(x) else x if kind == "numeric" else kind[int(x)] for x, kind in pairs]


def among(data, values, codes, counted, **words) -> Grower:
    """A grower on so many of each example."""
    used = np.flatnonzero(counted)
    columns = [[values[i][j] for i in used] for j in range(len(data.kinds))]
    table = WholeColumns(columns, data.kinds, codes[used].tolist(), data.n_classes, counted[used].tolist())
    return Grower(table, **words)


@pytest.mark.long
@pytest.mark.parametrize(
    ("se", "folds", "prior"), [(0, 10, "uniform"), (1, 10, "leaf_penalty"), (1, 3, "uniform")]
)
def test_cost_complexity_is_that_of_the_reference(se, folds, prior):
    sizes, near = set(), 0
    for seed in range(7):
        data = larger(100 + seed)
        words = {"stop_factor": (0.0, 0.3)[seed % 2]}
        model = fitted(
            data, prior=prior, prune="cost_complexity", se=se, folds=folds, random_state=seed, **words
        )
        rows = model._rows
        codes = np.asarray(rows.labels)
        examples = examples_of(rows.arrays, model._reader.columns, codes, rows.weights)
        rng = np.random.default_rng(int(generator(seed).integers(2**63)))
        parts = stratified_counts(examples.codes, examples.counted, folds, rng)
        values = [value_rows(row, data.kinds) for row in examples.cells]
        grower_of = partial(among, data, values, examples.codes, prior=PRIORS[prior], **words)
        whole = grower_of(examples.counted)
        root = grow_columns(whole)
        made = []
        closest = whole.closest
        for inside in parts.T:
            other = grower_of(examples.counted - inside)
            test = [(values[i], int(examples.codes[i]), int(inside[i])) for i in np.flatnonzero(inside)]
            made.append((other, grow_columns(other), test))
            closest = min(closest, other.closest)
        found = price_errors(root, made)
        if min(closest, found.closest) < NEAR:
            near += 1
            continue
        n = int(examples.counted.sum())
        told = model.pruning_[0]
        assert told["n_folds"] == folds
        np.testing.assert_array_equal(np.rint(told["cv_errors"] * n), found.errors)
        chosen = choose_price(found.errors, n, se)
        square = found.squares[chosen]
        assert told["alpha"] == pytest.approx(np.inf if square is None else float(square) ** 0.5, rel=1e-12)
        tree = by_price(root, square)
        same_model(model, whole, tree, seed)
        sizes.add(model.n_leaves_)
    assert near <= 2
    assert len(sizes) > 2


def test_weights_are_repetitions_and_seeds_are_kept():
    data = larger(3)
    X, y, w = frame_of(data.columns, data.kinds), np.array(data.classes), np.array(data.weights)
    assert w.max() > 1
    words = {"missing": "category", "stop_factor": 0, "prior": "uniform", "random_state": 5}
    for prune in ("cost_complexity", "pessimistic"):
        one = et.SmoothedTreeClassifier(prune=prune, **words).fit(X, y, sample_weight=w)
        other = et.SmoothedTreeClassifier(prune=prune, **words).fit(
            X.iloc[np.repeat(np.arange(len(y)), w)], np.repeat(y, w)
        )
        assert one.tree_ == other.tree_
        some = et.SmoothedTreeClassifier(prune=prune, n_trees=3, **words).fit(X, y)
        again = et.SmoothedTreeClassifier(prune=prune, n_trees=3, **words).fit(X, y)
        assert some.tree_ == again.tree_
        if prune == "cost_complexity":
            assert len(some.pruning_) == 3
        else:
            assert some.pruning_ is None


def test_one_example_and_one_class():
    for prune in ("cost_complexity", "pessimistic"):
        one = et.SmoothedTreeClassifier(prune=prune, stop_factor=0).fit([[1.0]], ["only"])
        assert one.n_nodes_ == 1
        same = et.SmoothedTreeClassifier(prune=prune, stop_factor=0).fit([[1.0], [2.0]] * 4, [0] * 8)
        assert same.n_nodes_ == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [({"se": 2}, "se=2; expected 0 or 1"), ({"se": 0.5}, "se=0.5"), ({"folds": 1}, "folds=1")],
)
def test_bad_words_are_named(words, message):
    with pytest.raises(et.QueryError, match=message):
        et.SmoothedTreeClassifier(prune="cost_complexity", **words).fit([[0.0], [1.0]] * 4, [0, 1] * 4)


def test_files_of_pruned_trees_are_read_and_verified(tmp_path):
    data = larger(6)
    X = frame_of(data.columns, data.kinds)
    X.assign(y=data.classes).to_csv(tmp_path / "rows.csv", index=False)
    for prune in ("cost_complexity", "pessimistic"):
        X2 = pd.read_csv(tmp_path / "rows.csv")
        model = et.SmoothedTreeClassifier(
            prune=prune,
            prune_prior="coding",
            se=1,
            folds=4,
            stop_factor=0,
            missing="category",
            random_state=0,
        ).fit(X2.drop(columns="y"), X2["y"])
        model.save(tmp_path / "model.json")
        back = et.load_model(tmp_path / "model.json")
        assert (back.prune, back.se, back.folds, back.pruning_) == (prune, 1, 4, None)
        assert back.prior_ == et.CodingPrior()
        assert back.tree_ == model.tree_
        report = verify_model(tmp_path / "model.json", tmp_path / "rows.csv")
        assert report.ok, report
        changed = (
            (tmp_path / "model.json")
            .read_text(encoding="utf-8")
            .replace('"kind": "none"', '"kind": "smooth"')
        )
        (tmp_path / "model.json").write_text(changed, encoding="utf-8")
        assert "kind" in {
            fact.name
            for fact in verify_model(tmp_path / "model.json", tmp_path / "rows.csv").facts
            if fact.verdict == "false"
        }


@pytest.mark.long
@pytest.mark.parametrize("prune", ["smooth", "map", "none"])
def test_another_prior_prunes_the_same_tree(prune):
    pairs = [*product(PRIORS, repeat=2), ("uniform", "size"), ("size", "coding"), ("leaf_penalty", "shapes")]
    known = PRIORS | {"size": plain.SizePrior(0.9, 0.6), "shapes": plain.ShapePrior()}
    near = 0
    for seed, (grows, prunes) in enumerate(pairs):
        data = larger(200 + seed)
        words = {"stop_factor": 0.05, "binary_nominal": seed % 2 == 1}
        grower = Grower(data, known[grows], **words)
        root = grow_columns(grower)
        other = Grower(data, known[prunes], **words | {"stop_factor": 1e300})
        tree = restructure_columns(other, root, math.inf)
        assert len(list(walk(tree))) == len(list(walk(root)))
        folded = fold_grown(other, tree, prune)
        if min(grower.closest, other.closest) < NEAR:
            near += 1
            continue
        model = fitted(
            data, prior=grows, prune=prune, prune_prior=prunes, alpha=0.9, beta=0.6, stop_factor=0.05,
            nominal_tests="binary" if seed % 2 else "multiway",
        )  # fmt: skip
        assert type(model.prior_).__name__ == type(known[prunes]).__name__
        assert model.log_evidence_ == pytest.approx(folded.log_s[tree], rel=1e-10)
        values = [list(row) for row in zip(*data.columns, strict=True)]
        wanted = [predict_grown(other, tree, folded, row) for row in values]
        np.testing.assert_allclose(model.predict_proba(frame_of(data.columns, data.kinds)), wanted, rtol=1e-9)
        if grows == prunes:
            same = fitted(
                data, prior=grows, prune=prune, alpha=0.9, beta=0.6, stop_factor=0.05,
                nominal_tests="binary" if seed % 2 else "multiway",
            )  # fmt: skip
            assert same.log_evidence_ == pytest.approx(model.log_evidence_, rel=1e-12)
    assert near <= 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"prune_prior": "odd"}, "prune_prior='odd'; expected one of 'uniform'"),
        ({"prune_prior": "coding", "n_trees": 2}, "prune_prior='coding' goes with n_trees=1"),
        ({"prune_prior": "coding", "criterion": "gain_ratio"}, "prune_prior='coding' goes with"),
    ],
)
def test_a_bad_prior_of_pruning_is_named(words, message):
    with pytest.raises(et.QueryError, match=message):
        et.SmoothedTreeClassifier(**words).fit([[0.0], [1.0]] * 4, [0, 1] * 4)


def test_a_lighter_code_is_written_and_verified(tmp_path):
    data = larger(9)
    frame_of(data.columns, data.kinds).assign(y=data.classes).to_csv(tmp_path / "rows.csv", index=False)
    table = pd.read_csv(tmp_path / "rows.csv")
    X, y = table.drop(columns="y"), table["y"]
    light = et.CodingPrior(weight=0.4)
    for made in (
        et.SmoothedTreeClassifier(prune="map", prune_prior=light, missing="category"),
        et.OptionTreeClassifier(prior=light, missing="category"),
        et.MAPTreeClassifier(prior=light, max_depth=2, missing="category"),
    ):
        made.fit(X, y).save(tmp_path / "model.json")
        assert et.load_model(tmp_path / "model.json").prior_ == light
        report = verify_model(tmp_path / "model.json", tmp_path / "rows.csv")
        assert report.ok, report
