"""One row beside the tree: its columns first, sliders, what would change the answer, two rows; pictures."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import mixed_table

import everytree as et
from everytree.report import write_report

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    X, y = mixed_table(150)
    path = tmp_path_factory.mktemp("pages") / "tree.html"
    model = et.OptimalTreeClassifier(max_depth=3, min_leaf=5, leaf_penalty=0, missing="category").fit(X, y)
    write_report(model, path, (X, y), title="The best tree")
    return path.as_uri()


def answer(page: Any) -> str:
    return str(page.locator(".verdict .answer strong").inner_text())


def test_the_columns_of_the_tree_come_first_and_the_tree_is_in_sight(
    tree: str, visit: Callable[..., Any]
) -> None:
    found = visit(tree, viewport={"width": 1440, "height": 900})
    page = found.page
    asked = page.locator("[data-part=asked] label").all_inner_texts()
    root = page.locator("[role=treeitem]").first.get_attribute("aria-label")
    assert root.startswith(asked[0])
    assert len(asked) <= 5
    picture, form = page.locator(".tree-frame").bounding_box(), page.locator(".row-form").bounding_box()
    assert form["x"] > picture["x"] + picture["width"]
    assert form["y"] < picture["y"] + picture["height"]
    wide, room = page.evaluate("(f => [f.scrollWidth, f.clientWidth])(document.querySelector('.tree-frame'))")
    assert wide <= room  # the picture fits its frame
    assert found.complaints == []


def test_on_a_phone_the_tree_stays_above_what_is_typed(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree, viewport={"width": 390, "height": 800}, has_touch=True)
    page = found.page
    page.locator("[data-part=asked] input[type=text]").first.focus()
    page.mouse.wheel(0, 60)  # the field came to the middle of the screen; the tree stays where it is
    page.wait_for_timeout(200)
    picture = page.locator(".tree-frame").bounding_box()
    field = page.locator("[data-part=asked] input[type=text]").first.bounding_box()
    assert 0 <= picture["y"] < field["y"] < 800
    assert picture["y"] + picture["height"] <= field["y"]
    assert page.locator(".node.passed").count() > 0
    found.picture("phone-typed")
    assert found.complaints == []


def test_a_slider_asks_what_if(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    page = found.page
    page.select_option("#pick", "0")
    seen = set()
    for slider in page.locator("[data-part=asked] input[type=range]").all():
        field = page.locator(f"#{str(slider.get_attribute('id')).replace('slide', 'field')}")
        for end in ("min", "max"):
            slider.fill(str(slider.get_attribute(end)))
            assert float(field.input_value()) == float(slider.get_attribute(end))
            seen.add(page.locator(".path").inner_text())
    assert len(seen) > 1
    assert found.complaints == []


def test_the_nearest_change_gives_the_other_answer(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    page = found.page
    for row in ("0", "3", "9"):
        page.select_option("#pick", row)
        before, other = answer(page), page.locator(".change .pill").inner_text()
        assert before != other
        page.get_by_role("button", name="Make this change").click()
        assert answer(page) == other
    found.picture("change")
    assert found.complaints == []


def test_two_rows_stand_side_by_side(
    tree: str, visit: Callable[..., Any], findings: Callable[..., Any]
) -> None:
    found = visit(tree, viewport={"width": 1440, "height": 900})
    page = found.page
    page.select_option("#pick", "0")
    first = answer(page)
    page.get_by_role("button", name="Keep this row beside the next one").click()
    assert "5 other columns are the same" in page.locator(".row-more .beside").inner_text()
    page.get_by_role("button", name="Make this change").click()
    cells = page.locator(".row-more .beside tbody tr").first.locator("td").all_inner_texts()
    assert cells[0].startswith(first)
    assert cells[1].startswith(answer(page))
    assert not cells[1].startswith(first)
    assert (
        page.locator(".row-more .beside tbody tr").count() == 2
    )  # the answer, and the one column that was changed
    assert page.locator(".branch.beside").count() > 0
    assert findings(page) == []
    found.picture("two-rows")
    page.get_by_role("button", name="Swap").click()
    assert answer(page) == first
    page.get_by_role("button", name="Forget it").click()
    assert page.locator(".row-more .beside table").count() == 0
    assert found.complaints == []


def test_a_node_shows_the_values_of_a_column(
    tree: str, visit: Callable[..., Any], findings: Callable[..., Any]
) -> None:
    X, y = mixed_table(150)
    found = visit(tree)
    page = found.page
    page.locator("[role=treeitem]").first.click(position={"x": 15, "y": 10})
    assert page.locator(".node-panel").is_visible()
    page.select_option("#spread-column", label="colour")
    page.locator(".node-spread summary").click()
    table = {
        line.locator("th").inner_text(): [int(n) for n in line.locator("td").all_inner_texts()]
        for line in page.locator(".node-spread tbody tr").all()
    }
    for colour in ("red", "green", "blue"):
        assert table[colour] == [int(((X.colour == colour) & (y == c)).sum()) for c in ("high", "low", "mid")]
    assert sum(table["missing"]) == int(X.colour.isna().sum())
    assert findings(page) == []
    found.picture("node")
    page.get_by_role("button", name="Close the panel of the node").click()
    assert not page.locator(".node-panel").is_visible()
    assert found.complaints == []


def test_the_picture_is_saved(tree: str, visit: Callable[..., Any], tmp_path: Path) -> None:
    found = visit(tree, accept_downloads=True, color_scheme="dark")
    page = found.page
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save the picture as {kind}").click()
        assert download.value.suggested_filename == f"the-best-tree.{kind.lower()}"
        download.value.save_as(tmp_path / f"saved.{kind}")
    saved = ElementTree.parse(tmp_path / "saved.SVG").getroot()
    text = (tmp_path / "saved.SVG").read_text(encoding="utf-8")
    words = "".join(saved.itertext())
    assert "colour is" in words
    assert not re.search(
        r"var\(|color-mix|color\(|class=|style=", text
    )  # it needs no style sheet, and no browser
    assert len(set(re.findall(r'fill="(rgb[^"]*)"', text))) > 4
    assert (tmp_path / "saved.PNG").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / "saved.PNG").stat().st_size > 10_000
    assert found.complaints == []


def test_print_keeps_the_colours_and_shows_the_whole_tree(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree, color_scheme="dark", viewport={"width": 780, "height": 1000})
    page = found.page
    page.emulate_media(media="print")
    assert (
        page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip()
        == "#fff"
    )
    adjust = "e => getComputedStyle(e).getPropertyValue('print-color-adjust')"
    assert page.locator(".leaf .box").first.evaluate(adjust) == "exact"
    assert page.locator(".fill").first.evaluate(adjust) == "exact"
    for hidden in (".tools", ".row-form", ".segments"):
        assert not page.locator(hidden).first.is_visible()
    picture, frame = (
        page.locator(".tree-frame svg").bounding_box(),
        page.locator(".tree-frame").bounding_box(),
    )
    assert picture["width"] <= frame["width"] + 1
    found.picture("print")
    assert found.complaints == []


def test_thresholds_and_classes_of_the_calibration(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    page = found.page
    rows = lambda: [int(n) for n in page.locator(".threshold .confusion td.number").all_inner_texts()]  # noqa: E731
    page.select_option("#threshold-class", label="low")
    counts = {}
    for t in (0, 50, 100):
        page.locator("#threshold").fill(str(t))
        counts[t] = rows()
        assert sum(counts[t]) == 150
    assert counts[0][1] == counts[0][3] == 0  # from 0 on everything is said to be low
    assert counts[0][0] >= counts[50][0] >= counts[100][0]
    page.fill("#threshold-ratio", "5")
    assert "the cost is least from" in page.locator(".threshold").inner_text()
    before = page.locator(".part-calibration .bubble").count()
    page.select_option("#calibration-class", label="high")
    assert page.locator(".part-calibration .bubble").count() > 0 < before
    assert found.complaints == []
