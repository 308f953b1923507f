"""The report in a real browser: from disk, without a network, by mouse and keyboard, light and dark, on a phone."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import HOSTILE, mixed_table

import everytree as et
from everytree.report import write_report

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def model() -> Any:
    X, y = mixed_table(150)
    return et.BayesOptimalClassifier(max_depth=3, min_leaf=4, missing="category").fit(X, y)


@pytest.fixture(scope="module")
def average(model: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("pages") / "average.html"
    write_report(model, path, mixed_table(150), title="Every tree", rows=150)
    return path.as_uri()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    X, y = mixed_table(150)
    path = tmp_path_factory.mktemp("pages") / "tree.html"
    model = et.OptimalTreeClassifier(max_depth=4, min_leaf=3, missing="category").fit(X, y)
    write_report(model, path, (X, y), title="The best tree")
    return path.as_uri()


LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}, "device_scale_factor": 2, "has_touch": True},
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("kind", ["average", "tree"])
def test_the_page_opens_from_disk(
    kind: str,
    look: str,
    request: pytest.FixtureRequest,
    visit: Callable[..., Any],
    findings: Callable[..., Any],
) -> None:
    address = request.getfixturevalue(kind)
    found = visit(address, **LOOKS[look])
    found.page.wait_for_selector("[role=treeitem]")
    found.picture(f"{kind}-{look}")
    assert found.texts("h1") == ["Every tree" if kind == "average" else "The best tree"]
    assert found.texts("h2:visible") == [
        "The tree",
        "One row",
        "How good is it on examples it has not seen?",
        "What matters",
        "Can the probabilities be trusted?",
        "Evidence and settings",
        "How to cite",
    ]
    wide, seen = found.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    assert findings(found.page) == []
    assert found.complaints == []
    assert [url for url in found.requests if not url.startswith(("file:", "data:"))] == []


def test_the_slider_changes_the_tree(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    page = found.page
    page.check("#mode-front", force=True)
    slider = page.locator("#front-size")
    most = int(slider.get_attribute("max") or 0)
    sizes = []
    for place in range(most + 1):
        slider.fill(str(place))
        page.get_by_role("button", name="Unfold every node").click()  # what does not fit the frame is folded
        sizes.append(page.locator("[role=treeitem]").count())
        nodes = int(page.locator("output[for=front-size]").inner_text().split()[0])
        assert sizes[-1] == nodes
    assert sizes[0] == 1
    assert sizes == sorted(set(sizes))
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator("[role=treeitem]").count() == 1
    found.picture("front")
    assert found.complaints == []


def test_the_most_probable_trees_can_be_chosen(average: str, visit: Callable[..., Any], model: Any) -> None:
    found = visit(average)
    page = found.page
    assert page.locator(".rank").count() == 10
    about = set()
    for k in range(10):
        page.check(f"#rank-{k}", force=True)
        about.add(page.locator(".about").inner_text())
        leaves = model.top_trees(10)[k].n_leaves
        assert f"{leaves} leaves" in page.locator(".about").inner_text()
    assert len(about) > 1
    assert found.complaints == []


def test_a_picked_row_has_the_answer_of_python(average: str, visit: Callable[..., Any], model: Any) -> None:
    X, _ = mixed_table(150)
    proba = model.predict_proba(X)
    found = visit(average)
    for row in (0, 17, 60, 149):
        found.page.select_option("#pick", str(row))
        shown = {}
        for line in found.page.locator(".verdict tr").all():
            cells = line.locator("th, td").all_inner_texts()
            shown[cells[0]] = float(cells[-1].strip("<>\u202f% ")) / 100
        expected = dict(zip(model.classes_, proba[row], strict=True))
        assert shown == pytest.approx(expected, abs=0.006)
    assert found.complaints == []


def test_the_interval_is_the_interval_and_the_bound_is_said_in_words(
    average: str, visit: Callable[..., Any], model: Any
) -> None:
    X, _ = mixed_table(150)
    low, high = model.predict_interval(X, 0.95, random_state=0)
    best = model.predict_proba(X).argmax(axis=1)
    found = visit(average)
    page = found.page
    for row in (0, 17, 149):
        page.select_option("#pick", str(row))
        said = re.search(r"\(95\u202f% interval ([\d.]+)–([\d.]+)\u202f%\)", page.inner_text(".answer"))
        assert said is not None
        ends = [100 * low[row, best[row]], 100 * high[row, best[row]]]
        assert [float(end) for end in said.groups()] == pytest.approx(ends, abs=0.06)
        how = page.inner_text(".verdict .quiet")
        bound = re.search(
            r"computes it from [\d,]+ rules; the exact average differs by at most (0\.\d+)\.$", how
        )
        assert bound is not None, how
        assert 0 < float(bound[1]) < 0.1
        assert "±" not in page.inner_text(".answer") + how  # that is for figures on held-out rows
    found.picture("interval")
    page.get_by_label("size", exact=True).fill("10.5")
    typed = X.iloc[[149]].assign(size=10.5)
    low, high = model.predict_interval(typed, 0.95, random_state=0)
    c = int(model.predict_proba(typed)[0].argmax())
    said = re.search(r"interval ([\d.]+)–([\d.]+)", page.inner_text(".answer"))
    assert said is not None
    ends = [100 * low[0, c], 100 * high[0, c]]
    assert [float(end) for end in said.groups()] == pytest.approx(ends, abs=0.06)
    assert "The interval is that of 1,000 trees drawn from all" in page.inner_text(".verdict .quiet")
    assert found.complaints == []


def test_beside_counts_stands_what_was_added(visit: Callable[..., Any], tmp_path: Path) -> None:
    y = np.array(
        ["c00"] * 54 + ["c01", "c02", "c03", "c04"] + [f"c{k:02}" for k in range(1, 24) for _ in range(2)]
    )
    X = pd.DataFrame({"x": (np.arange(len(y)) < 58).astype(int)})
    model = et.OptimalTreeClassifier(max_depth=1, leaf_penalty=0).fit(X, y)
    write_report(model, tmp_path / "page.html", (X, y))
    page = visit((tmp_path / "page.html").as_uri()).page
    words = "plus 1 for each of the 24 classes"
    page.select_option("#pick", "0")
    assert f"54 of 58 training examples, {words}" in page.inner_text(".verdict .quiet")
    assert f"Probabilities count the examples, {words}." in page.inner_text(".about")
    leaf = page.locator("[role=treeitem]", has_text="c00, p = 0.671")
    assert words in str(leaf.get_attribute("aria-label"))
    assert "plus 1 per class" in page.locator(".tree-frame svg").text_content()
    page.locator("summary", has_text="The same as text").click()
    assert words in page.inner_text("pre.as-text")


def test_typing_a_row_changes_the_explanation_and_the_path(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    page = found.page
    page.select_option("#pick", "0")

    def state() -> tuple[str, list[str]]:
        path = page.locator(".node.passed").evaluate_all("all => all.map(e => e.dataset.node)")
        return page.locator(".says").inner_text(), path

    seen = {str(state())}
    for value in ("1", "99", "8.5", "10.5"):
        page.get_by_label("size", exact=True).fill(value)
        seen.add(str(state()))
    page.get_by_label("colour", exact=True).select_option("(missing)")
    seen.add(str(state()))
    assert len(seen) >= 3
    page.get_by_label("size", exact=True).fill("ten")
    assert "size wants a number" in state()[0]
    assert state()[1] == []
    page.get_by_label("size", exact=True).fill("")
    assert "wants" not in state()[0]
    assert found.complaints == []


def test_the_tree_can_be_walked_by_keyboard(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    page = found.page
    page.locator("[role=treeitem]").first.focus()

    def here() -> tuple[str, str]:
        return tuple(
            page.evaluate("[document.activeElement.ariaLevel ?? '', document.activeElement.ariaLabel ?? '']")
        )

    assert here()[0] == "1"
    page.keyboard.press("ArrowDown")
    assert here()[0] == "2"
    assert here()[1].startswith("yes: ")
    page.keyboard.press("ArrowRight")
    assert here()[1].startswith("no: ")
    page.keyboard.press("ArrowUp")
    before = page.locator("[role=treeitem]").count()
    page.keyboard.press(" ")
    assert page.locator("[role=treeitem]").count() == 1
    assert page.locator("[role=treeitem]").first.get_attribute("aria-expanded") == "false"
    assert here()[0] == "1"
    page.keyboard.press(" ")
    assert page.locator("[role=treeitem]").count() > 1
    page.keyboard.press("Enter")
    assert page.locator(".node-panel").is_visible()
    assert here()[0] == "1"
    page.keyboard.press("Escape")
    assert not page.locator(".node-panel").is_visible()
    wide = page.locator(".tree-frame svg").bounding_box()["width"]
    page.keyboard.press("+")
    assert page.locator(".tree-frame svg").bounding_box()["width"] > wide
    page.keyboard.press("0")
    page.get_by_role("button", name="Unfold every node").click()
    assert page.locator("[role=treeitem]").count() >= before
    assert found.complaints == []


@pytest.mark.parametrize("kind", ["optimal", "bayes", "c45"])
def test_hostile_names_do_not_break_the_page(kind: str, visit: Callable[..., Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({name: rng.choice(["a", name[:60], "z"], 80) for name in HOSTILE})
    y = np.array(HOSTILE, dtype=object)[rng.integers(0, len(HOSTILE), 80)]
    model: Any = {
        "optimal": et.OptimalTreeClassifier(max_depth=3),
        "bayes": et.BayesOptimalClassifier(max_depth=2, min_leaf=5),
        "c45": et.C45TreeClassifier(prune=False),
    }[kind].fit(X, y)
    write_report(model, tmp_path / "page.html", (X, y), title=HOSTILE[0])
    found = visit((tmp_path / "page.html").as_uri())
    found.page.wait_for_selector("[role=treeitem]")
    found.picture(f"hostile-{kind}")
    assert found.texts("h1") == [HOSTILE[0]]
    assert found.page.locator("script").count() == 2
    assert found.page.locator("img").count() == 0
    found.page.get_by_role("button", name="Unfold every node").click()
    wide, seen = found.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    assert found.complaints == []


def test_the_policy_stops_what_is_not_the_page(tree: str, visit: Callable[..., Any]) -> None:
    found = visit(tree)
    ran = found.page.evaluate(
        """() => { const e = document.createElement('script'); e.textContent = 'window.ran = 1';
                   document.body.append(e); return window.ran ?? null; }"""
    )
    assert ran is None
    sent = found.page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'stopped')")
    assert sent == "stopped"


def test_a_notebook_frame_shows_the_page(visit: Callable[..., Any], tmp_path: Path) -> None:
    from everytree.report import show

    model = et.OptimalTreeClassifier(max_depth=2).fit([[1, 2], [3, 4], [5, 6], [7, 9]], ["a", "b", "b", "a"])
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><title>n</title>{show(model)._repr_html_()}")
    found = visit((tmp_path / "notebook.html").as_uri())
    frame = found.page.frame_locator("iframe")
    frame.locator("[role=treeitem]").first.wait_for()
    assert frame.locator("h1").inner_text() == "Predicting the class"
    assert found.complaints == []
