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
MORE = sorted(set(weka_trees.SETS) - set(SETS.split()))


@pytest.mark.parametrize(
    "name", [*SETS.split(), *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)]
)
def test_size_training_errors_and_accuracy(name):
    found = weka_trees.compare(name)
    assert found.ours[:3] == found.weka[:3]  # leaves, nodes, training errors on all rows
    assert np.allclose(found.ours.proba, found.weka.proba, rtol=0, atol=1e-9)
    assert abs(found.our_accuracy - found.weka_accuracy) <= 0.5
    assert found.same_trees >= found.folds - 1


@pytest.mark.parametrize(
    ("options", "ours"),
    [
        ("-U", {"prune": False}),
        ("-S", {"subtree_raising": False}),
        ("-B", {"binary_splits": True}),
        ("-M 5 -C 0.1", {"min_leaf": 5, "confidence": 0.1}),
        ("-A -B -U", {"laplace": True, "binary_splits": True, "prune": False}),
    ],
)
@pytest.mark.parametrize("name", ["colic", "labor"])
def test_every_option(name, options, ours):
    frame, y = weka_trees.load(name)
    parts = [(fold.train, fold.test) for fold in weka_trees.stratified_folds(y, 3, seed=1)]
    mine, theirs = weka_trees.ours(frame, y, parts, **ours), weka_trees.j48(frame, y, parts, options)
    for a, b in zip(mine, theirs, strict=True):
        assert a[:3] == b[:3]
        assert (a.predicted == b.predicted).all()
        assert np.allclose(a.proba, b.proba, rtol=0, atol=1e-9)
