"""A true model passes, and every false claim is found and named."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from verify_cases import Case, people

import everytree as et
from everytree.verify import verify_model


def false_facts(report) -> set[str]:
    return {fact.name for fact in report.facts if fact.verdict == "false"}


def test_a_true_model_passes_in_every_fact(case: Case) -> None:
    report = case.verify()
    assert report.ok
    assert report.proved
    assert report["examples"].found == 120
    assert report["error"].found == case.model.tree_.error
    assert report["optimal"].found is True
    assert not report.better_tree
    assert report.to_dict()["ok"] is True
    json.dumps(report.to_dict(), allow_nan=False)


QUERIES = [
    {"minimize": ("error", "size"), "max_depth": 3},
    {"minimize": ("expected_error", "size"), "max_depth": 2},
    {"minimize": ("gini", "size")},
    {"minimize": ("entropy", "size"), "min_leaf": 3},
    {"minimize": ("cost", "size"), "cost_matrix": [[0, 1.5], [4, 0]]},
    {"minimize": ("cost", "size"), "cost_matrix": [[-1, 2], [0.1, 0]]},
    {"leaf_penalty": 0.5, "max_depth": None, "min_leaf": 8},
    {"leaf_penalty": 1.1},
    {"max_size": 5},
    {"max_error": 40, "minimize": ("size", "error")},
    {"minimize": ("error", "depth", "size")},
    {"max_depth": 0},
    {"dirichlet": "1/C"},
    {"dirichlet": [0.5, 2.0]},
    {"dirichlet": et.DepthDecay(0.5, 0.5)},
    {"bins": {"age": [30, 60]}},
    {"bins": "all", "max_depth": 1},
]


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_true_models_of_many_queries_pass(query, tmp_path) -> None:
    model = et.OptimalTreeClassifier(**{"max_depth": 2, "min_leaf": 2, **query})
    report = Case(tmp_path, people(80, seed=3), model).verify()
    assert report.proved, [fact for fact in report.facts if fact.verdict != "true"]


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [-3, 7]], ids=str)
@pytest.mark.parametrize("missing", ["category", "impute"])
def test_labels_of_any_type_and_missing_values(labels, missing, tmp_path) -> None:
    frame = people(90, seed=4)
    frame["state"] = np.array(labels)[(frame["state"] == "ill").astype(int)]
    rng = np.random.default_rng(0)
    for column in ("age", "color", "smoker"):
        frame[column] = frame[column].astype(object).mask(rng.random(90) < 0.15, None)
    case = Case(tmp_path, frame, et.OptimalTreeClassifier(max_depth=3, missing=missing))
    assert case.verify().proved


def test_weights_and_positions(tmp_path) -> None:
    rng = np.random.default_rng(1)
    X, y, w = rng.integers(0, 5, (60, 3)), rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    et.OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=w).save(tmp_path / "m.json")
    table = pd.DataFrame(np.column_stack([w, X, y]), columns=["times", "a", "b", "c", "label"])
    table.to_csv(tmp_path / "d.csv", index=False)
    report = verify_model(tmp_path / "m.json", tmp_path / "d.csv", weights="times")
    assert report.proved
    assert any("by position" in note for note in report.notes)
    table[["a", "b", "c", "label"]].to_csv(tmp_path / "d.csv", index=False, header=False)
    unweighted = verify_model(tmp_path / "m.json", tmp_path / "d.csv", header=False)
    assert {"examples", "fingerprint"} <= false_facts(unweighted)


def test_whole_numbers_beyond_floats_are_compared_exactly(tmp_path) -> None:
    frame = pd.DataFrame({"id": [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3] * 5, "state": list("aabb") * 5})
    case = Case(tmp_path, frame, et.OptimalTreeClassifier(max_depth=1, bins="all"))
    assert case.model.tree_.error == 0
    assert case.verify().proved


# --- false claims


def first_split_test(data) -> int:
    return data["tree"]["test"][0]


def test_a_changed_cut_is_found(tmp_path) -> None:
    frame = people(80, seed=6)[["age", "pressure", "state"]]
    case = Case(tmp_path, frame, et.OptimalTreeClassifier(max_depth=1))

    def change(data) -> None:
        data["tests"][first_split_test(data)]["value"] += 15

    found = false_facts(case.changed(change))
    assert "fingerprint" in found
    assert any(name.startswith("leaf ") for name in found)
    assert any(name.startswith("name of test") for name in found)


def test_a_cut_changed_without_any_effect_on_the_data_is_found_by_its_name(case: Case) -> None:
    tests = case.saved["tests"]
    which = next(i for i, test in enumerate(tests) if test["kind"] == "threshold")

    def change(data) -> None:
        data["tests"][which]["value"] += 1e-9

    assert false_facts(case.changed(change)) == {f"name of test {which}"}


def test_a_changed_count_is_found(case: Case) -> None:
    def in_the_tree(data) -> None:
        leaf = data["tree"]["test"].index(-1)
        data["tree"]["counts"][leaf][0] += 1

    def in_the_claims(data) -> None:
        data["claims"]["leaves"][0]["counts"][1] += 1

    def in_a_split(data) -> None:
        data["tree"]["counts"][0] = [0, 0]

    assert any(name.startswith("leaf ") for name in false_facts(case.changed(in_the_tree)))
    node = case.saved["claims"]["leaves"][0]["node"]
    assert false_facts(case.changed(in_the_claims)) == {f"leaf {node}"}
    assert false_facts(case.changed(in_a_split)) == {"class totals", "counts of node 0"}


def test_a_swapped_label_is_found(case: Case) -> None:
    node = case.saved["claims"]["leaves"][0]["node"]

    def swap(data) -> None:
        leaf = data["claims"]["leaves"][0]
        leaf["says"] = "ill" if leaf["says"] == "well" else "well"

    def swap_probabilities(data) -> None:
        data["tree"]["proba"][node].reverse()

    def swap_in_the_tree(data, node=node) -> None:
        data["tree"]["says"][node] = 1 - data["tree"]["says"][node]

    assert false_facts(case.changed(swap)) == {f"answer of leaf {node}"}
    assert false_facts(case.changed(swap_probabilities)) == {f"probabilities of node {node}"}
    assert false_facts(case.changed(swap_in_the_tree)) == {
        f"answer of leaf {node}", "error", "objective", "optimal",
    }  # fmt: skip
    assert false_facts(case.changed(lambda data: swap_in_the_tree(data, 0))) == {"answer of node 0"}


def test_a_tree_against_its_constraints_is_found(case: Case) -> None:
    def min_leaf(data) -> None:
        data["params"]["min_leaf"] = 60

    def max_depth(data) -> None:
        data["params"]["max_depth"] = 1

    def max_size(data) -> None:
        data["params"]["max_size"] = 3

    def max_error(data) -> None:
        data["params"]["max_error"] = case.model.tree_.error - 1

    for change in (min_leaf, max_depth, max_size, max_error):
        assert change.__name__ in false_facts(case.changed(change))


def rule(name: str, **fields):
    return {"$type": name, "fields": fields}


def test_leaf_rules_and_named_tests_are_checked(case: Case) -> None:
    used = case.model.tree_.test_name(case.model.tree_.test[0])
    unused = next(n for i, n in enumerate(case.model.tree_.test_names) if i not in case.model.tree_.test)
    leaves = case.model.tree_.counts[case.model.tree_.leaves]
    margin = int(np.abs(leaves[:, 0] - leaves[:, 1]).min())
    for param, value, name, fine in [
        ("leaf", rule("Margin", margin=margin), "leaf rule", True),
        ("leaf", rule("Margin", margin=margin + 1), "leaf rule", False),
        ("leaf", [rule("Support", n=5), rule("ChiSquare", threshold=1e6, p_value=None)], "leaf rule", False),
        ("leaf", rule("ChiSquare", threshold=None, p_value=1.0), "leaf rule", True),
        ("leaf", rule("ChiSquare", threshold=None, p_value=1e-9), "leaf rule", False),
        ("leaf", 5, "leaf rule", True),
        ("max_leaves", 1, "max_leaves", False),
        ("max_leaves", len(leaves), "max_leaves", True),
        ("max_leaves", len(leaves) - 1, "max_leaves", False),
        ("max_size", 2 * len(leaves) - 1, "max_size", True),
        ("max_size", 2 * len(leaves) - 2, "max_size", False),
        ("min_accuracy", 0.5, "min_accuracy", True),
        ("min_accuracy", 0.999, "min_accuracy", False),
        ("require", [used], "require", True),
        ("require", unused, "require", False),
        ("forbid", [unused], "forbid", True),
        ("forbid", used, "forbid", False),
    ]:

        def change(data, param=param, value=value) -> None:
            data["params"][param] = value

        report = case.changed(change)
        assert (name in false_facts(report)) == (not fine), (param, value)
        assert any(fact.name == name for fact in report.facts)


def test_a_parameter_that_is_not_known_is_said_not_to_be_checked(case: Case) -> None:
    def change(data) -> None:
        data["params"]["fairness"] = 0.1

    report = case.changed(change)
    assert report.ok
    assert not report.proved
    assert report["parameter fairness"].verdict == "not checked"
    assert report["optimal"].verdict == "not checked"


def test_wrong_numbers_are_found(case: Case) -> None:
    for name, fact in [
        ("error", "error"),
        ("objective", "objective"),
        ("size", "size"),
        ("depth", "depth"),
        ("n_leaves", "n_leaves"),
        ("n_examples", "examples"),
        ("lower_bound", "lower bound"),
    ]:

        def change(data, name=name) -> None:
            data["claims"][name] += 1

        # a bound and a gap are compared with the objective that is claimed, too
        also = {"lower bound and objective", "gap"} if name in ("objective", "lower_bound") else set()
        assert {fact} <= false_facts(case.changed(change)) <= {fact} | also


def test_a_greedy_tree_claimed_to_be_optimal_is_refuted_with_a_better_one(tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 4))
    y = X[:, 0] ^ X[:, 1]
    noise = rng.random(200) < 0.3
    X[:, 2] = np.where(noise, X[:, 2], y)  # the best single test, and a bad root
    frame = pd.DataFrame(X, columns=list("abcd")).assign(state=y)
    case = Case(
        tmp_path, frame, et.OptimalTreeClassifier(max_depth=1, leaf_penalty=0)
    )  # what a greedy step takes
    assert case.model.tree_.error > 0

    def claim(data) -> None:
        data["params"]["max_depth"] = 2

    report = case.changed(claim)
    assert "optimal" in false_facts(report)
    assert "error 0, size 7" in report["optimal"].note
    assert any("leaf" in line for line in report.better_tree)
    assert report["error"].verdict == "true"


def test_other_data_are_found(case: Case) -> None:
    people(120, seed=9).to_csv(case.data, index=False)
    report = case.verify()
    assert {"fingerprint", "class totals"} & false_facts(report)
    assert "other data" in report["fingerprint"].note
    assert any(name.startswith("leaf ") for name in false_facts(report))


def test_the_order_of_the_rows_does_not_matter(case: Case) -> None:
    case.frame.sample(frac=1, random_state=0).to_csv(case.data, index=False)
    assert case.verify().proved


def test_a_space_that_is_too_large_is_said_to_be_so(case: Case) -> None:
    report = case.verify(max_states=1)
    assert report.ok
    assert not report.proved
    assert report["optimal"].verdict == "not proved"
    assert "optimality not re-proved: the space is too large, about" in report["optimal"].note
    assert case.verify(time_limit=0.0)["optimal"].verdict == "not proved"


@pytest.mark.parametrize(("name", "value"), [("stop_reason", "time limit"), ("optimal", False)])
def test_a_search_ends_as_proved_where_the_tree_is_optimal_and_only_there(case: Case, name, value) -> None:
    def change(data) -> None:
        data["claims"][name] = value

    assert false_facts(case.changed(change)) == {"stop_reason"}


def test_a_bound_above_the_objective_is_false_without_a_proof(case: Case) -> None:
    def change(data) -> None:
        data["claims"]["lower_bound"] += 1

    assert false_facts(case.changed(change, max_states=1)) == {
        "lower bound",
        "lower bound and objective",
        "gap",
    }


PRIORS = [
    {"prior": "size", "alpha": 0.7, "beta": 0.4},
    {"prior": "uniform", "max_depth": 1},
    {"prior": et.LeafPenaltyPrior(0.01)},
    {"prior": et.ShapePrior(attribute_fair=True)},
    {"prior": "coding", "dirichlet": "1/C"},
    {"prior": et.SizePrior(0.9, 0.1, attribute_fair=True), "dirichlet": et.DepthDecay(0.5, 0.5)},
    {"prior": et.BalancedPrior(0.7, attribute_fair=True)},
    {"max_depth": None, "min_leaf": 15, "dirichlet": [0.5, 2.0]},
]


@pytest.mark.parametrize("params", PRIORS, ids=str)
def test_the_evidence_and_the_most_probable_tree_are_found_again(params, tmp_path) -> None:
    params = {"max_depth": 2, "min_leaf": 5, **params}
    case = Case(tmp_path, people(), et.MAPTreeClassifier(**params))
    report = case.verify()
    assert report.proved, [fact for fact in report.facts if fact.verdict != "true"]

    def changed(case, claim):
        def change(data) -> None:
            data["claims"][claim] -= 1e-5

        return false_facts(case.changed(change))

    assert changed(case, "log_joint") == {"log_joint", "upper bound and log_joint"}
    assert changed(case, "upper_bound") == {"upper bound", "upper bound and log_joint"}
    average = Case(tmp_path, people(), et.BayesOptimalClassifier(**params))
    report = average.verify()
    assert report.ok
    assert report["log_evidence"].verdict == "true"
    assert report["predictions"].verdict == "true"
    assert changed(average, "log_evidence") == {"log_evidence"}


def test_a_tree_that_is_not_the_most_probable_is_refuted(tmp_path) -> None:
    case = Case(tmp_path, people(), et.MAPTreeClassifier(max_depth=1))

    def claim(data) -> None:
        data["params"]["max_depth"] = 2

    report = case.changed(claim)
    assert {"optimal", "upper bound"} <= false_facts(report)
    assert "a tree of log joint" in report["optimal"].note
    assert case.verify(max_states=1)["optimal"].verdict == "not proved"


def test_a_prior_that_is_not_known_is_said_not_to_be_checked(tmp_path) -> None:
    case = Case(tmp_path, people(), et.MAPTreeClassifier(max_depth=1))
    for prior in ("best", {"$type": "SizePrior", "fields": {"alpha": 3}}, 5, {"$type": "X"}):
        report = case.changed(lambda data, prior=prior: data["params"].update(prior=prior))
        assert report.ok
        assert report["log_joint"].verdict == "not checked"
