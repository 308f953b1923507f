"""The command line called in this process (starting Python takes a second), and files to call it on."""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import everytree.cli

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Done]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: Any) -> Done:
        monkeypatch.setattr(sys, "argv", ["everytree", *map(str, arguments)])
        capsys.readouterr()
        code: Any = 0
        try:
            everytree.cli.main()
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(0 if code is None else int(code), out, err)

    return run


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """A file of the shared folder of data sets, if there is one."""

    def find(name: str) -> Path:
        if not (DATA / name).exists():
            pytest.skip(f"there is no {name} in {DATA}")
        return DATA / name

    return find


MIXED = ("age in years", 'the "size"', "couleur préférée", "flag", "code", "gewählt")


def mixed_rows(n: int = 240, seed: int = 0) -> list[list[str]]:
    """Numbers, texts with commas and quotes, truth values, codes; one cell in twenty is missing; two classes."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        age, size = rng.randint(20, 80), round(rng.gauss(5, 2), 2)
        colour = rng.choice(["rouge", "bleu, clair", 'le "vert"', "日本"])
        flag, code = rng.choice(["true", "false"]), rng.choice(["1", "2", "3"])
        yes = (age > 50) != (colour == "rouge") if rng.random() < 0.9 else rng.random() < 0.5
        cells = [str(age), str(size), colour, flag, code]
        cells = [cell if rng.random() > 0.05 else "?" for cell in cells]
        rows.append([*cells, "ja, ökonomisch" if yes else "nein"])
    return rows


def write_csv(path: Path, header: Any, rows: Any, delimiter: str = ",") -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "mixed.csv", MIXED, mixed_rows())


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """26 classes."""
    rng = random.Random(3)
    rows = [
        [rng.gauss(k % 5, 0.5), rng.gauss(k // 5, 0.5), chr(65 + k)] for k in range(26) for _ in range(12)
    ]
    return write_csv(tmp_path / "letters.csv", ["x", "y", "letter"], rows)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of mixed.csv, and model.json that was learned from it."""
    from everytree import OptimalTreeClassifier, read

    made = tmp_path_factory.mktemp("options")
    path = write_csv(made / "mixed.csv", MIXED, mixed_rows())
    (made / "iris.json").touch()  # study looks for it, and for nothing in it before the options are read
    features, y = read(path, "gewählt").split()
    model = OptimalTreeClassifier(1, missing="category").fit(features, y)
    model.save(made / "model.json", target="gewählt")
    return made
