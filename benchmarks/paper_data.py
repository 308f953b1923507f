"""The raw data sets of the papers, from the folder beside the project; the rules are in everytree.study.datasets."""

from __future__ import annotations

from typing import Any

import numpy as np

from everytree.data.frames import read_frame
from everytree.study import datasets
from everytree.study.datasets import IDENTIFIERS, MISSING_IS_A_VALUE, PAPERS, papers
from harness import DATA

__all__ = ["IDENTIFIERS", "MISSING_IS_A_VALUE", "PAPERS", "columns", "complete", "frame", "papers", "tests"]


def columns(name: str) -> Any:
    """A data set (``everytree`` ``Dataset``) without identifiers and sparse attributes; rows may still lack values."""
    return datasets.columns(DATA, name)


def complete(name: str) -> tuple[Any, np.ndarray]:
    """Attributes and classes of a data set without any missing value."""
    return datasets.complete(DATA, name)


def frame(name: str) -> tuple[Any, np.ndarray]:
    """All rows with their missing values and the declared values of nominal columns, and the classes."""
    features, y = datasets.whole(DATA, name, declared=True).split("class")
    return read_frame(features), y


def tests(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The 0/1 matrix of a data set and its classes, as DL8 has them."""
    return datasets.binary_tests(DATA, name)
