"""A tree on matplotlib axes, with the keywords of scikit-learn's `plot_tree`.

Boxes are measured with the real font and placed by `layout`, so they never overlap as long as the font size
is left to this function: it takes the largest size, up to `LARGEST_FONT`, at which the tree fits the axes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from everytree.common.text import as_number, clip
from everytree.common.told import tell
from everytree.draw.colors import INK, LINE, class_color, node_fill
from everytree.draw.labels import checked_options, clean, predicted, probability, wrap
from everytree.draw.layout import Shown, place, shown_part
from everytree.draw.shapes import BinaryTree
from everytree.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation


LARGEST_FONT, SMALLEST_FONT = 12.0, 4.0
"""In points. Smaller letters are drawn all the same, with a warning that tells how to enlarge them."""
LINE_HEIGHT = 1.3
PAD = 0.45
"""Around the words of a box, in ems, as are the gaps between boxes."""
GAP_X, GAP_Y = 1.2, 3.0
VALUES_PER_LINE = 7


def plot_tree(
    tree: BinaryTree,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | bool | None = None,
    label: str = "all",
    filled: bool = True,
    impurity: bool = False,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = True,
    precision: int = 3,
    ax: Axes | str | None = None,
    fontsize: float | None = None,
) -> list[Annotation]:
    """Draw a tree with matplotlib.

    Parameters
    ----------
    tree : Tree
        The tree.
    max_depth : int, optional
        The depth at which a split is drawn as the leaf it would be; by default all is drawn.
    feature_names : sequence of str, optional
        One name for each test, instead of the tree's own.
    class_names : sequence or bool, optional
        One name for each class, instead of the tree's own; False leaves the class out.
    label : {"all", "root", "none"}, default "all"
        Whether the numbers are explained in every box, only in the first, or nowhere.
    filled : bool, default True
        Whether each box has the colour of its most probable class, paler the less sure.
    impurity : bool, default False
        Whether the Gini impurity of the class probabilities is shown.
    node_ids : bool, default False
        Whether node numbers are shown.
    proportion : bool, default False
        Whether the share of the examples and the class probabilities are shown instead of counts.
    rounded : bool, default True
        Whether the corners of the boxes are round.
    precision : int, default 3
        The number of decimals of probabilities, shares and impurity.
    ax : matplotlib.axes.Axes or "new", optional
        The axes to draw on; by default the current ones. "new", or None where there are none, makes a figure that suits
        the tree.
    fontsize : float, optional
        The size of letters in points; by default the largest that fits.

    Returns
    -------
    list of matplotlib.text.Annotation
        One annotation for each box, in preorder.

    Examples
    --------
    >>> from everytree.trees.tree import Tree
    >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]], test_names=["fever"])
    >>> len(plot_tree(tree, ax="new"))
    3
    """
    max_depth, precision = checked_options(max_depth, precision)
    if label not in ("all", "root", "none"):
        raise DataError(f"label is {clip(label)}: expected 'all', 'root' or 'none'.")
    if fontsize is not None and not fontsize > 0:
        raise DataError(f"fontsize is {clip(fontsize)}: expected a positive number of points, or None.")
    if feature_names is not None:
        tree = tree.replace(test_names=feature_names, asks=None)
    names = _class_names(tree, class_names)
    pyplot, text_path, font_properties = _matplotlib()

    shown = shown_part(tree, max_depth)
    style = _Style(names, label, impurity, node_ids, proportion, precision)
    words = {k: _lines(tree, k, shown, style) for k in shown.nodes}
    boxes = {k: _measured(lines, text_path, font_properties) for k, lines in words.items()}
    placed = place(tree, shown, boxes, GAP_X, GAP_Y)

    axes = _axes_for(ax, pyplot, placed.width, placed.height, fontsize)
    extent = axes.get_window_extent()
    points = 72.0 / axes.figure.dpi
    if fontsize is None:
        fits = min(extent.width * points / (placed.width + 1), extent.height * points / (placed.height + 1))
        fontsize = min(LARGEST_FONT, 0.97 * fits)  # hinting makes small letters a little wider than measured
        if fontsize < SMALLEST_FONT:
            tell(_too_small(placed.width, placed.height, fontsize))
    axes.clear()
    axes.set_axis_off()
    axes.set_xlim(-0.5, placed.width + 0.5)
    axes.set_ylim(placed.height + 0.5, -0.5)

    for k, kids in shown.branches.items():
        bottom = (placed.x[k], placed.y[k] + boxes[k][1])
        for word, child in zip(("yes", "no"), kids, strict=True):
            _draw_branch(axes, word, bottom, (placed.x[child], placed.y[child]), fontsize)

    annotations: list[Annotation] = []
    for k in shown.nodes:
        fill, edge, ink = _colors(tree, k, k in shown.branches, filled, axes)
        frame = {"boxstyle": f"{'round' if rounded else 'square'},pad={PAD}", "fc": fill, "ec": edge}
        middle = (placed.x[k], placed.y[k] + boxes[k][1] / 2)
        note = axes.annotate(
            "\n".join(words[k]), middle, ha="center", va="center", fontsize=fontsize, bbox=frame
        )
        note.set_linespacing(LINE_HEIGHT)
        note.set_zorder(3)
        note.set_parse_math(False)  # a dollar in a name is a dollar
        if ink is not None:
            note.set_color(ink)
        annotations.append(note)
    return annotations


def _draw_branch(
    ax: Axes, word: str, start: tuple[float, float], end: tuple[float, float], fontsize: float
) -> None:
    """Draw a line straight down to the free band above the children, then aslant, so that it crosses no box."""
    (x0, y0), (x1, y1) = start, end
    ax.plot([x0, x0, x1], [y0, y1 - GAP_Y, y1], color=LINE, lw=1.2, zorder=1)
    paper = {"boxstyle": "round,pad=0.15", "fc": ax.get_facecolor(), "ec": "none"}
    where = (x0 + 0.6 * (x1 - x0), y1 - 0.4 * GAP_Y)
    ax.text(*where, word, ha="center", va="center", fontsize=0.9 * fontsize, bbox=paper, zorder=2)


def _matplotlib() -> tuple[Any, Any, Any]:
    try:
        from matplotlib import pyplot
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path
    except ImportError as error:
        raise ImportError(
            'plotting needs matplotlib: pip install "everytree[plot]". Without it, use tree.to_svg().'
        ) from error
    return pyplot, text_to_path, FontProperties


def _class_names(tree: BinaryTree, given: Sequence[Any] | bool | None) -> list[str] | None:
    if given is False:
        return None
    if given is None or given is True:
        return [clean(tree.class_label(c)) for c in range(tree.n_classes)]
    if isinstance(given, str) or len(given) != tree.n_classes:
        raise DataError(f"class_names is {clip(given)}: expected one name per class, {tree.n_classes}.")
    return [clean(name) for name in given]


@dataclass(frozen=True)
class _Style:
    """The choices of `plot_tree` about the words in boxes."""

    class_names: list[str] | None
    label: str
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int


def _lines(tree: BinaryTree, k: int, shown: Shown, style: _Style) -> list[str]:
    """Return the lines of words in one box."""
    explain = style.label == "all" or (style.label == "root" and k == 0)
    precision = style.precision

    def said(name: str, value: str) -> str:
        return f"{name} = {value}" if explain else value

    lines: list[str] = [f"node {k}"] if style.node_ids else []
    if k in shown.branches:
        lines += wrap(f"{tree.node_name(k)}?", 28, 3)
    if style.impurity:
        lines.append(said("gini", f"{1 - float((tree.proba[k] ** 2).sum()):.{precision}f}"))
    n, total = tree.counts[k].sum().item(), tree.counts[0].sum().item()
    if style.proportion:
        samples = f"{100 * n / (total or 1):.{min(precision, 1)}f}%"
        values = [f"{p:.{precision}f}" for p in tree.proba[k].tolist()]
    else:
        samples, values = as_number(n), [as_number(count) for count in tree.counts[k].tolist()]
    lines.append(said("samples", samples))
    rows = [", ".join(values[i : i + VALUES_PER_LINE]) for i in range(0, len(values), VALUES_PER_LINE)]
    lines += said("value", "[" + ",\n".join(rows) + "]").split("\n")
    if style.class_names is not None:
        c = predicted(tree, k)
        lines += wrap(said("class", style.class_names[c]), 28, 2)
        lines.append(said("p", probability(float(tree.proba[k, c]), precision)))
    if k in shown.hidden_leaves:
        lines.append(f"… {shown.hidden_leaves[k]} leaves not drawn")
    return lines


def _measured(lines: list[str], text_path: Any, font_properties: Any) -> tuple[float, float]:
    """Measure a box in ems, with the font that will draw it."""
    font = font_properties(size=100)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # drawing will say so again
        widest = max(text_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines)
    return widest / 100 + 2 * PAD, LINE_HEIGHT * len(lines) + 2 * PAD


def _too_small(width: float, height: float, fontsize: float) -> str:
    inch = 8 / 72
    return (
        f"the tree fits these axes only with letters of {fontsize:.1f} points: use axes of about "
        f"{width * inch:.0f} x {height * inch:.0f} inches, max_depth, or tree.to_svg()."
    )


def _axes_for(ax: Any, pyplot: Any, width: float, height: float, fontsize: float | None) -> Any:
    """Return the axes given, or the current ones for None; where there are none, and for "new", make a figure."""
    if isinstance(ax, str) and ax != "new":
        raise DataError(f"ax is {clip(ax)}: expected matplotlib axes, 'new' or None.")
    if ax is None and pyplot.get_fignums():
        return pyplot.gca()
    return _new_axes(pyplot, width, height, fontsize) if ax is None or isinstance(ax, str) else ax


def _new_axes(pyplot: Any, width: float, height: float, fontsize: float | None) -> Any:
    """Make a figure in which the tree fits at a comfortable font size, within the size of a poster."""
    inch = (fontsize or 10.0) / 72
    figure, axes = pyplot.subplots(
        figsize=(float(np.clip(width * inch + 0.3, 3, 60)), float(np.clip(height * inch + 0.3, 2, 60)))
    )
    figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
    return axes


def _colors(tree: BinaryTree, k: int, split: bool, filled: bool, ax: Axes) -> tuple[Any, str, str | None]:
    """Return the fill, edge and ink of a box; None leaves the ink to matplotlib's current style."""
    if not filled:
        return ax.get_facecolor(), LINE, None
    c = predicted(tree, k)
    if split:
        return node_fill(c, float(tree.proba[k, c]), tree.n_classes), LINE, INK
    return node_fill(c, float(tree.proba[k, c]), tree.n_classes), class_color(c), INK
