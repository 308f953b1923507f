"""Tests and settings in plain words: what a node asks, what a prior prefers, what leaves add, what a cost counts."""

from __future__ import annotations

from typing import Any

from everytree.data.cuts import number_text
from everytree.data.encoding import Test
from everytree.data.recipes.recipe import TruthRecipe
from everytree.report.words import told
from everytree.weights.cost_words import COSTS

__all__ = ["TRUTH", "about_average", "cost_words", "leaf_words", "plain_test", "prior_words", "truths"]

TRUTH = ("no", "yes")


def truths(model: Any) -> set[str]:
    """Return the columns that a file has as yes and no, in whatever words; others may be true 0 and 1."""
    return {each.column for each in getattr(model, "recipes_", ()) if isinstance(each, TruthRecipe)}


def plain_test(column: str, test: Test, may_miss: bool = False, truth: bool = False) -> tuple[str, str]:
    """Say a test, and its other outcome; a missing value fails every comparison. ``truth``: the column has yes and no.

    >>> plain_test("Contract", Test("Contract", "==", "Month-to-month", 0))
    ('Contract is Month-to-month', 'Contract is not Month-to-month')
    >>> plain_test("age", Test("age", "<=", 54.5, 0), may_miss=True)
    ('age ≤ 54.5', 'age > 54.5 or missing')
    >>> plain_test("smoker", Test("smoker", "is", True, 0))
    ('smoker is 1', 'smoker is 0')
    >>> plain_test("smoker", Test("smoker", "is", True, 0), truth=True)
    ('smoker is yes', 'smoker is no')
    """
    gone = " or missing" if may_miss else ""
    if test.op == "<=":
        return f"{column} ≤ {number_text(test.value)}", f"{column} > {number_text(test.value)}{gone}"
    if test.op == "==":
        return f"{column} is {number_text(test.value)}", f"{column} is not {number_text(test.value)}"
    if test.value is True:
        no, yes = TRUTH if truth else ("0", "1")
        return f"{column} is {yes}", f"{column} is {no}{gone}"
    return f"{column} is missing", f"{column} is not missing"


# What a reader chooses between, where a prior has a short name of its own.
PREFERS = {
    "uniform": "all the same",
    "size": "small trees",
    "leaf_penalty": "few leaves",
    "shapes": "all shapes the same",
    "coding": "short codes",
}


def cost_words(name: str) -> str:
    """Return what a cost is called on the page.

    >>> cost_words("error"), cost_words("expected_error")
    ('training errors', 'expected error')
    """
    return "training errors" if name == "error" else COSTS[name].words if name in COSTS else name


def prior_words(prior: Any) -> str:
    """Say what a prior prefers.

    >>> from everytree.weights.priors import SizePrior, UniformPrior
    >>> prior_words(SizePrior(0.8, 0.8))
    'small trees: a node at depth d is split with probability 0.8·(1 + d)^−0.8'
    >>> prior_words(UniformPrior())
    'every tree weighs the same'
    """
    kind = type(prior).__name__
    fair = ", every column counts alike" if getattr(prior, "attribute_fair", False) else ""
    if kind == "SizePrior":
        split = f"{prior.alpha:g}·(1 + d)^−{prior.beta:g}"
        return f"small trees: a node at depth d is split with probability {split}{fair}"
    if kind == "LeafPenaltyPrior":
        return f"small trees: every leaf costs a factor of {prior.omega:g}{fair}"
    words = {
        "UniformPrior": "every tree weighs the same",
        "ShapePrior": "every shape of tree weighs the same",
        "CodingPrior": "small trees: a bit for each node, and the code of its test",
    }
    return words.get(kind, told(prior)) + (fair if kind in words else "")


def leaf_words(dirichlet: Any) -> str:
    """Say what is added to the counts of a leaf.

    >>> leaf_words(1.0), leaf_words([0.5, 2.0])
    ('1 example of each class', '0.5, 2 examples of the classes')
    """
    if isinstance(dirichlet, int | float):
        return f"{dirichlet:g} example{'' if dirichlet == 1 else 's'} of each class"
    if isinstance(dirichlet, list | tuple):
        return f"{', '.join(f'{a:g}' for a in dirichlet)} examples of the classes"
    if dirichlet in ("1/C", "base"):
        return "one example in all" + (", shared as the classes are" if dirichlet == "base" else "")
    return told(dirichlet)


def about_average(found: Any) -> str:
    """Say in one sentence how an average over every tree weighs trees and leaves."""
    power = "" if found.power == 1 else f" The examples count {found.power:g} each."
    leaves = f"a leaf counts {leaf_words(found.dirichlet)} more than it has."
    return f"How trees weigh: {prior_words(found.prior)}; {leaves}{power}"
