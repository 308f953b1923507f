"""Explanation of one prediction: the rules that carry it (Nijssen 2008).

A rule is a path I that may be a leaf of the tree, its weight r(I) = P(I is a leaf | data). For every row x

    P(c | x) = Σ_{I ⊆ x} r(I) · θ_c(I)        with   Σ_{I ⊆ x} r(I) = 1,   so
    P(c | x) = base_c + Σ_{I ⊆ x} r(I) · (θ_c(I) − base_c)

and r(I) · (θ_c(I) − base_c) is how far the rule moves the prediction away from the base rate. A rule is *maximal* among
those shown if no other one shown contains all of its items: it says most about the row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.exponent import tempered
from everytree.bayes.folded import Folded
from everytree.bayes.rules import top_rules
from everytree.common.text import as_number
from everytree.engine.rows import one_core_row
from everytree.trees.added import added_words

__all__ = ["ExplainedRule", "Explanation", "explain"]

LEVEL = 0.95


@dataclass(frozen=True)
class ExplainedRule:
    """One rule that covers the row, and its part in the prediction; tuples have one entry per class."""

    conditions: tuple[str, ...]  # in words, one per attribute
    items: tuple[tuple[int, int], ...]  # (test, outcome)
    weight: float  # P(this path is a leaf of the tree)
    maximal: bool  # no other rule shown contains its items
    counts: tuple[int, ...]  # training examples
    proba: tuple[float, ...]  # class probabilities in this leaf
    spread: tuple[float, ...]  # their posterior standard deviations
    interval: tuple[tuple[float, float], ...]  # their central 95 % credible intervals
    share: tuple[float, ...]  # of the prediction: weight · proba / P(class | row)
    move: tuple[float, ...]  # weight · (proba − base rate)
    added: tuple[float, ...]  # to the counts, for proba: the Dirichlet parameters

    def __str__(self) -> str:
        return " and ".join(self.conditions) or "always"


@dataclass(frozen=True)
class Explanation:
    """Why the posterior predicts what it predicts for one row: the rules that carry most weight.

    ``Posterior.explain`` makes it; ``str()`` of it is a table.

    Parameters
    ----------
    classes : tuple
        The labels, in the order of all tuples.
    proba : tuple of float
        P(class | row), averaged over every tree.
    base : tuple of float
        The class probabilities of the single leaf, which are the base rates.
    rules : tuple of ExplainedRule
        The rules shown: maximal ones first, then by weight.
    covered : float
        The weight of the rules shown; all rules that cover the row weigh one together.
    rest : tuple of float
        How far all other rules together move the prediction.
    exponent : float, default 1
        Of a classifier with ``calibrate``: what it answers is ``proba`` to this power, scaled to sum to one.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> post = TreeSpace([[0], [0], [1], [1]], ["no", "no", "yes", "yes"], max_depth=1).posterior()
    >>> why = post.explain([1])
    >>> why.prediction, [(str(rule), round(rule.weight, 2)) for rule in why.rules]
    ('yes', [('x0', 0.93), ('always', 0.07)])
    """

    classes: tuple[Any, ...]
    proba: tuple[float, ...]  # P(class | row), over every tree
    base: tuple[float, ...]  # class probabilities of the single leaf
    rules: tuple[ExplainedRule, ...]  # maximal ones first, then by weight
    covered: float  # the weight of the rules shown; all rules that cover the row weigh one
    rest: tuple[float, ...]  # how far all other rules together move the prediction
    exponent: float = 1.0  # the classifier answers proba to this power, scaled

    @property
    def prediction(self) -> Any:
        """The most probable class; ties go to the first in ``classes``."""
        return self.classes[self.proba.index(max(self.proba))]

    def to_dict(self) -> dict[str, Any]:
        """Write everything as plain lists, strings and numbers.

        Returns
        -------
        dict
            The fields, and the ``prediction``.
        """
        return asdict(self) | {"prediction": self.prediction}

    def __str__(self) -> str:
        c = self.classes.index(self.prediction)
        first, *lines = self.table(c)
        return "\n".join(
            [f"P({self.classes[c]}) = {self.proba[c]:.3f}, base rate {self.base[c]:.3f}; {first}", *lines]
        )

    def table(self, c: int) -> list[str]:
        """Return the lines of the table: the rules, and how far each moves the probability of one class.

        Parameters
        ----------
        c : int
            The position of the class in ``classes``.

        Returns
        -------
        list of str
            How much weight the rules have, the head of the table, a line for each rule, and what leaves add.
        """
        label = self.classes[c]
        rules = _alike(self.rules)
        lines = [
            f"{len(rules)} rules carry {100 * self.covered:.1f} % of the weight",
            f"{'weight':>7}  {'move':>7}  {f'P({label}) in the leaf':<24}  {'n':>5}  rule",
        ]
        for rule in rules:
            low, high = rule.interval[c]
            leaf = f"{rule.proba[c]:.2f} ({low:.2f} to {high:.2f})"
            mark = "" if rule.maximal else "  (within a rule above)"
            lines.append(
                f"{rule.weight:7.4f}  {rule.move[c]:+7.4f}  {leaf:<24}  {as_number(sum(rule.counts)):>5}  {rule}{mark}"
            )
        lines.append(f"{1 - self.covered:7.4f}  {self.rest[c]:+7.4f}  {'':<24}  {'':>5}  all other rules")
        if self.rules:
            by_depth = {len(rule.items): rule.added for rule in self.rules}
            rows = [by_depth[depth] for depth in sorted(by_depth)]
            if len(set(rows)) == 1:
                lines.append(f"a leaf counts its n examples, {added_words(rows[:1])}")
            else:
                lines.append(
                    f"a leaf counts its n examples, {added_words(rows[:1])}, and less below: "
                    f"{added_words(rows[-1:])}"
                )
        if self.exponent != 1:
            answer = float(tempered(np.array([self.proba]), self.exponent)[0, c])
            lines.append(
                f"to the power {self.exponent:.3g}, then scaled, the answer is P({label}) = {answer:.3f}"
            )
        return lines


def _alike(rules: Sequence[ExplainedRule]) -> list[ExplainedRule]:
    """Join rules that read the same and hold for the same examples: trees come to such a leaf by several ways.

    Their weights and moves add up. As before, maximal rules come first, then those of more weight.
    """
    found: dict[Any, ExplainedRule] = {}
    for rule in rules:
        key = (rule.conditions, rule.counts, rule.proba)
        known = found.get(key)
        found[key] = (
            rule
            if known is None
            else replace(
                known,
                weight=known.weight + rule.weight,
                maximal=known.maximal or rule.maximal,
                share=tuple(a + b for a, b in zip(known.share, rule.share, strict=True)),
                move=tuple(a + b for a, b in zip(known.move, rule.move, strict=True)),
            )
        )
    return sorted(found.values(), key=lambda rule: (not rule.maximal, -rule.weight))


def explain(posterior: Folded, x: npt.ArrayLike, top: int, control: _core.Control) -> Explanation:
    """Find the ``top`` rules of most weight among those that cover the row ``x``."""
    space = posterior.space
    row = one_core_row(space, x)
    proba = tuple(float(p) for p in posterior.predict_proba(row[None, :])[0])
    n, a = space.table.class_examples.tolist(), posterior.parameters[0]
    base = tuple((k + b) / (sum(n) + math.fsum(a)) for k, b in zip(n, a, strict=True))
    found = top_rules(posterior, row, top, control)
    sets = [frozenset(zip(rule.items, rule.asks or rule.items, strict=True)) for rule in found]
    shown = []
    for rule, items in zip(found, sets, strict=True):
        a = posterior.parameters[min(len(items), len(posterior.parameters) - 1)]
        total = sum(rule.counts) + math.fsum(a)
        shown.append(
            ExplainedRule(
                rule.conditions(space.test_names),
                rule.items,
                rule.weight,
                not any(items < other for other in sets),
                rule.counts,
                rule.proba,
                tuple(math.sqrt(p * (1 - p) / (total + 1)) for p in rule.proba),
                tuple(_central(k + b, total - k - b) for k, b in zip(rule.counts, a, strict=True)),
                tuple(rule.weight * q / p for q, p in zip(rule.proba, proba, strict=True)),
                tuple(rule.weight * (q - b) for q, b in zip(rule.proba, base, strict=True)),
                tuple(a),
            )
        )
    shown.sort(key=lambda rule: not rule.maximal)  # stable: by weight within each kind
    rest = tuple(
        p - b - math.fsum(rule.move[c] for rule in shown)
        for c, (p, b) in enumerate(zip(proba, base, strict=True))
    )
    covered = min(1.0, math.fsum(rule.weight for rule in shown))
    return Explanation(space.classes, proba, base, tuple(shown), covered, rest)


def _central(a: float, b: float) -> tuple[float, float]:
    """Return the central 95 % interval of a Beta(a, b) distribution, which one class probability of a Dirichlet has."""
    from scipy.special import betaincinv

    if b <= 0:  # a single class
        return (1.0, 1.0)
    return (float(betaincinv(a, b, (1 - LEVEL) / 2)), float(betaincinv(a, b, (1 + LEVEL) / 2)))
