"""The words in one box of a picture: a bold title and quieter details."""

from __future__ import annotations

from dataclasses import dataclass

from everytree.common.text import as_number
from everytree.draw.labels import class_name, count_list, examples, predicted, probability, question, wrap
from everytree.draw.layout import Shown
from everytree.draw.shapes import BinaryTree

TITLE_WIDTH = 26
TITLE_LINES = 3


@dataclass(frozen=True)
class NodeText:
    """The words for a node: lines to draw, and the uncut text for a tooltip; only a leaf predicts a class."""

    title: tuple[str, ...]
    details: tuple[str, ...]
    full: str
    predicted: int | None


def node_text(tree: BinaryTree, k: int, shown: Shown, precision: int) -> NodeText:
    """Say a node in words: a question for a split, a class and how sure it is for a leaf."""
    n = tree.counts[k].sum().item()
    if k in shown.branches:
        ask = question(tree, k)
        return NodeText(
            title=tuple(wrap(ask, TITLE_WIDTH, TITLE_LINES)),
            details=(examples(n),),
            full=f"{ask} {count_list(tree, k)}",
            predicted=None,
        )
    c = predicted(tree, k)
    name, p = class_name(tree, c), probability(float(tree.proba[k, c]), precision)
    details = [f"p = {p}", f"{as_number(tree.counts[k, c])} of {examples(n)}" if n else examples(n)]
    if k in shown.hidden_leaves:
        details.append(f"… {shown.hidden_leaves[k]} leaves not drawn")
    return NodeText(
        title=tuple(wrap(name, TITLE_WIDTH, TITLE_LINES)),
        details=tuple(details),
        full=f"{name}, p = {p}: {count_list(tree, k)}",
        predicted=c,
    )
