"""Single claims of option trees: what each check of the checker alone can find, with the digest written anew."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from verify_settings import Made, sealed

from everytree.verify import Report, verify_model

KINDS = ("smoothed, weighed", "option, weighed")


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    return Made(request.param, tmp_path)


def changed(case: Made, change: Callable[[dict[str, Any]], object]) -> Report:
    """The report on the file after a change of its tree."""
    content = copy.deepcopy(case.saved)
    change(content["tree"])
    sealed(content)
    case.file.write_text(json.dumps(content), encoding="utf-8")
    return verify_model(case.file, case.data, **case.ways)


def false_of(report: Report) -> list[str]:
    return [fact.name for fact in report.facts if fact.verdict == "false"]


def test_counts_of_every_node_are_those_of_the_rows(case: Made) -> None:
    """Two rows with each other's labels: the same class totals, and other counts below the root."""
    frame = pd.read_csv(case.data)
    same = frame["weight"] == 1
    one, two = (frame.index[same & (frame["state"] == label)][0] for label in ("ill", "well"))
    frame.loc[[one, two], "state"] = ["well", "ill"]
    frame.to_csv(case.data, index=False)
    report = verify_model(case.file, case.data, **case.ways)
    assert any(name.startswith("counts of node ") for name in false_of(report))


def test_a_cut_lies_at_the_mid_point_of_two_values(case: Made) -> None:
    cuts = case.saved["tree"]["options"]["threshold"]
    k = next(k for k, cut in enumerate(cuts) if isinstance(cut, float))
    report = changed(case, lambda tree: tree["options"]["threshold"].__setitem__(k, cuts[k] + 1e-4))
    assert false_of(report) == [f"cut of option {k}"]


def test_examples_that_take_a_branch_have_a_node_there(case: Made) -> None:
    n_found = 0
    for o, children in enumerate(case.saved["tree"]["options"]["children"]):
        for slot, child in enumerate(children):
            if child >= 0:
                report = changed(
                    case, lambda tree, o=o, slot=slot: tree["options"]["children"][o].__setitem__(slot, -1)
                )
                n_found += f"option {o}" in false_of(report)
    assert n_found > 2


def test_all_options_that_lead_to_a_node_bring_the_same_examples(case: Made) -> None:
    """A child takes the place of its sister, which no option leads to then: the sisters' examples differ."""
    n_found = 0
    for o, children in enumerate(case.saved["tree"]["options"]["children"]):
        there = [slot for slot, child in enumerate(children) if child >= 0]
        if len(there) > 1:
            to, of = there[1], children[there[0]]
            report = changed(
                case, lambda tree, o=o, to=to, of=of: tree["options"]["children"][o].__setitem__(to, of)
            )
            n_found += f"examples of node {of}" in false_of(report)
    assert n_found
