"""The data sets of the papers: the rule for missing values, and the papers' own counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from folders import REAL, write_set

from everytree.errors import DataError
from everytree.study import datasets

real = pytest.mark.skipif(not REAL.is_dir(), reason="needs the data sets beside the repository")


def test_sparse_attributes_go_first_and_then_rows(tmp_path: Path) -> None:
    write_set(tmp_path, "toy", n=60)
    lines = (tmp_path / "toy.csv").read_text(encoding="utf-8").splitlines()
    cells = [line.split(",") for line in lines]
    for i in range(1, 8):  # 7 of 60 are more than 10 %
        cells[i][1] = ""
    for i in range(8, 12):  # 4 of 60 are not
        cells[i][0] = ""
    (tmp_path / "toy.csv").write_text("\n".join(map(",".join, cells)) + "\n", encoding="utf-8")
    assert datasets.columns(tmp_path, "toy").names == ("a", "colour", "class")
    features, y = datasets.complete(tmp_path, "toy")
    assert (features.n_rows, len(y)) == (56, 56)
    assert datasets.whole(tmp_path, "toy").columns["b"].n_missing == 7


def test_declared_values_that_never_occur(tmp_path: Path) -> None:
    write_set(tmp_path, "toy")
    assert datasets.whole(tmp_path, "toy").columns["colour"].categories is None
    declared = datasets.whole(tmp_path, "toy", declared=True).columns["colour"].categories
    assert declared == ("blue", "green", "red", "violet")


def test_a_set_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no .*vote.json; choose a folder with the data by --data"):
        datasets.complete(tmp_path, "vote")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"file"', r'vote.json is no JSON .*; expected {"file": "NAME.csv"'),
        ("[1]", "vote.json does not describe a data set; expected"),
        ('{"file": "vote.csv"}', "does not describe"),
        ('{"file": 3, "types": {}}', "does not describe"),
        ('{"file": "vote.csv", "types": {"a": "numeric"}, "domains": 3}', "does not describe"),
        (
            '{"file": "vote.csv", "types": {"a": "numeric"}, "rows": 91}',
            r"has 90 rows, but vote.json says 91; .*cut",
        ),
        ('{"file": "vote.csv", "types": {"a": "colour"}}', "colour"),
    ],
)
def test_a_description_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    write_set(tmp_path, "vote")
    (tmp_path / "vote.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        datasets.complete(tmp_path, "vote")


def test_the_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert datasets.default_folder() is None
    assert datasets.present(None, ["vote"]) == []
    write_set(tmp_path / "shared" / "data", "vote")
    assert datasets.present(datasets.default_folder(), ["zoo", "vote"]) == ["vote"]


@real
@pytest.mark.parametrize("name", datasets.ROWS)
def test_the_rule_gives_the_papers_numbers_of_rows(name: str) -> None:
    features, y = datasets.complete(REAL, name)
    assert features.n_rows == len(y) == datasets.ROWS[name]


@real
def test_binary_tests_of_vote() -> None:
    X, y = datasets.binary_tests(REAL, "vote")
    assert X.shape == (435, 48)  # 16 attributes with three values each
    assert set(np.unique(X)) == {0, 1}
    assert len(y) == 435
