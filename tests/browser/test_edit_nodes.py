"""A node edited in the explorer: another test, a branch cut off, the price, Back, two tabs, and what is claimed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import mixed_table
from test_explorer_page import answered, claims, served

import everytree as et

pytestmark = pytest.mark.long

pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    X, y = mixed_table(150)
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    with served(tmp_path / "d.csv") as found:
        yield found


def space() -> et.TreeSpace:
    X, y = mixed_table(150)
    return et.OptimalTreeClassifier(max_depth=3, min_leaf=5, missing="category").fit(X, y).space_


def choose(page: Any, node: int) -> None:
    page.locator("[role=treeitem]").nth(node).click(position={"x": 15, "y": 10})
    page.wait_for_selector(".node-edit")


def errors(page: Any) -> int:
    return int(re.search(r"([\d,]+) training error", page.inner_text(".about"))[1].replace(",", ""))


def test_another_column_is_asked_and_everything_below_is_the_best(
    address: str, visit: Callable[..., Any], findings: Callable[..., Any]
) -> None:
    found = visit(f"{address}#max_depth=3", viewport={"width": 1440, "height": 900})
    page = found.page
    answered(page)
    best, first = errors(page), page.locator("[role=treeitem]").first.get_attribute("aria-label")
    choose(page, 0)
    page.wait_for_function(
        "() => document.querySelector('#edit-column').textContent.includes('+')"
    )  # prices are there
    assert findings(page) == []
    found.picture("edit-panel")
    page.select_option("#edit-column", "4")  # level
    assert page.locator("#edit-test option").count() == 1
    raw = int(page.locator("#edit-test").input_value())
    page.wait_for_function("() => document.querySelector('.price').textContent.includes('best tree with it')")
    wanted = space().best_with({"": raw})
    assert f"{wanted.error} training errors, +{wanted.error - best}" in page.inner_text(".price")
    page.get_by_role("button", name="Ask this here").click()
    status = answered(page)
    assert status.startswith("Proved best with your choice.")
    assert f"{wanted.error - best} more training error" in status
    assert errors(page) == wanted.error
    assert page.locator("[role=treeitem]").first.get_attribute("aria-label").startswith("level is 1")
    assert "You chose this." in page.locator("[role=treeitem]").first.get_attribute("aria-label")
    assert claims(page)["proved best with your choice"] == "yes"
    assert "proved best" not in claims(page)
    assert page.locator(".chips li").inner_text().startswith("the root asks level is 1")
    assert findings(page) == []
    found.picture("edited")

    # A second choice, below the first: cut a branch off. The first one stays.
    choose(page, 1)
    page.get_by_role("button", name="Cut this branch off").click()
    assert answered(page).startswith("Proved best with your 2 choices.")
    assert errors(page) == space().best_with({"": raw, "1": None}).error
    assert page.locator("[role=treeitem]").first.get_attribute("aria-label").startswith("level is 1")

    # Back undoes one choice, then the other; Forward brings it back.
    page.go_back()
    answered(page)
    assert errors(page) == wanted.error
    page.go_back()
    assert answered(page).startswith("Proved best. ")
    assert errors(page) == best
    assert page.locator("[role=treeitem]").first.get_attribute("aria-label") == first
    assert page.locator(".chips li").count() == 0
    page.go_forward()
    answered(page)
    assert errors(page) == wanted.error

    # Back undoes a question too.
    page.fill("#query-max_depth", "1")
    answered(page)
    assert "max_depth=1" in page.url
    page.go_back()
    answered(page)
    assert page.input_value("#query-max_depth") == "3"
    assert errors(page) == wanted.error

    # A colleague opens the same tree; another tab asks beside it.
    other = visit(page.url)
    answered(other.page)
    assert errors(other.page) == wanted.error
    page.locator(".undo").click()
    assert answered(page).startswith("Proved best. ")
    assert errors(page) == best
    assert errors(other.page) == wanted.error
    assert found.complaints == other.complaints == []


def test_a_tree_of_the_front_is_edited_from_what_is_in_sight(address: str, visit: Callable[..., Any]) -> None:
    found = visit(f"{address}#max_depth=3")
    page = found.page
    answered(page)
    page.check("#mode-top", force=True)
    root = page.locator("[role=treeitem]").first.get_attribute("aria-label").split("?")[0]
    # The first of the two nodes below the root may be a leaf already; of a leaf something is asked instead.
    choose(page, 1)
    is_leaf = page.locator("button", has_text="Cut this branch off").count() == 0
    page.get_by_role("button", name="Ask this here" if is_leaf else "Cut this branch off").click()
    assert answered(page).startswith("Proved best with your choice.")
    assert page.locator("#mode-model").is_checked()
    label = page.locator("[role=treeitem]").first.get_attribute("aria-label")
    assert label.split("?")[0] == root
    assert "It stays as it was" in label
    assert found.complaints == []


def test_on_a_phone_a_node_is_edited_too(
    address: str, visit: Callable[..., Any], findings: Callable[..., Any]
) -> None:
    found = visit(
        f"{address}#max_depth=2", viewport={"width": 390, "height": 800}, has_touch=True, color_scheme="dark"
    )
    page = found.page
    answered(page)
    choose(page, 0)
    page.wait_for_timeout(500)
    wide, seen = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    assert findings(page) == []
    found.picture("phone-edit")
    page.get_by_role("button", name="Cut this branch off").click()
    assert answered(page).startswith("Proved best with your choice.")
    assert page.locator("[role=treeitem]").count() == 1
    assert found.complaints == []
