"""Data sets from OpenML, with a stand-in for the download."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from everytree.errors import DataError, QueryError
from everytree.study import datasets
from everytree.study.fetch import SOURCES, fetch


def bunch(rows: int) -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(rows) < 0.05, np.nan, rng.normal(size=rows)),
            "colour": pd.Categorical(rng.choice(["red", "blue"], rows), ["blue", "red", "green"]),
            "target": pd.Categorical(rng.choice(["a", "b"], rows)),
        }
    )
    return SimpleNamespace(frame=frame, target=frame["target"])


def test_a_fetched_set_can_be_read(tmp_path: Path) -> None:
    asked = []

    def download(data_id: int) -> Any:
        asked.append(data_id)
        return bunch(101)

    assert fetch(tmp_path, ["zoo"], download) == ["zoo"]
    assert asked == [62]
    data = datasets.whole(tmp_path, "zoo", declared=True)
    given = bunch(101).frame
    assert data.columns["colour"].categories == ("blue", "red", "green")
    assert data.columns["x"].n_missing == given["x"].isna().sum() > 0
    known = ~given["x"].isna().to_numpy()
    assert data.columns["x"].values[known].tolist() == given["x"].to_numpy()[known].tolist()
    assert data.columns["class"].values.tolist() == given["target"].tolist()
    assert fetch(tmp_path, ["zoo"], download) == []  # it is there
    assert asked == [62]


def test_another_version_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="zoo: OpenML's data set 62 has 99 rows; expected 101"):
        fetch(tmp_path, ["zoo"], lambda _: bunch(99))
    assert not list(tmp_path.iterdir())
    with pytest.raises(QueryError, match="no data set 'cars'"):
        fetch(tmp_path, ["cars"], lambda _: bunch(99))


def test_every_set_of_the_studies_has_a_source() -> None:
    wanted = {name for names in datasets.PAPERS.values() for name in names} - {"solar-flare1"}
    assert wanted <= set(SOURCES)
