"""The explorer in a real browser: a change of the question changes the answer, the query is in the address."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import mixed_table

from everytree.report.asked import choices

pytestmark = pytest.mark.long

pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')


@contextmanager
def served(file: Path) -> Iterator[str]:
    """The address of an explorer of a file."""
    command = [sys.executable, "-m", "everytree", "explore", str(file), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 130


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    X, y = mixed_table(150)
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    with served(tmp_path / "d.csv") as found:
        yield found


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[str]:
    """The explorer of a file whose question of depth 8 takes hours."""
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 2, (400, 60)), rng.integers(0, 2, 400)
    lines = [",".join([*(f"c{j}" for j in range(60)), "y"])]
    lines += [",".join(map(str, [*row, label])) for row, label in zip(rows, labels, strict=True)]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    with served(tmp_path / "long.csv") as found:
        yield found


def claims(page: Any) -> dict[str, str]:
    """Everything that the page claims under "Evidence and settings"."""
    lines = page.locator("dl.facts > div").all()
    return {
        line.locator("dt").inner_text(): line.locator("dd").inner_text()
        for line in lines
        if line.is_visible()
    }


def answered(page: Any) -> str:
    """Wait for the whole answer; what the status then says."""
    page.wait_for_timeout(250)  # typing counts as a question after a pause
    page.wait_for_selector(".live[aria-busy=false]", timeout=60_000)
    return str(page.locator(".status").inner_text())


def test_questions_are_answered_as_they_change(
    address: str, visit: Callable[..., Any], findings: Callable[..., Any], tmp_path: Path
) -> None:
    found = visit(address)
    page = found.page
    assert answered(page).startswith("Proved best.")
    found.picture("explorer")
    assert findings(page) == []
    first = page.locator("[role=treeitem]").count()

    page.fill("#query-max_depth", "1")
    assert answered(page).startswith("Proved best.")
    assert page.locator("[role=treeitem]").count() <= 3 < first
    assert "max_depth=1" in page.url

    page.fill("#query-max_depth", "99")
    page.wait_for_selector(".status.problem")
    assert "expected a whole number from 0 to 20" in page.locator(".status").inner_text()
    page.fill("#query-max_depth", "2")
    answered(page)
    page.locator("summary", has_text="Columns the tree may use").click()
    page.get_by_label("colour", exact=True).first.select_option("not")
    answered(page)
    assert "forbid=colour" in page.url
    assert "colour" not in page.locator("[role=tree]").inner_html()
    assert page.locator(".bars th", has_text="colour").count() == 0

    # A colleague with the same file opens the same question.
    other = visit(page.url)
    answered(other.page)
    assert other.page.input_value("#query-max_depth") == "2"
    assert "colour" not in other.page.locator("[role=tree]").inner_html()

    for field, offered in choices().items():
        words = page.locator(f"#query-{field} option").all_inner_texts()
        assert words == [each for _, each, _ in offered]
    page.select_option("#query-objective", "gini")
    answered(page)
    page.check("#mode-front", force=True)
    assert page.locator("#front-size").count() == 1

    page.select_option("#query-target", label="colour")
    page.locator("h1", has_text="d.csv: colour").wait_for()
    assert answered(page).startswith("Proved best.")

    (tmp_path / "other.csv").write_text("a,b,class\n" + "1,2,x\n3,4,y\n5,1,x\n" * 10)
    page.locator("summary", has_text="Another file").click()
    page.set_input_files("#query-file", tmp_path / "other.csv")
    page.locator("h1", has_text="other.csv: class").wait_for()
    assert answered(page).startswith("Proved best.")
    assert found.complaints == []
    own = address.split("?")[0]
    assert [url for url in found.requests if not url.startswith((own, "data:"))] == []


def test_a_page_without_the_token_is_refused(address: str, visit: Callable[..., Any]) -> None:
    found = visit(address.split("?")[0])
    assert "token is missing" in found.page.inner_text("body")


def test_what_is_claimed_is_about_the_tree_in_sight(endless: str, visit: Callable[..., Any]) -> None:
    found = visit(f"{endless}#max_depth=1&min_leaf=1")
    page = found.page
    assert answered(page).startswith("Proved best.")
    proved = claims(page)
    assert proved["proved best"] == "yes"

    page.fill("#query-max_depth", "8")
    page.locator(".about", has_text="The best tree so far.").wait_for()
    seen = claims(page)
    assert seen["proved best"] == "no"
    found.picture("explorer-searching")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector(".live[aria-busy=false]")
    about, status, seen = page.inner_text(".about"), page.inner_text(".status"), claims(page)
    errors = re.search(r"(\d+) training error", about)
    assert errors is not None
    assert "not proved" in about
    assert "not proved" in status
    assert seen["proved best"] == "no"
    assert seen["training errors"] == errors[1]
    assert seen["training errors"] != proved["training errors"]
    assert float(seen["no tree has less than"]) <= float(seen["training errors"])
    assert "Proved best" not in page.inner_text("body")
    assert not page.locator("#posterior-title").is_visible()  # the average was that of the question before
    found.picture("explorer-stopped")

    # A question without an answer: nothing of the one before is left to be taken for it.
    page.fill("#query-max_depth", "1")
    page.fill("#query-min_leaf", "1000000")
    assert "min_leaf" in answered(page)
    assert page.locator("[role=treeitem]").count() == 0
    assert page.inner_text(".about").startswith("There is no tree for this question.")
    assert claims(page) == {}
    found.picture("explorer-no-answer")

    # Each tree of the front has claims of its own.
    page.fill("#query-min_leaf", "1")
    assert answered(page).startswith("Proved best.")
    assert claims(page) == proved
    page.check("#mode-front", force=True)
    page.locator("#front-size").fill("0")
    seen = claims(page)
    assert seen["proved best of at most 1 node"] == "yes"
    assert "proved best" not in seen
    assert f"{seen['training errors']} training errors" in page.inner_text(".about")
    assert found.complaints == []


def test_two_tabs_ask_side_by_side(endless: str, visit: Callable[..., Any]) -> None:
    first = visit(f"{endless}#max_depth=8&min_leaf=1")
    first.page.wait_for_selector("[role=treeitem]")
    second = visit(f"{endless}#max_depth=1")
    assert answered(second.page).startswith("Proved best.")
    first.page.wait_for_timeout(500)
    assert "so far, not proved yet" in first.page.inner_text(".status")  # "none has less than 0" says nothing
    assert first.page.get_attribute(".live", "aria-busy") == "true"
    second.page.close()
    # Another tab opens another target: the first page says so, and takes no answer about it for its own.
    other = visit(endless)
    answered(other.page)
    other.page.select_option("#query-target", label="c0")
    other.page.locator("h1", has_text="long.csv: c0").wait_for()
    first.page.fill("#query-max_depth", "3")  # its own question may have ended by now
    first.page.press("#query-max_depth", "Tab")
    first.page.wait_for_selector(".status.problem")
    assert "another page has opened long.csv to predict c0" in first.page.inner_text(".status")
    assert first.page.inner_text("h1") == "long.csv: y"


def test_a_picked_row_shows_its_interval_in_the_explorer(address: str, visit: Callable[..., Any]) -> None:
    page = visit(f"{address}#max_depth=2").page
    answered(page)
    page.select_option("#pick", "3")
    assert re.search(r"\(95\u202f% interval [\d.]+–[\d.]+\u202f%\)", page.inner_text(".answer"))
