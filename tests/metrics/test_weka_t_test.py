"""The corrected paired t-test beside Weka's PairedCorrectedTTester."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from calibration_models import weka_jar  # noqa: E402
from everytree.metrics import corrected_t_test  # noqa: E402

HEAD = """@relation results
@attribute Key_Dataset {d}
@attribute Key_Run numeric
@attribute Key_Fold numeric
@attribute Key_Scheme {a,b}
@attribute Number_of_training_instances numeric
@attribute Number_of_testing_instances numeric
@attribute Percent_correct numeric
@data
"""


@pytest.mark.weka
@pytest.mark.skipif(weka_jar() is None, reason="needs Weka and Java")
@pytest.mark.parametrize(("runs", "gap", "level"), [(1, 1.0, 0.05), (10, 1.0, 0.01), (10, 4.0, 0.01)])
def test_the_same_p_value_as_weka(tmp_path: Path, runs: int, gap: float, level: float) -> None:
    rng = np.random.default_rng(runs)
    n_train, n_test = 270, 30
    a = 80 + rng.normal(0, 3, 10 * runs)
    b = a - gap + rng.normal(0, 3, 10 * runs)
    lines = [
        f"d,{i // 10 + 1},{i % 10 + 1},{scheme},{n_train},{n_test},{value!r}"
        for scheme, values in (("a", a.tolist()), ("b", b.tolist()))
        for i, value in enumerate(values)
    ]
    path = tmp_path / "results.arff"
    path.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    command = [
        "java",
        "-cp",
        str(weka_jar()),
        str(ROOT / "benchmarks" / "CorrectedTest.java"),
        str(path),
        str(level),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    mean, p, significance = map(float, done.stdout.split())
    ours = corrected_t_test(a - b, n_train, n_test)
    assert ours.mean == pytest.approx(mean, rel=1e-9)
    assert ours.p == pytest.approx(p, rel=1e-6)
    assert (ours.p < level) == (significance != 0)
