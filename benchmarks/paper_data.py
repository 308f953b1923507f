"""The raw data sets of the papers, read by one rule.

missing      an attribute with more than 10 % of its values missing is left out, then every row that still lacks a
             value; in vote, a missing value is a third value of its attribute
identifiers  names of instances are left out (splice, sponge, zoo)
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from harness import DATA

IDENTIFIERS = ("Instance_name", "Name", "animal")
MISSING_IS_A_VALUE = ("vote",)
MOST_MISSING = 0.1

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


def papers(name: str) -> list[str]:
    """The papers that use a data set."""
    return [paper for paper, names in PAPERS.items() if name in names]


def columns(name: str) -> Any:
    """A data set (``everytree`` ``Dataset``) without identifiers and sparse attributes; rows may still lack values."""
    from everytree.data.readers import read_csv

    about = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    data = read_csv(DATA / about["file"], "class", types=about["types"] | {"class": "nominal"})
    data = data.select(*(column for column in data.names if column not in IDENTIFIERS))
    if name in MISSING_IS_A_VALUE:
        return data
    most = MOST_MISSING * data.n_rows
    return data.select(*(column.name for column in data.columns.values() if column.n_missing <= most))


def complete(name: str) -> tuple[Any, np.ndarray]:
    """Attributes and classes of a data set without any missing value."""
    data = columns(name)
    if name in MISSING_IS_A_VALUE:
        filled = {key: _filled(column) for key, column in data.columns.items()}
        data = replace(data, columns=filled)
    features, y = data.drop_missing().split("class")
    return features, y


def _filled(column: Any) -> Any:
    """A nominal column with "?" as the value of what is missing."""
    if column.kind != "nominal" or not column.n_missing:
        return column
    values = column.values.copy()
    values[column.missing] = "?"
    domain = None if column.categories is None else (*column.categories, "?")
    return replace(column, values=values, categories=domain)
