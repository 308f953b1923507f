"""The checker on averages with local cuts and an exponent, and on mixtures of them."""

from __future__ import annotations

import base64
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


def _turned(data) -> str:
    """Return the probabilities of left-out examples with the classes the other way round."""
    held = np.frombuffer(base64.b64decode(data["left_out"]), dtype="<f8").reshape(-1, 2)
    return base64.b64encode(held[:, ::-1].tobytes()).decode("ascii")


def test_a_mixture_is_computed_again(csv, mixture) -> None:
    report = verify_model(mixture, csv)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report.unchecked == ("weights",)
    names = ("digest", "examples", "pooled_log_loss", "baseline_log_loss", "average 0: loo_log_loss")
    assert [report[name].verdict for name in names] == ["true"] * len(names)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda d: d["claims"].update(pooled_log_loss=0.1), "pooled_log_loss"),
        (lambda d: d["claims"].update(baseline_log_loss=0.1), "baseline_log_loss"),
        (
            lambda d: d["members"][0].update(weights=[w + 0.1 for w in d["members"][0]["weights"]]),
            "pooled_log_loss",
        ),
        (lambda d: d["members"][0]["weights"].__setitem__(1, 9.0), "pooled_log_loss"),
        (lambda d: d["members"][0].update(loo_log_loss=0.1), "average 0: loo_log_loss"),
        (lambda d: d["members"][-1].update(depth=1), "pooled_log_loss"),
        (lambda d: d["claims"].update(loo_log_loss=0.1), "loo_log_loss"),
        (lambda d: d["claims"].update(loo_log_loss_error=0.1), "loo_log_loss_error"),
        (lambda d: d["claims"].update(loo_accuracy=0.1), "loo_accuracy"),
        (lambda d: d.update(left_out=_turned(d)), "loo_log_loss"),
        (lambda d: d["decided"].__setitem__(0, 1 - d["decided"][0]), "decided"),
        (lambda d: d["examples"]["counts"][0].__setitem__(0, 9), "examples"),
        (lambda d: d["examples"]["codes"][0].__setitem__(0, 9), "examples"),
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


@pytest.mark.parametrize(
    "change",
    [
        {"members": []},
        {"members": [1]},
        {"members": [{"columns": [0], "bins": 2, "depth": 1, "weights": [1]}]},
        {"members": [{"columns": [0], "bins": 2, "depth": 1, "weight": 1}]},
        {"examples": 3},
        {"claims": None},
        {"left_out": "no"},
        {"left_out": 3},
    ],
)
def test_what_is_no_mixture_is_refused(csv, mixture, change) -> None:
    data = json.loads(mixture.read_text(encoding="utf-8"))
    path = csv.with_name("refused.json")
    path.write_text(json.dumps(data | change), encoding="utf-8")
    with pytest.raises(et.DataError, match=next(iter(change))):
        verify_model(path, csv)


def test_members_on_some_columns_with_missing_and_nominal_values(tmp_path) -> None:
    rng = np.random.default_rng(4)
    n = 40
    size, kind, flag = rng.integers(1, 12, n), rng.choice(["a", "b", "c"], n), rng.choice(["u", "v"], n)
    label = np.where((size > 5) ^ (rng.random(n) < 0.2), "yes", "no")
    cells = ["" if rng.random() < 0.15 else str(x) for x in size]
    path = tmp_path / "data.csv"
    lines = [",".join(row) for row in zip(cells, kind, flag, label, strict=True)]
    path.write_text("size,kind,flag,label\n" + "\n".join(lines) + "\n")
    model = et.EveryTreeClassifier(time_limit=None).fit(*et.read_csv(path, target="label").split("label"))
    model.save(tmp_path / "m.json", "label")
    report = verify_model(tmp_path / "m.json", path, time_limit=300)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report["pooled_log_loss"].verdict == "true"
