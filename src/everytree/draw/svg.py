"""A tree as a self-contained SVG picture, without any plotting library.

Boxes are opaque and lines mid-grey, so the picture reads on white and on dark pages alike; it has no ids and
no style sheet, so many pictures can live in one page. Below the words of a box a bar shows the class
probabilities, and the width of a branch shows its share of the examples. Tooltips show the rest.
"""

from __future__ import annotations

from html import escape

from everytree.draw.colors import INK, LINE, PAPER, QUIET, class_color, node_fill
from everytree.draw.labels import checked_options, class_name, predicted, shorten, text_width
from everytree.draw.layout import Placed, Shown, place, shown_part
from everytree.draw.node_text import NodeText, node_text
from everytree.draw.shapes import BinaryTree

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
TITLE_SIZE, DETAIL_SIZE = 14.0, 12.0
TITLE_STEP, DETAIL_STEP = 18.0, 16.0
PAD_X, PAD_Y = 12.0, 9.0
BAR_HEIGHT, BAR_GAP = 6.0, 7.0
MIN_WIDTH = 84.0
GAP_X, GAP_Y = 22.0, 54.0
MARGIN = 10.0
BOLD = 1.08
"""Bold letters are about this much wider."""
MAX_LEGEND_CLASSES = 10

HTML_MAX_DEPTH, HTML_MAX_LEAVES = 10, 64
"""A notebook shows this much of a large tree; `to_svg` draws all of it."""


def tree_to_svg(tree: BinaryTree, max_depth: int | None = None, precision: int = 3) -> str:
    """Draw a tree as a self-contained SVG picture of readable size.

    Parameters
    ----------
    tree : Tree
        The tree.
    max_depth : int, optional
        The depth at which a split is drawn as the leaf it would be; by default all is drawn.
    precision : int, default 3
        The number of digits of probabilities.

    Returns
    -------
    str
        The SVG document.

    Examples
    --------
    >>> from everytree.trees.tree import Tree
    >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]])
    >>> tree_to_svg(tree).startswith("<svg ")
    True
    """
    max_depth, precision = checked_options(max_depth, precision)
    shown = shown_part(tree, max_depth)
    texts = {k: node_text(tree, k, shown, precision) for k in shown.nodes}
    boxes = {k: _box(text) for k, text in texts.items()}
    placed = place(tree, shown, boxes, GAP_X, GAP_Y)

    width = max(placed.width, 240.0)
    chips, legend_height = _legend(tree, width)
    left = MARGIN + (width - placed.width) / 2
    top = MARGIN + legend_height
    branches = [line for k in shown.branches for line in _branches(tree, k, shown, placed, boxes)]
    nodes = [line for k in shown.nodes for line in _node(tree, k, texts[k], placed, boxes[k])]
    total_width, total_height = width + 2 * MARGIN, placed.height + legend_height + 2 * MARGIN
    size = f"{_n(total_width)} {_n(total_height)}"
    about = f"Decision tree with {tree.n_leaves} leaves and depth {tree.depth}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(total_width)}" height="{_n(total_height)}" '
        f'viewBox="0 0 {size}" font-family="{escape(FONT)}" role="img" aria-label="{about}">',
        f'<g transform="translate({_n(MARGIN)} {_n(MARGIN)})">',
        *chips,
        "</g>",
        f'<g transform="translate({_n(left)} {_n(top)})">',
        *branches,
        *nodes,
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines)


def tree_to_html(tree: BinaryTree) -> str:
    """Draw a tree for a notebook: the picture scrolls when it is wide, and shows the top of a very large tree.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    str
        The HTML of the picture.

    Examples
    --------
    >>> from everytree.trees.tree import Tree
    >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]])
    >>> tree_to_html(tree).startswith("<div ")
    True
    """
    depth = min(tree.depth, HTML_MAX_DEPTH)
    while depth > 1 and _shown_leaves(tree, depth) > HTML_MAX_LEAVES:
        depth -= 1
    note = ""
    if depth < tree.depth:
        note = (
            f"<div>{tree.n_leaves} leaves, depth {tree.depth}; drawn to depth {depth}. "
            "<code>tree.to_svg()</code> draws all of it.</div>"
        )
    svg = tree_to_svg(tree, max_depth=depth)
    return f'<div style="overflow-x: auto; max-width: 100%;">{svg}{note}</div>'


def _shown_leaves(tree: BinaryTree, depth: int) -> int:
    """Count the leaves of the tree cut at a depth."""
    depths = tree.node_depths
    return int(((depths == depth) | ((depths < depth) & (tree.test < 0))).sum())


def _box(text: NodeText) -> tuple[float, float]:
    widest = max(
        max(text_width(line) * TITLE_SIZE * BOLD for line in text.title),
        max(text_width(line) * DETAIL_SIZE for line in text.details),
    )
    height = TITLE_STEP * len(text.title) + DETAIL_STEP * len(text.details) + BAR_GAP + BAR_HEIGHT
    return max(widest + 2 * PAD_X, MIN_WIDTH), height + 2 * PAD_Y


