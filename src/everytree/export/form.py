"""The form in which a model leaves: columns as they are in the data, conditions on them, and what follows.

    Field       a column: its name, and whether it holds numbers, text, or 0 and 1
    Condition   one question about one column, which is either true or false, for missing and unseen values too
    TreeForm    if a condition holds go here, else go there; a leaf gives probabilities and a class
    SumForm     a base, and rules that move it where their conditions are as they say; then the nearest probabilities

A writer of a language needs to know nothing else. What a missing value does is part of the condition and no matter of
the language: a writer first asks whether there is a value, and only then compares it. A value that no condition names
makes every ``==`` false.

Blanks around a text do not count, as they do not when a model learns and predicts; where spellings of a word are one
(EAST, East, east), its condition has ``any_case``. What else was done with a column before the model saw it (money,
dates, yes and no) is told in ``notes``, for the header of what is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from typing import Any, Literal

from everytree.errors import QueryError

__all__ = [
    "DEEPEST",
    "Condition",
    "Field",
    "Form",
    "Node",
    "Rule",
    "SumForm",
    "TreeForm",
    "below",
    "is_padded",
    "kind_of_values",
]

DEEPEST = 60  # branches inside each other; Python reads 100 levels of indentation, and Excel 64 of IF


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the data.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : {"number", "text", "flag"}
        What it holds: numbers, text, or 0 and 1 (also as false and true).
    """

    name: str
    kind: Literal["number", "text", "flag"]


@dataclass(frozen=True, slots=True)
class Condition:
    """A question about one column.

    Parameters
    ----------
    field : int
        The position of the column.
    op : {"<=", "==", ">", "missing"}
        How the value is compared; "missing" asks whether there is none.
    value : object
        What it is compared with: a number, or a text.
    missing : bool
        The answer where the value is missing.
    any_case : bool
        Whether a text counts in any case of its letters.
    """

    field: int
    op: Literal["<=", "==", ">", "missing"]
    value: Any = None
    missing: bool = False
    any_case: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        """The texts that count, for languages that cannot fold the case of letters: the usual spellings of a word."""
        word = str(self.value)
        if not self.any_case:
            return (word,)
        return tuple(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize(), word.title())))

    def holds(self, value: Any) -> bool:
        """Answer the question for one value; None and NaN are missing.

        Parameters
        ----------
        value : object
            A value of the column.

        Returns
        -------
        bool
            Whether the condition holds.
        """
        if value is None or value != value:
            return self.op == "missing" or self.missing
        if self.op == "missing":
            return False
        if self.op == "==":
            if isinstance(value, str) and isinstance(self.value, str):
                text, word = value if is_padded(self.value) else value.strip(), self.value
                return bool(text.lower() == word.lower() if self.any_case else text == word)
            return bool(value == self.value)
        return bool(value <= self.value if self.op == "<=" else value > self.value)


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a tree, which asks ``condition``, or a leaf, where that is None.

    Parameters
    ----------
    condition : Condition or None
        What the node asks.
    yes, no : int
        The positions of the nodes that follow; −1 at a leaf.
    proba : tuple of float
        The class probabilities here.
    says : int
        The class that is predicted here.
    counts : tuple of float
        The training examples of each class.
    """

    condition: Condition | None
    yes: int
    no: int
    proba: tuple[float, ...]
    says: int
    counts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a sum: where each condition is as ``items`` say, the probabilities move.

    Parameters
    ----------
    items : tuple of (Condition, bool)
        The conditions, and whether each must hold or must not.
    moves : tuple of float
        How far each class moves.
    """

    items: tuple[tuple[Condition, bool], ...]
    moves: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """What a tree and a sum of rules have in common.

    Parameters
    ----------
    fields : tuple of Field
        The columns of the data, all of them, in their order.
    classes : tuple
        The labels of the classes.
    notes : tuple of str
        What the columns must hold, where that is not what the file of training held.
    """

    fields: tuple[Field, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...] = member(default=(), kw_only=True)

    def conditions(self) -> Iterator[Condition]:
        """Go through every condition that is asked, some of them more than once."""
        raise NotImplementedError

    def used(self) -> list[int]:
        """Return the positions of the columns that are asked about, in order."""
        return sorted({condition.field for condition in self.conditions()})

    def class_index(self, label: Any) -> int:
        """Return the position of a class; None means the last one.

        Parameters
        ----------
        label : object
            A label.

        Returns
        -------
        int
            Its position among ``classes``.
        """
        if label is None:
            return len(self.classes) - 1
        if label not in self.classes:
            known = ", ".join(map(repr, self.classes))
            raise QueryError(f"label={label!r}; expected one of {known}", parameter="label", value=label)
        return self.classes.index(label)


