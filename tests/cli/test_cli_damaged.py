"""Model files with a part missing, nested too deep, or very deep: every command says so in one line, or goes on."""

from __future__ import annotations

import copy
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.common.json_text import digest, parsed_json

MADE: dict[str, Callable[[], Any]] = {
    "map": lambda: et.MAPTreeClassifier(max_depth=2),
    "optimal": lambda: et.OptimalTreeClassifier(max_depth=2),
    "bayes": lambda: et.BayesOptimalClassifier(max_depth=1),
    "chains": lambda: et.MCMCTreeClassifier(max_depth=1, n_chains=2, n_draws=5, burn_in=5, random_state=0),
    "c45": lambda: et.C45TreeClassifier(),
    "smoothed": lambda: et.SmoothedTreeClassifier(max_depth=2, missing="category"),
    "compressed": lambda: et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=1)),
}


def saved(kind: str, folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 40), "b": rng.choice(["x", "y"], 40)})
    frame["label"] = np.where((frame["a"] > 4) ^ (rng.random(40) < 0.1), "yes", "no")
    frame.to_csv(folder / "data.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MADE[kind]().fit(frame[["a", "b"]], frame["label"]).save(folder / "model.json")
    content: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.long
@pytest.mark.parametrize("kind", MADE)
def test_a_missing_part_is_an_answer_or_one_line(kind: str, tmp_path: Path, cli: Any) -> None:
    content = saved(kind, tmp_path)
    model, data = tmp_path / "model.json", tmp_path / "data.csv"
    commands = (
        ("report", model, "--out", tmp_path / "page.html", "--time-limit", "0.1"),
        ("explain", model, data, "--row", "1"),
        ("predict", model, data, "--out", tmp_path / "p.csv"),
        ("verify", model, data),
    )
    gone = [(key,) for key in content] + [("claims", key) for key in content.get("claims", {})]
    for path in gone:
        changed = copy.deepcopy(content)
        at = changed
        for key in path[:-1]:
            at = at[key]
        del at[path[-1]]
        if "digest" in changed:
            del changed["digest"]
            changed["digest"] = digest(changed)
        model.write_text(json.dumps(changed), encoding="utf-8")
        for command in commands:
            done = cli(*command)
            assert done.code in (0, 1, 2, 3), (path, command[0])
            if done.code == 2:
                assert done.err.count("\n") <= 1, (path, command[0], done.err)


def test_a_claim_of_the_tree_that_is_missing_is_named(tmp_path: Path, cli: Any) -> None:
    content = saved("map", tmp_path)
    del content["claims"]["optimal"]
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    done = cli("report", tmp_path / "model.json", "--out", tmp_path / "page.html")
    assert done.code == 2
    assert "claims.optimal is missing" in done.err


@pytest.mark.parametrize("value", [7, 1.5, None, []])
def test_a_fingerprint_that_is_no_text_is_named(value: Any, tmp_path: Path, cli: Any) -> None:
    content = saved("map", tmp_path)
    content["claims"]["fingerprint"] = value
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    done = cli("report", tmp_path / "model.json", "--out", tmp_path / "page.html")
    assert done.code == 2
    assert f"claims.fingerprint is {value}; expected a value of type str" in done.err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_deep_nesting_is_refused_by_every_reader(text: str, tmp_path: Path, cli: Any) -> None:
    saved("map", tmp_path)
    file = tmp_path / "deep.json"
    file.write_text(text, encoding="utf-8")
    for reader in (parsed_json, et.Tree.from_json, lambda _: et.load_model(file)):
        with pytest.raises(et.DataError, match="nested too deep"):
            reader(text)
    with pytest.raises(et.DataError):
        et.verify_model(file, tmp_path / "data.csv")
    for command in (
        ("report", file, "--out", tmp_path / "page.html"),
        ("predict", file, tmp_path / "data.csv"),
    ):
        assert cli(*command).code == 2


def test_numbers_that_are_not_finite_are_refused() -> None:
    for text in ("[1e999]", "[-1e999]", "NaN", "[Infinity]", '{"a": -Infinity}'):
        with pytest.raises(et.DataError, match="expected finite numbers only"):
            parsed_json(text)


def test_a_very_deep_tree_is_read_in_time_in_proportion(tmp_path: Path) -> None:
    content = saved("map", tmp_path)
    n = 4_000  # splits, each with a leaf on its 0 side and the rest of the chain on its 1 side
    counts = [pair for k in range(n) for pair in ([n + 1 - k, 0], [1, 0])] + [[1, 0]]
    nodes = range(2 * n + 1)
    content["tree"].update(
        test=[0, -1] * n + [-1],
        children=[pair for k in range(n) for pair in ([2 * k + 1, 2 * k + 2], [-1, -1])] + [[-1, -1]],
        counts=counts,
        proba=[[0.75, 0.25]] * len(nodes),
        says=[0] * len(nodes),
    )
    ends = [k for k in nodes if content["tree"]["test"][k] < 0]
    content["claims"]["leaves"] = [
        {"node": k, "says": "no", "counts": counts[k]} for k in [2 * n, *reversed(ends[:-1])]
    ]
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    begun = time.monotonic()
    model = et.load_model(tmp_path / "model.json")
    assert model.tree_.depth == n
    assert not et.verify_model(tmp_path / "model.json", tmp_path / "data.csv").ok
    assert time.monotonic() - begun < 10  # quadratic work took a minute for twice as many nodes, and 3 GB
