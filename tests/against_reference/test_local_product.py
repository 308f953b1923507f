"""Spaces whose states choose their cuts against the reference, over the product of kinds of columns and options.

The columns are drawn with few different values, so that nodes lose some of them on the way down, and new rows hold
values that no training row has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
import everytree.reference as ref

KINDS = {
    "numeric": ("n", "n"),
    "missing": ("m", "n"),
    "nominal": ("c", "k"),
    "0/1": ("b", "b", "b"),
    "mixed": ("m", "k", "b"),
}
PRIORS = {
    "uniform": lambda fair: et.UniformPrior(attribute_fair=fair),
    "size": lambda fair: et.SizePrior(0.7, 0.5, attribute_fair=fair),
    "leaf_penalty": lambda fair: et.LeafPenaltyPrior(0.6, attribute_fair=fair),
    "shapes": lambda fair: et.ShapePrior(attribute_fair=fair),
    "coding": lambda fair: et.CodingPrior(attribute_fair=fair),
    "balanced": lambda fair: et.BalancedPrior(0.8, attribute_fair=fair),
}


def twin_of(prior: str, attributes: Any) -> Any:
    """The prior of the reference with the same parameters."""
    return {
        "uniform": lambda: ref.UniformPrior(attributes),
        "size": lambda: ref.SizePrior(0.7, 0.5, attributes),
        "leaf_penalty": lambda: ref.LeafPenaltyPrior(0.6, attributes),
        "shapes": lambda: ref.ShapePrior(attributes),
        "coding": lambda: ref.CodingPrior(attributes),
        "balanced": lambda: ref.BalancedPrior(0.8, attributes),
    }[prior]()


def column(kind: str, n: int, rng: np.random.Generator, new: bool) -> list[Any]:
    """Values of one column; new ones may lie between those of training."""
    if kind == "b":
        return rng.integers(0, 2, n).tolist()
    if kind in "ck":
        known = list("xy" if kind == "k" else "xyz")
        values: list[Any] = rng.choice([*known, "w"] if new else known, n).tolist()
        return [None if kind == "k" and rng.random() < 0.2 else value for value in values]
    numbers = (rng.integers(0, 6, n) * 1.5 + (rng.choice([0.0, 0.4, 0.75], n) if new else 0)).tolist()
    return [None if kind == "m" and rng.random() < 0.25 else value for value in numbers]


def drawn(kinds: tuple[str, ...], n: int, rng: np.random.Generator, new: bool = False) -> list[list[Any]]:
    """Rows of all columns."""
    return [list(row) for row in zip(*(column(kind, n, rng, new) for kind in kinds), strict=True)]


def frame_of(rows: list[list[Any]], kinds: tuple[str, ...]) -> pd.DataFrame:
    made = {}
    for j, kind in enumerate(kinds):
        values = [row[j] for row in rows]
        made[f"x{j}"] = pd.Series(values, dtype=object if kind in "ck" else float)
    return pd.DataFrame(made)


class Case:
    """The same examples in both."""

    def __init__(self, kinds: str, bins: Any, depth: int | None, min_leaf: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.kinds = KINDS[kinds]
        n_classes = int(rng.integers(2, 4))
        n = int(rng.integers(7, 10)) if depth is None or depth > 3 else int(rng.integers(8, 13))
        rows = drawn(self.kinds, n, rng)
        for j in range(
            len(self.kinds)
        ):  # two different values in every column, so that both take it for the same kind
            rows[0][j], rows[1][j] = {"b": (0, 1), "c": ("x", "y"), "k": ("x", "y")}.get(
                self.kinds[j], (0.0, 3.0)
            )
        y = [*range(n_classes), *rng.integers(0, n_classes, n - n_classes).tolist()]
        weight = rng.integers(1, 3, n).tolist()
        X = frame_of(rows, self.kinds)
        self.space = et.TreeSpace.from_frame(
            X, y, bins=bins, cuts="local", max_depth=depth, min_leaf=min_leaf, sample_weight=weight
        )
        self.data = ref.ColumnTable.from_data(rows, y, sample_weight=weight, bins=bins)
        self.twin = ref.LocalSpace(self.data, max_depth=depth, min_leaf=min_leaf)
        self.new = drawn(self.kinds, 6, rng, new=True)
        self.new_frame = frame_of(self.new, self.kinds)


def cases() -> list[Any]:
    made = []
    seed = 0
    for kinds in KINDS:
        for bins in (2, 3, 4, "all"):
            for depth in (0, 1, 2, 3, 4, None):
                for min_leaf in (1, 2):
                    seed += 1
                    made.append(
                        pytest.param(
                            kinds, bins, depth, min_leaf, seed, id=f"{kinds}-{bins}-{depth}-{min_leaf}"
                        )
                    )
    return made


@pytest.mark.parametrize(("kinds", "bins", "depth", "min_leaf", "seed"), cases())
def test_a_local_space_is_that_of_the_reference(
    kinds: str, bins: Any, depth: int | None, min_leaf: int, seed: int
) -> None:
    assert compared(Case(kinds, bins, depth, min_leaf, seed), seed) > 50


def compared(case: Case, seed: int) -> int:
    """Compare the two, and return how many numbers agreed."""
    space, twin = case.space, case.twin
    assert space.n_trees == twin.count()
    found = space.best()
    assert (found.error, 2 * found.n_leaves - 1) == ref.best(twin, ref.Query(rank=("error", "size")))[0].rank
    fair = seed % 2 == 0
    power = (1.0, 0.25)[seed % 3 == 0]
    numbers = 3
    for name, make in PRIORS.items():
        posterior = space.posterior(prior=make(fair), dirichlet=0.7, power=power)
        model = ref.Bayes(twin, twin_of(name, case.data.attributes if fair else None), 0.7, power=power)
        assert posterior.log_evidence == pytest.approx(model.log_evidence, abs=1e-9)
        said = posterior.predict_proba(case.new_frame)
        expected = [model.predict_proba(row) for row in case.new]
        np.testing.assert_allclose(said, expected, atol=1e-10)
        told = posterior.leave_one_out()
        left_out = {
            (tuple(case.data.universe.rows[one.row]), one.label): one.proba
            for one in ref.left_out_examples(model)
        }
        for row, code, proba in zip(told.rows, told.codes, told.proba, strict=True):
            np.testing.assert_allclose(proba, left_out[tuple(row.tolist()), int(code)], atol=1e-10)
        numbers += 1 + said.size + told.proba.size
    return numbers
