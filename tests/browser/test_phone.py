"""A page on a phone, 390 pixels wide: nothing that decides is beyond the edge, and columns of yes and no say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.report import write_report

pytestmark = pytest.mark.long

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}
BEYOND = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("phone")
    draw = np.random.default_rng(3)
    lines = ["Vertragsbeginn Hauptvertrag;Newsletter;Tarif;Gekündigt"]
    for _ in range(300):
        start, news, kind = (
            draw.integers(0, 40),
            draw.choice(["ja", "Nein", "J", "-"]),
            draw.choice(["Flex", "Basis"]),
        )
        gone = draw.random() < (0.7 if kind == "Flex" and news != "Nein" else 0.2)
        lines.append(f"{start};{news};{kind};{'ja' if gone else 'nein'}")
    (folder / "kunden.csv").write_text("\n".join(lines), encoding="utf-8")
    data = et.read(folder / "kunden.csv", target="Gekündigt").split()
    write_report(et.BayesOptimalClassifier(max_depth=2).fit(*data), folder / "page.html", data)
    return (folder / "page.html").as_uri()


def test_figures_and_rules_are_within_the_edge(page: str, visit: Callable[..., Any]) -> None:
    here = visit(page, **PHONE).page
    assert here.evaluate("document.documentElement.scrollWidth") == 390
    assert here.locator(".figures tbody tr").count() == 3
    assert here.locator(".rules tbody tr").count() > 0
    assert here.evaluate(BEYOND) == 0
    edge = here.locator(".figures th").last.bounding_box()  # the AUC
    assert edge["x"] + edge["width"] <= 390
    assert {"accuracy", "AUC"} <= {*here.locator(".figures th.number").all_inner_texts()}


def test_yes_and_no_are_said_as_such(page: str, visit: Callable[..., Any]) -> None:
    here = visit(page, viewport={"width": 1440, "height": 900}).page
    field = here.locator(".field", has_text="Newsletter").locator("select")
    assert field.locator("option").all_inner_texts() == ["no", "yes", "(missing)"]
    text = here.locator("body").inner_text()
    assert "Newsletter is yes" in text or "Newsletter is no" in text
    assert "Newsletter is 1" not in text
    assert "Newsletter is 0" not in text
