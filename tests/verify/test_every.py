"""The checker on averages with local cuts and an exponent, and on mixtures of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import everytree as et
from everytree.verify import verify_model


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    rng = np.random.default_rng(1)
    age, color = rng.integers(20, 36, 50), rng.choice(["red", "green", "blue"], 50)
    ill = np.where((age > 28) ^ (rng.random(50) < 0.2), "yes", "no")
    path = tmp_path_factory.mktemp("data") / "data.csv"
    lines = [f"{a},{c},{k}" for a, c, k in zip(age, color, ill, strict=True)]
    path.write_text("age,color,ill\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_left_out_examples_where_nodes_choose_their_own_cuts(csv, depth) -> None:
    """The last level has the cuts of the state above it, also where examples are left out."""
    model = et.BayesOptimalClassifier(depth, cuts="local", power=0.25, dirichlet="base", calibrate="loo")
    path = csv.with_name("average.json")
    model.fit(*et.read_csv(csv, target="ill").split("ill")).save(path, "ill")
    report = verify_model(path, csv)
    assert report.proved, [fact for fact in report.facts if fact.verdict != "true"]
    assert report["exponent"].verdict == "true"


@pytest.fixture(scope="module")
def mixture(csv):
    model = et.EveryTreeClassifier(time_limit=None).fit(*et.read_csv(csv, target="ill").split("ill"))
    path = csv.with_name("every.json")
    model.save(path, "ill")
    return path


def test_a_mixture_is_computed_again(csv, mixture) -> None:
    report = verify_model(mixture, csv)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report.unchecked in ((), ("weights",))
    for name in (
        "digest",
        "exponent",
        "loo_log_loss",
        "loo_log_loss_error",
        "loo_accuracy",
        "average 0: exponent",
    ):
        assert report[name].verdict == "true"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda d: d.update(exponent=d["exponent"] + 0.1), "exponent"),
        (lambda d: d["claims"].update(loo_log_loss=0.1), "loo_log_loss"),
        (lambda d: d["claims"].update(loo_accuracy=1.0), "loo_accuracy"),
        (lambda d: d.update(weights=[0.9] * len(d["weights"])), "sum of weights"),
        (lambda d: d["models"][0]["claims"].update(exponent=3.0), "average 0: exponent"),
    ],
)
def test_what_was_changed_is_found(csv, mixture, change, name) -> None:
    data = json.loads(mixture.read_text(encoding="utf-8"))
    change(data)
    path = csv.with_name("changed.json")
    path.write_text(json.dumps(data), encoding="utf-8")
    report = verify_model(path, csv)
    assert report[name].verdict == "false"
    assert report["digest"].verdict == "false"


@pytest.mark.parametrize("change", [{"models": []}, {"weights": [1]}, {"exponent": "large"}])
def test_what_is_no_mixture_is_refused(csv, mixture, change) -> None:
    data = json.loads(mixture.read_text(encoding="utf-8"))
    path = csv.with_name("refused.json")
    path.write_text(json.dumps(data | change), encoding="utf-8")
    with pytest.raises(et.DataError, match=next(iter(change))):
        verify_model(path, csv)
