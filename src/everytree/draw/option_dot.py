"""An option tree in the DOT language of Graphviz; the options of a node are a dashed cluster, and a tree takes one.

A state that several options lead to is one box with several lines to it.
"""

from __future__ import annotations

from everytree.draw.colors import INK, LINE, class_color, node_fill
from everytree.draw.dot import escaped
from everytree.draw.labels import checked_options, class_name, clean, count_list, probability, wrap
from everytree.draw.shapes import TreeWithOptions

__all__ = ["node_lines", "options_to_dot"]

COUNTS_WIDTH = 30  # letters of counts on one line


def options_to_dot(
    tree: TreeWithOptions, max_depth: int | None = None, precision: int = 3, filled: bool = True
) -> str:
    """Write an option tree as a DOT digraph; below ``max_depth`` it says "etc."."""
    max_depth, precision = checked_options(max_depth, precision)
    style = "rounded, filled" if filled else "rounded"
    lines = [
        "digraph everytree {",
        f'  node [shape=box, style="{style}", fontname="Helvetica", color="{INK}", fontcolor="{INK}"];',
        '  edge [fontname="Helvetica"];',
    ]
    if filled:
        lines[1] = lines[1].replace("];", ', fillcolor="white"];')
    depth = tree.node_depths
    todo, seen = [0], {0}
    for node in todo:  # the list grows while it is read, level by level
        options = tree.options(node)
        cut = max_depth is not None and int(depth[node]) >= max_depth
        label = "\\n".join(escaped(line) for line in node_lines(tree, node, precision, etc=cut))
        color = ""
        if filled:
            theta = tree.theta(node)
            c = int(theta.argmax())
            color = f', fillcolor="{node_fill(c, float(theta[c]), tree.n_classes)}", color="{class_color(c)}"'
        lines.append(f'  n{node} [label="{label}"{color}];')
        if cut:
            continue
        if len(options) > 1:
            inside = "".join(_option(tree, option, precision) for option in options)
            lines.append(f'  subgraph cluster_{node} {{ style=dashed; color="{LINE}";{inside} }}')
            lines += [f"  n{node} -> o{option};" for option in options]
        for option in options:
            start = f"o{option}" if len(options) > 1 else f"n{node}"
            for text, child in tree.branches(option):
                lines.append(f'  {start} -> n{child} [label=" {escaped(clean(text))} "];')
                if child not in seen:
                    seen.add(child)
                    todo.append(child)
    return "\n".join([*lines, "}", ""])


def _option(tree: TreeWithOptions, option: int, precision: int) -> str:
    name = escaped(" ".join(wrap(tree.column(option).name, 26, 2)))
    weight = probability(float(tree.p_option[option]), precision)
    return f' o{option} [shape=ellipse, style="", label="{name}\\n{weight}"];'


def node_lines(tree: TreeWithOptions, node: int, precision: int, *, etc: bool) -> list[str]:
    """Say a node in words: what it predicts, its class counts, and how surely it is a leaf."""
    theta = tree.theta(node)
    c = int(theta.argmax())
    lines = [*wrap(class_name(tree, c), 26, 2), f"p = {probability(float(theta[c]), precision)}"]
    lines += _pairs(count_list(tree, node))
    options = tree.options(node)
    if options and tree.kind != "none":
        lines.append(f"leaf {probability(float(tree.p_leaf[node]), precision)}")
    if etc and options:
        lines.append("etc.")
    return lines


def _pairs(counts: str) -> list[str]:
    """Break a list of counts into a few lines, between classes.

    >>> _pairs("setosa 0, versicolor 49, virginica 5")
    ['setosa 0, versicolor 49,', 'virginica 5']
    """
    lines = [""]
    for part in counts.split(", "):
        if lines[-1] and len(lines[-1]) + len(part) > COUNTS_WIDTH:
            lines.append("")
        lines[-1] += part + ", "
    return [line.strip() for line in (*lines[:-1], lines[-1].removesuffix(", "))]
