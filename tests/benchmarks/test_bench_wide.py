"""The benchmark of wide and tall tables runs, on small ones."""

from __future__ import annotations

import numpy as np
import pytest

import bench_wide


@pytest.mark.parametrize("kind", bench_wide.KINDS)
def test_generated_tables_have_the_tests_asked_for(kind: str) -> None:
    X, y = bench_wide.generated(kind, 300, 65)
    assert X.shape == (300, 65)
    assert set(np.unique(X)) == {0, 1}
    assert abs(int(y.sum()) - 150) <= 1


@pytest.mark.parametrize("question", ["best", "front", "posterior"])
def test_a_question_is_answered_and_measured(question: str) -> None:
    found = bench_wide.worker("cuts", 200, 20, 2, question)
    assert found["rows"] <= 200
    assert found["mb"] > 10
    assert found["answer"].split()[0] in {"log"} or int(found["answer"].split()[0]) > 0
