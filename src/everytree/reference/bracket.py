"""The evidence of the space without a depth limit, bracketed from a graph cut at depth δ.

Under the size prior, with p = α(1+d)^−β, the priors of all subtrees of a state at depth d that can be split sum to
one, and those that split to p. Under the coding prior with a weight w ≥ 1 they sum to at most one, and p = ½^w: a leaf
has ½^w, and a split (½ · q(i))^w ≤ ½^w · q(i) times the subtrees of both children. No partition of a cover has a larger
product of leaf marginals than the perfectly pure one: examples of a class together weigh at least as much as apart, and
other classes beside them only take away. So

    (1−p) · M(f(I))  ≤  u(I)  ≤  (1−p) · M(f(I)) + p · Π_c M(f_c(I) examples of class c alone)

and where no test is feasible, u(I) is the leaf alone.

The fold u of the upper δ levels with these in place of u at depth δ brackets u(∅), since u grows with each of
its parts.
"""

from __future__ import annotations

from typing import NamedTuple

from everytree.reference.bayes import Bayes
from everytree.reference.leaves import DepthDecay, log_marginal
from everytree.reference.logs import log, log_sum
from everytree.reference.priors import CodingPrior, SizePrior
from everytree.reference.table import Cover

__all__ = ["Bracket", "log_evidence_bracket"]


class Bracket(NamedTuple):
    """Sound bounds on a log evidence."""

    lower: float
    upper: float


def log_evidence_bracket(model: Bayes, cut: int) -> Bracket:
    """Return bounds on the log evidence of a model whose space has no depth limit, looking only ``cut`` levels deep.

    >>> from everytree.reference import Space, Table
    >>> model = Bayes(Space(Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(3, 1), (0, 4), (1, 5), (4, 0)])))
    >>> lower, upper = log_evidence_bracket(model, 1)
    >>> lower < model.log_evidence < upper
    True
    """
    prior = model.prior
    if not isinstance(prior, SizePrior | CodingPrior):
        raise ValueError(
            f"the bracket is proved for SizePrior and CodingPrior only; this model has {type(prior).__name__}"
        )
    if isinstance(prior, CodingPrior) and prior.weight < 1:
        raise ValueError(
            f"weight={prior.weight!r}; the bracket of a coding prior needs a weight of at least 1"
        )
    if model.space.max_depth is not None:
        raise ValueError(
            f"the space has max_depth={model.space.max_depth}; bracket a space with max_depth=None"
        )
    if isinstance(model.dirichlet, DepthDecay):
        raise ValueError(
            "the bracket needs the same Dirichlet parameters at every depth; DepthDecay changes them"
        )
    if cut < 0:
        raise ValueError(f"cut={cut!r}; look at least 0 levels deep")

    def log_pure(cover: Cover, depth: int) -> float:
        a = model.a(depth)
        counts = model.table.class_counts(cover)
        alone = [[n if c == k else 0 for c, n in enumerate(counts)] for k in range(len(counts))]
        return model.power * sum(log_marginal(each, a) for each in alone)

    def fold(optimistic: bool) -> float:
        known: dict[tuple[Cover, int], float] = {}

        def log_u(cover: Cover, depth: int) -> float:
            state = (cover, depth)
            if state not in known:
                feasible = model.space.feasible(cover, depth)
                terms = [model.log_leaf(cover, depth)]
                if feasible and depth == cut:
                    if optimistic:
                        p = (
                            0.5**prior.weight
                            if isinstance(prior, CodingPrior)
                            else prior.split_probability(depth)
                        )
                        terms.append(log(p) + log_pure(cover, depth))
                else:
                    for test in feasible:
                        zero, one = model.table.children(cover, test)
                        log_both = log_u(zero, depth + 1) + log_u(one, depth + 1)
                        terms.append(model.log_split(cover, depth, test) + log_both)
                known[state] = log_sum(terms)
            return known[state]

        return log_u(model.space.root, 0)

    return Bracket(fold(False), fold(True))
