"""A real browser for the page: Chromium without a window, driven by Playwright; skipped where one is missing."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "build" / "browser"
HINT = "needs {}: apt-get install chromium, and pip install playwright"


class Visit:
    """A page in the browser, with everything that it complained about and everything that it asked of a network."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on(
            "console", lambda said: said.type in ("error", "warning") and self.complaints.append(said.text)
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))

    def picture(self, name: str) -> None:
        """Keep a picture of the page for people to look at."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason=HINT.format("Playwright"))
    program = os.environ.get("EVERYTREE_CHROMIUM") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if program is None:
        pytest.skip(HINT.format("chromium"))
    with sync_api.sync_playwright() as playwright:
        # In a container of root the sandbox of Chromium cannot start; the page is our own.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def made(address: str, **options: Any) -> Visit:
        contexts.append(
            context := chromium.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        )
        context.set_default_timeout(30_000)
        found = Visit(context.new_page())
        found.page.goto(address)
        return found

    yield made
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, as npm puts it in web/node_modules."""
    script = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("needs axe-core: npm install in web/")
    return script.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def findings(axe: str) -> Callable[[Any], list[str]]:
    """The serious and critical findings of axe on a page. Its script comes by the browser's own door."""

    def found(page: Any) -> list[str]:
        page.evaluate(re.sub(r"^/\*!.*?\*/", "", axe, flags=re.DOTALL) + "\n;0")
        report = page.evaluate("async () => (await axe.run(document)).violations")
        return [
            f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
            for each in report
            if each["impact"] in ("serious", "critical")
        ]

    return found
