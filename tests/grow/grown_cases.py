"""Whole columns for the core and for its plain twin, the same settings for both, and their graphs compared."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import everytree._core as core
from everytree import reference as plain
from everytree.common.limits import Limits
from everytree.reference.grower import Grower
from everytree.reference.grown import Folded, GrownNode, walk
from everytree.reference.leaves import dirichlet_at
from everytree.reference.whole_columns import WholeColumns
from everytree.weights import priors

DEEPEST = 64  # rows of the tables by depth; no tree here is deeper

PRIORS = [
    (priors.UniformPrior(), plain.UniformPrior()),
    (priors.SizePrior(), plain.SizePrior()),
    (priors.SizePrior(0.95, 0.5), plain.SizePrior(0.95, 0.5)),
    (priors.LeafPenaltyPrior(0.3), plain.LeafPenaltyPrior(0.3)),
    (priors.ShapePrior(), plain.ShapePrior()),
    (priors.CodingPrior(), plain.CodingPrior()),
    (priors.CodingPrior(weight=0.4), plain.CodingPrior(weight=0.4)),
]


def dirichlets(n_classes: int) -> list[Any]:
    """Every way to give the Dirichlet parameters."""
    return ["1/C", 1.0, tuple(0.5 + c for c in range(n_classes)), plain.DepthDecay(0.7, 0.6)]


def mixed(seed: int) -> WholeColumns:
    """Numeric columns with ties and nominal ones of 2 to 4 values, with missing values, and a signal in them."""
    rng = Random(seed)
    n, n_classes = rng.randrange(1, 19), rng.randrange(2, 4)
    columns: list[list[Any]] = []
    kinds: list[Any] = []
    for j in range(rng.randrange(1, 5)):
        missing = rng.choice((0.0, 0.0, 0.2))
        if (seed + j) % 2:
            values: list[Any] = [x / 4 - 1 for x in range(rng.choice((2, 4, 9)))]
            kinds.append("numeric")
        else:
            values = list("abcd"[: rng.randrange(2, 5)])
            kinds.append(tuple(values) + ("never",) * rng.randrange(2))
        columns.append([None if rng.random() < missing else rng.choice(values) for _ in range(n)])
    signal = [hash_of(column[i] for column in columns[:2]) % n_classes for i in range(n)]
    classes = [s if rng.random() < 0.75 else rng.randrange(n_classes) for s in signal]
    weights = [rng.randrange(1, 4) for _ in range(n)] if rng.random() < 0.5 else None
    return WholeColumns(columns, kinds, classes, n_classes, weights)


def hash_of(values: Any) -> int:
    """A number for some values that is the same in every process."""
    return sum(3 + ord(x) if isinstance(x, str) else 1 if x is None else int(4 * x) for x in values)


def new_rows(data: WholeColumns, seed: int, n: int = 12) -> list[list[Any]]:
    """Rows to predict: known values, values beyond them, missing and undeclared ones."""
    rng = Random(seed)

    def value(kind: Any) -> Any:
        if rng.random() < 0.15:
            return None
        if kind == "numeric":
            return rng.randrange(-12, 16) / 8
        return "undeclared" if rng.random() < 0.1 else rng.choice(kind)

    return [[value(kind) for kind in data.kinds] for _ in range(n)]


def core_columns(rows: Any, kinds: Any) -> core.Columns:
    """Rows of values as columns of the core."""
    rows = [list(row) for row in rows]
    columns = core.Columns(len(rows))
    for j, kind in enumerate(kinds):
        here = [row[j] for row in rows]
        if kind == "numeric":
            columns.add_numeric(np.array([math.nan if x is None else x for x in here], dtype=np.float64))
        else:
            code = {value: k for k, value in enumerate(kind)} | {None: -1}
            columns.add_nominal(np.array([code.get(x, -2) for x in here], dtype=np.int32), len(kind))
    return columns


def training_columns(data: WholeColumns) -> core.Columns:
    """The examples of the twin as columns of the core."""
    columns = core_columns(zip(*data.columns, strict=True), data.kinds)
    columns.set_classes(
        np.array(data.classes, dtype=np.int32), data.n_classes, np.array(data.weights, dtype=np.int64)
    )
    return columns


def columns_of(X: Any, y: Any = None, n_classes: int = 2, numeric: bool = False) -> core.Columns:
    """Numbers, or 0/1 tests, as columns of the core: all numeric, or all nominal of two values."""
    made = core.Columns(len(X))
    for column in np.asarray(X).T:
        if numeric:
            made.add_numeric(np.ascontiguousarray(column, dtype=np.float64))
        else:
            made.add_nominal(np.ascontiguousarray(column, dtype=np.int32), 2)
    if y is not None:
        made.set_classes(np.asarray(y, dtype=np.int32), n_classes, None)
    return made


def settings(**options: Any) -> core.GrowSettings:
    """Settings of the core by name."""
    made = core.GrowSettings()
    for name, value in options.items():
        setattr(made, name, value)
    return made


def settings_of(grower: Grower, **more: Any) -> core.GrowSettings:
    """The settings of the twin for the core."""
    return settings(
        **{
            "score": grower.score,
            "lookahead": grower.plies,
            "beam": grower.beam or 0,
            "n_cuts": grower.n_cuts,
            "min_leaf": grower.min_leaf,
            "max_depth": -1 if grower.max_depth is None else grower.max_depth,
            "stop_factor": grower.stop_factor,
            "split_pure": grower.split_pure,
            "binary_nominal": grower.binary_nominal,
            "each_cut": grower.each_cut,
            "option_factor": grower.option_factor,
            "max_options": grower.max_options or 0,
            **more,
        }
    )


class Weights:
    """The prior and the Dirichlet parameters as the tables that the core takes."""

    def __init__(self, prior: priors.Prior, dirichlet: Any, n_classes: int) -> None:
        tables = prior.tables(DEEPEST)
        self.prior = core.Prior(
            tables.log_split,
            tables.log_leaf_open,
            tables.log_leaf_closed,
            tables.per_test,
            [],
            tables.test_weight,
        )
        rows = [list(dirichlet_at(dirichlet, depth, n_classes)) for depth in range(DEEPEST)]
        self.dirichlet = core.Dirichlet(rows)

    def grow(
        self, columns: core.Columns, settings: core.GrowSettings
    ) -> tuple[core.OptionGraph, dict[str, Any]]:
        """What the core grows."""
        graph, report = core.grow_options(columns, settings, self.prior, self.dirichlet, Limits().control())
        return graph.in_order(Limits().control()), report

    def restructure(
        self, columns: core.Columns, graph: core.OptionGraph, lead: float, settings: core.GrowSettings
    ) -> tuple[core.OptionGraph, dict[str, Any]]:
        """What the core makes of an older graph."""
        new, report = core.restructure(
            columns,
            graph,
            lead,
            settings,
            self.prior,
            self.dirichlet,
            Limits().control(),
        )
        return new.in_order(Limits().control()), report

    def fold(self, graph: core.OptionGraph, kind: str = "smooth") -> core.OptionFold:
        """The fold of a graph."""
        return graph.fold(self.prior, self.dirichlet, kind, Limits().control())

    def predict(self, graph: core.OptionGraph, fold: core.OptionFold, columns: core.Columns) -> Any:
        """Class probabilities of rows."""
        return graph.predict(fold, self.dirichlet, columns, Limits().control())


class View:
    """The arrays of a graph, with names for what the tests ask."""

    def __init__(self, graph: core.OptionGraph) -> None:
        self.arrays = {name: array.tolist() for name, array in graph.arrays().items()}
        self.n_classes, self.n_nodes = graph.n_classes, graph.n_nodes

    def counts(self, node: int) -> tuple[int, ...]:
        """Class counts of a node."""
        found = [0] * self.n_classes
        begin, end = self.arrays["count_begin"][node : node + 2]
        for entry in range(begin, end):
            found[self.arrays["count_class"][entry]] = self.arrays["count"][entry]
        return tuple(found)

    def options(self, node: int) -> range:
        """Numbers of the options of a node."""
        return range(*self.arrays["option_begin"][node : node + 2])

    def children(self, option: int) -> dict[int, int]:
        """Children of an option by slot."""
        begin, end = self.arrays["child_begin"][option : option + 2]
        slots = self.arrays["child"][begin:end]
        return {slot: child for slot, child in enumerate(slots) if child != 2**32 - 1}


def threshold_of(data: WholeColumns, test: Any) -> float:
    """What the core writes as the threshold of a test."""
    kind = data.kinds[test.column]
    if kind == "numeric":
        return float(test.cut)
    return math.nan if test.cut is None else float(kind.index(test.cut))


def same_graph(grower: Grower, root: GrownNode, view: View, node: int = 0) -> dict[GrownNode, int]:
    """Compare the graph of the twin with that of the core; returns which node is which."""
    pairs: dict[GrownNode, int] = {}
    todo = [(root, node)]
    while todo:
        ours, theirs = todo.pop()
        if ours in pairs:
            assert pairs[ours] == theirs  # equal states are one node
            continue
        pairs[ours] = theirs
        assert view.counts(theirs) == ours.counts
        assert view.arrays["depth"][theirs] == ours.depth
        assert bool(view.arrays["open"][theirs]) == bool(grower.feasible(ours.rows, ours.depth))
        options = view.options(theirs)
        assert [view.arrays["attribute"][o] for o in options] == [o.test.column for o in ours.options]
        for here, there in zip(ours.options, options, strict=True):
            cut = threshold_of(grower.data, here.test)
            assert view.arrays["threshold"][there] == pytest.approx(cut, abs=0, nan_ok=True)
            assert view.arrays["log_split"][there] == pytest.approx(here.log_split, abs=1e-9)
            children = view.children(there)
            assert set(children) == set(here.children)
            todo += [(child, children[slot]) for slot, child in here.children.items()]
    assert len(pairs) == len(set(pairs.values())) == view.n_nodes == len(list(walk(root)))
    return pairs


def same_fold(folded: Folded, fold: core.OptionFold, view: View, pairs: dict[GrownNode, int]) -> None:
    """Compare the numbers of a fold."""
    log_s, p_leaf, p_option = fold.log_s.tolist(), fold.p_leaf.tolist(), fold.p_option.tolist()
    for ours, theirs in pairs.items():
        assert log_s[theirs] == pytest.approx(folded.log_s[ours], rel=1e-9, abs=1e-9)
        assert p_leaf[theirs] == pytest.approx(folded.p_leaf[ours], abs=1e-9)
        shares = [p_option[o] for o in view.options(theirs)]
        assert shares == pytest.approx(folded.p_options[ours], abs=1e-9)
