"""Files with hardly any rows, or one class: what each command says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.csv"
    path.write_text("x,y\n1,a\n2,b\n", encoding="utf-8")
    return path


@pytest.fixture
def alike(tmp_path: Path) -> Path:
    path = tmp_path / "alike.csv"
    path.write_text("x,y\n" + "".join(f"{k % 7},yes\n" for k in range(40)), encoding="utf-8")
    return path


def test_two_rows_can_be_learned_from(cli: Any, two: Path) -> None:
    done = cli("fit", two)
    assert done.code == 0, done.err
    assert "too few rows to hold some out" in done.out
    assert "2 examples, 1 column, 2 classes" in done.out


def test_two_rows_cannot_be_compared_on(cli: Any, two: Path) -> None:
    done = cli("compare", two)
    assert done.code == 2
    assert "every one of the 2 rows has a class of its own: none can be held out" in done.err
    assert "k=" not in done.err


def test_few_rows_have_fewer_folds(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n", encoding="utf-8")
    done = cli("compare", path, "--methods", "optimal,cart")
    assert done.code == 0, done.err
    assert "few.csv: 5 rows, 3 folds" in done.out
    assert "failed" not in done.out


def test_one_class_is_said_by_each_command(cli: Any, alike: Path) -> None:
    assert "All rows are yes: there is nothing to tell apart" in cli("fit", alike).out
    done = cli("compare", alike)
    assert done.code == 2
    assert "all 40 rows are 'yes': there is nothing to tell apart" in done.err
    assert "by training rows only (there is only one class)" in cli("front", alike).out


def test_a_front_of_few_rows_gives_the_reason_that_holds(cli: Any, two: Path) -> None:
    assert "by training rows only (there are too few to hold some out)" in cli("front", two).out
