"""The UCI data sets beside the repository: every table reads with its declared types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everytree.data.readers import read

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
NAMES = sorted(path.stem for path in SHARED.glob("*.json")) or ["anneal"]

# Nominal attributes whose values are all numbers (or that have none) look numeric. This many per data set:
LOOKS_NUMERIC = {
    "anneal": 10,
    "anneal-weka": 1,
    "autos": 1,
    "breast-cancer": 1,
    "heart-cleveland-uci": 8,
    "mfeat-pixel": 241,
    "optdigits": 1,
    "pendigits": 1,
    "pendigits-train": 1,
    "solar-flare1": 10,
    "solar-flare2": 10,
    "sponge": 3,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_shared_table_reads_with_its_declared_types(shared_data: Path, name: str) -> None:
    facts: dict[str, Any] = json.loads((shared_data / f"{name}.json").read_text(encoding="utf-8"))
    path = shared_data / facts["file"]
    declared: dict[str, str] = facts["types"]

    inferred = read(path, "class", as_is=True)
    assert inferred.shape == (facts["rows"], facts["n_attributes"] + 1)
    assert sum(column.n_missing for column in inferred.columns.values()) == facts["missing_cells"]
    differs = [column for column in inferred.columns.values() if column.kind != declared[column.name]]
    assert {column.kind for column in differs} <= {"numeric"}
    assert len(differs) == LOOKS_NUMERIC.get(name, 0)

    data = read(path, "class", types={**declared, **facts["domains"]})
    assert {column.name: column.kind for column in data.columns.values()} == declared
    assert {n: list(data[n].categories or ()) for n in facts["domains"]} == facts["domains"]
    _, y = data.split()
    assert {value: int((y == value).sum()) for value in set(y)} == facts["class_counts"]


def test_all_the_shared_tables_are_seen(shared_data: Path) -> None:
    index = (shared_data / "INDEX.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert sorted(line.split("\t")[0] for line in index) == NAMES
