"""The probability that a random tree of the posterior uses an attribute, by the attribute's name.

    P(some test of attribute A is in the tree) = 1 − u_{−A} / u

where u_{−A} sums the joint weights of the trees without any test of A: the same fold, the same weights, fewer splits.
"""

from __future__ import annotations

from everytree.bayes.folded import Folded

__all__ = ["attribute_inclusion", "attribute_of_tests"]


def attribute_of_tests(posterior: Folded) -> list[str]:
    """Return the name of the attribute behind each test, or the test's own name if none is known."""
    space = posterior.space
    if space.attribute_names is not None:
        return space.attribute_names
    return list(space.test_names or (f"x{test}" for test in range(space.n_tests)))


def attribute_inclusion(posterior: Folded) -> dict[str, float]:
    """Return P(some test of the attribute occurs in the tree) by name, in the order of first appearance."""
    names = attribute_of_tests(posterior)
    numbers = {name: k for k, name in enumerate(dict.fromkeys(names))}
    with posterior.space.question("excluding each attribute") as control:
        found = posterior.core.inclusion_of([numbers[name] for name in names], len(numbers), control)
    return {name: float(found[k]) for name, k in numbers.items()}
