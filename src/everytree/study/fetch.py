"""Download the data sets of the papers from OpenML, in the layout that the studies read.

    python -m everytree.study.fetch FOLDER              all of them
    python -m everytree.study.fetch FOLDER vote zoo     only these

Each becomes ``name.csv`` and ``name.json``; those that are there already are left alone. scikit-learn downloads them
and keeps them in its own cache too. Every file is counted: one with another number of rows or classes than the
papers' (there are several versions of most) is refused, other attributes or missing values are reported.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from everytree.errors import DataError, EverytreeError, QueryError
from everytree.study.datasets import IDENTIFIERS

__all__ = ["SOURCES", "fetch"]

NOT_APPLICABLE = "not_applicable"


Rows = list[dict[str, str]]


class Source(NamedTuple):
    """A data set on OpenML: its number, or its name (then the first version), and what it must contain.

    The numbers are those after ``change`` was applied. Identifiers are not among the attributes; ``largest`` is the
    size of the largest class.
    """

    data_id: int | str
    rows: int
    attributes: int
    numeric: int
    classes: int
    largest: int
    missing: int
    change: Callable[[Rows], Rows] | None = None


def _first_rows(rows: Rows) -> Rows:
    return rows[:7494]  # the training part


def _two_kinds(rows: Rows) -> Rows:
    """Keep window glass, with the class whether it was float processed."""
    kinds = {
        "build wind float": "float",
        "vehic wind float": "float",
        "build wind non-float": "non-float",
    }
    return [row | {"class": kinds[row["class"]]} for row in rows if row["class"] in kinds]


def _not_applicable(rows: Rows) -> Rows:
    return [{key: NOT_APPLICABLE if value == "" else value for key, value in row.items()} for row in rows]


def _flares(rows: Rows) -> Rows:
    """Take the class of Weka's file, the number of X-class flares; all attributes are codes."""
    named = [name for name in rows[0] if name.lower().startswith("x-class")]
    if len(named) != 1:
        raise DataError(
            f"solar-flare2: no column X-class flares among {', '.join(rows[0])}; give another source"
        )
    codes = [{key: value.removesuffix(".0") for key, value in row.items()} for row in rows]
    kept = [name for name in rows[0] if name not in (*named, "class")]
    return [
        {"zurich_class": row["class"]} | {name: row[name] for name in kept} | {"class": row[named[0]]}
        for row in codes
    ]


SOURCES = {
    "anneal": Source(2, 898, 38, 6, 5, 684, 22175),
    "anneal-weka": Source(2, 898, 38, 6, 5, 684, 0, _not_applicable),
    "audiology": Source(7, 226, 69, 0, 24, 57, 317),
    "australian-credit": Source(29, 690, 15, 6, 2, 383, 67),
    "autos": Source(9, 205, 25, 15, 6, 67, 59),
    "balance-scale": Source(11, 625, 4, 4, 3, 288, 0),
    "breast-cancer": Source(13, 286, 9, 0, 2, 201, 9),
    "breast-w": Source(15, 699, 9, 9, 2, 458, 16),
    "colic": Source(27, 368, 22, 7, 2, 232, 1927),
    "diabetes": Source(37, 768, 8, 8, 2, 500, 0),
    "german-credit": Source(31, 1000, 20, 7, 2, 700, 0),
    "glass": Source(41, 214, 9, 9, 6, 76, 0),
    "glass2": Source(41, 163, 9, 9, 2, 87, 0, _two_kinds),
    "heart-cleveland": Source(49, 303, 13, 6, 2, 165, 7),
    "hepatitis": Source(55, 155, 19, 6, 2, 123, 167),
    "hypothyroid": Source(57, 3772, 29, 7, 4, 3481, 6064),
    "ionosphere": Source(59, 351, 34, 34, 2, 225, 0),
    "iris": Source(61, 150, 4, 4, 3, 50, 0),
    "kr-vs-kp": Source(3, 3196, 36, 0, 2, 1669, 0),
    "labor": Source(4, 57, 16, 8, 2, 37, 326),
    "letter": Source(6, 20000, 16, 16, 26, 813, 0),
    "lymph": Source(10, 148, 18, 3, 4, 81, 0),
    "mfeat-pixel": Source(20, 2000, 240, 0, 10, 200, 0),
    "mushroom": Source(24, 8124, 22, 0, 2, 4208, 2480),
    "optdigits": Source(28, 5620, 64, 64, 10, 572, 0),
    "pendigits": Source(32, 10992, 16, 16, 10, 1144, 0),
    "pendigits-train": Source(32, 7494, 16, 16, 10, 780, 0, _first_rows),
    "primary-tumor": Source(171, 339, 17, 0, 21, 84, 225),
    "segment": Source(36, 2310, 19, 19, 7, 330, 0),
    "sick": Source(38, 3772, 29, 7, 2, 3541, 6064),
    "solar-flare2": Source(40687, 1066, 12, 0, 3, 1061, 0, _flares),
    "sonar": Source(40, 208, 60, 60, 2, 111, 0),
    "soybean": Source(42, 683, 35, 0, 19, 92, 2337),
    "splice": Source(46, 3190, 60, 0, 3, 1655, 0),
    "sponge": Source("sponge", 76, 44, 0, 3, 70, 22),
    "vehicle": Source(54, 846, 18, 18, 4, 218, 0),
    "vote": Source(56, 435, 16, 0, 2, 267, 392),
    "vowel": Source(307, 990, 13, 10, 11, 90, 0),
    "yeast": Source(181, 1484, 8, 8, 10, 463, 0),
    "zoo": Source(62, 101, 16, 1, 7, 41, 0),
}


