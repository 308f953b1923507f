"""Trees that chains have drawn: each is a tree of the space, and its numbers follow from the data.

    posterior   log_prior: the prior of the tree     log_data: the log marginal likelihood of its leaves
    risk        log_prior: −leaf_penalty · leaves    log_data: −scale/n · Σ_leaves (examples · impurity)

No data can tell how often each tree was drawn and how many moves were accepted, because chance decided that. The
fingerprint of the draws shows that they are as they were written.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from dataclasses import dataclass
from typing import Any

from everytree.verify.average import sample_rows, table_facts
from everytree.verify.claims import chosen_facts
from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.left_out import cross_facts
from everytree.verify.model import Model
from everytree.verify.probable import Fold, read_prior
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import Counts, GivenUp, Space
from everytree.verify.query import dirichlet_at, read_query

__all__ = ["check_draws"]

FIELDS = ("trees", "log_prior", "log_data", "which", "proposed", "accepted", "best", "seed")
MOST_TREES = 300  # if there are more distinct trees, so many are recomputed, chosen with a fixed seed
CLOSE = 1e-9
COST = {"misclassification": "errors", "gini": "gini", "entropy": "entropy"}


@dataclass(frozen=True)
class _Tree:
    """One tree on the data: the cover, the depth and the counts of each leaf, and its two logarithms."""

    log_prior: float
    log_data: float
    leaves: list[tuple[tuple[tuple[int, int], ...], int, Counts]]  # (test, outcome) on the way; depth; counts


def check_draws(model: Model, examples: Examples, time_limit: float) -> list[Fact]:
    """Check the draws of a file, its best tree, and predictions."""
    facts = [*table_facts(model, examples), *chosen_facts(model), *cross_facts(model)]
    draws = _shape(model)
    prior, dirichlet = read_prior(model.params), model.params.get("dirichlet")
    risk = model.params.get("target") == "risk"
    if dirichlet_at(dirichlet, 0, len(model.classes)) is None or (prior is None and not risk):
        note = "the prior or the Dirichlet parameters are not known to the checker"
        return [*facts, Fact("predictions", None, None, UNCHECKED, note, predicts=True)]
    known = {key: model.params.get(key) for key in ("max_depth", "min_leaf")}
    query = read_query(known, [], [], model.classes, examples.class_totals)
    walk = _Walk(model, Space(examples, query, 10**9, time_limit, model), prior, dirichlet, risk)
    chosen = range(len(draws["trees"]))
    if len(chosen) > MOST_TREES:
        chosen = sorted(random.Random(0).sample(chosen, MOST_TREES))  # type: ignore[assignment]
    trees: dict[int, _Tree] = {}
    try:
        for k in chosen:
            tree = walk.tree(draws["trees"][k])
            if tree is None:
                note = "it splits off fewer than min_leaf examples, or is deeper than max_depth"
                if model.local:
                    note += ", or a node has a cut that its rows do not offer"
                return [
                    *facts,
                    Fact(f"drawn tree {k}", quote(draws["trees"][k]), "not in the space", FALSE, note),
                ]
            trees[k] = tree
            for name in ("log_prior", "log_data"):
                stored, found = draws[name][k], getattr(tree, name)
                if not (is_number(stored) and math.isclose(stored, found, rel_tol=CLOSE, abs_tol=CLOSE)):
                    return [*facts, Fact(f"{name} of drawn tree {k}", stored, found, FALSE)]
    except GivenUp as reason:
        note = f"the drawn trees were not all recomputed ({reason})"
        return [*facts, Fact("predictions", None, None, UNCHECKED, note, predicts=True)]
    n = len(draws["trees"])
    note = "" if len(trees) == n else f"{len(trees)} of {n} trees, drawn with a fixed seed"
    facts.append(Fact("drawn trees", n, len(trees), TRUE, note))
    facts += _best_facts(model, draws, walk, trees, complete=len(trees) == n)
    facts += [*_order_facts(model), *_seal_facts(draws)]
    return [*facts, *_prediction_facts(draws, walk, trees, sample_rows(examples), complete=len(trees) == n)]


def _shape(model: Model) -> dict[str, Any]:
    """Return the field ``claims.draws``, once it has the right shape."""
    draws = model.claims.get("draws")
    if not isinstance(draws, dict) or not set(FIELDS) <= set(draws):
        raise InputError(f"claims.draws is {quote(draws)}; expected an object with {', '.join(FIELDS)}")
    trees, which = draws["trees"], draws["which"]
    for name in ("trees", "log_prior", "log_data"):
        if not isinstance(draws[name], list) or not trees or len(draws[name]) != len(trees):
            raise InputError(f"claims.draws.{name} is {quote(draws[name])}; expected one entry for each tree")
    for k, key in enumerate([*trees, draws["best"]]):
        where = f"trees[{k}]" if k < len(trees) else "best"
        whole = isinstance(key, list) and all(type(t) is int and -1 <= t < len(model.tests) for t in key)
        if not whole or not _is_tree(key):
            raise InputError(
                f"claims.draws.{where} is {quote(key)}; expected the tests of a tree in preorder"
            )
    fine = (
        isinstance(which, list) and bool(which) and all(isinstance(chain, list) and chain for chain in which)
    )
    if not fine or not all(type(k) is int and 0 <= k < len(trees) for chain in which for k in chain):
        raise InputError(f"claims.draws.which is {quote(which)}; expected numbers of trees, for each chain")
    return draws


def _is_tree(key: list[int]) -> bool:
    open_ = 1
    for k, test in enumerate(key):
        open_ += 1 if test >= 0 else -1
        if open_ == 0:
            return k == len(key) - 1
    return False


class _Walk:
    """A walk of all examples down a tree, which adds up its logarithms."""

    def __init__(self, model: Model, space: Space, prior: Any, dirichlet: Any, risk: bool) -> None:
        self.space, self.prior, self.risk = space, prior, risk
        self.fold = Fold(space, prior, model, dirichlet)
        self.rows = dict(space.tests)
        params, n = model.params, sum(space.totals)
        self.cost = COST.get(str(params.get("risk")), "errors")
        self.penalty = params.get("leaf_penalty", 0.0)
        self.scale = float(n) if params.get("scale") is None else params["scale"]
        if risk and not (is_number(self.penalty) and is_number(self.scale)):
            raise InputError(f"params.leaf_penalty is {quote(self.penalty)}; expected a number, as for scale")

    def tree(self, key: list[int]) -> _Tree | None:
        """Return the tree on the data; None if it is not in the space."""
        space = self.space
        log_prior: list[float] = []
        log_data: list[float] = []
        leaves = []
        waiting: list[tuple[int, int, tuple[tuple[int, int], ...], int | None]] = [
            (space.everything, 0, (), None)
        ]
        for test in key:
            space.look_at_clock()
            cover, depth, way, above = waiting.pop()
            counts = space.counts(cover)
            if test < 0:
                leaves.append((way, depth, counts))
                if self.risk:
                    log_prior.append(-float(self.penalty))
                    log_data.append(
                        -self.scale / sum(space.totals) * float(space.query.cost(self.cost, counts))
                    )
                else:
                    closed = not self.fold.splits(cover, counts, depth, above)
                    held = self.prior.log_held(sum(counts), sum(space.totals))
                    log_prior.append(self.prior.log_leaf(depth, closed) + held)
                    log_data.append(self.fold.marginal(counts, depth))
                continue
            one = cover & self.rows[test]
            zero = cover ^ one
            fewest = min(sum(space.counts(one)), sum(space.counts(zero)))
            limit = space.query.max_depth
            if fewest < space.query.min_leaf or (limit is not None and depth >= limit):
                return None
            if not self.risk or space.offers is not None:
                tests = [split[0] for split in self.fold.splits(cover, counts, depth, above)]
                if test not in tests:
                    return None
            if not self.risk:
                shares = self.prior.log_shares(tests, self.fold.columns)
                log_prior.append(self.prior.log_split(depth) + shares[test])
            waiting.append((one, depth + 1, (*way, (test, 1)), cover))
            waiting.append((zero, depth + 1, (*way, (test, 0)), cover))
        return _Tree(math.fsum(log_prior), math.fsum(log_data), leaves)

    def predicted(self, tree: _Tree, row: int) -> list[float]:
        """Return the class probabilities in the leaf of a row."""
        for way, depth, counts in tree.leaves:
            if all(row >> test & 1 == outcome for test, outcome in way):
                return self.fold.theta(counts, depth)
        raise AssertionError("the leaves of a tree hold every row")


def _best_facts(
    model: Model, draws: dict[str, Any], walk: _Walk, trees: dict[int, _Tree], complete: bool
) -> list[Fact]:
    best = walk.tree(draws["best"])
    if best is None:
        return [Fact("best tree", quote(draws["best"]), "not in the space", FALSE)]
    value = best.log_prior + best.log_data
    most = max(tree.log_prior + tree.log_data for tree in trees.values())
    fine = value >= most - CLOSE * max(1.0, abs(most))
    facts = [
        Fact("best tree", value, f"≥ {most}", TRUE if fine else FALSE, "" if fine else "a draw is better")
    ]
    found = {"log_joint": value}
    if walk.risk:
        found = {"energy": -value, "risk": -best.log_data / walk.scale}
    for name, number in found.items():
        claimed = model.claims.get(name)
        if claimed is not None:
            same = is_number(claimed) and math.isclose(claimed, number, rel_tol=CLOSE, abs_tol=CLOSE)
            facts.append(Fact(name, claimed, number, TRUE if same else FALSE))
    return facts


def _order_facts(model: Model) -> list[Fact]:
    """Say how often the stack kernel draws a tree that can be built in several orders; older files do not."""
    orders = model.params.get("orders", "counted")
    if orders not in ("counted", "once"):
        raise InputError(f"params.orders is {quote(orders)}; expected 'counted' or 'once'")
    if model.params.get("kernel") != "stack":
        return []
    note = "draws count each tree once for each order of its splits, and are not those of the target"
    return [
        Fact("orders", orders, None, NOTED, note if orders == "counted" else "draws are those of the target")
    ]


def _seal_facts(draws: dict[str, Any]) -> list[Fact]:
    """Check the fingerprint of the draws, and list what only chance decided."""
    counts = len(draws["which"]), len(draws["which"][0])
    note = "informational: what chance did, no data can tell"
    often = "how often each tree was drawn is what chance did: no data can tell"
    facts = [
        Fact("draws", f"{counts[0]} chains × {counts[1]}", None, UNCHECKED, often, predicts=True),
        Fact("moves proposed and accepted", counts[0], None, NOTED, note),
        Fact("seed", draws["seed"], None, NOTED, note),
    ]
    if "fingerprint" not in draws:
        note = "the file is of an older version and has none, so how often each tree was drawn may have been changed"
        return [*facts, Fact("fingerprint of draws", None, None, UNCHECKED, note, predicts=True)]
    content = {name: draws[name] for name in FIELDS}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    found = hashlib.sha256(text.encode("ascii")).hexdigest()
    same = TRUE if found == draws["fingerprint"] else FALSE
    return [*facts, Fact("fingerprint of draws", draws["fingerprint"], found, same)]


def _prediction_facts(
    draws: dict[str, Any], walk: _Walk, trees: dict[int, _Tree], rows: list[int], complete: bool
) -> list[Fact]:
    """Check that each drawn tree predicts by its recounted leaves, and all together by their mean."""
    if not complete:
        note = f"the mean over all draws: only {len(trees)} of {len(draws['trees'])} trees were recomputed"
        return [Fact("predictions", None, None, UNCHECKED, note, predicts=True)]
    times: dict[int, int] = {}
    for chain in draws["which"]:
        for k in chain:
            times[k] = times.get(k, 0) + 1
    total = sum(times.values())
    sums = [
        math.fsum(n / total * math.fsum(walk.predicted(trees[k], row)) for k, n in times.items())
        for row in rows
    ]
    fine = all(abs(x - 1) <= CLOSE for x in sums)
    shown = f"{len(rows)} rows"
    note = "the mean over the draws of the recounted trees"
    return [Fact("predictions", shown, shown, TRUE if fine else FALSE, note)]
