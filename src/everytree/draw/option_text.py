"""An option tree as indented text.

A node shows what it predicts alone, its class counts and, where it has options, the probability that it is a leaf. Its
branches follow; with several options each stands on a line of its own with its probability, as in the picture of an
option tree by Buntine (1992). A state that was shown before is named by its number and not shown again, so the text
grows with the graph and not with the number of its trees.
"""

from __future__ import annotations

from everytree.draw.labels import checked_options, class_name, clean, count_list, probability
from everytree.draw.shapes import TreeWithOptions

__all__ = ["node_words", "options_to_text"]


def options_to_text(tree: TreeWithOptions, max_depth: int | None = None, precision: int = 3) -> str:
    """Write an option tree as text; below ``max_depth`` it says "etc."."""
    max_depth, precision = checked_options(max_depth, precision)
    shared = tree.n_parents > 1
    lines: list[str] = []
    shown: set[int] = set()
    waiting: list[tuple[int, int | None, str, str]] = [(0, None, "", "")]  # node, option, before it, below it
    while waiting:
        node, option, before, below = waiting.pop()
        if option is not None:
            weight = probability(float(tree.p_option[option]), precision)
            lines.append(f"{before}option {weight}: {clean(tree.column(option).name)}")
            below_it = _branches(tree, option, below)
        else:
            name = f"[{node}] " if shared[node] and tree.options(node) else ""
            line = f"{before}{name}{node_words(tree, node, precision)}"
            options = tree.options(node)
            if node in shown and options:
                lines.append(f"{line}  as above")
                continue
            shown.add(node)
            deeper = max_depth is None or int(tree.node_depths[node]) < max_depth
            lines.append(line if deeper or not options else f"{line}  etc.")
            if not deeper:
                continue
            if len(options) == 1:
                below_it = _branches(tree, options[0], below)
            else:
                below_it = [(node, o, *_arms(below, i, len(options), "")) for i, o in enumerate(options)]
        waiting += reversed(below_it)
    return "\n".join(lines)


def _branches(tree: TreeWithOptions, option: int, below: str) -> list[tuple[int, int | None, str, str]]:
    found = tree.branches(option)
    return [
        (child, None, *_arms(below, i, len(found), f"{clean(text)}: "))
        for i, (text, child) in enumerate(found)
    ]


def _arms(below: str, i: int, n: int, text: str) -> tuple[str, str]:
    last = i == n - 1
    return f"{below}{'└─' if last else '├─'} {text}", f"{below}{'   ' if last else '│  '}"


def node_words(tree: TreeWithOptions, node: int, precision: int) -> str:
    """Say a node in words: ``yes  p = 0.9  (no 1, yes 9)``, with P(leaf) where it has options."""
    theta = tree.theta(node)
    c = int(theta.argmax())
    p = probability(float(theta[c]), precision)
    words = f"{class_name(tree, c)}  p = {p}  ({count_list(tree, node)})"
    if tree.options(node) and tree.kind != "none":
        words += f"  leaf {probability(float(tree.p_leaf[node]), precision)}"
    return words
