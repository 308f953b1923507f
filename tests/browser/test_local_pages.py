"""Pages of classifiers whose nodes choose their own cuts, in a real browser."""

from __future__ import annotations

import math
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import mixed_table

import everytree as et
from everytree.report import write_report

pytestmark = pytest.mark.long


def shown(page: Any) -> dict[str, float]:
    """The class probabilities of the row in sight."""
    found = {}
    for line in page.locator(".verdict tr").all():
        cells = line.locator("th, td").all_inner_texts()
        found[cells[0]] = float(cells[-1].strip("<>\u202f% ")) / 100
    return found


def test_the_report_of_an_average(tmp_path: Path, visit: Callable[..., Any]) -> None:
    X, y = mixed_table(150)
    model = et.BayesOptimalClassifier(max_depth=3, min_leaf=4, missing="category", cuts="local").fit(X, y)
    write_report(model, tmp_path / "p.html", (X, y), rows=150)
    found = visit((tmp_path / "p.html").as_uri())
    page = found.page
    page.wait_for_selector("[role=treeitem]")
    proba = model.predict_proba(X)
    for row in (0, 17, 149):
        page.select_option("#pick", str(row))
        assert shown(page) == pytest.approx(dict(zip(model.classes_, proba[row], strict=True)), abs=0.006)
        assert "The average over every tree, for this row" in page.locator(".verdict").inner_text()
        assert "interval" in page.locator(".verdict .answer").inner_text()
    assert page.locator(".covering tbody tr").count() > 0
    found.picture("local-average")
    page.fill("#field-0", "9.87")
    typed = X.iloc[[149]].assign(size=9.87)
    exact = model.predict_proba(typed)[0]  # the page has the mean of 1,000 trees drawn from all
    assert shown(page) == pytest.approx(dict(zip(model.classes_, exact, strict=True)), abs=0.03)
    assert "1,000 trees drawn from the average" in page.locator(".verdict").inner_text()
    assert "interval" in page.locator(".verdict .answer").inner_text()
    found.picture("local-typed")
    assert found.complaints == []


def beside_its_interval(page: Any) -> None:
    """The answer may lie beyond the interval of rows like it; the page says so then, and only then."""
    said = page.inner_text(".verdict .answer")
    found = re.search(r"([\d.]+)\s%.*rows like it, 95\s% interval ([\d.]+)–([\d.]+)\s%", said, re.DOTALL)
    assert found, said
    p, low, high = map(float, found.groups())
    words = page.inner_text(".verdict")
    assert ("less than the model says: trust the interval" in words) == (p > high)
    assert ("more than the model says: trust the interval" in words) == (p < low)


def test_the_report_of_many_averages_says_what_speaks_for_an_answer(
    tmp_path: Path, visit: Callable[..., Any]
) -> None:
    X, y = mixed_table(150)
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    write_report(model, tmp_path / "p.html", (X, y), rows=3)
    found = visit((tmp_path / "p.html").as_uri())
    page = found.page
    page.wait_for_selector("[role=treeitem]")
    proba = model.predict_proba(X)
    for option, row in enumerate((0, 74, 149)):
        page.select_option("#pick", str(option))
        assert shown(page) == pytest.approx(dict(zip(model.classes_, proba[row], strict=True)), abs=0.006)
        numbers = [
            float(text.strip("×\u2009 ").split("\u2009")[0]) for text in found.texts(".covering td.number")
        ]
        # The shares, the averages that move something, all others in one line, and the whole.
        told = numbers[1:-2]
        assert 1 <= len(told) <= 8
        assert all(abs(math.log(factor)) >= 0.009 for factor in told[1:])
        beside_its_interval(page)
        most, next_ = sorted(proba[row])[:-3:-1]
        # The numbers are rounded to two digits, and the shares keep 1/(4 n) of every answer.
        assert numbers[-1] == pytest.approx(most / next_, rel=0.05)
        assert numbers[-1] == pytest.approx(float(np.prod(numbers[:-1])), rel=0.1)
    assert "always" in page.locator("section:has(#heldout-title)").inner_text()
    found.picture("every-tree")
    page.fill("#field-0", "9.87")
    typed = model.predict_proba(X.iloc[[149]].assign(size=9.87))[0]
    assert shown(page) == pytest.approx(
        dict(zip(model.classes_, typed, strict=True)), abs=0.06
    )  # by drawn trees
    assert page.locator(".covering").count() == 1
    assert found.complaints == []


def test_the_explorer(tmp_path: Path, visit: Callable[..., Any]) -> None:
    pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
    pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')
    X, y = mixed_table(150)
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    command = [sys.executable, "-m", "everytree", "explore", str(tmp_path / "d.csv"), "--no-browser"]
    command += ["--cuts", "local", "--bins", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            found = visit(server.stdout.readline().strip())
            for depth in (2, 3, 2):
                _ask_depth(found.page, depth, et.TreeSpace.from_frame(X, y, 3, max_depth=depth, min_leaf=5))
            found.picture("local-explorer")
            assert found.complaints == []
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(20) == 130


def _ask_depth(page: Any, depth: int, space: et.TreeSpace) -> None:
    """Ask for another depth, and wait for the best tree with its own cuts."""
    best = space.best()
    page.fill("#query-max_depth", str(depth))
    page.wait_for_function(
        "([depth, errors]) => document.querySelector('.live').getAttribute('aria-busy') === 'false'"
        " && document.querySelector('.about').textContent.includes(`depth ${depth}, ${errors} training`)",
        arg=[depth, best.error],
    )
    words = page.locator("[role=tree]").text_content()
    assert all(ask.replace("<=", "≤") in words.replace("\u00a0", " ") for ask in best.asks if " <= " in ask)
