"""The best tree of a space with many cuts, by the search over ordered columns.

The cuts of a column are nested tests: one that holds makes every later one hold. So their outcomes are a rank,

    rank = the number of cuts that do not hold,      cut k holds  iff  rank <= k

and every other test is a column of two ranks. Local cuts with ``bins="all"`` are the same: a node that has code k may
ask the test of k, and these are the cuts between its rows. There ranks are codes, so that no matrix of tests is made.

Where values are missing the rows of a node may be cut between its greatest value and those without one. A node with
local cuts asks that as "is missing", with its sides exchanged.

What the ordered search does not know, or what has few cuts, takes the general road.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from everytree.data.counted_rows import CountedRows
from everytree.data.local_columns import ORDERED, LocalColumns
from everytree.data.table_codes import codes_of, holding
from everytree.engine.certificate import certificate
from everytree.query.every_cut import Solved, in_whole_numbers, solved
from everytree.query.plan import Inside, Plan, Session

__all__ = ["Ordered", "by_ordered_search", "chains_of", "offered_key"]

# Below these the general road is no slower. CPU of this search over that of the general one, 3 or 8 columns, 100 to
# 3,000 rows, two classes, at depth 2 and at depth 3:
#     4 or 16 cuts to a column    0.7 to 1.4    0.8 to 4.4
#     64                          0.9 to 1.1    0.7 to 1.5
#     256                         0.7 to 1.2    0.2 to 0.5
# With fewer than 200,000 outcomes of tests on rows the general one took 10 ms or less, and it can be continued.
FEW_CELLS, FEW_CUTS = 200_000, 64


class Ordered:
    """A tree that the ordered search found, by its key, and how sure it is the best."""

    def __init__(self, found: Solved, key: list[int], cost: str) -> None:
        number = int if isinstance(found.objective, int) and cost in ("error", "errors") else float
        self.objective = number(found.objective)
        self.key = key
        self.proof = certificate(self.objective, number(found.lower), found.stopped)
        self.proof |= {"n_states": found.n_states, "n_bytes": found.n_bytes}


def chains_of(table: CountedRows, kept: list[int] | None) -> list[Sequence[int]] | None:
    """Return the tests by column, the cuts of a column in order, or None where columns are not known.

    Parameters
    ----------
    table : CountedRows
        The rows, with all tests.
    kept : list of int or None
        The tests that count; None means all.

    Returns
    -------
    list of sequence of int or None
        The tests of each column, the one that holds least often first.
    """
    if table.columns is not None:
        found = _local_chains(table.columns)
        if found is None or kept is None:
            return found
        used = set(kept)
        # A node whose column has some of its tests would ask others than those between its rows.
        whole = all(len({test in used for test in chain}) == 1 for chain in found)
        return [chain for chain in found if chain[0] in used] if whole else None
    tests = None if table.binarizer is None else table.binarizer.tests_
    if tests is None or len(tests) != table.n_tests:
        return None
    cuts: dict[int, list[int]] = {}
    chains: list[Sequence[int]] = []
    for test in range(table.n_tests) if kept is None else sorted(set(kept)):
        if tests[test].op == "<=":
            cuts.setdefault(tests[test].column, []).append(test)
        else:
            chains.append([test])
    chains += [sorted(listed, key=lambda test: tests[test].value) for listed in cuts.values()]
    return chains


def _local_chains(columns: LocalColumns) -> list[Sequence[int]] | None:
    """Return the tests of columns that are cut everywhere; None if a state may ask only some of them."""
    chains: list[Sequence[int]] = []
    for column in columns.columns:
        tests = range(column.begin, column.end)
        if column.kind == ORDERED:
            if column.fine is not None and column.bins != 0:
                return None
            if tests:
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
    ranks = [_ranks(table, chain)[row] for chain in chains]
    found = solved(question, ranks, label, given, depth, space.min_count, space.n_threads, session.control)
    key = [chains[at][rank] if at >= 0 else -1 for at, rank in zip(found.columns, found.ranks, strict=True)]
    if table.columns is not None and any(column.missing >= 0 for column in table.columns.columns):
        key = offered_key(key, table.columns, codes_of(table), depth)
    return Ordered(found, key, plan.costs[0])


def _ranks(table: CountedRows, chain: Sequence[int]) -> npt.NDArray[np.uint32]:
    """Return how many tests of a chain do not hold for each row.

    >>> table = CountedRows([[0, 1, 1], [0, 0, 1]], [[1, 0], [0, 1]])
    >>> _ranks(table, [1, 2]).tolist()
    [1, 0]
    """
    if table.columns is None or len(chain) == 1:
        fewer: npt.NDArray[np.int64] = np.full(table.n_rows, len(chain), dtype=np.int64)
        for test in chain:
            fewer -= holding(table, test)
        return fewer.astype(np.uint32)
    place = next(k for k, column in enumerate(table.columns.columns) if chain[0] < column.stop)
    # The last code and that of a missing value hold none.
    return np.minimum(codes_of(table)[:, place], len(chain)).astype(np.uint32)


def offered_key(
    key: Sequence[int], columns: LocalColumns, codes: npt.NDArray[np.int32], max_depth: int
) -> list[int]:
    """Return the same tree by tests that the states of its nodes offer, where values may be missing.

    Parameters
    ----------
    key : sequence of int
        The tests of the tree in preorder, -1 for a leaf.
    columns : LocalColumns
        Which tests belong to which column.
    codes : array of int, shape (n_rows, n_columns)
        The codes of all rows.
    max_depth : int
        The most tests on any path of the space: the lowest level asks the tests of the state above it.

    Returns
    -------
    list of int
        The key of a tree that sends every row to the same leaf.
    """
    steps = iter(key)
    place = {
        test: k
        for test in key
        if test >= 0
        for k, c in enumerate(columns.columns)
        if c.begin <= test < c.stop
    }

    def below(rows: npt.NDArray[np.intp], above: npt.NDArray[np.intp], depth: int) -> list[int]:
        test = next(steps)
        if test < 0:
            return [-1]
        column, here = columns.columns[place[test]], codes[:, place[test]]
        holds = column.holds(here[rows], test)
        zero = below(rows[~holds], rows, depth + 1)
        one = below(rows[holds], rows, depth + 1)
        asked = here[above if max_depth - depth == 1 else rows]
        cut = column.kind == ORDERED and test != column.missing
        if cut and not ((asked > test - column.begin) & (asked < column.n_codes)).any():
            return [column.missing, *one, *zero]
        return [test, *zero, *one]

    everything = np.arange(len(codes))
    return below(everything, everything, 0)
