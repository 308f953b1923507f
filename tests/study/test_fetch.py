"""Data sets from OpenML, with a stand-in for the download."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from folders import REAL

from everytree.errors import DataError, QueryError
from everytree.study import datasets
from everytree.study.fetch import SOURCES, Source, fetch, main


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """A source whose numbers are those of ``bunch(101)``."""
    monkeypatch.setitem(SOURCES, "toy", Source(62, 101, 2, 1, 2, 51, 6))
    return "toy"


def bunch(rows: int) -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": np.where(np.arange(rows) % 17 == 3, np.nan, rng.normal(size=rows)),
            "colour": pd.Categorical(rng.choice(["red", "blue"], rows), ["blue", "red", "green"]),
            "target": pd.Categorical(np.where(np.arange(rows) % 2, "a", "b")),
        }
    )
    return SimpleNamespace(frame=frame, target=frame["target"])


def test_a_fetched_set_can_be_read(tmp_path: Path, toy: str) -> None:
    asked, said = [], []

    def download(data_id: int) -> Any:
        asked.append(data_id)
        return bunch(101)

    assert fetch(tmp_path, [toy], download, said.append) == [toy]
    assert asked == [62]
    assert said == ["toy"]  # nothing differs
    data = datasets.whole(tmp_path, toy, declared=True)
    given = bunch(101).frame
    assert data.columns["colour"].categories == ("blue", "red", "green")
    assert data.columns["x"].n_missing == given["x"].isna().sum() == 6
    known = ~given["x"].isna().to_numpy()
    assert data.columns["x"].values[known].tolist() == given["x"].to_numpy()[known].tolist()
    assert data.columns["class"].values.tolist() == given["target"].tolist()
    assert fetch(tmp_path, [toy], download, said.append) == []  # it is there
    assert asked == [62]


def changed(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    found = bunch(101)
    frame = change(found.frame)
    return SimpleNamespace(frame=frame, target=frame["target"])


def test_another_version_of_a_file_is_refused(tmp_path: Path, toy: str) -> None:
    with pytest.raises(
        DataError, match="toy: OpenML's data set 62 has 99 rows, expected 101; 50 rows in the largest"
    ):
        fetch(tmp_path, [toy], lambda _: bunch(99))
    one_class = changed(lambda frame: frame.assign(target=pd.Categorical(["a"] * 101)))
    with pytest.raises(DataError, match="1 classes, expected 2; 101 rows in the largest class, expected 51"):
        fetch(tmp_path, [toy], lambda _: one_class)
    with pytest.raises(DataError, match="names no single class column"):
        fetch(tmp_path, [toy], lambda _: SimpleNamespace(frame=bunch(101).frame, target=None))
    assert not list(tmp_path.iterdir())
    with pytest.raises(QueryError, match="no data set 'cars'"):
        fetch(tmp_path, ["cars"], lambda _: bunch(99))


def test_other_attributes_are_reported(tmp_path: Path, toy: str) -> None:
    said: list[str] = []
    other = changed(lambda frame: frame.assign(x=frame["x"].fillna(0.0), z=1.0, **{"class": 2.0}))
    assert fetch(tmp_path, [toy], lambda _: other, said.append) == [toy]
    assert said == [
        "toy; 4 attributes, expected 2; 3 numeric attributes, expected 1; 0 missing values, expected 6"
    ]
    assert datasets.whole(tmp_path, toy).names == ("x", "colour", "z", "class_", "class")


def test_one_that_is_refused_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy: str
) -> None:
    monkeypatch.setitem(SOURCES, "gone", Source(63, 101, 2, 1, 2, 51, 6))
    monkeypatch.setitem(SOURCES, "short", Source(64, 101, 2, 1, 2, 51, 6))

    def download(data_id: int) -> Any:
        if data_id == 63:
            raise ValueError("Dataset with data_id 63 not found.")
        return bunch(101 if data_id == 62 else 40)

    with pytest.raises(DataError, match=r"gone: .*not found.\nshort: .*40 rows, expected 101"):
        fetch(tmp_path, ["gone", "short", toy], download)
    assert datasets.present(tmp_path, ["gone", "short", toy]) == [toy]

    def no_network(_: int) -> Any:
        raise OSError("no route to host")

    with pytest.raises(
        DataError, match=r"gone: .*could not be downloaded \(no route to host\); the same command goes on"
    ):
        fetch(tmp_path, ["gone"], no_network)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([]) == 2
    assert "FOLDER" in capsys.readouterr().out
    assert main([str(tmp_path), "cars"]) == 1
    assert "no data set 'cars'" in capsys.readouterr().err


def test_every_set_of_the_studies_has_a_source() -> None:
    wanted = {name for names in datasets.PAPERS.values() for name in names} - {"solar-flare1"}
    assert wanted <= set(SOURCES)


# --- the real files, given out as OpenML would


BEHIND = {"anneal-weka": "anneal", "glass2": "glass", "pendigits-train": "pendigits"}


def as_openml(name: str) -> Any:
    """The file behind a data set as scikit-learn gives it: declared values, the class under a name of its own."""
    data = datasets.whole(REAL, BEHIND.get(name, name), declared=True)
    frame = {}
    for column in data.columns.values():
        if column.kind == "numeric":
            frame[column.name] = np.where(column.missing, np.nan, column.values.astype(float))
        else:
            values = np.where(column.missing, None, column.values) if column.n_missing else column.values
            frame[column.name] = pd.Categorical(values, column.categories or sorted(set(column.values)))
    if name == "solar-flare2":  # there: the Zurich class is the class, and all is coded by numbers
        frame["X-class_flares_production_by_this_region"] = np.array(
            [float(v) for v in data.columns["class"].values]
        )
        frame["class"] = frame.pop("zurich_class")
        table = pd.DataFrame(frame)
        return SimpleNamespace(frame=table, target=table["class"])
    table = pd.DataFrame(frame).rename(columns={"class": "Kind"})
    return SimpleNamespace(frame=table, target=table["Kind"])


SMALL = (
    "anneal",
    "anneal-weka",
    "glass2",
    "heart-cleveland",
    "labor",
    "solar-flare2",
    "sponge",
    "vote",
    "zoo",
)
OTHERS = sorted(set(SOURCES) - set(SMALL))


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the data sets beside the repository")
@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_what_is_fetched_is_what_the_studies_read(name: str, tmp_path: Path) -> None:
    said: list[str] = []
    assert fetch(tmp_path, [name], lambda _: as_openml(name), said.append) == [name]
    assert said == [name]  # every count is the one expected
    ours, real = (datasets.whole(folder, name, declared=True) for folder in (tmp_path, REAL))
    assert set(ours.names) == set(real.names)
    for column in real.columns.values():
        mine = ours.columns[column.name]
        assert mine.kind == column.kind
        assert (mine.missing == column.missing).all() if column.n_missing else mine.n_missing == 0
        known = slice(None) if not column.n_missing else ~column.missing
        assert mine.values[known].tolist() == column.values[known].tolist()
        if column.name != "class" and name != "solar-flare2" and column.categories is not None:
            assert set(mine.categories) >= set(column.values[known].tolist())
    if name in datasets.ROWS:
        assert len(datasets.complete(tmp_path, name)[1]) == datasets.ROWS[name]
