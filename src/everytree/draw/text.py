"""A tree as indented text, the yes branch first."""

from __future__ import annotations

from everytree.draw.labels import checked_options, class_name, count_list, predicted, probability, question
from everytree.draw.layout import shown_part
from everytree.draw.shapes import BinaryTree


def tree_to_text(tree: BinaryTree, max_depth: int | None = None, precision: int = 3) -> str:
    """Write a tree as indented text, the yes branch first.

    Parameters
    ----------
    tree : Tree
        The tree.
    max_depth : int, optional
        The depth below which a subtree becomes one line; by default all is shown.
    precision : int, default 3
        The number of digits of probabilities.

    Returns
    -------
    str
        The text, one line for each node.

    Examples
    --------
    >>> from everytree.trees.tree import Tree
    >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]])
    >>> print(tree_to_text(tree.replace(test_names=["fever"], classes=["well", "ill"])))
    fever?  (well 9, ill 11)
    ├─ yes: ill  p = 0.9  (well 1, ill 9)
    └─ no:  well  p = 0.8  (well 8, ill 2)
    """
    max_depth, precision = checked_options(max_depth, precision)
    shown = shown_part(tree, max_depth)
    lines: list[str] = []
    waiting: list[tuple[int, str, str]] = [(0, "", "")]  # (node, what stands before it, what stands below it)
    while waiting:
        k, before, below = waiting.pop()
        counts = f"({count_list(tree, k)})"
        if k in shown.branches:
            lines.append(f"{before}{question(tree, k)}  {counts}")
            yes, no = shown.branches[k]
            waiting.append((no, f"{below}└─ no:  ", f"{below}   "))
            waiting.append((yes, f"{below}├─ yes: ", f"{below}│  "))
            continue
        c = predicted(tree, k)
        leaf = f"{class_name(tree, c)}  p = {probability(float(tree.proba[k, c]), precision)}  {counts}"
        if k in shown.hidden_leaves:
            leaf = f"… {shown.hidden_leaves[k]} leaves, together: {leaf}"
        lines.append(before + leaf)
    return "\n".join(lines)
