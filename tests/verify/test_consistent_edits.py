"""Edits of several fields that fit together, by somebody who also writes every digest anew.

Each of these moved a prediction, of a row of training or of another one, and was found true.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from verify_settings import sealed

import everytree as et
from everytree.data.readers.pick import read_like
from everytree.verify import InputError, Report, verify_model


def people(n: int = 60, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, color = rng.integers(18, 60, n), rng.choice(["blue", "green", "red"], n)
    frame = pd.DataFrame({"age": age, "pressure": rng.normal(120, 15, n).round(1), "color": color})
    frame["count"] = rng.choice([3, 5, 9], n)
    sick = (age > 38) ^ (color == "red") ^ (rng.random(n) < 0.15)
    frame["state"] = np.where(sick, "ill", "well")
    return frame


class Saved:
    """A fitted model as a file, and its data."""

    def __init__(self, folder: Path, model: Any, frame: pd.DataFrame | None = None) -> None:
        self.frame = people() if frame is None else frame
        self.data, self.file, self.model = folder / "data.csv", folder / "model.json", model
        self.frame.to_csv(self.data, index=False)
        self.content = self.fitted(model)

    def fitted(self, model: Any) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(self.frame.drop(columns="state"), self.frame["state"]).save(self.file)
        return json.loads(self.file.read_text(encoding="utf-8"))

    def report(self, content: dict[str, Any], **options: Any) -> Report:
        """The report on a content with new digests, which ``load_model`` takes."""
        content = copy.deepcopy(content)
        sealed(content)
        self.file.write_text(json.dumps(content), encoding="utf-8")
        et.load_model(self.file)
        return verify_model(self.file, self.data, **options)

    def changed(self, change: Callable[[dict[str, Any]], Any], **options: Any) -> Report:
        content = copy.deepcopy(self.content)
        change(content)
        return self.report(content, **options)


def best(**settings: Any) -> et.OptimalTreeClassifier:
    return et.OptimalTreeClassifier(**({"max_depth": 2, "min_leaf": 4, "bins": 3} | settings))


def average(**settings: Any) -> et.BayesOptimalClassifier:
    return et.BayesOptimalClassifier(**({"max_depth": 2, "bins": 3} | settings))


@pytest.mark.parametrize("made", [best, average])
def test_a_value_with_blanks_is_another_value(made: Any, tmp_path: Path) -> None:
    case = Saved(tmp_path, made())
    text = json.dumps(case.content).replace('"red"', '"red "').replace("== red", "== red ")
    assert case.report(json.loads(text))["fingerprint"].verdict == "false"
    named = json.loads(json.dumps(case.content).replace('"ill"', '"ill "'))
    with pytest.raises(InputError, match="'ill' in the label column"):
        case.report(named)


def test_values_with_blanks_are_read_with_theirs(tmp_path: Path) -> None:
    frame = people().replace({"red": " red", "blue": "blue  ", "ill": " ill"})
    assert Saved(tmp_path, average(), frame).changed(lambda content: None).proved


def _turned(content: dict[str, Any]) -> None:
    """Turn the columns of a file with numbers only, with all that goes with them."""
    tests, last = content["tests"], len(content["columns"]) - 1
    del content["claims"]["fingerprint"]
    content["columns"].reverse()
    for test in tests + content["dropped"]:
        test["column"] = last - test["column"]
    order = sorted(range(len(tests)), key=lambda i: (tests[i]["column"], i))
    content["tests"] = [tests[i] for i in order]
    content["table"]["rows"] = ["".join(row[i] for i in order) for row in content["table"]["rows"]]


def test_columns_without_names_are_taken_by_position(tmp_path: Path) -> None:
    frame = people()[["age", "pressure", "count", "state"]]
    frame.columns = ["x0", "x1", "x2", "state"]
    case = Saved(tmp_path, average(), frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.model.fit(frame[["x0", "x1", "x2"]].to_numpy(), frame["state"]).save(case.file, "state")
    unnamed = json.loads(case.file.read_text(encoding="utf-8"))
    assert case.report(unnamed).proved
    _turned(unnamed)
    assert case.report(unnamed)["table"].verdict == "false"
    more = frame.assign(x9=1)[["x9", "x0", "x1", "x2", "state"]]
    more.to_csv(case.data, index=False)
    with pytest.raises(InputError, match="another order"):
        case.report(unnamed)
    # With names a frame is read by these; an array is not, and the report says so.
    frame.to_csv(case.data, index=False)
    report = case.changed(_turned)
    assert report.ok
    assert "an array without names is read in this order" in report.notes[0]


def test_an_exponent_without_losses_is_not_known(tmp_path: Path) -> None:
    case = Saved(tmp_path, average(power=0.5, dirichlet="base", calibrate="loo"))

    def change(content: dict[str, Any]) -> None:
        names = ("loo_log_loss", "loo_log_loss_error", "calibrated_loo_log_loss")
        content["claims"] |= {"exponent": 1.0} | dict.fromkeys(names)

    assert case.changed(change).unchecked == ("exponent",)


@pytest.mark.parametrize("made", [average, lambda **s: et.MAPTreeClassifier(max_depth=2, bins=3, **s)])
def test_what_evidence_chose_is_not_chosen_again(made: Any, tmp_path: Path) -> None:
    case = Saved(tmp_path, made(prior="fit", dirichlet="fit"))
    other = case.fitted(made(prior=et.SizePrior(0.5, 0.3), dirichlet=7.0))
    other["params"] = case.content["params"]
    report = case.report(other)
    assert report.ok
    assert report.unchecked == ("prior in force", "dirichlet in force")


def test_a_mixture_without_its_heaviest_part(tmp_path: Path) -> None:
    case = Saved(tmp_path, average(dirichlet="average"))

    def change(content: dict[str, Any]) -> None:
        parts = content["claims"]["mixture"]
        parts.remove(max(parts, key=lambda part: part[2]))
        total = sum(part[2] for part in parts)
        for part in parts:
            part[2] /= total
        content["claims"]["dirichlet"] = max(parts, key=lambda part: part[2])[1]

    assert case.changed(change).unchecked == ("dirichlet in force",)


def test_a_power_that_left_out_examples_chose(tmp_path: Path) -> None:
    case = Saved(tmp_path, average(power="loo"))
    other = case.fitted(average(power=0.31))
    for name in ("log_evidence", "depth"):
        case.content["claims"][name] = other["claims"][name]
    case.content["claims"]["power"] = 0.31
    assert case.changed(lambda content: None).unchecked == ("power in force",)


def test_a_depth_at_which_a_limit_is_said_to_have_ended(tmp_path: Path) -> None:
    case = Saved(tmp_path, average(max_depth=1))
    case.content["params"] |= {"max_depth": 2, "time_limit": 1.0}
    assert case.changed(lambda content: None).unchecked == ("depth",)


@pytest.mark.parametrize(
    ("made", "params"),
    [
        (lambda: best(bins=2), {"bins": 3}),
        (lambda: best(bins={"age": [1000.0]}), {"bins": {"age": 3}}),
        (lambda: best(bins={"age": 2}), {"bins": "all"}),
        (lambda: average(bins=2), {"bins": 3}),
        (lambda: average(bins={"pressure": 2}), {"bins": {"pressure": 3}}),
    ],
)
def test_a_tree_is_best_of_the_tests_that_bins_give(
    made: Any, params: dict[str, Any], tmp_path: Path
) -> None:
    case = Saved(tmp_path, made())
    assert case.changed(lambda content: None)["tests"].verdict == "true"
    report = case.changed(lambda content: content["params"].update(params))
    assert "tests" in report.unchecked


@pytest.mark.parametrize("cuts", ["global", "local"])
def test_a_test_that_is_left_out_is_missed(cuts: str, tmp_path: Path) -> None:
    frame = people()
    frame["color"] = frame["color"].mask(np.arange(len(frame)) % 7 == 0)
    case = Saved(tmp_path, average(max_depth=1, cuts=cuts), frame)
    assert case.changed(lambda content: None)["tests"].verdict == "true"
    for kind in ("missing", "equals"):
        content = copy.deepcopy(case.content)
        gone = [i for i, test in enumerate(content["tests"]) if test["kind"] == kind]
        gone = gone if cuts == "local" or kind == "missing" else gone[:1]
        kept = [i for i in range(len(content["tests"])) if i not in gone]
        content["tests"] = [content["tests"][i] for i in kept]
        content["dropped"] = []
        held: dict[str, list[int]] = {}
        for row, counts in zip(content["table"]["rows"], content["table"]["counts"], strict=True):
            key = "".join(row[i] for i in kept)
            held[key] = [a + b for a, b in zip(held.get(key, [0, 0]), counts, strict=True)]
        content["table"] = {"rows": list(held), "counts": list(held.values())}
        del content["claims"]["fingerprint"]
        content["claims"]["log_evidence"] = None
        if cuts == "local":  # load_model sees that rows have no value then
            with pytest.raises(et.DataError, match="contradicts the kind"):
                case.report(content)
        else:
            assert "tests" in case.report(content).unchecked


def test_tests_that_add_nothing_are_left_out(tmp_path: Path) -> None:
    frame = people()
    frame["old"] = (frame["age"] > 40).astype(int)
    frame["again"], frame["one"] = frame["old"].map({0: "no", 1: "yes"}), 7
    frame["gone"] = np.where(frame["old"] == 1, 3.0, np.nan)
    for cuts in ("global", "local"):
        case = Saved(tmp_path, best(bins={"age": [40.5, 50]}, cuts=cuts), frame)
        report = case.changed(lambda content: None)
        assert report["tests"].verdict == "true", report["tests"]
        assert report.proved


def test_a_tie_is_the_first_class(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "state": list("nyny")})
    case, tied = Saved(tmp_path, best(max_depth=1, min_leaf=1), frame), 0

    def change(content: dict[str, Any]) -> None:
        content["tree"]["says"][tied] = 1
        next(leaf for leaf in content["claims"]["leaves"] if leaf["node"] == tied)["says"] = "y"

    assert case.changed(lambda content: None).ok
    assert case.changed(change)[f"answer of leaf {tied}"].verdict == "false"


def test_missing_values_have_something_in_their_place(tmp_path: Path) -> None:
    for model in (best(missing="impute"), et.PathAverageTreeClassifier(missing="impute")):
        case = Saved(tmp_path, model)
        assert case.changed(lambda content: None).proved
        report = case.changed(lambda content: [each.update(fill=None) for each in content["columns"]])
        assert report["fill of column 'age'"].verdict == "false"


def test_of_two_values_as_frequent_the_first_takes_the_place(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"a": ["u", "v"] * 10 + ["w"] * 5, "b": [0, 1] * 12 + [0], "state": list("yn") * 12 + ["y"]}
    )
    case = Saved(tmp_path, best(missing="impute"), frame)
    assert case.content["columns"][0]["fill"] == "u"
    report = case.changed(lambda content: content["columns"][0].update(fill="v"))
    assert report.unchecked == ("fills",)


def test_how_often_a_tree_was_drawn_is_what_chance_did(tmp_path: Path) -> None:
    chains = {"n_chains": 2, "n_draws": 12, "burn_in": 20, "thin": 3, "random_state": 0}
    case = Saved(tmp_path, et.MCMCTreeClassifier(max_depth=2, bins=2, **chains))

    def change(content: dict[str, Any]) -> None:
        which = content["claims"]["draws"]["which"]
        first = which[0][0]
        place = next(
            k for k, each in enumerate(which[0]) if each != first and sum(w.count(each) for w in which) > 1
        )
        which[0][place] = first

    report = case.changed(change)
    assert report.ok
    assert report.unchecked == ("draws",)


@pytest.mark.parametrize("made", [et.C45TreeClassifier, lambda: et.CARTTreeClassifier(folds=3)])
def test_another_cut_between_the_same_rows_of_a_node(made: Any, tmp_path: Path) -> None:
    """The rows of a node do not tell two cuts apart; other rows do."""
    case, n = Saved(tmp_path, made()), 0
    tree, columns = case.content["tree"], case.content["columns"]
    for k, j in enumerate(tree["attribute"]):
        if j < 0 or columns[j]["kind"] != "numeric":
            continue
        values = sorted(set(case.frame[columns[j]["name"]].astype(float)))
        for value in values + [(a + b) / 2 for a, b in pairwise(values)]:
            if value != tree["threshold"][k]:
                report = case.changed(
                    lambda content, k=k, x=value: content["tree"]["threshold"].__setitem__(k, x)
                )
                names = [fact.name for fact in report.facts if fact.verdict in ("false", "not checked")]
                assert names, (columns[j]["name"], value)
                assert not report.ok or report.unchecked
                n += 1
    assert n > 20


@pytest.mark.parametrize("gaps", [False, True])
def test_a_branch_for_values_that_no_row_lacks(gaps: bool, tmp_path: Path) -> None:
    """No count depends on it, and a new row without the value would take it."""
    frame = people()
    if gaps:
        frame["color"] = frame["color"].mask(np.arange(len(frame)) % 7 == 0)
    case, n = Saved(tmp_path, et.CARTTreeClassifier(folds=3), frame), 0
    assert case.changed(lambda content: None).ok
    tree, new = case.content["tree"], frame.drop(columns="state").astype({"age": float, "count": float})
    new.loc[:, ["age", "pressure", "count"]] = np.nan
    before = case.model.predict_proba(new)
    for k in range(len(tree["attribute"])):
        for branch in range(tree["n_children"][k]):
            content = copy.deepcopy(case.content)
            listed = content["tree"]["missing"] or [-1] * len(tree["attribute"])
            if listed[k] == branch:
                continue
            listed[k] = branch
            content["tree"]["missing"] = listed
            report = case.report(content)
            if (et.load_model(case.file).predict_proba(new) != before).any():
                n += 1
                assert not report.ok, (k, branch)
    assert n


def test_a_branch_that_pruning_raised_has_the_cuts_of_fewer_rows() -> None:
    frame, found = people(), set()
    for seed in range(3, 12):
        frame = people(seed=seed)
        X, y = frame.drop(columns="state"), frame["state"]
        for raising in (True, False):
            found.add((raising, _c45_code(X, y, raising)))
    assert found == {(True, 0), (True, 3), (False, 0)}


def _c45_code(X: pd.DataFrame, y: pd.Series, raising: bool) -> int:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        case = Saved(Path(name), et.C45TreeClassifier(subtree_raising=raising), X.assign(state=y))
        report = case.changed(lambda content: None)
        assert report.ok
        return 3 if report.unchecked else 0


def test_a_value_that_no_row_has_is_told(tmp_path: Path) -> None:
    """It would take the branch of all other values, where a new one is shared out over both."""
    case = Saved(tmp_path, et.C45TreeClassifier(binary_splits=True, subtree_raising=False))
    assert case.changed(lambda content: None).proved
    report = case.changed(lambda content: content["columns"][2]["values"].append("mauve"))
    assert "categories" in report.unchecked
    assert "mauve" in report["categories"].note


@pytest.mark.parametrize(
    "params", [{"bins": 4}, {"bins": {"age": 3}}, {"bins": {"age": [30.0]}}, {"bins": "mdl"}]
)
def test_the_bins_of_a_path_average_are_those_that_were_asked_for(
    params: dict[str, Any], tmp_path: Path
) -> None:
    case = Saved(tmp_path, et.PathAverageTreeClassifier(bins={"age": 2, "pressure": "all"}))
    assert case.changed(lambda content: None).proved
    assert case.changed(lambda content: content["params"].update(params)).unchecked[0] in (
        "categories",
        "places of cuts",
    )


def test_rules_stay_within_their_bound_for_every_row(tmp_path: Path) -> None:
    case = Saved(tmp_path, et.CompressedClassifier(average(bins=4), 0.02))
    assert case.changed(lambda content: None).proved
    n_tests = len(case.content["tests"])
    assert n_tests > 9
    wide = 8  # a rule of so many items holds in none of the rows that are tried, nearly always
    for begin in range(n_tests - wide + 1):
        items = [[begin + k, k % 2] for k in range(wide)]
        rule = {"items": items, "moves": [0.3, -0.3]}
        report = case.changed(lambda content, rule=rule: content["rules"]["rules"].append(rule))
        assert report["bound"].verdict == "false"
    report = case.changed(lambda content: None, max_states=60)
    assert report.unchecked == ("bound",)


def test_a_space_too_large_for_all_rows_is_still_looked_at_on_some(tmp_path: Path) -> None:
    case = Saved(tmp_path, et.CompressedClassifier(average(max_depth=3, bins=4), 0.02))

    def change(content: dict[str, Any]) -> None:
        base = content["rules"]["base"]
        content["rules"]["base"] = [base[0] - 0.1, base[1] + 0.1]

    assert case.changed(lambda content: None, max_states=500).unchecked == ("bound",)
    assert case.changed(change, max_states=500)["bound"].verdict == "false"


def test_what_was_asked_for_is_shown(tmp_path: Path) -> None:
    case = Saved(tmp_path, et.C45TreeClassifier(laplace=True, subtree_raising=False))
    report = case.changed(lambda content: content["params"].update(laplace=False))
    assert "laplace=False" in report["asked for"].claimed
    assert report["asked for"].verdict == report["tests of nodes"].verdict == "not checkable"


def test_how_a_column_is_read_is_shown(tmp_path: Path) -> None:
    frame, rng = people(), np.random.default_rng(0)
    frame["paid"] = rng.choice(["Y", "yes", "n", "No"], len(frame))
    frame["city"] = rng.choice(["Bonn", "bonn", "Ulm"], len(frame))
    case = Saved(tmp_path, average(bins=2), frame)
    case.model.fit(*et.read(case.data, target="state").split("state")).save(case.file, target="state")
    case.content = json.loads(case.file.read_text(encoding="utf-8"))
    report = case.changed(lambda content: None)
    assert report.proved
    assert "'yes': ['y', 'yes']" in report["reading of paid"].claimed
    recipes = {each["column"]: k for k, each in enumerate(case.content["recipes"])}
    report = case.changed(lambda content: content["recipes"][recipes["paid"]]["yes"].append("maybe"))
    assert report.unchecked == ("words of paid",)
    report = case.changed(lambda content: content["recipes"][recipes["city"]]["same"].update(jena="Ulm"))
    assert report.unchecked == ("words of city",)


@pytest.mark.parametrize(
    "made", [best, average, et.C45TreeClassifier, lambda: et.CARTTreeClassifier(folds=3)]
)
def test_words_of_yes_and_no_without_a_recipe_are_shown(made: Any, tmp_path: Path) -> None:
    """Without it "T" is yes, and with it nothing: no row tells."""
    frame, rng = people(), np.random.default_rng(0)
    frame["paid"] = np.where((frame["state"] == "ill") ^ (rng.random(len(frame)) < 0.1), "Y", "no")
    frame.loc[::5, "paid"] = frame.loc[::5, "paid"].replace({"Y": "yes", "no": "n"})
    case = Saved(tmp_path, made(), frame)
    case.model.fit(*et.read(case.data, target="state").split("state")).save(case.file, target="state")
    case.content = json.loads(case.file.read_text(encoding="utf-8"))
    assert [each["column"] for each in case.content["recipes"]] == ["paid"]
    frame.assign(paid=np.where(frame.index % 2, "T", "F")).to_csv(tmp_path / "new.csv", index=False)

    def predicted() -> np.ndarray:
        model = et.load_model(case.file)
        return model.predict_proba(read_like(model, tmp_path / "new.csv"))

    before = predicted()
    report = case.changed(lambda content: content["recipes"].clear())
    assert (predicted() != before).any()
    assert "'t'" in report["reading of paid"].claimed
    assert report["reading of paid"].verdict == "not checkable"


def _with_another_class(content: dict[str, Any]) -> None:
    """Add a class that no row has, with all that goes with it."""
    content["classes"].append("zzz")
    held = content["tree"] or content["table"]
    for row in held["counts"]:
        row.append(0)
    claims = content["claims"]
    for name in ("fingerprint", "log_evidence"):  # anybody can compute these
        claims.pop(name, None)


@pytest.mark.parametrize("made", [average, lambda: et.C45TreeClassifier(laplace=True)])
def test_a_class_that_no_row_has_is_told(made: Any, tmp_path: Path) -> None:
    """Probabilities are shared out over all classes: with another one, all are others."""
    case = Saved(tmp_path, made())
    assert "classes" not in case.changed(lambda content: None).unchecked
    report = case.changed(_with_another_class)
    assert "classes" in report.unchecked
    assert "zzz" in report["classes"].note


def test_labels_of_rows_that_weigh_nothing_are_no_classes(tmp_path: Path) -> None:
    frame = people().assign(weight=1)
    frame.loc[::7, ["weight", "state"]] = [0, "gone"]
    X, y = frame[["age", "pressure", "color"]], frame["state"]
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = average().fit(X, y, sample_weight=frame["weight"])
    assert model.classes_.tolist() == ["ill", "well"]
    model.save(tmp_path / "model.json")
    assert verify_model(tmp_path / "model.json", tmp_path / "data.csv", weights="weight").unchecked == ()
    frame["weight"] = 1
    frame.to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(InputError, match="'gone' in the label column 'state' is not a class"):
        verify_model(tmp_path / "model.json", tmp_path / "data.csv", weights="weight")
    for made in (average, et.C45TreeClassifier):
        made(class_weight={"gone": 0}).fit(X, y).save(tmp_path / "model.json")
        report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="state")
        assert report.ok, report


@pytest.mark.parametrize("name", ["bins", "min_leaf", "max_depth", "dirichlet", "leaf_penalty"])
def test_what_was_asked_for_is_in_the_file(name: str, tmp_path: Path) -> None:
    """Where a file is loaded, a default takes the place of what params do not say."""
    for k, made in enumerate((best, average, lambda: et.MAPTreeClassifier(max_depth=2, bins=3))):
        if name == "leaf_penalty" and k:
            continue
        case = Saved(tmp_path, made())

        def change(content: dict[str, Any]) -> None:
            del content["params"][name]

        case.content["claims"].pop("log_evidence", None) if k == 1 else None
        assert "parameters" in case.changed(change).unchecked


def test_an_average_over_fewer_tests_without_a_word_on_bins(tmp_path: Path) -> None:
    case = Saved(tmp_path, average())

    def change(content: dict[str, Any]) -> None:
        content["tests"].pop()
        rows: dict[str, list[int]] = {}
        table = content["table"]
        for row, counts in zip(table["rows"], table["counts"], strict=True):
            rows[row[:-1]] = [a + b for a, b in zip(rows.get(row[:-1], [0, 0]), counts, strict=True)]
        table["rows"], table["counts"] = list(rows), list(rows.values())
        del content["claims"]["fingerprint"], content["claims"]["log_evidence"], content["params"]["bins"]

    report = case.changed(change)
    assert report.ok
    assert report.unchecked == ("parameters",)


def test_cuts_of_a_column_of_texts_are_refused(tmp_path: Path) -> None:
    case = Saved(tmp_path, et.PathAverageTreeClassifier())
    case.content["columns"][2]["cuts"] = [1.5]
    sealed(case.content)
    case.file.write_text(json.dumps(case.content), encoding="utf-8")
    with pytest.raises(InputError, match=r"model\.json: columns\[2\]\.cuts is \[1\.5\]; expected none"):
        verify_model(case.file, case.data)


def test_rules_of_other_tests_are_told(tmp_path: Path) -> None:
    case = Saved(tmp_path, et.CompressedClassifier(average(bins=4), 0.02))
    assert case.changed(lambda content: None)["tests"].verdict == "true"
    report = case.changed(lambda content: content["average"].update(bins=3))
    assert (report.ok, report.unchecked) == (True, ("tests",))
    report = case.changed(lambda content: content["average"].pop("bins"))  # as in files of older versions
    assert (report.ok, report.unchecked) == (True, ("parameters",))
    given = Saved(tmp_path, et.CompressedClassifier(average(bins={"age": [30.0, 40.0]}), 0.02))
    assert given.changed(lambda content: None).proved


def test_rules_without_costs_say_so(tmp_path: Path) -> None:
    costs = [[0, 1], [9, 0]]
    case = Saved(tmp_path, et.CompressedClassifier(average(bins=2, cost_matrix=costs), 0.02))
    assert "9" in case.changed(lambda content: None)["cost_matrix"].claimed
    report = case.changed(lambda content: content.pop("cost_matrix"))
    assert (report["cost_matrix"].claimed, report["cost_matrix"].verdict) == ("none", "not checkable")
