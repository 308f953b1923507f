"""A prior and Dirichlet parameters as the tables of numbers that the core reads.

    tabulated(prior, dirichlet, n_classes, deepest)   → Weights: the numbers, and the core's objects made of them

This is the one way from what a person says (``SizePrior()``, ``"1/C"``) to what the core multiplies. For trees of an
engine see ``engine.weigh``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import everytree._core as _core
from everytree.weights.dirichlet import Dirichlet, dirichlet_rows
from everytree.weights.priors import Prior, PriorTables

__all__ = ["Rows", "Weights", "tabulated"]

Rows = list[list[float]]  # Dirichlet parameters by depth and class


@dataclass(frozen=True)
class Weights:
    """What nodes weigh, down to some depth; the last entry of every table goes on below it.

    Attributes
    ----------
    tables : PriorTables
        The prior; its share of examples in a leaf travels with the Dirichlet parameters, of which leaves are made.
    rows : list of lists
        The Dirichlet parameters by depth and class; one row where depth plays no part.
    attributes : sequence of int
        The attribute of each test, for attribute-fair priors; else empty.
    power : float
        The power of the leaf weights: a leaf weighs M(n) to the power of it.
    per_example : int
        The counts that make one example, where leaves count parts of examples.
    prior, dirichlet : the core's objects of these numbers, made when first asked for
    """

    tables: PriorTables
    rows: Rows
    attributes: Sequence[int] = ()
    power: float = 1.0
    per_example: int = 1

    @cached_property
    def prior(self) -> _core.Prior:
        tables = self.tables
        return _core.Prior(
            tables.log_split,
            tables.log_leaf_open,
            tables.log_leaf_closed,
            tables.per_test,
            self.attributes,
            tables.test_weight,
        )

    @cached_property
    def dirichlet(self) -> _core.Dirichlet:
        return _core.Dirichlet(self.rows, self.power, self.per_example, self.tables.kappa)

    @property
    def depend_on_depth(self) -> bool:
        """Whether nodes at different depths weigh differently: then equal covers are kept apart by depth."""
        return self.tables.depend_on_depth or len(self.rows) > 1

    def with_rows(self, rows: Rows) -> Weights:
        """The same prior with other Dirichlet parameters."""
        return replace(self, rows=rows)


def tabulated(
    prior: Prior,
    dirichlet: Dirichlet,
    n_classes: int,
    deepest: int,
    attributes: Sequence[int] = (),
    deepest_rows: int | None = None,
) -> Weights:
    """The tables down to depth ``deepest``, those of the Dirichlet parameters to ``deepest_rows`` if given.

    >>> from everytree import SizePrior
    >>> weights = tabulated(SizePrior(), "1/C", 4, 3)
    >>> len(weights.tables.log_split), weights.rows, weights.depend_on_depth
    (4, [[0.25, 0.25, 0.25, 0.25]], True)
    """
    rows = dirichlet_rows(dirichlet, n_classes, deepest if deepest_rows is None else deepest_rows)
    return Weights(prior.tables(deepest), rows, attributes)
