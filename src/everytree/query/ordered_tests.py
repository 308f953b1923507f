"""The best tree of a space with many cuts, by the search over ordered columns.

The cuts of a column are nested tests: one that holds makes every later one hold. So their outcomes are a rank,

    rank = the number of cuts that do not hold,      cut k holds  iff  rank <= k

and every other test is a column of two ranks. Local cuts with ``bins="all"`` are the same: a node that has code k may
ask the test of k, and these are the cuts between its rows. What the ordered search does not know, or what has few cuts,
takes the general road.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everytree.data.counted_rows import CountedRows
from everytree.data.local_columns import ORDERED, LocalColumns
from everytree.engine.certificate import certificate
from everytree.query.every_cut import Solved, in_whole_numbers, solved
from everytree.query.plan import Inside, Plan, Session

__all__ = ["Ordered", "by_ordered_search", "chains_of"]

FEW_CELLS = 200_000  # outcomes of tests on rows, below which the general road is no slower
FEW_CUTS = 64  # the same for the cuts of a column, on average


class Ordered:
    """A tree that the ordered search found, by its key, and how sure it is the best."""

    def __init__(self, found: Solved, chains: list[list[int]], cost: str) -> None:
        number = int if isinstance(found.objective, int) and cost in ("error", "errors") else float
        self.objective = number(found.objective)
        self.key = [
            chains[at][rank] if at >= 0 else -1 for at, rank in zip(found.columns, found.ranks, strict=True)
        ]
        self.proof = certificate(self.objective, number(found.lower), found.stopped)
        self.proof |= {"n_states": found.n_states, "n_bytes": found.n_bytes}


def chains_of(table: CountedRows, kept: list[int] | None) -> list[list[int]] | None:
    """Return the tests by column, the cuts of a column in order, or None where columns are not known.

    Parameters
    ----------
    table : CountedRows
        The rows, with all tests.
    kept : list of int or None
        The tests that count; None means all.

    Returns
    -------
    list of list of int or None
        The tests of each column, the one that holds least often first.
    """
    used = set(range(table.n_tests) if kept is None else kept)
    if table.columns is not None:
        found = _local_chains(table.columns)
        # A node whose column has some of its tests would ask others than those between its rows.
        whole = found is not None and all(len({test in used for test in chain}) == 1 for chain in found)
        return [chain for chain in found or () if chain[0] in used] if whole else None
    tests = None if table.binarizer is None else table.binarizer.tests_
    if tests is None or len(tests) != table.n_tests:
        return None
    cuts: dict[int, list[int]] = {}
    chains = []
    for test in sorted(used):
        if tests[test].op == "<=":
            cuts.setdefault(tests[test].column, []).append(test)
        else:
            chains.append([test])
    chains += [sorted(listed, key=lambda test: tests[test].value) for listed in cuts.values()]
    return chains


def _local_chains(columns: LocalColumns) -> list[list[int]] | None:
    """Return the tests of columns that are cut everywhere; None if a state may ask only some of them."""
    chains = []
    for column in columns.columns:
        tests = list(range(column.begin, column.end))
        if column.kind == ORDERED:
            if column.fine is not None and column.bins != 0:
                return None
            chains.append(tests)
        else:
            chains += [[test] for test in tests]
        if column.missing >= 0:
            chains.append([column.missing])
    return chains


def by_ordered_search(session: Session, plan: Plan, inside: Inside) -> Ordered | None:
    """Find the best tree of a plan that asks for one of least cost, or None where the general road is the better one.

    Parameters
    ----------
    session : Session
        The question.
    plan : Plan
        What it asks for: a cost, then perhaps the size.
    inside : Inside
        The space that the plan's bounds leave.

    Returns
    -------
    Ordered or None
        The tree, by its key over all tests.
    """
    table, space = session.space.table, inside.space
    leaf, depth = plan.leaf, space.max_depth
    n_tests = space.n_tests
    if (
        plan.bounds
        or leaf.margin
        or leaf.chi2
        or leaf.p_value
        or table.per_example != 1
        or depth is None
        or depth < 2
        or n_tests < FEW_CUTS
        or n_tests * table.n_rows < FEW_CELLS
    ):
        return None
    question = in_whole_numbers(plan.rank, table, depth, (plan.cost_matrix, plan.class_weight), plan.penalty)
    chains = None if question is None else chains_of(table, inside.kept)
    if question is None or chains is None or n_tests < FEW_CUTS * len(chains):
        return None
    row, label = np.nonzero(table.class_counts)
    weights = np.asarray(table.class_counts[row, label], dtype=np.int64)
    given = None if bool((weights == 1).all()) else weights
    ranks = [_ranks(table.rows, chain)[row] for chain in chains]
    found = solved(question, ranks, label, given, depth, space.min_count, session.control)
    return Ordered(found, chains, plan.costs[0])


def _ranks(rows: npt.NDArray[np.uint8], chain: list[int]) -> npt.NDArray[np.uint32]:
    """Return how many tests of a chain do not hold for each row.

    >>> _ranks(np.array([[0, 1, 1], [0, 0, 1]], dtype=np.uint8), [1, 2]).tolist()
    [0, 1]
    """
    ranks: npt.NDArray[np.uint32] = (len(chain) - rows[:, chain].sum(axis=1, dtype=np.int64)).astype(
        np.uint32
    )
    return ranks
