"""Small tables of numbers, nominal values, 0/1 and missing ones, and the product of options they are run over."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from everytree.reference import ColumnTable, LocalSpace

KINDS = ("numeric", "nominal", "binary", "numeric missing", "nominal missing", "mixed", "few numbers")
BINS: tuple[int | str, ...] = (2, 3, 4, "all")
DEPTHS = (0, 1, 2, 3, 4, None)
SMALL = 120  # spaces with more trees than this are not listed


class Case(NamedTuple):
    """Examples as they are before any table, for judges that work on the raw values."""

    X: list[list[Any]]
    y: list[int]
    weights: list[int]
    n_classes: int
    bins: int | str

    def table(self, fine: int = 255) -> ColumnTable:
        """Return the table of the examples."""
        return ColumnTable.from_data(self.X, self.y, self.n_classes, self.weights, self.bins, fine=fine)


def value(kind: str, rng: Random, column: int) -> Any:
    """Return a random value of a kind of column."""
    if kind == "mixed":
        return value(("numeric missing", "nominal missing", "binary")[column % 3], rng, column)
    if "missing" in kind and rng.random() < 0.2:
        return None
    if kind.startswith("numeric"):
        return rng.choice([1, 2.5, 3, 7, 8.25, 100])
    if kind == "few numbers":
        return rng.choice([-0.5, 0.25, 4])
    return rng.choice("abcd") if kind.startswith("nominal") else rng.randrange(2)


def case(kind: str, bins: int | str, seed: int, n_rows: int = 7, n_columns: int = 2) -> Case:
    """Return random examples; weights are mostly 1."""
    rng = Random(f"{kind} {bins} {seed}")
    n_classes = 2 + seed % 2
    X = [[value(kind, rng, column) for column in range(n_columns)] for _ in range(n_rows)]
    y = [rng.randrange(n_classes) for _ in range(n_rows)]
    weights = [rng.choice([1, 1, 2]) for _ in range(n_rows)]
    return Case(X, y, weights, n_classes, bins)


def new_rows(kind: str, seed: int, n_columns: int = 2, how_many: int = 2) -> list[list[Any]]:
    """Return rows of which some values were never seen."""
    rng = Random(f"new {kind} {seed}")

    def one(column: int) -> Any:
        seen = value(kind, rng, column)
        if seen is None or rng.random() < 0.15:
            return None
        return (
            rng.choice([seen, seen + rng.choice([0.3, -0.6])])
            if isinstance(seen, int | float)
            else rng.choice([seen, "z"])
        )

    return [[one(column) for column in range(n_columns)] for _ in range(how_many)]


def small_space(data: ColumnTable, max_depth: int | None, min_leaf: int) -> LocalSpace | None:
    """Return the space if it can be listed."""
    space = LocalSpace(data, max_depth, min_leaf)
    return space if space.count() <= SMALL else None
