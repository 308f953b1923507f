"""A model of a mixed table, with both as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from verify_cases import Case, people

import everytree as et


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, people(), et.OptimalTreeClassifier(max_depth=2, min_leaf=5, missing="error"))
