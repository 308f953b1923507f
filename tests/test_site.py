"""The site: every page is in its menu, every picture is made by code here, and it builds without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURE = re.compile(r"!\[[^\]]+\]\((?:docs/)?images/([^)]+)\)")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_every_page_is_in_the_menu_once() -> None:
    menu = re.findall(r"^ +- ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    elsewhere = {"contributing.md", "changelog.md"}  # of the root of the repository
    assert sorted(menu) == sorted(pages | elsewhere)


def test_every_picture_is_used_and_made_by_code() -> None:
    pages = [*DOCS.rglob("*.md"), ROOT / "README.md"]
    used = {name for page in pages for name in PICTURE.findall(page.read_text(encoding="utf-8"))}
    assert used == {path.name for path in (DOCS / "images").iterdir()}
    code = (ROOT / "tools/make_pictures.py").read_text(encoding="utf-8")
    drawn = [page for page in ("tutorial", "gallery") if f'"{page}"' in code]
    blocks = "".join((DOCS / f"{page}.md").read_text(encoding="utf-8") for page in drawn)
    for name in used:
        assert f'"{name}"' in code or f'"{name}"' in blocks, f"no code writes docs/images/{name}"


def test_the_diagram_is_the_one_that_the_tool_draws() -> None:
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "tools/make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.which() == (DOCS / "images/which.svg").read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference() -> None:
    import everytree

    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    shown = set(re.findall(r"^::: everytree\.[\w.]*?(\w+)$", text, re.MULTILINE))
    left_out = {"__version__", "PriorTables", "StrategyRun"}  # what others of them return
    assert set(everytree.__all__) - shown == left_out


@pytest.mark.parametrize("page", ["README.md", "docs/alternatives.md"])
def test_a_number_of_the_table_is_on_the_page_that_it_links_to(page: str) -> None:
    """Every number with a point in a row "… | result | [page](link)" is there too, with as many digits or more."""
    path = ROOT / page
    table = path.read_text(encoding="utf-8").partition("|---")[2].partition("\n\n")[0]
    rows = [line for line in table.splitlines() if "](" in line]
    assert len(rows) >= 8
    checked = 0
    for row in rows:
        *_, result, link = row.strip(" |").split("|")
        there = (path.parent / re.findall(r"\]\(([^)]+)\)", link)[0]).read_text(encoding="utf-8")
        found = [float(text) for text in NUMBER.findall(there)]
        for text in NUMBER.findall(result):
            digits = len(text.partition(".")[2])
            checked += digits > 0
            assert digits == 0 or any(f"{x:.{digits}f}" == text for x in found), (
                f"{text} is not on {link}: {row}"
            )
    assert checked >= 8


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the tools of the site are not installed: make docs")
    pytest.importorskip("mkdocstrings", reason="the tools of the site are not installed: make docs")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING" not in done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 40
    # Every link between pages, with its anchor, leads somewhere.
    anchors = {page: set(re.findall(r'id="([^"]+)"', page.read_text(encoding="utf-8"))) for page in pages}
    broken = []
    for page in pages:
        for link in re.findall(r'href="([^":]+)"', page.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (anchor and there in anchors and anchor not in anchors[there]):
                broken.append((page.name, link))
    broken = [each for each in broken if each[0] != "404.html" and each[1] != "#__search"]
    assert broken == []
