"""Every field of every kind of file, under settings that change what a file holds, with the digest written anew.

A changed value is refused, found false, told by exit code 3, or moves no prediction: not of the rows of training, nor
of rows with values between and beyond theirs. ``ASKED`` are the fields that say what was asked for: another file would
be the right answer to another question, and the report shows them.
"""

from __future__ import annotations

import copy
import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import verify_mutations as made
from test_every_field import fields
from verify_settings import SETTINGS, Made, sealed

import everytree as et
from everytree.verify import InputError, verify_model

ASKED = {
    "params.laplace": "laplace",  # what leaves say, (n_c + 1) / (n + C) or n_c / n
    "params.cost_matrix.*.*": "cost_matrix",
}
# What is not checked of an honest file, and the fields that predictions depend on through it.
OPEN = {
    "exponent": ("claims.exponent",),
    "weights of options": (
        "tree.options.log_split.*",
        "tree.trees.*.options.log_split.*",
        "tree.nodes.open.*",
    ),
    "dirichlet": ("tree.dirichlet.*.*",),
    "bound": ("rules.",),
    "draws": ("claims.draws.which.*.*",),
    "power in force": ("claims.power",),
    "depth": ("claims.depth",),
    "weights": ("members.*.weights.*", "forests.*.weights.*"),
}
QUICK = (
    "optimal",
    "bayes, power",
    "map",
    "c45, laplace",
    "path average, impute",
    "compressed, power, impute",
)
SECONDS = 5.0  # for the checker


def unchecked_of(setting: str) -> set[str]:
    """What the checker leaves open of an honest file."""
    kind = setting.split(",")[0]
    found = {"exponent"} if ", cv" in setting else set()
    if kind in ("smoothed", "option"):
        found.add("weights of options")
    if "fitted" in setting:
        found.add("dirichlet")
    if kind == "every":
        found.add("weights")
    if kind == "chains":
        found.add("draws")
    said = {"optimal, cuts by classes": "tests", "bayes, power by left-out examples": "power in force"}
    said |= {"compressed, local": "bound", "bayes, limit": "depth"}
    return found | ({said[setting]} if setting in said else set())


def open_fields(unchecked: tuple[str, ...]) -> tuple[str, ...]:
    """The beginnings of the fields that go with what was not checked."""
    found = [field for name in unchecked for field in OPEN.get(name, ())]
    if any(": " in name for name in unchecked):  # no time for an average: all that it is taken over
        found += ["members.", "forests.", "params.random_state"]
    return tuple(found)


def words(setting: str) -> str:
    """A setting as the name of a test, without blanks."""
    return setting.replace(",", "").replace(" ", "-")


@pytest.mark.parametrize("setting", SETTINGS, ids=words)
def test_an_honest_file_is_found_true(setting: str, tmp_path: Path) -> None:
    case = Made(setting, tmp_path)
    report = verify_model(case.file, case.data, time_limit=SECONDS, **case.ways)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    ended = {"depth"} if case.saved.get("claims", {}).get("depth", 0) is None else set()  # no limit was met
    assert {name for name in report.unchecked if ": " not in name} == unchecked_of(setting) - ended


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.long, id=words(name))
        for name in SETTINGS
    ],
)
def test_no_changed_field_moves_a_prediction_unseen(setting: str, tmp_path: Path) -> None:
    case = Made(setting, tmp_path)
    rows, rng, n_found = case.probes(), random.Random(0), 0
    before = made.predictions(case.file, rows)
    honest = verify_model(case.file, case.data, time_limit=SECONDS, **case.ways)
    for name, paths in fields(case.saved).items():
        for path in rng.sample(paths, min(3, len(paths))):
            content = copy.deepcopy(case.saved)
            at: Any = content
            for key in path[:-1]:
                at = at[key]
            was = now = at[path[-1]]
            while now == was and isinstance(now, bool) == isinstance(was, bool):
                now = made.other(was, rng)
            at[path[-1]] = now
            if name != "digest":
                sealed(content)
            case.file.write_text(json.dumps(content), encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                after = made.predictions(case.file, rows)
            if after is None:
                n_found += 1
                continue
            same = after[0].shape == before[0].shape and after[1] == before[1]
            if same and np.abs(after[0] - before[0]).max() <= 1e-9:
                continue
            try:
                report = verify_model(case.file, case.data, time_limit=SECONDS, **case.ways)
            except InputError:
                n_found += 1
                continue
            if not report.ok or set(report.unchecked) - set(honest.unchecked):
                n_found += 1
            elif name in ASKED:
                assert report[ASKED[name]].verdict == "not checkable"
            else:
                assert name.startswith(open_fields(report.unchecked)), (name, was, now)
    assert n_found > 20


def test_a_cut_between_the_same_values_is_told(tmp_path: Path) -> None:
    """No training row tells two such cuts apart, a new row may."""
    for setting, name in (("bayes, power", "age"), ("optimal, given cuts", "age"), ("map", "pressure")):
        case = Made(setting, tmp_path)
        assert verify_model(case.file, case.data).unchecked == ()
        j = [column["name"] for column in case.saved["columns"]].index(name)
        test = next(
            each for each in case.saved["tests"] if each["column"] == j and each["kind"] == "threshold"
        )
        test["value"] += 0.01
        names = case.saved["tree"] and case.saved["tree"].get("test_names")
        if names:  # what the test is called is compared with it
            k = case.saved["tests"].index(test)
            names[k] = f"{name} <= {test['value']!r}"
        case.file.write_text(json.dumps(case.saved), encoding="utf-8")
        report = verify_model(case.file, case.data)
        assert report["places of cuts"].verdict == "not checked"
        assert "places of cuts" in report.unchecked


def test_given_cuts_that_nodes_choose_among_are_those_of_the_parameters(tmp_path: Path) -> None:
    case = Made("optimal, local and given cuts", tmp_path)
    case.saved["params"]["bins"]["age"][0] = 30.5
    case.file.write_text(json.dumps(case.saved), encoding="utf-8")
    report = verify_model(case.file, case.data)
    assert report["codes of column 'age'"].verdict == "false"
    assert "parameters" in report["codes of column 'age'"].note


def test_a_file_of_many_averages_is_read_under_limits_that_are_limits(tmp_path: Path) -> None:
    case = Made("every", tmp_path)
    for name, value in (
        ("memory_limit", "1/C"),
        ("random_state", "size"),
        ("n_jobs", 0.5),
        ("time_limit", -1),
    ):
        content = copy.deepcopy(case.saved)
        content["params"][name] = value
        sealed(content)
        case.file.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(et.DataError, match=rf"model\.json: params[.:] ?{name}"):
            et.load_model(case.file)
