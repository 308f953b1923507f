"""A tree in the DOT language of Graphviz (``dot -Tsvg tree.dot``), the yes branch on the left."""

from __future__ import annotations

from everytree.draw.colors import INK, QUIET, class_color, node_fill
from everytree.draw.labels import checked_options
from everytree.draw.layout import shown_part
from everytree.draw.node_text import node_text
from everytree.draw.shapes import BinaryTree


def tree_to_dot(
    tree: BinaryTree, max_depth: int | None = None, precision: int = 3, filled: bool = True
) -> str:
    """Write a tree in the DOT language of Graphviz, the yes branch on the left.

    Parameters
    ----------
    tree : Tree
        The tree.
    max_depth : int, optional
        The depth at which a split is drawn as the leaf it would be; by default all is drawn.
    precision : int, default 3
        The number of digits of probabilities.
    filled : bool, default True
        Whether each box has the colour of its most probable class.

    Returns
    -------
    str
        A DOT digraph, for ``dot -Tsvg``.

    Examples
    --------
    >>> from everytree.trees.tree import Tree
    >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]], test_names=['is "ill"'])
    >>> tree_to_dot(tree, filled=False).splitlines()[-3]
    '  0 -> 2 [label=" yes "];'
    """
    max_depth, precision = checked_options(max_depth, precision)
    shown = shown_part(tree, max_depth)
    style = "rounded, filled" if filled else "rounded"
    lines = [
        "digraph everytree {",
        f'  node [shape=box, style="{style}", fontname="Helvetica", color="{INK}", fontcolor="{INK}"];',
        '  edge [fontname="Helvetica"];',
    ]
    for k in shown.nodes:
        text = node_text(tree, k, shown, precision)
        label = "\\n".join(escaped(line) for line in (*text.title, *text.details))
        color = ""
        if filled:
            c = text.predicted
            fill = QUIET if c is None else node_fill(c, float(tree.proba[k, c]), tree.n_classes)
            color = f', fillcolor="{fill}", color="{INK if c is None else class_color(c)}"'
        lines.append(f'  {k} [label="{label}"{color}];')
    for k, (yes, no) in shown.branches.items():
        lines.append(f'  {k} -> {yes} [label=" yes "];')
        lines.append(f'  {k} -> {no} [label=" no "];')
    return "\n".join([*lines, "}", ""])


def escaped(text: str) -> str:
    """Escape a text for a quoted string of DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
