"""A row typed in: the answer of the average with its interval, the same as for the row that it began with."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.report import write_report

pytestmark = pytest.mark.long
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def examples(n_classes: int) -> tuple[pd.DataFrame, Any]:
    draw = np.random.default_rng(2)
    X = pd.DataFrame({"age": draw.integers(20, 80, 400), "dose": draw.normal(5, 2, 400).round(1)})
    score = (X["age"] > 50).astype(int) + (X["dose"] > 5) * (draw.random(400) < 0.8)
    y = np.array(["none", "mild", "severe"])[np.minimum(score, n_classes - 1)]
    return X, y


def typed(here: Any) -> str:
    """Type a value into the first field, and the old one again: the page no longer knows which row it is."""
    field = here.locator(".row-form input[type=text]").first
    before = field.input_value()
    field.fill(str(float(before) + 1))
    field.fill(before)
    return str(here.locator(".answer").first.inner_text())


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"\d+\.\d+", text)]


@pytest.mark.parametrize("cuts", ["global", "local"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_typed_in_has_the_interval_of_the_same_row_picked(
    cuts: str, n_classes: int, tmp_path: Path, visit: Callable[..., Any]
) -> None:
    X, y = examples(n_classes)
    model = et.BayesOptimalClassifier(max_depth=2, bins=4, cuts=cuts).fit(X, y)
    write_report(model, tmp_path / "page.html", (X, y))
    found = visit((tmp_path / "page.html").as_uri())
    here = found.page
    picked = here.locator(".answer").first.inner_text()
    assert "95\u202f% interval" in picked
    assert numbers(typed(here)) == pytest.approx(numbers(picked), abs=0.11 if cuts == "global" else 2)
    words = here.locator(".verdict").first.inner_text()
    assert "1,000 trees drawn" in words
    assert "typed in" not in words
    assert found.complaints == []


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_tree_answers_a_row_typed_in(n_classes: int, tmp_path: Path, visit: Callable[..., Any]) -> None:
    X, y = examples(n_classes)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    write_report(model, tmp_path / "page.html", (X, y))
    found = visit((tmp_path / "page.html").as_uri(), bypass_csp=True)
    here = found.page
    picked = here.locator(".answer").first.inner_text()
    now = typed(here)
    assert "95\u202f% interval" in now
    assert numbers(now)[0] == pytest.approx(numbers(picked)[0], abs=3)  # by draws
    words = here.locator(".verdict").first.inner_text()
    assert re.search(r"By [0-9,]+ trees drawn from the average", words)
    assert "rows not seen in training that got" in words
    assert "multiplies the odds" in here.locator(".covering").first.inner_text()
    assert here.locator(".worth").inner_text().startswith("Better than always")
    here.evaluate(AXE.read_text(encoding="utf-8"))
    assert here.evaluate("axe.run().then(r => r.violations.map(v => v.id))") == []
    assert found.complaints == []


def test_paper_has_the_row_in_words(tmp_path: Path, visit: Callable[..., Any]) -> None:
    X, y = examples(2)
    write_report(et.OptimalTreeClassifier(max_depth=2).fit(X, y), tmp_path / "page.html", (X, y))
    here = visit((tmp_path / "page.html").as_uri()).page
    assert not here.locator(".print-only").is_visible()
    here.emulate_media(media="print")
    assert re.match(r"The row has (age|dose) \d", here.locator(".print-only").inner_text())
    assert not here.locator(".row-form").is_visible()
    assert here.locator(".threshold table").is_visible()


def test_the_best_tree_of_each_size_has_a_figure_of_its_own(
    tmp_path: Path, visit: Callable[..., Any]
) -> None:
    X, y = examples(3)
    write_report(
        et.OptimalTreeClassifier(max_depth=2, leaf_penalty=0).fit(X, y), tmp_path / "page.html", (X, y)
    )
    here = visit((tmp_path / "page.html").as_uri()).page
    here.locator("#mode-front").check()
    about = here.locator(".part-tree .about")
    assert "Of examples not seen" in about.inner_text()
    assert "by the model itself" not in about.inner_text()
