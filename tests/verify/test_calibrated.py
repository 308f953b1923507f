"""The checker on averages with a power, base rates and an exponent: what it confirms, and what it finds changed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import everytree as et
from everytree.verify import verify_model


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 4))
    y = np.where(rng.random(60) < 0.75, X[:, 0] + (X[:, 1] & X[:, 2]), rng.integers(0, 3, 60))
    path = tmp_path_factory.mktemp("data") / "data.csv"
    lines = [",".join([*map(str, row), f"c{c}"]) for row, c in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("p,q,r,s,cls\n" + "\n".join(lines) + "\n")
    return path


def saved(csv, **params):
    X, y = et.read_csv(csv, target="cls").split("cls")
    model = et.BayesOptimalClassifier(2, **params).fit(X, y)
    path = csv.with_name("model.json")
    model.save(path, target="cls")
    return path


CASES = [
    {"power": 0.25, "dirichlet": "base", "calibrate": "loo"},
    {"power": 0.5, "dirichlet": et.BaseRate(2.0)},
    {"calibrate": "loo", "dirichlet": "average"},
    {"power": 0.5, "calibrate": "loo", "dirichlet": "fit", "prior": "coding"},
]


@pytest.mark.parametrize("params", CASES, ids=lambda params: ", ".join(params))
def test_it_confirms_what_was_computed(csv, params) -> None:
    report = verify_model(saved(csv, **params), csv)
    assert report.ok
    # What evidence chose is not chosen again; all that follows from it is computed.
    assert report.unchecked == (("dirichlet in force",) if params["dirichlet"] in ("average", "fit") else ())
    assert {fact.verdict for fact in report.facts if not fact.predicts} <= {"true", "not checkable"}
    assert ("calibrate" in params) == any(fact.name == "exponent" for fact in report.facts)


@pytest.mark.parametrize(
    ("part", "change", "name"),
    [
        ("claims", {"exponent": 1.5}, "exponent"),
        ("claims", {"loo_log_loss": 0.3}, "loo_log_loss"),
        ("claims", {"loo_log_loss_error": 0.3}, "loo_log_loss_error"),
        ("claims", {"calibrated_loo_log_loss": 0.1}, "calibrated_loo_log_loss"),
        ("params", {"power": 0.3}, "log_evidence"),
        ("params", {"dirichlet": {"$type": "BaseRate", "fields": {"strength": 2.0}}}, "dirichlet in force"),
        ("params", {"calibrate": None}, "exponent"),
    ],
)
def test_it_finds_what_was_changed(csv, part, change, name) -> None:
    content = json.loads(saved(csv, **CASES[0]).read_text())
    content[part] |= change
    path = csv.with_name("changed.json")
    path.write_text(json.dumps(content))
    report = verify_model(path, csv)
    assert not report.ok
    assert report[name].verdict == "false"


def test_bad_numbers_are_an_error(csv) -> None:
    content = json.loads(saved(csv, **CASES[0]).read_text())
    for part, change in (
        ("params", {"power": "low"}),
        ("params", {"power": 2}),
        ("claims", {"exponent": "high"}),
    ):
        path = csv.with_name("changed.json")
        path.write_text(json.dumps(content | {part: content[part] | change}))
        with pytest.raises(et.DataError, match=next(iter(change))):
            verify_model(path, csv)


def test_rules_of_a_power_are_checked_too(csv) -> None:
    X, y = et.read_csv(csv, target="cls").split("cls")
    path = csv.with_name("rules.json")
    et.BayesOptimalClassifier(2, power=0.25, dirichlet="base").fit(X, y).compress(0.02).save(
        path, target="cls"
    )
    assert verify_model(path, csv)["bound"].verdict == "true"
    assert et.load_model(path).average_["power"] == 0.25


def test_no_time_leaves_the_exponent_unchecked(csv) -> None:
    report = verify_model(saved(csv, **CASES[0]), csv, time_limit=0.0)
    assert report.ok
    assert not report.proved
