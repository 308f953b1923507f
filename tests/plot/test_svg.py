"""The SVG picture: well-formed, escaped, nothing clipped, nothing overlapping."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import numpy as np
import pytest

from everytree.trees.tree import Tree

SPACE = "{http://www.w3.org/2000/svg}"


def full_tree(depth: int, n_classes: int = 2, **names: Any) -> Tree:
    rng = np.random.default_rng(depth)

    def nested(left: int) -> Any:
        return None if left == 0 else (int(rng.integers(4)), nested(left - 1), nested(left - 1))

    X, counts = rng.integers(0, 2, (80, 4)), rng.integers(0, 3, (80, n_classes))
    return Tree.from_structure(nested(depth), X, counts, **names)


def node_boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """The boxes of the nodes: the groups with a title that hold a bar."""
    root = ElementTree.fromstring(svg)
    _, body = root.findall(f"{SPACE}g")
    offset_x, offset_y = _moved(body)
    boxes = []
    for group in body.findall(f"{SPACE}g"):
        x, y = _moved(group)
        rect = group.find(f"{SPACE}rect")
        assert rect is not None
        boxes.append((x + offset_x, y + offset_y, float(rect.get("width", 0)), float(rect.get("height", 0))))
    return boxes


def _moved(group: ElementTree.Element) -> tuple[float, float]:
    found = re.fullmatch(r"translate\((\S+) (\S+)\)", group.get("transform", ""))
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("depth", range(6))
@pytest.mark.parametrize("n_classes", [1, 2, 5, 26])
def test_boxes_lie_inside_and_apart(depth: int, n_classes: int) -> None:
    tree = full_tree(depth, n_classes)
    svg = tree.to_svg()
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    boxes = node_boxes(svg)
    assert len(boxes) == tree.n_nodes
    for x, y, w, h in boxes:
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
    for (x0, y0, w0, h0), (x1, y1, w1, h1) in itertools.combinations(boxes, 2):
        assert x0 + w0 < x1 or x1 + w1 < x0 or y0 + h0 < y1 or y1 + h1 < y0


def test_names_are_escaped_and_kept() -> None:
    names = ['<script>alert("x")</script>', "a & b", "two\nlines\x00", "日本語 🌳"]
    tree = full_tree(3, test_names=names, classes=["<b>", "x & y"])
    svg = tree.to_svg()
    svg.encode()
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(SPACE) for element in root.iter()} == {
        "svg",
        "g",
        "rect",
        "path",
        "text",
        "title",
    }
    words = " ".join("".join(element.itertext()) for element in root.iter(f"{SPACE}title"))
    assert "two lines\\x00?" in words
    assert "<b>, p = " in words
    assert "<script>" not in svg


def test_words_fit_their_boxes() -> None:
    """Measured with DejaVu Sans, bold for titles."""
    pytest.importorskip("matplotlib", reason='pip install "everytree[plot]"')
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    names = ["worst concave points <= 0.1614", "MMMM WWWW", "illi", "a_very_long_name_without_blanks_" * 3]
    root = ElementTree.fromstring(full_tree(3, test_names=names, classes=["malignant", "benign"]).to_svg())
    _, body = root.findall(f"{SPACE}g")
    seen = 0
    for group in body.findall(f"{SPACE}g"):
        rect = group.find(f"{SPACE}rect")
        assert rect is not None
        for text in group.findall(f"{SPACE}text"):
            weight = "bold" if text.get("font-weight") else "normal"
            font = FontProperties(family="DejaVu Sans", size=float(text.get("font-size", 0)), weight=weight)
            width = text_to_path.get_text_width_height_descent(text.text or "", font, ismath=False)[0]
            assert width <= float(rect.get("width", 0)) - 8
            assert float(text.get("font-size", 0)) >= 12
            seen += 1
    assert seen > 20


def test_no_ids_or_style_sheets_that_could_clash_in_a_page() -> None:
    svg = full_tree(2).to_svg()
    assert " id=" not in svg
    assert "<style" not in svg


def test_max_depth_cuts_and_says_so() -> None:
    tree = full_tree(4)
    svg = tree.to_svg(max_depth=1)
    assert len(node_boxes(svg)) == 3
    assert svg.count("… 8 leaves not drawn") == 2


@pytest.mark.long
def test_html_is_one_block_and_stays_small() -> None:
    html = full_tree(2)._repr_html_()
    assert html.startswith("<div")
    ElementTree.fromstring(html)
    assert "drawn to depth" not in html

    big = full_tree(9)._repr_html_()
    assert "512 leaves, depth 9; drawn to depth 6" in big
    ElementTree.fromstring(big)

    nested: Any = None
    for _ in range(2000):
        nested = (0, None, nested)
    deep = Tree.from_structure(nested, [[0]], [[1, 1]])
    assert len(deep._repr_html_()) < 50_000
    ElementTree.fromstring(deep.to_svg())


def test_an_empty_leaf_says_so() -> None:
    tree = Tree.from_structure((0, None, None), [[0]], [[1, 2]])
    assert "no examples" in tree.to_svg()