def _node(tree: BinaryTree, k: int, text: NodeText, placed: Placed, box: tuple[float, float]) -> list[str]:
    width, height = box
    c = text.predicted
    if c is None:
        fill, stroke, thick = QUIET, LINE, 1.2
    else:
        fill, stroke, thick = node_fill(c, float(tree.proba[k, c]), tree.n_classes), class_color(c), 1.8
    lines = [
        f'<g transform="translate({_n(placed.x[k] - width / 2)} {_n(placed.y[k])})">',
        f"<title>{escape(text.full)}</title>",
        f'<rect width="{_n(width)}" height="{_n(height)}" rx="7" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{thick}"/>',
    ]
    y = PAD_Y
    for line in text.title:
        lines.append(_text(line, width / 2, y + TITLE_STEP * 0.75, TITLE_SIZE, bold=True))
        y += TITLE_STEP
    for line in text.details:
        lines.append(_text(line, width / 2, y + DETAIL_STEP * 0.75, DETAIL_SIZE))
        y += DETAIL_STEP
    lines += _bar(tree, k, PAD_X, y + BAR_GAP, width - 2 * PAD_X)
    lines.append("</g>")
    return lines


def _bar(tree: BinaryTree, k: int, x: float, y: float, width: float) -> list[str]:
    """Draw the class probabilities side by side, in class order; of very many classes only the predicted one."""
    bar = f'height="{_n(BAR_HEIGHT)}"'
    lines = [f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" {bar} fill="{PAPER}"/>']
    few = tree.n_classes <= MAX_LEGEND_CLASSES
    for c in range(tree.n_classes) if few else (predicted(tree, k),):
        part = float(tree.proba[k, c]) * width
        if part >= 0.05:
            lines.append(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(part)}" {bar} fill="{class_color(c)}"/>')
        x += part
    return lines


def _branches(
    tree: BinaryTree, k: int, shown: Shown, placed: Placed, boxes: dict[int, tuple[float, float]]
) -> list[str]:
    lines: list[str] = []
    total = float(tree.counts[k].sum()) or 1.0
    x0, y0 = placed.x[k], placed.y[k] + boxes[k][1]
    for word, child in zip(("yes", "no"), shown.branches[k], strict=True):
        x1, y1 = placed.x[child], placed.y[child]
        bend = y1 - GAP_Y / 2  # boxes of a level differ in height: bend in the free band above the children
        thick = 1.5 + 4.5 * float(tree.counts[child].sum()) / total
        lines.append(
            f'<path d="M{_n(x0)} {_n(y0)}V{_n(bend - GAP_Y / 2)}C{_n(x0)} {_n(bend + 6)} {_n(x1)} '
            f'{_n(bend - 10)} {_n(x1)} {_n(y1)}" fill="none" stroke="{LINE}" stroke-width="{_n(thick)}"/>'
        )
        lines += _chip(word, x1 - (text_width(word) * DETAIL_SIZE + 12) / 2, y1 - 25)
    return lines


def _chip(word: str, x: float, y: float) -> list[str]:
    """Draw a word on its own small piece of paper, readable on any background."""
    width = text_width(word) * DETAIL_SIZE + 12
    return [_paper(x, y, width, 18), _text(word, x + width / 2, y + 13, DETAIL_SIZE)]


def _paper(x: float, y: float, width: float, height: float) -> str:
    size = f'width="{_n(width)}" height="{_n(height)}" rx="{_n(height / 2)}"'
    return f'<rect x="{_n(x)}" y="{_n(y)}" {size} fill="{PAPER}" stroke="{LINE}"/>'


def _legend(tree: BinaryTree, width: float) -> tuple[list[str], float]:
    """Draw one chip per class with its colour, in rows as wide as the picture; none for one or many classes."""
    if not 2 <= tree.n_classes <= MAX_LEGEND_CLASSES:
        return [], 0.0
    lines: list[str] = []
    x, y = 0.0, 0.0
    for c in range(tree.n_classes):
        word = shorten(class_name(tree, c), 24)
        chip = text_width(word) * DETAIL_SIZE + 34
        if x and x + chip > width:
            x, y = 0.0, y + 28
        corner = f'x="{_n(x + 9)}" y="{_n(y + 5)}"'
        lines += [
            f"<g><title>{escape(class_name(tree, c))}</title>",
            _paper(x, y, chip, 22),
            f'<rect {corner} width="12" height="12" rx="3" fill="{class_color(c)}"/>',
            _text(word, x + 26, y + 15.5, DETAIL_SIZE, anchor="start"),
            "</g>",
        ]
        x += chip + 8
    return lines, y + 22 + 16


def _text(line: str, x: float, y: float, size: float, bold: bool = False, anchor: str = "middle") -> str:
    weight = ' font-weight="600"' if bold else ""
    where = f'x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" text-anchor="{anchor}"'
    return f'<text {where}{weight} fill="{INK}">{escape(line)}</text>'


def _n(value: float) -> str:
    """Write a number shortly: a tenth of a pixel is enough."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
