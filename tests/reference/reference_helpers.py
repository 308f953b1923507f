"""Random small tables and the product of options that the tests run over."""

from __future__ import annotations

from random import Random

from everytree.reference import (
    CodingPrior,
    DepthDecay,
    LeafPenaltyPrior,
    Prior,
    ShapePrior,
    SizePrior,
    Table,
    UniformPrior,
)
from everytree.reference.leaves import Dirichlet

ATTRIBUTES = (0, 0, 1, 2, 1)


def random_table(
    seed: int, n_tests: int = 3, n_rows: int = 8, n_classes: int = 2, weights: bool = False
) -> Table:
    """A table of random rows; one class may stay empty, and tests may be constant or repeat each other."""
    rng = Random(seed)
    X = [[rng.randrange(2) for _ in range(n_tests)] for _ in range(n_rows)]
    y = [rng.randrange(n_classes) for _ in range(n_rows)]
    w = [rng.randrange(0, 4) for _ in range(n_rows)] if weights else None
    if w is not None and sum(w) == 0:
        w[0] = 1
    return Table.from_data(X, y, n_classes=n_classes, sample_weight=w)


def all_priors(n_tests: int) -> list[Prior]:
    """Every prior, those that name a test also attribute-fair."""
    attributes = ATTRIBUTES[:n_tests]
    return [
        UniformPrior(),
        SizePrior(),
        SizePrior(0.95, 0.5, attributes),
        SizePrior(1.0, 0.0),  # a leaf only where nothing else is possible: weights of exactly zero
        SizePrior(0.0, 1.0),  # never splits
        LeafPenaltyPrior(0.3),
        ShapePrior(),
        ShapePrior(attributes),
        CodingPrior(),
        CodingPrior(attributes),
    ]


def all_dirichlets(n_classes: int) -> list[Dirichlet]:
    """Every way to give the Dirichlet parameters."""
    return [1.0, "1/C", tuple(0.5 + c for c in range(n_classes)), DepthDecay(0.7, 0.6)]
