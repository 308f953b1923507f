"""Mined itemsets as an inductive database: they are mined once, kept in a file, and asked again.

An itemset is the path to a node of a tree: tests with their outcomes. DL8 needs the class counts of each, and

    ∅ is there;                     every subset of an itemset is there, and counts no less of any class;
    if I∪t is there and n(I) − n(I∪t) holds at least min_leaf examples, then I∪¬t is there with these counts
                                    (unless I is of one class and itemsets of one class are not extended, or the
                                    itemsets were mined under a constraint, which I∪¬t may not satisfy)

A query is answered on the itemsets alone, without the rows they were mined from. Bounds on depth and leaves and
constraints on paths may be tighter than those of the mining, never looser.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import refused, whole
from everytree.common.limits import Limits, blocks
from everytree.engine.certificate import certificate
from everytree.engine.engine import Engine
from everytree.errors import DataError, LimitReached, NoTreeError, QueryError
from everytree.query import itemset_file
from everytree.query.paths import PathPredicate, Paths, paths_of
from everytree.query.plan import Plan, cost_of, plan_of
from everytree.query.query import Query, query_of
from everytree.query.solve import Found, criteria_of, shape_of
from everytree.query.why import explained
from everytree.trees.answers import answered
from everytree.trees.tree import Tree

__all__ = ["ItemsetDatabase", "mined_from"]

# Of an itemset in the dictionary, its two tuples without their entries; numbers above 256 are objects of 28 bytes.
BYTES_OF_ITEMSET = 200
Itemset = tuple[int, ...]  # test << 1 | outcome, ascending


@dataclass(frozen=True)
class ItemsetDatabase:
    """Itemsets with their class counts, which answer queries for trees without the rows that they were mined from.

    ``TreeSpace.mine`` makes one; ``from_itemsets`` takes the itemsets of another miner, and ``load`` those of a file.

    Parameters
    ----------
    itemsets : dict
        The class counts by itemset; an itemset is a tuple of numbers 2 · test + outcome, in ascending order.
    n_tests : int
        The number of tests.
    n_classes : int
        The number of classes.
    min_leaf : int, default=1
        The fewest examples of an itemset: all that have as many are there, as far as a tree may contain them.
    max_depth : int or None, default=None
        The most items of an itemset; None means no limit.
    extend_pure : bool, default=False
        Whether itemsets of one class are extended too. The k best trees and required tests need that.
    test_names : sequence of str or None, default=None
        The names of the tests.
    classes : sequence or None, default=None
        The labels of the classes.
    paths : str or None, default=None
        The name of the constraint on class counts that the itemsets were mined with; None means that there was none.
    limits : Limits, default=Limits()
        The limits of time and memory for each question.
    mined : bool, default=False
        Whether the itemsets are whole and in order, as those of ``TreeSpace.mine`` are; others are checked and sorted.

    Raises
    ------
    DataError
        If the itemsets lack something that DL8 needs; the message names the itemset.

    Examples
    --------
    >>> import everytree as et
    >>> space = et.TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> database = space.mine()
    >>> database
    ItemsetDatabase(9 itemsets, 2 tests, 2 classes, min_leaf=1, max_depth=2)
    >>> database.best(("size", "error"), min_accuracy=0.7).size
    5
    """

    itemsets: dict[Itemset, tuple[int, ...]] = field(repr=False)
    n_tests: int
    n_classes: int
    min_leaf: int = 1
    max_depth: int | None = None
    extend_pure: bool = False
    test_names: tuple[str, ...] | None = None
    classes: tuple[Any, ...] | None = None
    paths: str | None = None
    limits: Limits = field(default_factory=Limits, compare=False)
    mined: InitVar[bool] = False

    def __post_init__(self, mined: bool) -> None:
        if mined:
            return
        _check(self)
        ordered = sorted(self.itemsets, key=lambda items: (len(items), items))
        object.__setattr__(self, "itemsets", {items: self.itemsets[items] for items in ordered})

    def __repr__(self) -> str:
        depth = "" if self.max_depth is None else f", max_depth={self.max_depth}"
        paths = "" if self.paths is None else f", paths={self.paths!r}"
        return (
            f"ItemsetDatabase({len(self.itemsets)} itemsets, {self.n_tests} tests, {self.n_classes} classes, "
            f"min_leaf={self.min_leaf}{depth}{paths})"
        )

    def __len__(self) -> int:
        return len(self.itemsets)

    # --- what a plan asks of data

    @property
    def attribute_names(self) -> None:
        """The attributes are those in the names of the tests."""

    @property
    def table(self) -> ItemsetDatabase:
        """The database itself, which knows how many examples of each class there are."""
        return self

    @property
    def columns(self) -> None:
        """Itemsets are of tests that are the same in every node."""

    @property
    def class_totals(self) -> npt.NDArray[np.int64]:
        """The examples of each class: the counts of the empty itemset."""
        return np.array(self.itemsets[()], dtype=np.int64)

    @property
    def total(self) -> int:
        """The number of examples."""
        return sum(self.itemsets[()])

    @property
    def per_example(self) -> int:
        """Itemsets count whole examples: 1."""
        return 1

    # --- questions

    def best(
        self,
        minimize: Query | Sequence[str] | str = ("error", "size"),
        *,
        k: int | None = None,
        paths: PathPredicate | None = None,
        **query: Any,
    ) -> Any:
        """Find the best tree under a ranking and constraints, or the ``k`` best in order.

        Parameters
        ----------
        minimize : Query, str or sequence of str, default=("error", "size")
            The criteria, most important first, or a ``Query``.
        k : int or None, default=None
            The number of trees; with k > 1 the answer is a list.
        paths : callable or None, default=None
            A constraint on the class counts of every node, as in ``TreeSpace.best``.
        **query : object
            The other arguments of ``Query``, as in ``TreeSpace.best``. The limits on depth and leaves and the
            constraint on paths that the itemsets were mined with hold too.

        Returns
        -------
        Tree or list of Tree
            The best tree, or with k > 1 a list of at most ``k`` trees, best first.

        Raises
        ------
        NoTreeError
            If no tree of these itemsets satisfies the query; the message names the tightest constraint.
        QueryError
            If the query makes no sense, or asks for what these itemsets cannot tell.
        """
        asked = query_of(minimize, **query)
        n_trees = 1 if k is None else whole("k", k, 1)
        plan = replace(plan_of(asked, self), paths=paths_of(paths))
        if (n_trees > 1 or plan.require) and not self.extend_pure:
            what = f"k={n_trees}" if n_trees > 1 else f"require={asked.require!r}"
            raise QueryError(
                f"{what} needs itemsets that extend those of one class, which this database leaves out; mine with "
                "extend_pure=True"
            )
        control = self.limits.control()
        trees = self._solved(plan, n_trees, control)
        if not trees:
            raise self._why_none(plan, control)
        cost = cost_of(plan, asked.cost, self)
        found = []
        for each in trees:
            objective = each.values[asked.cost]
            facts = {"objective": objective} | each.others(asked.cost)
            facts |= (certificate(objective) if n_trees == 1 else {}) | {"itemsets": len(self)}
            found.append(answered(self._tree(each.key, facts), cost))
        return found[0] if k is None or k == 1 else found

    def _solved(self, plan: Plan, k: int, control: _core.Control) -> list[Found]:
        """Find the k best trees of a plan; none if there is none."""
        least = max(self.min_leaf, int(plan.leaf.rule(self.class_totals).least_support()))
        if least > self.total:
            return []
        kept = self._kept(plan)
        if not kept:  # the constraint on paths turns down all examples together
            return []
        depths = [depth for depth in (self.max_depth, plan.max_depth) if depth is not None]
        criteria = criteria_of(plan, self)
        core_query = (
            [cost.core for cost in criteria.costs],
            [criteria.place[name] for name in plan.rank],
            criteria.bounds,
            self._bits(plan.require),
            k,
        )
        trees, _ = _core.ask_itemsets(
            *_for_core(kept),
            self.n_tests,
            self.n_classes,
            core_query,
            min(depths) if depths else -1,
            least,
            control,
        )
        found = []
        for values, key in trees:
            if len(values) == 1:  # the plain query tells only the cost
                value = criteria.costs[0].in_query_units(values[0])
                found.append(Found({plan.costs[0]: value}, *shape_of(key), key))
            else:
                found.append(criteria.found(values, key, plan, len(kept)))
        return found

    def _why_none(self, plan: Plan, control: _core.Control) -> NoTreeError:
        why = explained(lambda plan: self._solved(plan, 1, control), self.total, plan)
        mined = [f"min_leaf={self.min_leaf}"]
        mined += [] if self.max_depth is None else [f"max_depth={self.max_depth}"]
        mined += [] if self.paths is None else [f"paths={self.paths}"]
        text = f"{why} (in these {len(self)} itemsets, mined with {', '.join(mined)})"
        return NoTreeError(text, why.constraints, why.together)

    def _kept(self, plan: Plan) -> dict[Itemset, tuple[int, ...]]:
        """Return the itemsets without forbidden tests, and within the plan's constraint on paths."""
        forbidden = frozenset[int]().union(*(item.tests for item in plan.forbid))
        paths = plan.paths
        kept = {
            items: counts
            for items, counts in self.itemsets.items()
            if (not forbidden or all(item >> 1 not in forbidden for item in items))
            and (paths is None or paths(counts))
        }
        if paths is not None:
            paths.check()
        return kept

    def _bits(self, require: Any) -> list[int]:
        if not require:
            return []
        return [
            sum(1 << k for k, item in enumerate(require) if test in item.tests)
            for test in range(self.n_tests)
        ]

    def _tree(self, key: Sequence[int], info: dict[str, Any]) -> Tree:
        """Make the tree of a key; the counts of its nodes are those of their itemsets."""
        children: list[list[int]] = []
        counts: list[tuple[int, ...]] = []
        open_nodes: list[tuple[Itemset, int, int]] = [((), -1, 0)]  # itemset, parent, side
        for node, test in enumerate(key):
            items, parent, side = open_nodes.pop()
            if parent >= 0:
                children[parent][side] = node
            children.append([-1, -1])
            counts.append(self.itemsets[items])
            if test >= 0:
                for outcome in (1, 0):
                    open_nodes.append((tuple(sorted((*items, 2 * test + outcome))), node, outcome))
        return Tree(
            children, list(key), counts,
            n_tests=self.n_tests, test_names=self.test_names, classes=self.classes, info=info,
        )  # fmt: skip

    # --- itemsets from elsewhere, files

    @classmethod
    def from_itemsets(
        cls,
        itemsets: Iterable[tuple[Iterable[tuple[int | str, int]], Iterable[int]]],
        *,
        tests: int | Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        min_leaf: int = 1,
        max_depth: int | None = None,
        extend_pure: bool = False,
        paths: str | None = None,
    ) -> ItemsetDatabase:
        """Make a database of the itemsets of another miner.

        Parameters
        ----------
        itemsets : iterable of (itemset, counts)
            Each itemset is an iterable of items (test, outcome), where a test is its number or its name and an outcome
            0 or 1; counts are its examples of each class.
        tests : int, sequence of str or None, default=None
            The number of tests or their names; None means as many as the items need.
        classes : sequence or None, default=None
            The labels of the classes.
        min_leaf : int, default=1
            The minimum frequency that was used.
        max_depth : int or None, default=None
            The longest itemset that was wanted; None means no limit.
        extend_pure : bool, default=False
            Whether itemsets of one class were extended too.
        paths : str or None, default=None
            The name of a constraint on class counts that was used; itemsets that it turns down may be missing.

        Returns
        -------
        ItemsetDatabase
            The database, checked for what DL8 needs.

        Raises
        ------
        DataError
            If something is missing or does not add up; the message names the itemset.

        Examples
        --------
        >>> mined = [([], [2, 2]), ([("A", 0)], [2, 0]), ([("A", 1)], [0, 2])]
        >>> ItemsetDatabase.from_itemsets(mined, tests=["A"]).best().error
        0
        """
        names = None if tests is None or isinstance(tests, int) else tuple(str(name) for name in tests)
        number = {name: k for k, name in enumerate(names or ())}
        found: dict[Itemset, tuple[int, ...]] = {}
        n_classes = None
        for entry in itemsets:
            items, counts = _entry(entry, number)
            if items in found:
                raise DataError(f"the itemset {_shown(items, names)} occurs twice; give each once")
            n_classes = len(counts) if n_classes is None else n_classes
            found[items] = counts
        n_tests = max((item // 2 + 1 for items in found for item in items), default=0)
        if tests is not None:
            n_tests = whole("tests", tests, 0) if isinstance(tests, int) else len(tests)
        labels = None if classes is None else tuple(classes)
        return cls(found, n_tests, n_classes or 0, min_leaf, max_depth, extend_pure, names, labels, paths)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the database as JSON lines: a header, then one itemset with its counts on each line.

        Parameters
        ----------
        path : str or path
            The file, which is written whole or not at all.
        """
        fields = {
            "tests": self.n_tests if self.test_names is None else list(self.test_names),
            "classes": self.classes,
            "min_leaf": self.min_leaf,
            "max_depth": self.max_depth,
            "extend_pure": self.extend_pure,
            "paths": self.paths,
        }
        itemset_file.write(fields, self.itemsets, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ItemsetDatabase:
        """Read a database from a file, and check it as ``from_itemsets`` does.

        Parameters
        ----------
        path : str or path
            A file that ``save`` or another miner has written.

        Returns
        -------
        ItemsetDatabase
            The database.

        Raises
        ------
        DataError
            If the file is not one of itemsets; the message names the line.
        """
        header, entries = itemset_file.read(path)
        return cls.from_itemsets(
            entries,
            tests=header["tests"],
            classes=header["classes"],
            min_leaf=header["min_leaf"],
            max_depth=header["max_depth"],
            extend_pure=header["extend_pure"],
            paths=header["paths"],
        )


def _for_core(kept: dict[Itemset, tuple[int, ...]]) -> tuple[Any, Any, Any]:
    items = np.array([item for items in kept for item in items], dtype=np.uint32)
    ends = np.cumsum([len(items) for items in kept], dtype=np.int64)
    counts = np.array([n for each in kept.values() for n in each], dtype=np.int32)
    return items, ends, counts


def mined_from(engine: Engine, extend_pure: bool, paths: Paths | None = None) -> ItemsetDatabase:
    """Mine the itemsets that trees of an engine may contain, and that satisfy a constraint."""
    depth = -1 if engine.max_depth is None else engine.max_depth
    engine.refuse_local("mining itemsets")
    if engine.table.per_example != 1:
        raise QueryError(
            "mining itemsets counts whole examples, and the weights of these have fractions; round sample_weight, or "
            "multiply it by a whole number"
        )
    if paths is not None and not paths(engine.table.class_totals):
        paths.check()
        raise NoTreeError(
            f"no tree keeps every node within paths={paths.name}: it turns down all examples together, which have the "
            f"class counts {engine.table.class_totals.tolist()}",
            ("paths",),
        )
    with engine.question("mining itemsets") as control:
        items, ends, counts = _core.mine_itemsets(
            engine.table_of_search(), depth, engine.min_leaf, extend_pure, control, paths
        )
        if paths is not None:
            paths.check()
        n_classes = engine.table.n_classes
        counts = counts.reshape(-1, n_classes)
        begins = np.concatenate([[0], ends[:-1]])
        made = (
            BYTES_OF_ITEMSET * len(ends)
            + 8 * (items.size + counts.size)
            + 28 * np.count_nonzero(counts > 256)
        )
        if made > engine.limits.memory:
            raise LimitReached("memory limit reached", "memory")
        found: dict[Itemset, tuple[int, ...]] = {}
        for block in blocks(len(ends), 64 + 16 * n_classes, control):
            for begin, end, row in zip(begins[block], ends[block], counts[block].tolist(), strict=True):
                found[tuple(items[begin:end].tolist())] = tuple(row)
    names, classes = engine.table.test_names, engine.table.classes
    return ItemsetDatabase(
        found, engine.n_tests, n_classes, engine.min_leaf, engine.max_depth, extend_pure,
        None if names is None else tuple(names), None if classes is None else tuple(classes),
        None if paths is None else paths.name, engine.limits, mined=True,
    )  # fmt: skip


# --- checks


def _entry(entry: Any, number: dict[str, int]) -> tuple[Itemset, tuple[int, ...]]:
    try:
        given, counted = entry
        pairs = [(test, outcome) for test, outcome in given]
        counts = tuple(counted)
    except (TypeError, ValueError):
        raise refused(
            DataError, "itemsets", entry, says=" is no itemset; expected ([(test, outcome), …], [counts])"
        ) from None
    items = []
    for test, outcome in pairs:
        place = number.get(test) if isinstance(test, str) else test
        if type(place) is not int or place < 0 or outcome not in (0, 1):
            raise DataError(
                f"the item ({test!r}, {outcome!r}) is unknown; expected the number or the name of a test, and 0 or 1"
            )
        items.append(2 * place + int(outcome))
    if len({item >> 1 for item in items}) < len(items):
        raise DataError(f"the itemset {pairs!r} has a test twice; give each test once")
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count < 2**29:
            raise DataError(f"the itemset {pairs!r} has the count {count!r}; expected a whole number ≥ 0")
    return tuple(sorted(items)), tuple(int(count) for count in counts)


def _shown(items: Itemset, names: Sequence[str] | None) -> str:
    told = [f"{names[item >> 1] if names else item >> 1}={item & 1}" for item in items]
    return "{" + ", ".join(told) + "}"


def _check(database: ItemsetDatabase) -> None:
    """Refuse itemsets that lack what DL8 needs."""
    known, names = database.itemsets, database.test_names
    min_leaf = whole("min_leaf", database.min_leaf, 1)
    if database.max_depth is not None:
        whole("max_depth", database.max_depth, 0, none="no limit")
    if () not in known:
        raise DataError("the empty itemset is missing; add ([], [examples of each class])")
    for given, wanted, what in (
        (names, database.n_tests, "test_names"),
        (database.classes, database.n_classes, "classes"),
    ):
        if given is not None and len(given) != wanted:
            raise DataError(f"{what} has {len(given)} entries; the itemsets have {wanted}")
    for items, counts in known.items():
        here = _shown(items, names)
        if len(counts) != database.n_classes or not counts:
            raise DataError(
                f"the itemset {here} has {len(counts)} counts; expected {database.n_classes}, one per class"
            )
        if items and items[-1] >> 1 >= database.n_tests:
            raise DataError(f"the itemset {here} has a test beyond the {database.n_tests} there are")
        if sum(counts) < min_leaf:
            raise DataError(
                f"the itemset {here} holds {sum(counts)} examples; expected at least min_leaf={min_leaf}: leave it out"
            )
        if database.max_depth is not None and len(items) > database.max_depth:
            raise DataError(
                f"the itemset {here} has {len(items)} items; expected at most max_depth={database.max_depth}"
            )
        for k, item in enumerate(items):
            _check_parent(database, items, counts, (*items[:k], *items[k + 1 :]), item)


def _check_parent(
    database: ItemsetDatabase, items: Itemset, counts: tuple[int, ...], parent: Itemset, item: int
) -> None:
    known, names = database.itemsets, database.test_names
    here, there = _shown(items, names), _shown(parent, names)
    if parent not in known:
        raise DataError(
            f"{here} is an itemset but its subset {there} is not; expected every subset of an itemset: add it"
        )
    above = known[parent]
    rest = tuple(a - b for a, b in zip(above, counts, strict=True))
    if min(rest) < 0:
        raise DataError(
            f"{here} counts {list(counts)} examples and its subset {there} {list(above)}; expected that a subset "
            "counts no less of any class: count both on the same rows"
        )
    other = tuple(sorted((*parent, item ^ 1)))
    if other in known:
        if known[other] != rest:
            raise DataError(
                f"{_shown(other, names)} counts {list(known[other])} examples; expected {list(rest)}, those of {there} "
                f"without those of {here}"
            )
    elif (
        database.paths is None
        and sum(rest) >= database.min_leaf
        and (database.extend_pure or sum(n > 0 for n in above) > 1)
    ):
        raise DataError(
            f"{_shown(other, names)} is missing; expected it with counts {list(rest)}, those of {there} without "
            f"those of {here}: add it, or give the min_leaf that the itemsets were mined with"
        )
