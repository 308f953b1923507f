"""Pages of classifiers whose nodes choose their own cuts, in a real browser."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from page_cases import mixed_table

import everytree as et
from everytree.report import write_report


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
    tree = model.top_trees(1)[0]
    leaf = tree.predict_proba(model.to_tests(typed))[0]
    assert shown(page) == pytest.approx(dict(zip(model.classes_, leaf, strict=True)), abs=0.006)
    assert "Pick a row to see the average" in page.locator(".verdict").inner_text()
    found.picture("local-typed")
    assert found.complaints == []
