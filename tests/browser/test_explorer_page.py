"""The explorer in a real browser: a change of the question changes the answer, the query is in the address."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import mixed_table

pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    X, y = mixed_table(150)
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    command = [sys.executable, "-m", "everytree", "explore", str(tmp_path / "d.csv"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        server.wait(20)


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