@dataclass(frozen=True, slots=True)
class TreeForm(Form):
    """A decision tree over columns; node 0 is the root, and every node comes after the one above it.

    Parameters
    ----------
    fields : tuple of Field
        The columns of the data, all of them, in their order.
    classes : tuple
        The labels of the classes.
    nodes : tuple of Node
        The nodes.
    """

    nodes: tuple[Node, ...]

    def conditions(self) -> Iterator[Condition]:
        return (node.condition for node in self.nodes if node.condition is not None)

    def chain(self, at: int) -> tuple[list[tuple[Condition, int]], int]:
        """Follow the no-branches from a node: what is asked one after the other, and the leaf where all fail.

        Parameters
        ----------
        at : int
            The position of the node.

        Returns
        -------
        asked : list of (Condition, int)
            Each condition, and the node to go to where it holds.
        last : int
            The leaf at the end.
        """
        asked = []
        node = self.nodes[at]
        while node.condition is not None:
            asked.append((node.condition, node.yes))
            at = node.no
            node = self.nodes[at]
        return asked, at

    def depth(self) -> int:
        """Return how many yes-branches lie inside each other at most: a chain of no-branches can be written flat."""
        deep = [0] * len(self.nodes)
        for at, node in enumerate(self.nodes):
            if node.condition is not None:
                deep[node.yes] = deep[at] + 1
                deep[node.no] = deep[at]
        return max(deep)

    def check_depth(self, language: str) -> None:
        """Refuse a tree that is too deep to be written with branches inside each other.

        Parameters
        ----------
        language : str
            Where it was to be written, for the message.
        """
        deep = self.depth()
        if deep > DEEPEST:
            raise QueryError(
                f"the tree has {deep} branches inside each other, and {language} takes {DEEPEST}; limit max_depth, or "
                "write it with to_onnx or to_sklearn"
            )

    def answer(self, values: Sequence[Any]) -> Node:
        """Find the leaf of one row: the slow twin of every writer.

        Parameters
        ----------
        values : sequence
            A value for each column; None or NaN is missing.

        Returns
        -------
        Node
            The leaf.
        """
        node = self.nodes[0]
        while node.condition is not None:
            node = self.nodes[node.yes if node.condition.holds(values[node.condition.field]) else node.no]
        return node


@dataclass(frozen=True, slots=True)
class SumForm(Form):
    """A sum of rules over columns: q = base + the moves of the rules that hold; p is nearest to q, at least ``floor``.

    For two classes p is q, kept between the floor of the class and one less that of the other. For more, those above
    their floor are lowered alike until the sum is one.

    Parameters
    ----------
    fields : tuple of Field
        The columns of the data, all of them, in their order.
    classes : tuple
        The labels of the classes.
    base : tuple of float
        The probabilities where no rule holds.
    rules : tuple of Rule
        The rules.
    floor : tuple of float
        The least probability of each class.
    bound : float
        How far q may be outside of 0 … 1.
    """

    base: tuple[float, ...]
    rules: tuple[Rule, ...]
    floor: tuple[float, ...]
    bound: float

    def conditions(self) -> Iterator[Condition]:
        return (condition for rule in self.rules for condition, _ in rule.items)

    def answer(self, values: Sequence[Any]) -> list[float]:
        """Return the probabilities of one row: the slow twin of every writer.

        Parameters
        ----------
        values : sequence
            A value for each column; None or NaN is missing.

        Returns
        -------
        list of float
            The probability of each class.
        """
        q = list(self.base)
        for rule in self.rules:
            if all(condition.holds(values[condition.field]) == wanted for condition, wanted in rule.items):
                q = [a + b for a, b in zip(q, rule.moves, strict=True)]
        return nearest(q, self.floor)


def nearest(q: Sequence[float], floor: Sequence[float]) -> list[float]:
    """Return the probabilities nearest to q with at least ``floor`` for each class.

    >>> nearest([1.25, -0.25], [0.0, 0.0]), nearest([0.6, 0.6, -0.2], [0.0, 0.0, 0.0])
    ([1.0, 0.0], [0.5, 0.5, 0.0])
    """
    if all(a >= b for a, b in zip(q, floor, strict=True)):
        return list(q)
    above = [a - b for a, b in zip(q, floor, strict=True)]
    free, total, lower = 1.0 - sum(floor), 0.0, 0.0
    for k, each in enumerate(sorted(above, reverse=True)):
        total += each
        level = (total - free) / (k + 1)
        if each >= level:
            lower = level
    return [b + max(0.0, a - lower) for a, b in zip(above, floor, strict=True)]


def is_padded(text: str) -> bool:
    """Return whether a text has blanks around it, as only declared categories have: it is then compared as it is.

    >>> is_padded(" a"), is_padded("a b")
    (True, False)
    """
    return text != text.strip() or text != text.strip("\ufeff")  # JavaScript trims this mark too


def kind_of_values(name: str, values: Sequence[Any]) -> Literal["number", "text", "flag"]:
    """Return what a nominal column with these values holds; text and numbers in one column are refused.

    >>> kind_of_values("thal", ["fixed", "normal"]), kind_of_values("zone", [1, 2]), kind_of_values("up", [False, True])
    ('text', 'number', 'flag')
    """
    words = sum(isinstance(value, str) for value in values)
    if words == len(values):
        return "text"
    if words:
        raise QueryError(
            f"column {name!r} holds text and numbers, and other languages keep them apart; convert it to text, and "
            "fit again"
        )
    return "flag" if all(isinstance(value, bool) for value in values) else "number"


def below(value: float | int) -> float:
    """Return the largest double that is not above a number: ``x <= value`` of doubles is ``x <= below(value)``.

    >>> below(2**53 + 1) == 2**53, below(0.1) == 0.1
    (True, True)
    """
    try:
        found = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return math.nextafter(found, -math.inf) if found > value else found
