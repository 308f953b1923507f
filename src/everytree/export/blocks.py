"""Branches inside each other, for languages with blocks: what Python, JavaScript and C have in common.

A leaf returns, so that a chain of no-branches needs no ``else``: the code is as deep as the yes-branches alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from everytree.export.form import Condition, SumForm, TreeForm

__all__ = ["Asked", "comment", "leaf_places", "plain_label", "rule_lines", "tree_lines"]

Asked = Callable[[Condition], str]


def plain_label(label: Any) -> Any:
    """Return a label as a truth value, a number or a text, whatever it was.

    >>> plain_label(3), plain_label(("a", 1))
    (3, "('a', 1)")
    """
    return label if isinstance(label, bool | int | float | str) else str(label)


def comment(note: str) -> str:
    """Return a note as one line of ASCII in which no comment of any language ends, whatever the names in it are.

    >>> comment("*/ <!-- größe")
    '* / < !- - gr\\\\xf6\\\\xdfe'
    """
    line = "".join(each if each.isprintable() else "?" for each in note)
    for ends in ("*/", "/*", "--", "</", "<!", "?>", "??"):
        while ends in line:
            line = line.replace(ends, f"{ends[0]} {ends[1]}")
    return line.rstrip("\\").encode("ascii", "backslashreplace").decode("ascii")


def leaf_places(form: TreeForm) -> dict[int, int]:
    """Return for each node that is a leaf its place among the leaves."""
    leaves = [at for at, node in enumerate(form.nodes) if node.condition is None]
    return {at: place for place, at in enumerate(leaves)}


def tree_lines(form: TreeForm, asked: Asked, opens: str, closes: str, ends: str) -> Iterator[str]:
    """Write the branches; ``opens`` and ``ends`` are patterns with {} for a condition and for the place of a leaf."""
    places = leaf_places(form)

    def lines(at: int, level: int) -> Iterator[str]:
        chain, last = form.chain(at)
        for condition, yes in chain:
            yield "  " * level + opens.format(asked(condition))
            yield from lines(yes, level + 1)
            if closes:
                yield "  " * level + closes
        yield "  " * level + ends.format(places[last])

    yield from lines(0, 1)


def rule_lines(form: SumForm, ask: Asked, joined: str, negated: str, line: str) -> Iterator[str]:
    """Write a line for each rule; ``line`` is a pattern with {} for the condition and the place of the rule."""
    for place, rule in enumerate(form.rules):
        items = [
            ask(condition) if wanted else negated.format(ask(condition)) for condition, wanted in rule.items
        ]
        yield line.format(joined.join(items), place)
