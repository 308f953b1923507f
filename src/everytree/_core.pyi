"""
The compiled core of everytree. Use it through everytree.TreeSpace and the estimators.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


def kernels() -> str:
    """Name of the kernels in use."""

def available_kernels() -> list[str]:
    """Names of the kernels this CPU can run, portable first."""

def use_kernels(name: str) -> None:
    """Use these kernels from now on; "" picks the fastest."""

def tied(x: float, y: float) -> bool:
    """Whether two scores are the same up to the rounding of sums."""

def below(x: float) -> float:
    """Anything at or above this does not improve on x."""

def above(x: float) -> float:
    """Anything at or above this is worse than x."""

class Prior:
    """
    A prior over trees as tables by depth, whose last entries go on; checked.
    """

    def __init__(self, log_split: Sequence[float], log_leaf_open: Sequence[float], log_leaf_closed: Sequence[float], per_test: bool, attributes: Sequence[int] = [], test_weight: float = 1.0) -> None: ...

    def __getstate__(self) -> tuple[list[float], list[float], list[float], bool, list[int], float]: ...

    def __setstate__(self, arg: tuple[Sequence[float], Sequence[float], Sequence[float], bool, Sequence[int], float], /) -> None: ...

class Dirichlet:
    """Dirichlet parameters of leaves, by depth and class; checked."""

    def __init__(self, rows: Sequence[Sequence[float]], power: float = 1.0, per_example: int = 1, kappa: float = 0.0) -> None: ...

    def __getstate__(self) -> tuple[list[list[float]], float, int, float]: ...

    def __setstate__(self, arg: tuple[Sequence[Sequence[float]], float, int, float], /) -> None: ...

class LeafRule:
    """Which nodes may be leaves, by their class counts."""

    def __init__(self, min_support: int = 0, min_margin: int = 0, min_chi2: float = 0.0, totals: Sequence[int] = []) -> None: ...

    def least_support(self) -> int:
        """No leaf with fewer examples is allowed."""

    def allows(self, counts: Sequence[int]) -> bool:
        """Whether a node with these class counts may be a leaf."""

class LeafCost:
    """An additive cost of leaves."""

    def __init__(self, kind: str, n_classes: int, matrix: Sequence[float] = [], confidence: float = 0.25, per_leaf: float = 0.0, rule: LeafRule = ..., per_example: int = 1) -> None: ...

    def same(self, other: LeafCost) -> bool:
        """Whether both give the same number for every leaf."""

class Control:
    """Limits of a computation, a way to stop it, and its progress callback."""

    def __init__(self, time_limit: float | None = None, memory_limit: int | None = None, progress: object | None = None) -> None: ...

    def check(self) -> None:
        """Raise if a limit is reached."""

    def check_memory(self, bytes: int) -> None:
        """Raise if so many bytes would exceed the memory limit."""

    def hold(self, bytes: int) -> None:
        """
        Count bytes that are kept outside of the core: the memory limit is so much less from here on.
        """

    def stop(self) -> None:
        """Stop the running computation, from any thread."""

class CountTable:
    """Distinct 0/1 rows with class counts, as bit columns."""

    def __init__(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control, columns: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)] | None = None, uppers: Sequence[Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None] = []) -> None:
        """
        columns: int32 rows (kind, first test, end of tests, test for missing or -1, bins); states choose their tests from them. uppers: for each column None, or the upper of each pair of codes, where it is not the second of them.
        """

class Graph:
    """The AND/OR graph of all trees of a space."""

    def __init__(self, table: CountTable, max_depth: int, min_leaf: int, by_depth: bool, merge: bool, frontier: bool, n_threads: int, control: Control) -> None: ...

    @property
    def n_states(self) -> int: ...

    @property
    def n_inner(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def deepest(self) -> int: ...

    def limited(self, control: Control) -> bool:
        """Whether a deeper limit would admit more trees."""

    def count(self, control: Control) -> bytes:
        """Number of trees, little-endian bytes."""

    def best(self, cost: LeafCost, k: int, control: Control) -> list[tuple[float, list[int]]]:
        """The k trees of least cost: (cost, key) pairs."""

    def least(self, cost: LeafCost, control: Control) -> float:
        """The least cost alone."""

    def front(self, cost: LeafCost, control: Control) -> list[tuple[int, float, list[int]]]:
        """
        Least cost for every number of leaves, dominated ones left out: (leaves, cost, key).
        """

def estimate(table: CountTable, max_depth: int, min_leaf: int, budget: float, control: Control) -> tuple[float, float, float]:
    """
    About how many states a graph would store, in how many bytes, and the seconds to fold its evidence.
    """

def pareto(graph: Graph, costs: Sequence[LeafCost], rank: Sequence[int], bounds: Sequence[tuple[int, float]], front: bool, required: Sequence[int], k: int, control: Control) -> list[tuple[list[float], list[int]]]:
    """
    The k best trees of a query, or its front: (values of the costs, leaves, depth; key) pairs. Criteria are numbers in that order; `required` has one bit for every required item that a test belongs to.
    """

class NearBest:
    """Every tree with few enough errors for its number of leaves."""

    def __init__(self, graph: Graph, most_leaves: int, n_threads: int, control: Control) -> None: ...

    @property
    def least(self) -> list[int]:
        """Least errors for 1, 2, … leaves; −1 where there is no tree."""

    def keep(self, limits: Sequence[int], control: Control) -> None:
        """Keep the trees with l leaves and at most limits[l − 1] errors."""

    def cells(self, node: int) -> list[tuple[int, int, bytes]]:
        """(leaves, errors, number of trees as little-endian bytes) of a node."""

    def node(self, node: int) -> tuple[int, list[tuple[list[int], int, int]], list[tuple[list[int], int]]]:
        """
        Errors of the leaf (−1: none), splits as (tests, child 0, child 1), cherries as (tests, errors); a test is 2 · test + 1 if its outcome 1 leads to child 0.
        """

    def by_split(self, node: int, leaves: int, errors: int) -> list[bytes]:
        """
        Number of trees of a cell for one test of each split of a node, as little-endian bytes.
        """

    def test_use(self, control: Control) -> list[bytes]:
        """Number of trees that use each test, as little-endian bytes."""

    @overload
    def ask(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], a: Sequence[float], control: Control) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Mean, least and greatest leaf probability, and share of votes, of every class for every row.
        """

    @overload
    def ask(self, rows: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], a: Sequence[float], control: Control) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        The same for rows of what each test reaches, where states choose their tests.
        """

class Posterior:
    """The posterior over every tree of a graph."""

    def __init__(self, graph: Graph, prior: Prior, dirichlet: Dirichlet, linear: bool, n_threads: int, control: Control) -> None: ...

    @property
    def n_bytes(self) -> int:
        """The bytes it holds, with its graph."""

    @property
    def n_own_bytes(self) -> int:
        """The bytes it holds besides its graph."""

    @staticmethod
    def from_parts(graph: Graph, prior: Prior, dirichlet: Dirichlet, linear: bool, parts: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_threads: int, control: Control) -> Posterior:
        """The posterior from parts of the frontier folded elsewhere."""

    @staticmethod
    def send_part(graph: Graph, part: int, n_parts: int) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int32], list[int]]:
        """
        A part of the frontier for another process: covers, depths, and the largest class counts.
        """

    @staticmethod
    def fold_sent(table: CountTable, max_depth: int, min_leaf: int, by_depth: bool, frontier: bool, covers: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], depths: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Sequence[int], prior: Prior, dirichlet: Dirichlet, linear: bool, n_threads: int, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Values of the closed states of a part that was sent: factors and exponents of 2 in turn.
        """

    @property
    def log_evidence(self) -> float: ...

    def bracket(self, n_threads: int, control: Control) -> tuple[float, float]:
        """Bounds on the log evidence of trees of any depth."""

    def log_joint(self, key: Sequence[int]) -> float:
        """Log prior + log marginal likelihood of a tree."""

    def root_distribution(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def inclusion(self, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def inclusion_of(self, owner: Sequence[int], n_sets: int, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """P(some test of set k occurs in the tree)."""

    def log_prior_total(self, control: Control) -> float:
        """Log of the summed prior of all trees."""

    @property
    def log_single_leaf(self) -> float:
        """Log marginal likelihood of the single leaf."""

    def leaves(self, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def depth(self, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def expected_leaves(self, control: Control) -> float: ...

    def sample(self, first: int, n: int, seed: int, control: Control) -> list[list[int]]: ...

    def map(self, control: Control) -> list[int]:
        """Key of the most probable tree."""

    def log_map(self, control: Control) -> float:
        """Log joint of the most probable tree."""

    def top(self, k: int, control: Control) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        The k most probable trees: their log joints, their keys one after the other, and where each ends.
        """

    def path_node(self, steps: Sequence[tuple[int, int]]) -> object:
        """
        P(leaf), P(split by test) and class counts of the node at the end of a path; None if there is none.
        """

    @overload
    def predict(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """P(class | row), averaged over every tree."""

    @overload
    def predict(self, rows: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @overload
    def moments(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Moments of the class probabilities at a row: mean, variance between trees, mean variance within leaves.
        """

    @overload
    def moments(self, rows: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    def leave_one_out(self, counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        E[r p_c] for every row and class of the table that has examples, n_classes numbers each.
        """

def offered_tests(posterior: Posterior, control: Control) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """The tests that states offer, with their uppers."""

class LocalExpansion:
    """The same where states choose their tests."""

    def __init__(self, posterior: Posterior, question_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], control: Control) -> None: ...

    def point(self, epsilon: float) -> tuple[int, float]:
        """(number of rules, bound) for an epsilon."""

    def rules(self, epsilon: float, control: Control) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """
        base, items (test << 1 | outcome), begin of each rule's items, moves (rules × classes), bound.
        """

class Expansion:
    """The average over every tree as a sum of parities."""

    def __init__(self, posterior: Posterior, control: Control) -> None: ...

    def point(self, epsilon: float) -> tuple[int, float]:
        """(number of rules, bound) for an epsilon."""

    def rules(self, epsilon: float, control: Control) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """
        base, items (test << 1 | outcome), begin of each rule's items, moves (rules × classes), bound.
        """

class RuleSum:
    """Predictions by a sum of rules."""

    def __init__(self, base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], items: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_tests: int, floor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def predict(self, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """P(class | row)."""

def mine(table: CountTable, strategy: str, query: tuple[Sequence[LeafCost], Sequence[int], Sequence[tuple[int, float]], Sequence[int], int], max_depth: int, min_leaf: int, control: Control, paths: object | None = None) -> tuple[list[tuple[list[float], list[int]]], dict[str, object]]:
    """
    The answers to a query (costs, rank, bounds, required, k) by a strategy of DL8: (trees, report). Trees are (values, key), best first; values are those of `pareto`, and only the cost where the query ranks one cost, or one cost and then leaves, and nothing else. `paths` is a predicate over class counts, which must be anti-monotone.
    """

def mine_itemsets(table: CountTable, max_depth: int, min_leaf: int, extend_pure: bool, control: Control, paths: object | None = None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    The relevant itemsets by length and items: (items of all, where each ends, class counts of all).
    """

def ask_itemsets(items: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_tests: int, n_classes: int, query: tuple[Sequence[LeafCost], Sequence[int], Sequence[tuple[int, float]], Sequence[int], int], max_depth: int, min_leaf: int, control: Control) -> tuple[list[tuple[list[float], list[int]]], dict[str, object]]:
    """
    The answers to a query on itemsets that were mined before, as `mine` gives them.
    """

class Found:
    """The answer of a search, proved or not."""

    @property
    def cost(self) -> float: ...

    @property
    def lower(self) -> float: ...

    @property
    def proved(self) -> bool: ...

    @property
    def stopped(self) -> str: ...

    @property
    def key(self) -> list[int]: ...

    @property
    def n_states(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

class Part:
    """What is known of a state and its splits."""

    @property
    def upper(self) -> float: ...

    @property
    def key(self) -> list[int]: ...

    @property
    def branches(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @property
    def stopped(self) -> str: ...

    @property
    def n_states(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

class Search:
    """Branch and bound over the states of a table."""

    def __init__(self, table: CountTable, cost: LeafCost, min_leaf: int, n_threads: int = 1, merge: bool = True, identical_rows: bool = True, support: bool = True, similarity: bool = True, siblings: bool = True) -> None: ...

    def run(self, max_depth: int, smallest: bool, control: Control, at_most: float | None = None, most_leaves: int | None = None) -> Found:
        """
        Search until proved or a limit is reached; a later run goes on from there. A tree that costs at_most, and one of those with most_leaves leaves, may be known to exist.
        """

    def greedy(self, max_depth: int, control: Control) -> Found:
        """The greedy tree that no answer is worse than."""

    def look(self, steps: Sequence[tuple[int, int]], max_depth: int, dive: bool, control: Control) -> Part:
        """The splits of the state at the end of some steps, and a tree of it."""

    def work(self, steps: Sequence[tuple[int, int]], max_depth: int, known: Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C', device='cpu', writable=False)], tests: Sequence[int], cut: float, leaves: int, control: Control) -> Part:
        """
        Work on splits of a state until each is proved, costs at least `cut`, or a limit is reached.
        """

    def learn(self, steps: Sequence[tuple[int, int]], max_depth: int, known: Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C', device='cpu', writable=False)], control: Control) -> None:
        """Believe bounds of splits of a state that were found elsewhere."""

class MostProbable:
    """The answer of a search for the most probable tree, proved or not."""

    @property
    def log_joint(self) -> float: ...

    @property
    def upper(self) -> float: ...

    @property
    def proved(self) -> bool: ...

    @property
    def stopped(self) -> str: ...

    @property
    def key(self) -> list[int]: ...

    @property
    def n_states(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

class ProbableSearch:
    """Best first search for the most probable tree."""

    def __init__(self, table: CountTable, prior: Prior, dirichlet: Dirichlet, max_depth: int, min_leaf: int, by_depth: bool, control: Control, merge: bool = True, look_ahead: bool = True, spread: bool = True, outvoted: bool = True, tables: bool = True) -> None: ...

    def run(self, control: Control) -> MostProbable:
        """
        Search until proved or a limit is reached; a later run goes on from there.
        """

class OrderedAnswer:
    """The best tree over every cut-point, proved or not."""

    @property
    def cost(self) -> int: ...

    @property
    def lower(self) -> int: ...

    @property
    def proved(self) -> bool: ...

    @property
    def stopped(self) -> str: ...

    @property
    def columns(self) -> list[int]: ...

    @property
    def ranks(self) -> list[int]: ...

    @property
    def n_solved(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

def best_ordered(ranks: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], classes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], price: int, min_leaf: int, max_depth: int, n_threads: int, control: Control) -> OrderedAnswer:
    """
    The best tree with tests `rank of a column <= r`, over every column and r; ranks has an array for each column. Columns and ranks of the answer are those of its nodes in preorder, the rows above a cut first, −1 for leaves.
    """

class Collapsed:
    """
    Metropolis–Hastings over tops of trees, the levels below summed exactly.
    """

    def __init__(self, table: CountTable, max_depth: int, min_leaf: int, prior: Prior, dirichlet: Dirichlet, linear: bool, n_threads: int, control: Control) -> None: ...

    @property
    def ends_at_root(self) -> bool: ...

    def run(self, n_chains: int, n_draws: int, burn_in: int, thin: int, least: int, seed: int, control: Control) -> tuple[list[tuple[Any, ...]], str]:
        """
        Chains as (keys of their tops, where each ends, top of each draw, log joint of each draw, proposed, accepted), and why they were stopped.
        """

    def log_joint(self, top: Sequence[int]) -> float:
        """Log weight of all trees with this top together."""

    def propose(self, top: Sequence[int], kind: int, seed: int, n: int, control: Control) -> list[tuple[list[int], int, float, float, float] | None]:
        """
        n proposals of one kind: None, or (key, place, log target ratio, log forward, log reverse).
        """

    @overload
    def predict(self, tops: Sequence[Sequence[int]], in_batch: Sequence[Sequence[tuple[int, float]]], n_batches: int, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Σ count · P(class | row, top) by batch: n_batches × (rows · classes)."""

    @overload
    def predict(self, tops: Sequence[Sequence[int]], in_batch: Sequence[Sequence[tuple[int, float]]], n_batches: int, rows: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        The same for rows of what each test reaches, where states choose their tests.
        """

class TreeTarget:
    """What chains over trees sample from."""

    @staticmethod
    def posterior(table: CountTable, prior: Prior, dirichlet: Dirichlet, control: Control) -> TreeTarget: ...

    @staticmethod
    def risk(table: CountTable, phi: str, scale: float, alpha: float) -> TreeTarget:
        """exp(−E), E = scale · R + alpha · leaves."""

class TreeChains:
    """Metropolis–Hastings chains over whole trees."""

    def __init__(self, table: CountTable, max_depth: int, min_leaf: int, target: TreeTarget, kernel: str, odds: Sequence[float], blind: float, n_chains: int, seed: int, n_threads: int, control: Control, density: Sequence[float] = [], ladder: Sequence[float] = [1.0], exchange_every: int = 10, state_bytes: int = 268435456, orders: str = 'counted', density_outright: bool = False) -> None: ...

    @property
    def n_chains(self) -> int: ...

    def start(self, chain: int, key: Sequence[int]) -> None:
        """Put a chain at a tree."""

    def state(self, chain: int) -> tuple[int, int, list[tuple[list[int], list[int], list[int], list[int], list[int], float]], list[int], float]:
        """All that the draws to come depend on."""

    def restore(self, chain: int, state: tuple[int, int, Sequence[tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], Sequence[int], float]], Sequence[int], float]) -> None:
        """Put a chain where a chain was, of the same table and settings."""

    def run(self, n_draws: int, burn_in: int, thin: int, powers: Sequence[float], control: Control) -> tuple[list[dict[str, Any]], str]:
        """
        Go on from where the chains are: one dict of arrays for each, and why they were stopped.
        """

    def log_target(self, key: Sequence[int]) -> tuple[float, float]:
        """The two parts of log π: of nodes, and of the data."""

    def propose(self, key: Sequence[int], kind: int, seed: int, n: int, control: Control) -> list[tuple[list[int], int, float, float, float] | None]:
        """
        n proposals of one kind: None, or (key, place, log target ratio, log forward, log reverse).
        """

@overload
def predict_draws(table: CountTable, keys: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dirichlet: Dirichlet, rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int, control: Control, max_depth: int = -1) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Σ weight · P(class | row, tree): rows × classes."""

@overload
def predict_draws(table: CountTable, keys: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dirichlet: Dirichlet, rows: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int, control: Control, max_depth: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    The same for rows of what each test reaches, where states choose their tests.
    """

def forest_of_draws(table: CountTable, keys: NDArray[numpy.int32], ends: NDArray[numpy.uint64], weights: NDArray[numpy.float64], dirichlet: Dirichlet, control: Control, max_depth: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]:
    """
    Trees by their keys as arrays: nodes, trees, and weight · P(class) at leaves.
    """

def grow_rounds(columns: NDArray[numpy.int32], n_tests: int, uppers: Sequence[NDArray[numpy.uint16] | None], codes: NDArray[numpy.uint16], counts: NDArray[numpy.int64], per_example: int, a: NDArray[numpy.float64], power: float, n_parts: int, columns_at_node: int, random_cuts: bool, seed: int, first: int, n_rounds: int, left: NDArray[numpy.float64], n_threads: int, control: Control) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]:
    """
    Trees grown at random on codes (one line of them for each column), in rounds: nodes, trees, and P(class) at leaves, the mean over all prunings. What is said of left-out examples is added to `left`.
    """

@overload
def forest_sums(nodes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """The sum over the trees of a forest: rows × classes."""

@overload
def forest_sums(nodes: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], theta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    The same for rows of what each test reaches, where states choose their tests.
    """

class Columns:
    """Whole columns, nominal and numeric, as greedy growers see them."""

    def __init__(self, n_rows: int) -> None: ...

    def add_nominal(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_values: int) -> None:
        """Codes 0 … n_values − 1; −1 is missing, −2 unseen."""

    def add_numeric(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Finite numbers; NaN is missing."""

    def set_classes(self, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weights: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, per_example: int = 1) -> None:
        """
        Classes 0 … n_classes − 1 and whole weights of the rows, of which per_example make one example.
        """

    @property
    def n_columns(self) -> int: ...

class MultiwayTree:
    """A tree with any number of branches, in flat arrays."""

    def __init__(self, attribute: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_children: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def attribute(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def first_child(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def n_children(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def counts(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Class counts of the nodes, one after the other."""

    def reach(self, columns: Columns) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The node at which each row stops."""

def grow_c45(columns: Columns, min_leaf: float, confidence: float, z: float, resolution: float, binary_splits: bool, collapse: bool, prune: bool, subtree_raising: bool, control: Control) -> MultiwayTree:
    """A tree of C4.5; z is the normal quantile of 1 − confidence."""

def predict_c45(tree: MultiwayTree, columns: Columns, laplace: bool, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Class probabilities of rows."""

class GrowSettings:
    """How trees and option trees are grown on whole columns."""

    def __init__(self) -> None: ...

    @property
    def score(self) -> str: ...

    @score.setter
    def score(self, arg: str, /) -> None: ...

    @property
    def lookahead(self) -> int: ...

    @lookahead.setter
    def lookahead(self, arg: int, /) -> None: ...

    @property
    def beam(self) -> int:
        """0: all columns"""

    @beam.setter
    def beam(self, arg: int, /) -> None: ...

    @property
    def n_cuts(self) -> int: ...

    @n_cuts.setter
    def n_cuts(self, arg: int, /) -> None: ...

    @property
    def min_leaf(self) -> int: ...

    @min_leaf.setter
    def min_leaf(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int:
        """-1: none"""

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def stop_factor(self) -> float: ...

    @stop_factor.setter
    def stop_factor(self, arg: float, /) -> None: ...

    @property
    def split_pure(self) -> bool: ...

    @split_pure.setter
    def split_pure(self, arg: bool, /) -> None: ...

    @property
    def binary_nominal(self) -> bool: ...

    @binary_nominal.setter
    def binary_nominal(self, arg: bool, /) -> None: ...

    @property
    def each_cut(self) -> bool: ...

    @each_cut.setter
    def each_cut(self, arg: bool, /) -> None: ...

    @property
    def option_factor(self) -> float: ...

    @option_factor.setter
    def option_factor(self, arg: float, /) -> None: ...

    @property
    def max_options(self) -> int:
        """0: no limit"""

    @max_options.setter
    def max_options(self, arg: int, /) -> None: ...

    @property
    def max_nodes(self) -> int:
        """0: no limit"""

    @max_nodes.setter
    def max_nodes(self, arg: int, /) -> None: ...

    @property
    def random(self) -> bool: ...

    @random.setter
    def random(self, arg: bool, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def number(self) -> int: ...

    @number.setter
    def number(self, arg: int, /) -> None: ...

    @property
    def subsample_lead(self) -> float:
        """0: all examples are looked at"""

    @subsample_lead.setter
    def subsample_lead(self, arg: float, /) -> None: ...

    @property
    def subsample_first(self) -> int: ...

    @subsample_first.setter
    def subsample_first(self, arg: int, /) -> None: ...

    @property
    def subsample_growth(self) -> float: ...

    @subsample_growth.setter
    def subsample_growth(self, arg: float, /) -> None: ...

def grow_options(columns: Columns, settings: GrowSettings, prior: Prior, dirichlet: Dirichlet, control: Control) -> tuple[OptionGraph, dict[str, Any]]:
    """The option graph that these settings grow, and how it was grown."""

def restructure(columns: Columns, graph: OptionGraph, lead: float, settings: GrowSettings, prior: Prior, dirichlet: Dirichlet, control: Control, rivals: Sequence[float] = ()) -> tuple[OptionGraph, dict[str, Any]]:
    """
    A tree grown on earlier examples, brought up to date with these; rivals are those of its report, or none.
    """

class Spread(enum.Enum):
    """How S is spread over the classes in the scores of a node."""

    uniform = 0
    """S/C for every class"""

    own = 1
    """by the classes that the node has"""

    parent = 2
    """a split by those of the node, the leaf by those of its parent"""

def grow_path_average(columns: Columns, s: float, spread: Spread, control: Control) -> tuple[MultiwayTree, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    A tree grown by the Bayesian score, with the leaf score and log B of each node.
    """

class OptionGraph:
    """
    States with their options, over whole columns; one option each is a tree.
    """

    def __init__(self, n_classes: int, depth: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], open: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], count_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], count_class: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], count: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], option_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], attribute: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_split: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], child_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_options(self) -> int: ...

    @property
    def n_classes(self) -> int: ...

    @property
    def deepest(self) -> int: ...

    def arrays(self) -> dict[str, Any]:
        """
        The graph as arrays, options in the order of their nodes, as the constructor takes them.
        """

    def in_order(self, control: Control) -> OptionGraph:
        """
        The same graph level by level; its folds then have the options in the order of arrays().
        """

    def check(self, columns: Columns) -> None:
        """Raise unless the tests fit the columns."""

    def fold(self, prior: Prior, dirichlet: Dirichlet, kind: str, control: Control) -> OptionFold:
        """
        Shares of leaf and options at every node: "smooth" (sum), "map" (max) or "none".
        """

    def reach(self, folded: OptionFold, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Probability of each node to be in the tree."""

    def predict(self, folded: OptionFold, dirichlet: Dirichlet, columns: Columns, control: Control) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Class probabilities of rows, averaged over all trees of the graph."""

    def likeliest(self, folded: OptionFold, control: Control) -> OptionGraph:
        """The tree with the larger share at every node."""

    def draw(self, folded: OptionFold, seed: int, n: int, control: Control) -> list[OptionGraph]:
        """Trees drawn with the folded shares."""

    def without_light_options(self, folded: OptionFold, least: float, control: Control) -> OptionGraph:
        """
        Without the options whose share of their node is below `least`; fold again afterwards.
        """

class OptionFold:
    """The shares of leaf and options at every node of an option graph."""

    @property
    def log_evidence(self) -> float: ...

    @property
    def log_s(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def p_leaf(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def p_option(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
