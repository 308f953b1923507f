"""Single claims changed with everything around them made to agree: each is found by its own check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from verify_cases import Case, people
from verify_mutations import gaps

import everytree as et
from everytree.common.json_text import digest
from everytree.verify import Report, verify_model
from everytree.verify.draws import FIELDS


def false_of(report: Report) -> set[str]:
    return {fact.name for fact in report.facts if fact.verdict == "false"}


def test_weights_of_a_mixture_follow_from_the_evidence(tmp_path: Path) -> None:
    case = Case(tmp_path, people(60), et.BayesOptimalClassifier(max_depth=1, bins=2, dirichlet="average"))
    assert case.verify().ok

    def change(data: dict[str, Any]) -> None:
        data["claims"]["mixture"][0][2] *= 1.5

    assert "weights of mixture" in false_of(case.changed(change))


def test_the_depth_of_an_average_is_the_one_asked_for(tmp_path: Path) -> None:
    case = Case(tmp_path, people(60), et.BayesOptimalClassifier(max_depth=2, bins=2))

    def change(data: dict[str, Any]) -> None:
        data["claims"]["depth"] = 1

    assert "depth" in false_of(case.changed(change))


@pytest.mark.parametrize(
    "change",
    [lambda params: params.update(max_depth=1), lambda params: params.update(min_leaf=40)],
    ids=["max_depth", "min_leaf"],
)
def test_drawn_trees_lie_in_the_space(change: Callable[[dict[str, Any]], None], tmp_path: Path) -> None:
    made = et.MCMCTreeClassifier(
        max_depth=3, bins=2, n_chains=2, n_draws=12, burn_in=20, thin=5, random_state=0, target="risk"
    )
    case = Case(tmp_path, people(80), made)
    assert case.verify().ok
    report = case.changed(lambda data: change(data["params"]))
    assert any(name.startswith("drawn tree") for name in false_of(report)), false_of(report)


@pytest.mark.long
def test_a_node_asks_what_its_rows_offer(tmp_path: Path) -> None:
    frame = people(80)
    model = et.OptimalTreeClassifier(max_depth=2, min_leaf=4, cuts="local", bins=3, leaf_penalty=0)
    case = Case(tmp_path, frame, model)
    assert case.verify().ok
    saved = json.loads(case.file.read_text(encoding="utf-8"))
    tests, root = saved["tests"], saved["tree"]["test"][0]
    found = set()
    for other in range(len(tests)):
        if other == root:
            continue

        def change(data: dict[str, Any], other: int = other) -> None:
            data["tree"]["test"][0] = other

        report = case.changed(change)
        assert not report.ok
        found |= {(fact.name, fact.note[:26]) for fact in report.facts if fact.verdict == "false"}
    assert ("cut of node 0", "its rows do not offer it, ") in found


def test_the_largest_tree_and_the_sum_are_two_numbers(tmp_path: Path) -> None:
    case = Case(tmp_path, people(60), et.MAPTreeClassifier(max_depth=2, bins=2, prior="fit", dirichlet="fit"))
    report = verify_model(case.file, case.data)
    assert report.ok
    assert report["optimal"].found is True
    assert report["log_evidence"].found > report["log_joint"].found


def chains(folder: Path) -> Case:
    made = et.MCMCTreeClassifier(
        max_depth=2, bins=2, n_chains=2, n_draws=12, burn_in=20, thin=5, random_state=0
    )
    return Case(folder, people(60), made)


def sealed(draws: dict[str, Any]) -> None:
    """Write the fingerprint of draws anew, as anybody can."""
    text = json.dumps({name: draws[name] for name in FIELDS}, sort_keys=True, separators=(",", ":"))
    draws["fingerprint"] = hashlib.sha256(text.encode("ascii")).hexdigest()


def test_draws_that_were_changed_and_sealed_again(tmp_path: Path) -> None:
    case = chains(tmp_path)
    assert case.verify().ok
    for name in ("log_prior", "log_data"):

        def change(data: dict[str, Any], name: str = name) -> None:
            data["claims"]["draws"][name][0] += 0.5
            sealed(data["claims"]["draws"])

        assert f"{name} of drawn tree 0" in false_of(case.changed(change))

    def worse(data: dict[str, Any]) -> None:
        draws = data["claims"]["draws"]
        joint = [a + b for a, b in zip(draws["log_prior"], draws["log_data"], strict=True)]
        draws["best"] = draws["trees"][joint.index(min(joint))]
        sealed(draws)

    assert "best tree" in false_of(case.changed(worse))


def test_how_often_trees_were_drawn_is_sealed(tmp_path: Path) -> None:
    case = chains(tmp_path)

    def change(data: dict[str, Any]) -> None:
        which = data["claims"]["draws"]["which"]
        which[0] = [(k + 1) % len(data["claims"]["draws"]["trees"]) for k in which[0]]

    assert "fingerprint of draws" in false_of(case.changed(change))


def test_rules_that_were_changed_and_sealed_again(tmp_path: Path) -> None:
    made = et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2, bins=2), 0.05)
    case = Case(tmp_path, people(60), made)
    assert case.verify().ok
    for name, value in (("bound", 1e-6), ("floor", [0.2, 0.2])):

        def change(data: dict[str, Any], name: str = name, value: Any = value) -> None:
            data["rules"][name] = value
            del data["digest"]
            data["digest"] = digest(data)

        assert name in false_of(case.changed(change)), name


def test_a_digest_is_that_of_the_file(tmp_path: Path) -> None:
    case = Case(tmp_path, people(60), et.C45TreeClassifier())
    assert case.verify().ok
    assert "digest" in false_of(case.changed(lambda data: data["params"].update(confidence=0.3)))


def test_what_takes_the_place_of_missing_values_is_the_mean(tmp_path: Path) -> None:
    case = Case(
        tmp_path, gaps(people(80)), et.OptimalTreeClassifier(max_depth=2, min_leaf=4, missing="impute")
    )
    assert case.verify().unchecked == ()

    def change(data: dict[str, Any]) -> None:
        column = next(each for each in data["columns"] if each["name"] == "pressure")
        column["fill"] += 1e-4  # on the same side of every cut: nothing else in the file tells

    assert "fills" in case.changed(change).unchecked
