"""``everytree export`` of a model of a real file: what the columns must hold is in the header, and told."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

import everytree as et


@pytest.fixture
def model(cli: Any, tmp_path: Path) -> Path:
    draw = random.Random(4)
    rows = []
    for _ in range(300):
        paid, month, paperless = draw.uniform(5, 3000), draw.randint(1, 12), draw.random() < 0.5
        left = (paid > 900) + (month > 8) + (not paperless) + draw.gauss(0, 0.3) > 1.4
        rows.append([
            "-" if draw.random() < 0.05 else f"${paid:,.2f}", f"2023-{month:02d}-{draw.randint(1, 28):02d}",
            draw.choice(["Y", "yes", "TRUE"] if paperless else ["N", "no"]), "left" if left else "stayed",
        ])  # fmt: skip
    path = tmp_path / "customers.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["paid", "signed", "paperless", "status"], *rows])
    out = tmp_path / "model.json"
    assert cli("fit", path, "--max-depth", "3", "--out", out).code == 0
    return out


TOLD = (
    "paid: the plain number, such as 1234.5 for $1,234.5; missing for '-'",
    "paperless: 1 for 'true', 'y', 'yes' and 0 for 'n', 'no', in any case of letters",
)


@pytest.mark.parametrize(
    ("to", "mark"), [("sql", "-- "), ("python", "# "), ("javascript", "// "), ("c", "/* ")]
)
def test_the_header_says_what_columns_must_hold(to: str, mark: str, cli: Any, model: Path) -> None:
    done = cli("export", model, "--to", to)
    assert done.code == 0, done.err
    for text in TOLD:
        assert mark + text in done.out
        assert f"the {to} wants {text}" in done.err
    names = {field.name for field in et.load_model(model).portable().fields}
    assert any(f"{mark}{name}: the " in done.out for name in names if name.startswith("signed "))


def test_a_language_without_comments_is_told_of(cli: Any, model: Path, tmp_path: Path) -> None:
    done = cli("export", model, "--to", "excel")
    assert TOLD[0] in done.err
    assert done.out.startswith("=IF(")
    done = cli("export", model, "--to", "pmml", "--out", tmp_path / "m.pmml")
    assert "<Annotation>paid: the plain number" in (tmp_path / "m.pmml").read_text(encoding="utf-8")


def test_the_python_says_what_the_model_says_of_columns_as_it_wants_them(cli: Any, model: Path) -> None:
    space: dict[str, Any] = {}
    exec(cli("export", model, "--to", "python").out, space)
    loaded = et.load_model(model)
    data = et.read(model.with_name("customers.csv"), "status", like=loaded)
    features, _ = data.split()
    rows = zip(*(column.values.tolist() for column in features.columns.values()), strict=True)
    answers = [space["predict"](dict(zip(features.columns, row, strict=True))) for row in rows]
    assert answers == loaded.predict(features).tolist()
