"""The data sets of the papers from OpenML, in the layout that the studies read.

    python -m everytree.study.fetch FOLDER              all of them
    python -m everytree.study.fetch FOLDER vote zoo     only these

Each becomes ``name.csv`` and ``name.json``; those that are there already are left alone. scikit-learn downloads them
and keeps them in its own cache too. A file with another number of rows than the papers' is refused.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from everytree.errors import DataError, QueryError

__all__ = ["SOURCES", "fetch"]


class Source(NamedTuple):
    """The number of a data set on OpenML, its rows, and what is done to it."""

    data_id: int
    rows: int
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None


def _first_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows[:7494]  # the training part


def _two_kinds(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Window glass, by whether it was float processed."""
    kinds = {
        "build wind float": "float",
        "vehic wind float": "float",
        "build wind non-float": "non-float",
    }
    return [row | {"class": kinds[row["class"]]} for row in rows if row["class"] in kinds]


def _not_applicable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: "not_applicable" if value == "" else value for key, value in row.items()} for row in rows]


SOURCES = {
    "anneal": Source(2, 898),
    "anneal-weka": Source(2, 898, _not_applicable),
    "audiology": Source(7, 226),
    "australian-credit": Source(29, 690),
    "autos": Source(9, 205),
    "balance-scale": Source(11, 625),
    "breast-cancer": Source(13, 286),
    "breast-w": Source(15, 699),
    "colic": Source(27, 368),
    "diabetes": Source(37, 768),
    "german-credit": Source(31, 1000),
    "glass": Source(41, 214),
    "glass2": Source(41, 163, _two_kinds),
    "heart-cleveland": Source(49, 303),
    "hepatitis": Source(55, 155),
    "hypothyroid": Source(57, 3772),
    "ionosphere": Source(59, 351),
    "iris": Source(61, 150),
    "kr-vs-kp": Source(3, 3196),
    "labor": Source(4, 57),
    "letter": Source(6, 20000),
    "lymph": Source(10, 148),
    "mfeat-pixel": Source(20, 2000),
    "mushroom": Source(24, 8124),
    "optdigits": Source(28, 5620),
    "pendigits": Source(32, 10992),
    "pendigits-train": Source(32, 7494, _first_rows),
    "primary-tumor": Source(171, 339),
    "segment": Source(36, 2310),
    "sick": Source(38, 3772),
    "solar-flare2": Source(40687, 1066),
    "sonar": Source(40, 208),
    "soybean": Source(42, 683),
    "splice": Source(46, 3190),
    "sponge": Source(1001, 76),
    "vehicle": Source(54, 846),
    "vote": Source(56, 435),
    "vowel": Source(307, 990),
    "yeast": Source(181, 1484),
    "zoo": Source(62, 101),
}


def _download(data_id: int) -> Any:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=data_id, as_frame=True, parser="liac-arff")


def fetch(
    folder: Path, names: Sequence[str] | None = None, download: Callable[[int], Any] = _download
) -> list[str]:
    """Write the data sets into a folder; the names of those that were not there before."""
    made = []
    for name in SOURCES if names is None else names:
        if name not in SOURCES:
            raise QueryError(f"there is no data set {name!r}; expected one of {', '.join(SOURCES)}")
        if (folder / f"{name}.json").is_file():
            continue
        _write(folder, name, download(SOURCES[name].data_id))
        made.append(name)
    return made


def _write(folder: Path, name: str, bunch: Any) -> None:
    source = SOURCES[name]
    frame, target = bunch.frame, bunch.target.name
    columns = [column for column in frame.columns if column != target]
    types, domains = {"class": "nominal"}, {}
    for column in columns:
        nominal = str(frame[column].dtype) in ("category", "object", "str")
        types[column] = "nominal" if nominal else "numeric"
        if str(frame[column].dtype) == "category":
            domains[column] = [str(value) for value in frame[column].cat.categories]
    rows = [
        {column: _cell(record[column]) for column in columns} | {"class": _cell(record[target])}
        for record in frame.to_dict("records")
    ]
    if source.change is not None:
        rows = source.change(rows)
        domains = {}
    if len(rows) != source.rows:
        raise DataError(
            f"{name}: OpenML's data set {source.data_id} has {len(rows)} rows; expected {source.rows}. Another version "
            "of the file cannot stand for the papers' one"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*columns, "class"])
        writer.writeheader()
        writer.writerows(rows)
    about = {"name": name, "file": f"{name}.csv", "rows": len(rows), "types": types, "domains": domains}
    about["source"] = f"OpenML {source.data_id}"
    (folder / f"{name}.json").write_text(json.dumps(about, indent=1), encoding="utf-8")


def _cell(value: Any) -> str:
    """A value as a CSV cell; empty where it is missing."""
    missing = value is None or value != value  # NaN
    return "" if missing else repr(value) if isinstance(value, float) else str(value)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for each in fetch(Path(sys.argv[1]), sys.argv[2:] or None):
        print(each)