def _download(data_id: int | str) -> Any:
    from sklearn.datasets import fetch_openml

    which: dict[str, Any] = (
        {"data_id": data_id} if isinstance(data_id, int) else {"name": data_id, "version": 1}
    )
    return fetch_openml(as_frame=True, parser="liac-arff", **which)


def fetch(
    folder: Path,
    names: Sequence[str] | None = None,
    download: Callable[[Any], Any] = _download,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Write data sets of the papers into a folder; those that are there already are left alone.

    A data set that is refused does not keep the next ones from being written; the error comes at the end.

    Parameters
    ----------
    folder : Path
        The folder, made if it does not exist.
    names : sequence of str or None, default=None
        The data sets; None means all of them.
    download : callable, optional
        The function that gets a data set by its number on OpenML; by default scikit-learn's.
    say : callable, default=print
        The function that is called with a line for each data set.

    Returns
    -------
    list of str
        The names of those that were not there before.

    Raises
    ------
    DataError
        If a data set could not be downloaded, or is another version than the papers'.
    QueryError
        If a name is unknown.

    Examples
    --------
    >>> from pathlib import Path
    >>> fetch(Path(), [])
    []
    """
    made, refused = [], []
    wanted = list(SOURCES) if names is None else list(names)
    for name in wanted:
        if name not in SOURCES:
            raise QueryError(f"there is no data set {name!r}; expected one of {', '.join(SOURCES)}")
    for name in wanted:
        if (folder / f"{name}.json").is_file():
            continue
        try:
            notes = _write(folder, name, download(SOURCES[name].data_id))
        except DataError as error:
            refused.append(str(error))
            continue
        except ValueError as error:  # OpenML does not have it any more
            refused.append(f"{name}: OpenML's data set {SOURCES[name].data_id}: {error}")
            continue
        except OSError as error:
            raise DataError(
                f"{name}: OpenML's data set {SOURCES[name].data_id} could not be downloaded ({error}); the same "
                "command goes on where it stopped"
            ) from error
        made.append(name)
        say(f"{name}" + "".join(f"; {note}" for note in notes))
    if refused:
        raise DataError("\n".join(refused))
    return made


def _write(folder: Path, name: str, bunch: Any) -> list[str]:
    """Check and write one data set; return what differs without being a reason to refuse it."""
    source = SOURCES[name]
    if getattr(bunch, "target", None) is None or getattr(bunch.target, "name", None) is None:
        raise DataError(f"{name}: OpenML's data set {source.data_id} names no single class column")
    frame, target = bunch.frame, bunch.target.name
    columns = {
        column: f"{column}_" if column == "class" else str(column)
        for column in frame.columns
        if column != target
    }
    types, domains = {}, {}
    for column, title in columns.items():
        kind = str(frame[column].dtype)
        types[title] = "nominal" if kind in ("category", "object", "str") else "numeric"
        if kind == "category":
            domains[title] = [str(value) for value in frame[column].cat.categories]
    rows = [
        {title: _cell(record[column]) for column, title in columns.items()} | {"class": _cell(record[target])}
        for record in frame.to_dict("records")
    ]
    if source.change is not None:
        rows = source.change(rows)
        if not rows:
            raise DataError(
                f"{name}: OpenML's data set {source.data_id} has none of the rows that are wanted"
            )
        types = {title: types.get(title, "nominal") for title in rows[0]}
        if source.numeric == 0:
            types = dict.fromkeys(types, "nominal")
        domains = {
            title: known + [NOT_APPLICABLE] * any(row[title] == NOT_APPLICABLE for row in rows)
            for title, known in domains.items()
            if title in types
        }
    types["class"] = "nominal"
    notes = _compared(name, rows, types)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    about = {"name": name, "file": f"{name}.csv", "rows": len(rows), "types": types, "domains": domains}
    about["source"] = f"OpenML {source.data_id}"
    (folder / f"{name}.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    return notes


def _compared(name: str, rows: Rows, types: dict[str, str]) -> list[str]:
    """Return what differs from the papers' file; raise if it is another problem altogether."""
    source = SOURCES[name]
    classes = Counter(row["class"] for row in rows)
    attributes = [title for title in types if title != "class" and title not in IDENTIFIERS]
    facts = {
        "rows": (len(rows), source.rows),
        "classes": (len(classes), source.classes),
        "rows in the largest class": (max(classes.values(), default=0), source.largest),
        "attributes": (len(attributes), source.attributes),
        "numeric attributes": (sum(types[title] == "numeric" for title in attributes), source.numeric),
        "missing values": (sum(row[title] == "" for row in rows for title in attributes), source.missing),
    }
    differ = {
        what: f"{found} {what}, expected {known}" for what, (found, known) in facts.items() if found != known
    }
    if any(what in differ for what in list(facts)[:3]):
        raise DataError(
            f"{name}: OpenML's data set {source.data_id} has {'; '.join(differ.values())}. Another version of the file "
            "cannot stand for the papers' one"
        )
    return list(differ.values())


def _cell(value: Any) -> str:
    """Write a value as a CSV cell, empty where it is missing."""
    missing = value is None or value != value  # NaN
    return "" if missing else repr(value) if isinstance(value, float) else str(value)


def main(arguments: Sequence[str]) -> int:
    """Run the command; return 1 if some data set could not be written."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    try:
        fetch(Path(arguments[0]), arguments[1:] or None)
    except EverytreeError as error:
        print(f"not written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
