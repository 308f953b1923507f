"""One run of all benchmarks: the guard compares ratios, failures are notes, the page is replaced between its marks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bench_all


class Fake:
    """A worker whose answers are counted out."""

    answers: dict[str, list[dict[str, Any]]]

    def __init__(self, python: str) -> None:
        self.python = python

    def ask(self, job: dict[str, Any], cap: float) -> dict[str, Any]:
        return self.answers[job["solver"]].pop(0)

    def close(self) -> None:
        pass


CASE = bench_all.Case("grow", "toy", {"task": "grow"}, "scikit-learn", {"task": "grow"})


def test_rounds_are_paired_and_the_first_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_all, "Worker", Fake)
    Fake.answers = {
        "everytree": [{"seconds": each} for each in (9.0, 1.0, 2.0, 6.0)],
        "scikit-learn": [{"seconds": each} for each in (1.0, 2.0, 2.0, 3.0)],
    }
    (row,) = bench_all.measure([CASE], 3, 10, sys.executable)
    assert (row["ours s"], row["peer s"]) == (2.0, 2.0)
    assert (row["least"], row["ratio"], row["most"]) == (0.5, 1.0, 2.0)


def test_a_solver_without_an_answer_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_all, "Worker", Fake)
    Fake.answers = {"everytree": [{"seconds": 1.0}], "scikit-learn": [{"limit": "over 10 s"}]}
    (row,) = bench_all.measure([CASE], 3, 10, sys.executable)
    assert row["note"] == "scikit-learn: over 10 s"
    assert "ratio" not in row
    assert bench_all.summary([row])[0]["data sets"] == 0


def test_answers_that_differ_have_no_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_all, "Worker", Fake)
    case = CASE._replace(same="error")
    for theirs, note in (
        (12, ""),
        (11, "everytree is not optimal: error 12 here, 11 there"),
        (13, "scikit-learn is not"),
    ):
        Fake.answers = {
            "everytree": [{"seconds": 1.0, "error": 12}] * 3,
            "scikit-learn": [{"seconds": 1.0, "error": theirs}] * 3,
        }
        (row,) = bench_all.measure([case], 2, 10, sys.executable)
        assert row["note"].startswith(note)
        assert ("ratio" in row) == (theirs == 12)
    ours, theirs = {"error": 10, "leaves": 4, "rows": 100}, {"error": 12, "leaves": 2, "rows": 100}
    objective = case._replace(same="objective", ours={"penalty": 0.01})  # 0.14 and 0.14
    assert bench_all._differ(objective, ours, theirs) == ""
    assert "scikit-learn is not optimal" in bench_all._differ(objective, ours, theirs | {"error": 13})


def test_who_is_asked_first_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Noting(Fake):
        def ask(self, job: dict[str, Any], cap: float) -> dict[str, Any]:
            asked.append(job["solver"])
            return {"seconds": 1.0}

    monkeypatch.setattr(bench_all, "Worker", Noting)
    bench_all.measure([CASE], 2, 10, sys.executable)
    assert [name == "everytree" for name in asked] == [False, True, True, False, False, True]


def test_the_guard_compares_ratios(tmp_path: Path) -> None:
    row = {
        "case": "a",
        "data": "d",
        "peer": "p",
        "ours s": 1.0,
        "peer s": 2.0,
        "ratio": 0.5,
        "least": 0.45,
        "most": 0.6,
    }
    bench_all.write("all", [], [row], tmp_path)
    committed = bench_all.read(tmp_path / "all.csv")
    assert committed == {("a", "d", "p"): 0.5}
    slower = row | {"ours s": 100.0, "peer s": 200.0}  # a slower machine is no regression
    assert bench_all.regressions([slower], committed) == []
    assert (
        bench_all.regressions([row | {"ratio": 1.2, "least": 0.9}], committed) == []
    )  # one good round is enough
    (line,) = bench_all.regressions([row | {"ratio": 1.2, "least": 1.01}], committed)
    assert line == "a on d: 1.2 of the time of p, was 0.5"
    assert bench_all.regressions([row], {}) == []
    gone = {"case": "a", "data": "d", "peer": "p", "note": "everytree: over 30 s"}
    assert bench_all.regressions([gone], committed) == [
        "a on d: everytree: over 30 s, was 0.5 of the time of p"
    ]
    assert bench_all.regressions([gone | {"note": "p: over 30 s"}], committed) == []
    assert bench_all.read(tmp_path / "none.csv") == {}


def test_a_check_that_compares_nothing_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_all, "_there", lambda *_: False)
    monkeypatch.setattr(sys, "argv", ["bench_all.py", "--check"])
    assert bench_all.main() == 1
    assert "0 cases compared with all.csv" in capsys.readouterr().out


def test_the_page_is_replaced_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{bench_all.BEGIN}\nold\n{bench_all.END}\nafter\n", encoding="utf-8")
    bench_all.put_in_page(page, ["new"])
    bench_all.put_in_page(page, ["newer"])
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert text == f"before\n{bench_all.BEGIN}\n\nnewer\n\n{bench_all.END}\nafter\n"


def test_exponents_of_power_laws() -> None:
    rows = [
        {"grows": "rows", "rows": n, "evidence": 3e-6 * n**2, "optimum": 1e-6 * n} for n in (10, 100, 1000)
    ]
    rows += [{"grows": "depth", "depth": d, "evidence": 2.0**d, "optimum": 10.0**d} for d in (2, 3, 4)]
    power, factor = bench_all.exponents(rows)
    assert (power["evidence"], power["optimum"]) == ("power 2.00", "power 1.00")
    assert (factor["evidence"], factor["optimum"]) == ("× 2.0 per level", "× 10.0 per level")
    assert len(bench_all.growth_chart(rows).panels) == 2


def test_the_committed_page_and_cases_agree() -> None:
    text = bench_all.PAGE.read_text(encoding="utf-8")
    assert text.count(bench_all.BEGIN) == text.count(bench_all.END) == 1
    keys = [(case.name, case.on, case.peer) for case in bench_all.cases()]
    assert len(set(keys)) == len(keys)
    assert set(bench_all.read(bench_all.COMMITTED)) <= set(keys)


def test_greedy_questions_can_be_asked() -> None:
    import solvers

    for kind in ("smoothed", "C4.5", "path average"):
        answer = solvers.SOLVERS["everytree"]["grow"](n=300, d=6, c=2, cap=10, kind=kind)
        assert np.isfinite(answer["seconds"])
        assert answer["leaves"] > 1
    if bench_all.harness.CP4IM.is_dir():
        for solver in ("everytree", "scikit-learn"):
            assert solvers.SOLVERS[solver]["average"](file="hepatitis", cap=30)["accuracy"] > 0.8
    assert solvers.SOLVERS["scikit-learn"]["grow"](n=300, d=6, c=2, cap=10)["leaves"] > 1
