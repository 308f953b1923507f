"""C4.5 beside Weka's J48: the same trees on the same rows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import weka_trees  # noqa: E402
from calibration_models import weka_jar  # noqa: E402
from harness import DATA  # noqa: E402

pytestmark = [
    pytest.mark.weka,
    pytest.mark.skipif(weka_jar() is None, reason="needs Weka and Java"),
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the data sets beside the repository"),
]

SETS = """
autos balance-scale breast-cancer breast-w colic glass heart-cleveland hepatitis iris labor lymph primary-tumor sonar
vote zoo
"""
OPTIONS = {
    "-U": {"prune": False},
    "-S": {"subtree_raising": False},
    "-B": {"binary_splits": True},
    "-M 5 -C 0.1": {"min_branch": 5, "confidence": 0.1},
    "-A": {"laplace": True},
    "-A -B -U": {"laplace": True, "binary_splits": True, "prune": False},
}


def check(jobs):
    found = weka_trees.compare(jobs)
    for job, d in zip(jobs, found, strict=True):
        about = f"{d.name} {job.theirs}"
        assert d.ours[:3] == d.weka[:3], about  # leaves, nodes, training errors on all rows
        assert np.allclose(d.ours.proba, d.weka.proba, rtol=0, atol=1e-9), about
        assert d.same_trees == d.folds, about
    assert np.mean([abs(d.our_accuracy - d.weka_accuracy) for d in found]) <= 0.5
    return found


def test_the_same_trees_with_defaults():
    assert len(check([weka_trees.in_folds(name) for name in SETS.split()])) >= 15


@pytest.mark.slow
def test_the_same_trees_on_every_data_set():
    check([weka_trees.in_folds(name) for name in weka_trees.SETS if name not in SETS.split()])


def test_the_same_trees_with_every_option():
    names = ("colic", "labor", "autos")
    check(
        [
            weka_trees.in_folds(name, 3, 1, theirs, **ours)
            for name in names
            for theirs, ours in OPTIONS.items()
        ]
    )
