"""The data sets of the papers, read from a folder by one rule.

A folder has for each data set ``name.json`` (its file, and the type of every column) and that file, a CSV with the
column ``class``. ``everytree.study.fetch`` makes one from OpenML.

    missing      an attribute with more than 10 % of its values missing is left out, then every row that still lacks a
                 value: this gives the papers' numbers of rows. In vote, a missing value is a third value
    identifiers  names of instances are left out (splice, sponge, zoo)
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import Binarizer
from everytree.data.column import Column
from everytree.data.readers import read_csv
from everytree.errors import DataError

__all__ = [
    "IDENTIFIERS",
    "MISSING_IS_A_VALUE",
    "PAPERS",
    "ROWS",
    "binary_tests",
    "classes_of",
    "columns",
    "complete",
    "default_folder",
    "papers",
    "present",
    "whole",
]

IDENTIFIERS = ("Instance_name", "Name", "animal")
MISSING_IS_A_VALUE = ("vote",)
MOST_MISSING = 0.1
FETCH = "python -m everytree.study.fetch FOLDER"

# Which paper uses which set. DL8: Nijssen and Fromont 2007; BOC: Nijssen 2008 (its Table 1); Cano: Cano, Masegosa and
# Moral; Buntine: Buntine 1992. anneal-weka is the file of Cano, where "not applicable" is a value of an attribute.
_DL8 = (
    "anneal australian-credit balance-scale breast-w diabetes german-credit heart-cleveland hypothyroid ionosphere "
    "kr-vs-kp mushroom pendigits-train primary-tumor segment soybean splice vehicle vote vowel yeast zoo"
)
_BOC = (
    "anneal balance-scale diabetes heart-cleveland ionosphere primary-tumor segment vehicle vote vowel yeast"
)
_CANO = (
    "anneal-weka audiology autos breast-cancer colic diabetes german-credit glass2 hepatitis hypothyroid ionosphere "
    "kr-vs-kp labor letter lymph mfeat-pixel mushroom optdigits segment sick solar-flare1 solar-flare2 sonar soybean "
    "sponge vote vowel zoo"
)
_BUNTINE = "breast-cancer glass hepatitis hypothyroid iris lymph mushroom primary-tumor vote"
PAPERS = {"DL8": _DL8.split(), "BOC": _BOC.split(), "Cano": _CANO.split(), "Buntine": _BUNTINE.split()}
# Rows that the rule must leave: the numbers of examples in DL8's Figure 6.
ROWS = {
    "anneal": 812, "australian-credit": 653, "balance-scale": 625, "breast-w": 683, "kr-vs-kp": 3196, "diabetes": 768,
    "german-credit": 1000, "heart-cleveland": 296, "ionosphere": 351, "mushroom": 8124, "pendigits-train": 7494,
    "primary-tumor": 336, "segment": 2310, "soybean": 630, "splice": 3190, "hypothyroid": 3247, "vehicle": 846,
    "vote": 435, "vowel": 990, "yeast": 1484, "zoo": 101,
}  # fmt: skip


def papers(name: str) -> list[str]:
    """Return the papers that use a data set.

    Parameters
    ----------
    name : str
        The name of the data set.

    Returns
    -------
    list of str
        Some of "DL8", "BOC", "Cano" and "Buntine".

    Examples
    --------
    >>> papers("yeast")
    ['DL8', 'BOC']
    """
    return [paper for paper, names in PAPERS.items() if name in names]


def default_folder() -> Path | None:
    """Return the folder ``../shared/data`` beside the current folder, if it exists.

    Returns
    -------
    Path or None
        The folder.

    Examples
    --------
    >>> default_folder() is None or default_folder().is_dir()
    True
    """
    folder = Path("..") / "shared" / "data"
    return folder if folder.is_dir() else None


def present(folder: Path | None, names: Iterable[str]) -> list[str]:
    """Return which of the data sets a folder has.

    Parameters
    ----------
    folder : Path or None
        The folder; None has none.
    names : iterable of str
        The names to look for.

    Returns
    -------
    list of str
        The names that are there, in their order.

    Examples
    --------
    >>> present(None, ["vote", "zoo"])
    []
    """
    return [] if folder is None else [name for name in names if (folder / f"{name}.json").is_file()]


def whole(folder: Path, name: str, declared: bool = False) -> Any:
    r"""Read all rows and columns of a data set but identifiers, with the missing values.

    Parameters
    ----------
    folder : Path
        The folder of the data sets.
    name : str
        The name of the data set.
    declared : bool, default=False
        Whether nominal columns have the values that their file declares, also those that never occur.

    Returns
    -------
    Dataset
        The columns, the class among them.

    Raises
    ------
    DataError
        If the folder does not have the data set, or its file was cut or changed.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("x,class\n1,yes\n2,no\n")
    >>> _ = Path("a.json").write_text('{"file": "a.csv", "types": {"x": "numeric"}}')
    >>> whole(Path(), "a").names
    ('x', 'class')
    """
    described = folder / f"{name}.json"
    if not described.is_file():
        raise DataError(
            f"there is no {described}; choose a folder with the data by --data, or make one: {FETCH}"
        )
    about = _description(described)
    types: dict[str, Any] = about["types"] | {"class": "nominal"}
    if declared:
        types |= {column: domain for column, domain in about.get("domains", {}).items() if column != "class"}
    data = read_csv(folder / about["file"], "class", types=types)
    if about.get("rows", data.n_rows) != data.n_rows:
        raise DataError(
            f"{folder / about['file']} has {data.n_rows} rows, but {described.name} says {about['rows']}; the file was "
            "cut or changed: put the whole one there"
        )
    return data.select(*(column for column in data.names if column not in IDENTIFIERS))


def _description(path: Path) -> dict[str, Any]:
    """Return what name.json says: its ``file``, the ``types`` of the columns and, where given, their ``domains``."""
    expected = 'expected {"file": "NAME.csv", "types": {"COLUMN": "numeric" or "nominal", ...}}'
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} is no JSON ({error}); {expected}") from error
    if not (
        isinstance(about, dict)
        and isinstance(about.get("file"), str)
        and isinstance(about.get("types"), dict)
        and isinstance(about.get("domains", {}), dict)
    ):
        raise DataError(f"{path} does not describe a data set; {expected}")
    return about


def columns(folder: Path, name: str) -> Any:
    r"""Read a data set without sparse attributes; rows may still lack values.

    Parameters
    ----------
    folder : Path
        The folder of the data sets.
    name : str
        The name of the data set.

    Returns
    -------
    Dataset
        The columns with at most 10 % of their values missing, the class among them.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("x,z,class\n1,,yes\n2,,no\n")
    >>> _ = Path("a.json").write_text('{"file": "a.csv", "types": {"x": "numeric", "z": "numeric"}}')
    >>> columns(Path(), "a").names
    ('x', 'class')
    """
    data = whole(folder, name)
    if name in MISSING_IS_A_VALUE:
        return data
    most = MOST_MISSING * data.n_rows
    return data.select(*(column.name for column in data.columns.values() if column.n_missing <= most))


def complete(folder: Path, name: str) -> tuple[Any, npt.NDArray[Any]]:
    r"""Read attributes and classes of a data set without any missing value, by the rule of this module.

    Parameters
    ----------
    folder : Path
        The folder of the data sets.
    name : str
        The name of the data set.

    Returns
    -------
    tuple of (Dataset, ndarray)
        The attributes, and the class of each row.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("x,class\n1,yes\n2,no\n")
    >>> _ = Path("a.json").write_text('{"file": "a.csv", "types": {"x": "numeric"}}')
    >>> complete(Path(), "a")[1].tolist()
    ['yes', 'no']
    """
    data = columns(folder, name)
    if name in MISSING_IS_A_VALUE:
        data = replace(data, columns={key: _filled(column) for key, column in data.columns.items()})
    features, y = data.drop_missing().split("class")
    return features, y


def _filled(column: Any) -> Any:
    """Return a nominal column in which "?" is the value of what is missing."""
    if column.kind != "nominal" or not column.n_missing:
        return column
    values = column.values.copy()
    values[column.missing] = "?"
    domain = None if column.categories is None else (*column.categories, "?")
    return Column(column.name, column.kind, values, domain)


def classes_of(y: npt.ArrayLike) -> tuple[list[int], npt.NDArray[np.intp]]:
    """Number the classes 0, 1, … in the order of the sorted labels.

    Parameters
    ----------
    y : array-like
        The labels.

    Returns
    -------
    tuple of (list of int, ndarray)
        All codes, and the code of each row.

    Examples
    --------
    >>> classes_of(["b", "a", "b"])[1].tolist()
    [1, 0, 1]
    """
    labels, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    return list(range(len(labels))), codes.astype(np.intp)


def binary_tests(folder: Path, name: str, bins: int = 4) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
    r"""Read the 0/1 tests of a whole data set and its classes, as DL8 has them.

    The cuts are made before rows are left out. Four equal-frequency bins (three cuts) per numeric attribute and one
    test for each value of a nominal one give the paper's numbers of tests, up to those that are constant or repeat
    another.

    Parameters
    ----------
    folder : Path
        The folder of the data sets.
    name : str
        The name of the data set.
    bins : int, default=4
        The number of equal-frequency bins of a numeric attribute; k bins give k - 1 cuts.

    Returns
    -------
    tuple of (ndarray, ndarray)
        The 0/1 matrix, and the class of each row.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("x,class\n1,yes\n2,no\n3,yes\n4,no\n")
    >>> _ = Path("a.json").write_text('{"file": "a.csv", "types": {"x": "numeric"}}')
    >>> binary_tests(Path(), "a")[0].tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    data = columns(folder, name)
    if name in MISSING_IS_A_VALUE:
        features, y = data.split("class")
        return Binarizer(bins=bins, missing="category").fit_transform(features), y
    everyone = Binarizer(bins=bins, missing="category").fit(data.split("class")[0])
    cuts: dict[str | int, list[float]] = {}
    for test in (*everyone.tests_, *everyone.dropped_):
        if test.op == "<=":
            cuts.setdefault(test.attribute, []).append(test.value)
    features, y = data.drop_missing().split("class")
    return Binarizer(bins=cuts).fit_transform(features), y
