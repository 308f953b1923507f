"""An option tree on matplotlib axes: boxes for nodes, a dashed frame around the options of a node, lines for branches.

The graph is drawn unfolded, so a state with several parents has a box below each. Every subtree takes the width of its
parts side by side; all boxes of a level share one top line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from everytree.draw.colors import INK, LINE, PAPER, class_color, node_fill
from everytree.draw.labels import checked_options, probability, wrap
from everytree.draw.matplotlib_tree import (
    GAP_X,
    LARGEST_FONT,
    LINE_HEIGHT,
    PAD,
    _axes_for,
    _matplotlib,
    _measured,
)
from everytree.draw.option_dot import node_lines
from everytree.draw.shapes import TreeWithOptions
from everytree.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["plot_options"]

READABLE, MOST = 40, 2000  # so many boxes are drawn when no depth is given, and at most
GAP_Y = 2.2
BRANCH_WIDTH = 22  # letters of a condition on one line


@dataclass
class _Box:
    """A node or an option of the unfolded graph, its words, and the boxes below it with the conditions on the way."""

    words: list[str]
    node: int | None  # None for an option
    level: int
    below: list[tuple[str, _Box]] = field(default_factory=list)
    size: tuple[float, float] = (0.0, 0.0)
    span: float = 0.0  # width of the subtree
    x: float = 0.0


def plot_options(
    tree: TreeWithOptions, max_depth: int | None = None, precision: int = 2, ax: Axes | str | None = None
) -> Axes:
    """Draw an option tree and return the axes; without ``max_depth``, as deep as about forty boxes go.

    ``ax`` is that of ``plot_tree``.
    """
    max_depth, precision = checked_options(max_depth, precision)
    limit = max_depth
    if limit is None:
        limit = 0
        while limit < tree.depth and len(_unfolded(tree, limit + 1, precision, READABLE + 1)) <= READABLE:
            limit += 1
    boxes = _unfolded(tree, limit, precision, MOST + 1)
    if len(boxes) > MOST:
        raise DataError(
            f"max_depth={max_depth}: more than {MOST} boxes; draw less of it, or use to_dot, which draws a state once"
        )
    pyplot, text_path, font_properties = _matplotlib()
    for box in boxes:
        box.size = _measured(box.words, text_path, font_properties)
    tops, width, height = _placed(boxes)
    axes = _axes_for(ax, pyplot, width, height, None)
    extent, points = axes.get_window_extent(), 72.0 / axes.figure.dpi
    fits = min(extent.width * points / (width + 1), extent.height * points / (height + 1))
    fontsize = min(LARGEST_FONT, 0.95 * fits)
    axes.clear()
    axes.set_axis_off()
    axes.set_xlim(-0.5, width + 0.5)
    axes.set_ylim(height + 0.5, -0.5)
    for box in boxes:
        _draw(tree, box, tops, fontsize, axes)
    drawn: Axes = axes
    return drawn


def _unfolded(tree: TreeWithOptions, max_depth: int, precision: int, most: int) -> list[_Box]:
    """List the boxes down to a depth, level by level, until there are ``most`` of them."""
    depth = tree.node_depths
    boxes = [_Box(node_lines(tree, 0, precision, etc=max_depth == 0), 0, 0)]
    for box in boxes:  # the list grows while it is read
        if len(boxes) >= most:
            break
        if box.node is None or int(depth[box.node]) >= max_depth:
            continue
        options = tree.options(box.node)
        for option in options:
            parent = box
            if len(options) > 1:
                weight = probability(float(tree.p_option[option]), precision)
                parent = _Box([*wrap(tree.column(option).name, 20, 2), weight], None, box.level + 1)
                box.below.append(("", parent))
                boxes.append(parent)
            for text, child in tree.branches(option):
                etc = int(depth[child]) >= max_depth
                below = _Box(node_lines(tree, child, precision, etc=etc), child, parent.level + 1)
                parent.below.append((text, below))
                boxes.append(below)
    return boxes


def _placed(boxes: list[_Box]) -> tuple[list[float], float, float]:
    """Set the x of every box, and return the top of every level and the size of the whole."""
    for box in sorted(boxes, key=lambda box: -box.level):
        inside = sum(child.span for _, child in box.below) + GAP_X * (len(box.below) - 1)
        box.span = max(box.size[0], inside) if box.below else box.size[0]
    boxes[0].x = boxes[0].span / 2
    for box in sorted(boxes, key=lambda box: box.level):
        inside = sum(child.span for _, child in box.below) + GAP_X * (len(box.below) - 1)
        left = box.x - inside / 2
        for _, child in box.below:
            child.x = left + child.span / 2
            left += child.span + GAP_X
    tallest = [0.0] * (max(box.level for box in boxes) + 1)
    for box in boxes:
        tallest[box.level] = max(tallest[box.level], box.size[1])
    tops = [0.0]
    for tall in tallest:
        tops.append(tops[-1] + tall + GAP_Y)
    return tops, boxes[0].span, tops[-1] - GAP_Y


def _draw(tree: TreeWithOptions, box: _Box, tops: list[float], fontsize: float, ax: Any) -> None:
    top = tops[box.level]
    for text, child in box.below:
        y = tops[child.level]
        ax.plot([box.x, child.x], [top + box.size[1], y], color=LINE, lw=1.2, zorder=1)
        if text:
            words = "\n".join(wrap(text, BRANCH_WIDTH, 2))
            note = ax.text(
                child.x, y - 0.35, words, ha="center", va="bottom", fontsize=0.8 * fontsize, zorder=2
            )
            note.set_parse_math(False)
            note.set_bbox({"fc": PAPER, "ec": "none", "pad": 0.6, "alpha": 0.8})
    options = [child for _, child in box.below if child.node is None]
    if options:
        _cluster(options, tops[options[0].level], ax)
    if box.node is None:
        frame = {"boxstyle": f"round4,pad={PAD}", "fc": PAPER, "ec": INK}
    else:
        theta = tree.theta(box.node)
        c = int(theta.argmax())
        fill = node_fill(c, float(theta[c]), tree.n_classes)
        frame = {"boxstyle": f"square,pad={PAD}", "fc": fill, "ec": class_color(c)}
    middle = (box.x, top + box.size[1] / 2)
    note = ax.annotate(
        "\n".join(box.words), middle, ha="center", va="center", fontsize=fontsize, bbox=frame, color=INK
    )
    note.set_linespacing(LINE_HEIGHT)
    note.set_zorder(3)
    note.set_parse_math(False)  # a dollar in a name is a dollar


def _cluster(options: list[_Box], top: float, ax: Any) -> None:
    """Draw the dashed frame around the options of a node, of which a tree takes exactly one."""
    from matplotlib.patches import Rectangle

    left = min(box.x - box.size[0] / 2 for box in options) - 0.4
    right = max(box.x + box.size[0] / 2 for box in options) + 0.4
    tall = max(box.size[1] for box in options)
    place = (left, top - 0.4)
    ax.add_patch(Rectangle(place, right - left, tall + 0.8, fill=False, ls="--", ec=LINE, lw=1.0, zorder=2))
