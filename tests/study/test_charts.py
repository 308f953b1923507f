"""Charts: the same file each time, named ticks, log axes with readable numbers; reports without matplotlib."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from everytree.study.charts import Chart, Panel, draw_chart
from everytree.study.report import Cell, Report, Table, write_report

SERIES = {"a": ([1, 2, 3], [0.1, 0.2, 0.3], None), "b": ([1, 2, 3], [0.1, 0.2, 0.4], [0.1, 0.1, 0.1])}


def words(path: Path) -> list[str]:
    """The texts of an SVG; matplotlib draws letters as paths, and leaves the text beside them as a comment."""
    return [text.strip() for text in re.findall(r"<!--(.*?)-->", path.read_text(encoding="utf-8"))]


def test_the_same_chart_is_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    chart = Chart(
        "c", "title", [Panel("one", SERIES, "x", "y", ticks=("red", "green", "blue")), Panel("two", {})]
    )
    assert draw_chart(chart, tmp_path / "1.svg")
    assert draw_chart(chart, tmp_path / "2.svg")
    assert (tmp_path / "1.svg").read_bytes() == (tmp_path / "2.svg").read_bytes()
    assert {"one", "two", "x", "y", "red", "green", "blue", "a", "b"} <= set(words(tmp_path / "1.svg"))


def test_log_axes_have_plain_numbers_where_there_are_few(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    near = {"a": ([20, 40, 80, 160], [0.002, 0.004, 0.01, 0.03], None)}
    far = {"a": ([1, 10, 100, 1e6], [1e-6, 1.0, 10.0, 1e3], None)}
    panels = [Panel("near", near, log_x=True, log_y=True), Panel("far", far, log_x=True, log_y=True)]
    draw_chart(Chart("c", "title", panels), tmp_path / "log.svg")
    found = words(tmp_path / "log.svg")
    assert {"20", "50", "100", "0.005", "0.01"} <= set(found)
    assert not any("times" in text for text in found)  # such as 2 × 10^1, beside each other


def test_a_report_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    table = Table("t", "A table", ["x"], [{"x": Cell(0.5, 0.1, 0.9)}])
    files = write_report(
        Report("R", "cited", [], [table, Chart("c", "A chart", [Panel("p", SERIES)])]), tmp_path
    )
    assert [path.name for path in files] == ["report.md", "t.csv"]
    text = files[0].read_text(encoding="utf-8")
    assert "pip install everytree[plot]" in text
    assert "| 0.50 (0.90) ⚑ |" in text


def test_what_a_person_found_stands_first(tmp_path):
    report = Report("A study", "A paper", ["A note."], [Table("t", "T", ["a"], [{"a": 1}])])
    (tmp_path / "findings.md").write_text("It agrees, but for two cells.\n", encoding="utf-8")
    (page, *_) = write_report(report, tmp_path)
    assert page.read_text(encoding="utf-8").startswith(
        "# A study\n\nA paper\n\nIt agrees, but for two cells.\n\nA note.\n"
    )
    assert (tmp_path / "findings.md").read_text(encoding="utf-8") == "It agrees, but for two cells.\n"
