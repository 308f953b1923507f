"""``everytree verify``: the report, the exit codes, and JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import everytree as et


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "everytree", "verify", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.assign(target=y).to_csv(tmp_path / "data.csv", index=False)
    et.OptimalTreeClassifier(max_depth=2, leaf_penalty=0, bins=3).fit(X, y).save(tmp_path / "model.json")
    return tmp_path


def test_a_true_model(folder: Path) -> None:
    done = run("model.json", "data.csv", "--require-proof", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "claims are true" in done.stdout
    for fact in ("fingerprint", "leaf", "min_leaf", "optimal"):
        assert fact in done.stdout


@pytest.mark.long
def test_a_false_claim(folder: Path) -> None:
    text = (folder / "model.json").read_text(encoding="utf-8")
    changed = json.loads(text)
    changed["params"]["max_depth"] = 3
    (folder / "model.json").write_text(json.dumps(changed), encoding="utf-8")
    done = run("model.json", "data.csv", cwd=folder)
    assert done.returncode == 1
    assert "2 of 22 claims are false; 4 not checkable" in done.stdout
    assert "A better tree:" in done.stdout
    found = json.loads(run("model.json", "data.csv", "--json", cwd=folder).stdout)
    assert found["ok"] is False
    assert [fact["name"] for fact in found["facts"] if fact["verdict"] == "false"] == [
        "lower bound",
        "optimal",
    ]
    assert found["better_tree"]


@pytest.mark.long
def test_an_unproved_claim(folder: Path) -> None:
    limits = ("--max-states", "1")
    done = run("model.json", "data.csv", *limits, cwd=folder)
    assert done.returncode == 0
    assert "optimality not re-proved: the space is too large" in done.stdout
    assert run("model.json", "data.csv", *limits, "--require-proof", cwd=folder).returncode == 1


@pytest.mark.long
def test_inputs_that_cannot_be_read(folder: Path) -> None:
    done = run("model.json", "nothing.csv", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("everytree: nothing.csv: cannot be read")
    assert run("data.csv", "data.csv", cwd=folder).returncode == 2
    done = run("nothing.json", "data.csv", "--json", cwd=folder)
    assert done.returncode == 2
    assert "nothing.json" in json.loads(done.stdout)["error"]
    assert run("model.json", cwd=folder).returncode == 2


def test_options_of_the_csv_file(folder: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    table = X.assign(kind=y, times=1)
    table.to_csv(folder / "data.csv", index=False, sep="~", decimal=",", encoding="utf-16")
    options = (
        "--delimiter",
        "~",
        "--decimal",
        ",",
        "--encoding",
        "utf-16",
        "--target",
        "kind",
        "--weights",
        "times",
    )
    done = run("model.json", "data.csv", *options, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_predictions_that_were_not_checked_have_an_exit_code_of_their_own(folder: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    et.BayesOptimalClassifier(max_depth=2, bins=3).fit(X, y).save(folder / "model.json")
    done = run("model.json", "data.csv", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("model.json", "data.csv", "--max-states", "1", cwd=folder)
    assert done.returncode == 3
    assert "predictions depend on what was not checked: predictions" in done.stdout
    assert run("model.json", "data.csv", "--max-states", "1", "--require-proof", cwd=folder).returncode == 1
    found = json.loads(run("model.json", "data.csv", "--max-states", "1", "--json", cwd=folder).stdout)
    assert (found["ok"], found["unchecked"]) == (True, ["predictions"])


def test_one_cause_is_said_once(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.assign(target=y).to_csv(tmp_path / "data.csv", index=False)
    et.EveryTreeClassifier(time_limit=1.0).fit(X, y).save(tmp_path / "model.json")
    done = run("model.json", "data.csv", "--max-states", "1", cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "loo_log_loss" not in done.stdout
    said = [
        line.partition(": not recomputed")[0]
        for line in done.stdout.splitlines()
        if ": not recomputed" in line
    ]
    found = json.loads(run("model.json", "data.csv", "--max-states", "1", "--json", cwd=tmp_path).stdout)
    assert 0 < len(said) < sum("not recomputed" in fact["note"] for fact in found["facts"])
