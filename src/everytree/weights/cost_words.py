"""The costs of leaves by name, which queries rank and bound by.

    named_cost("false_alarms", "people called back in vain", matrix=lambda n_classes: [[0, 1], [0, 0]])

A cost of the core has a formula there; one with a ``matrix`` is the core's ``cost`` under a matrix of its own: it needs
no C++. The query language, rankings, the explorer and the command line list what is registered here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["COSTS", "CostWord", "named_cost"]


@dataclass(frozen=True)
class CostWord:
    """A cost that has a name: one line about it, and its matrix if it is a cost of a fixed matrix.

    Attributes
    ----------
    name : str
        The name in Python.
    about : str
        One line that says what is counted.
    needs_matrix : bool
        Whether the user must give the matrix.
    matrix : callable or None
        A function from the number of classes to the matrix; entry (c, k) is the cost of predicting k when c is true.
    """

    name: str
    about: str
    needs_matrix: bool = False
    matrix: Callable[[int], Any] | None = None

    @property
    def words(self) -> str:
        """The name in the query language."""
        return self.name.replace("_", " ")


COSTS: dict[str, CostWord] = {}


def named_cost(
    name: str, about: str, *, needs_matrix: bool = False, matrix: Callable[[int], Any] | None = None
) -> CostWord:
    """Register a cost; ``del COSTS[name]`` takes it out again."""
    COSTS[name] = CostWord(name, about, needs_matrix, matrix)
    return COSTS[name]


named_cost("error", "examples outside the largest class; with class weights, the weights of these")
named_cost("expected_error", "the error with C4.5's pessimistic addition")
named_cost("gini", "the Gini index of a leaf, times its examples")
named_cost("entropy", "the entropy of a leaf, times its examples")
named_cost("cost", "the least sum of a cost matrix over what a leaf may say", needs_matrix=True)
