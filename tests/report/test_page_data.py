"""What the page holds: every kind of classifier, what needs data, limits, and errors."""

from __future__ import annotations

import json
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from page_cases import HOSTILE, classifiers, mixed_table

import everytree as et
from everytree.errors import DataError
from everytree.report.page_data import page_data
from everytree.report.trees import page_tree

WEB = Path(__file__).parents[2] / "web"
BUILT = shutil.which("node") is not None and (WEB / "node_modules" / "esbuild").exists()


def fitted(kind: str, missing: str = "category", seed: int = 0) -> tuple[Any, pd.DataFrame, Any]:
    X, y = mixed_table(seed=seed, missing=missing != "error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classifiers(missing)[kind].fit(X, y), X, y


@pytest.mark.parametrize("kind", classifiers("category"))
def test_every_classifier_has_a_page_in_plain_json(kind: str) -> None:
    model, X, y = fitted(kind)
    data = page_data(model, (X, y), rows=7)
    text = json.dumps(data, allow_nan=False)
    assert json.loads(text) == data
    assert data["format"] == "everytree.page"
    assert data["classes"] == ["high", "low", "mid"]
    assert len(data["rows"]) == 7
    assert data["calibration"]["about"].startswith("By 5-fold cross-validation")
    assert sum(data["calibration"]["rows"]) == len(y)
    assert [group["title"] for group in data["facts"]] == ["Results of this model", "Data", "Settings"]
    assert data["tree"] is not None or data["posterior"] is not None or data["text"]


def test_no_classifier_is_without_a_page() -> None:
    # EveryTreeClassifier is a mixture of averages; that its page is written is tried with its other tests.
    public = {name for name in et.__all__ if name.endswith("Classifier")} - {"EveryTreeClassifier"}
    assert public == {type(model).__name__ for model in classifiers("error").values()}


def test_drawn_trees_are_shown_by_their_shares() -> None:
    model, X, _ = fitted("mcmc")
    found = page_data(model)["posterior"]
    uses = [
        set(model.binarizer_.attributes_[[t for t in tree.key if t >= 0]].tolist()) for tree in model.draws_
    ]
    for j, name in enumerate(X.columns):
        share = next(each["p"] for each in found["inclusion"] if each["name"] == name)
        assert share == pytest.approx(np.mean([j in used for used in uses]), abs=1e-4)
    keys = [tree.key for tree in model.draws_]
    assert found["top"][0]["probability"] == max(map(keys.count, set(keys))) / len(keys)
    assert sum(found["leaves"]) == pytest.approx(1)


@pytest.mark.long
@pytest.mark.skipif(not BUILT, reason="needs node, and npm install in web/")
@pytest.mark.parametrize("missing", ["error", "category", "impute"])
@pytest.mark.parametrize(
    "kind", [kind for kind in classifiers("error") if kind not in ("average", "option", "mcmc")]
)
def test_the_browser_says_what_python_says(kind: str, missing: str) -> None:
    model, X, y = fitted(kind, missing, seed=3)
    data = page_data(model, (X, y), rows=1000)
    done = subprocess.run(
        ["node", str(WEB / "check.mjs")],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found, proba = json.loads(done.stdout), model.predict_proba(X)
    assert len(found["rows"]) == len(X)
    if hasattr(model, "binarizer_"):
        assert np.array_equal([row["bits"] for row in found["rows"]], model.binarizer_.transform(X))
    if data["answer"] == "average":
        bound = data["posterior"]["sum"]["bound"]
        slack = 1e-6 if kind == "compressed" else bound  # the bound of compressed rules is to the average
        assert np.abs(np.array([row["average"] for row in found["rows"]]) - proba).max() <= slack
        assert bound < 0.06
    else:
        # Probabilities have five digits in the page, fractions of examples two.
        close = 1e-3 if kind in ("c45", "laplace") else 2e-5
        assert np.abs(np.array([row["leaf"] for row in found["rows"]]) - proba).max() <= close
    boxes = found["boxes"]
    for i, (x, top, width, height) in enumerate(boxes[:-1]):
        assert x >= -1e-6
        assert x + width <= boxes[-1][2] + 1e-6
        assert top + height <= boxes[-1][3] + 1e-6
        for other_x, other_top, other_width, other_height in boxes[:i]:
            apart = x + width <= other_x or other_x + other_width <= x
            assert apart or top + height <= other_top or other_top + other_height <= top


def test_leaves_have_intervals_and_counts() -> None:
    model, _, _ = fitted("optimal")
    tree = page_data(model)["tree"]
    assert sum(tree["nodes"][0]["n"]) == 90
    for node in tree["nodes"]:
        low, high = node["i"]
        assert 0 <= low < max(node["p"]) < high <= 1
        if "k" in node:
            yes, no = (tree["nodes"][child]["n"] for child in node["k"])
            assert [a + b for a, b in zip(yes, no, strict=True)] == node["n"]


def test_the_class_of_least_cost_is_said() -> None:
    model, X, _ = fitted("costs")
    tree = page_data(model)["tree"]
    said = {
        leaf: tree["nodes"][leaf].get("s", int(np.argmax(tree["nodes"][leaf]["p"])))
        for leaf in model.tree_.leaves.tolist()
    }
    leaves = model.tree_.apply(model.binarizer_.transform(X))
    assert [model.classes_[said[leaf]] for leaf in leaves.tolist()] == model.predict(X).tolist()
    assert any("s" in node for node in tree["nodes"])


def test_the_front_and_the_posterior_are_those_of_the_space() -> None:
    model, _, _ = fitted("bayes")
    data = page_data(model)
    front = model.posterior_.space.front()
    assert [(p["size"], p["error"]) for p in data["front"]["points"]] == [(s, e) for s, e, _ in front]
    assert [p["tree"]["error"] for p in data["front"]["points"]] == [tree.error for _, _, tree in front]
    top = model.top_trees(10)
    assert data["posterior"]["share"] == pytest.approx(top.share)
    assert {each["name"]: each["p"] for each in data["posterior"]["inclusion"]} == pytest.approx(
        model.attribute_inclusion(), abs=1e-4
    )
    assert sum(data["posterior"]["leaves"]) == pytest.approx(1, abs=1e-3)
    assert data["posterior"]["rules"][0]["weight"] == pytest.approx(
        model.posterior_.rules(top=1)[0].weight, rel=1e-4
    )


def test_a_loaded_tree_gains_its_front_from_the_training_data(tmp_path: Path) -> None:
    model, X, y = fitted("optimal")
    model.save(tmp_path / "m.json", target="class")
    loaded = et.load_model(tmp_path / "m.json")
    alone = page_data(loaded)
    assert alone["front"] is None
    assert alone["posterior"] is None
    assert "holds no training data" in alone["notes"][0]
    used = [column["name"] for column in alone["columns"] if column["used"]]
    assert used == [c for c in X.columns if any(str(t.attribute) == c for t in used_tests(model))]
    # Written to a file and read again: the labels by the name that the model knows.
    X.assign(**{"class": y}).to_csv(tmp_path / "d.csv", index=False)
    whole = page_data(loaded, tmp_path / "d.csv")
    assert whole["front"]["points"][-1]["error"] == model.error_
    assert whole["calibration"]["about"].startswith("By 5-fold cross-validation")
    assert whole["notes"] == []


def used_tests(model: Any) -> list[Any]:
    return [model.binarizer_.tests_[t] for t in set(model.tree_.test.tolist()) if t >= 0]


def test_other_rows_judge_the_model() -> None:
    model, _, _ = fitted("optimal")
    other, labels = mixed_table(seed=9)
    data = page_data(model, (other, labels))
    assert data["calibration"]["about"].startswith("On other rows than those of training: 90")
    right = (model.predict(other) == labels).mean()
    assert data["calibration"]["scores"][0] == ["accuracy", f"{100 * right:.1f} %"]
    assert "not those of training" in data["notes"][0]


def test_a_slow_cross_validation_is_left_out_with_a_note() -> None:
    model, X, y = fitted("c45")
    data = page_data(model, (X, y), time_limit=1e-9)
    assert data["calibration"] is None
    assert "no part of a cross-validation was possible" in data["notes"][-1]


def test_a_part_that_takes_too_long_is_left_out_with_a_note() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 40)), rng.integers(0, 2, 400)
    model = et.MAPTreeClassifier(max_depth=2).fit(X, y)
    model.set_params(max_depth=8)
    data = page_data(model, (X, y), time_limit=0.05)
    assert data["posterior"] is None
    assert any(note.startswith("Without the posterior over every tree") for note in data["notes"])
    assert data["tree"] is not None


def test_rows_can_be_kept_out_of_the_page() -> None:
    model, X, y = fitted("optimal")
    assert page_data(model, (X, y), rows=0)["rows"] == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda X, y: (X, ["odd"] * len(y)), "the label 'odd', which the model does not know"),
        (lambda X, y: X, "there is no column|which column holds the label"),
        (lambda X, y: (X.drop(columns="age"), y), "feature names"),
        (lambda X, y: 7, "expected a file, a table"),
        (lambda X, y: "absent.csv", "absent.csv"),
    ],
)
def test_data_that_do_not_fit_are_refused(data: Any, message: str) -> None:
    model, X, y = fitted("optimal")
    with pytest.raises((DataError, OSError), match=message):
        page_data(model, data(X, y))


def test_only_fitted_classifiers_have_a_page() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        page_data(et.OptimalTreeClassifier())
    with pytest.raises(DataError, match="is not a classifier"):
        page_data(et.Binarizer().fit([[1.0], [2.0]]))


@pytest.mark.parametrize("kind", ["optimal", "bayes", "c45", "path"])
def test_hostile_names_become_short_printable_lines(kind: str) -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({name: rng.choice(["a", name[:50], "z"], 60) for name in HOSTILE})
    y = np.array([HOSTILE[0], HOSTILE[9]], dtype=object)[rng.integers(0, 2, 60)]
    model = classifiers("category")[kind].fit(X, y)
    data = page_data(model, (X, y), rows=3, title=HOSTILE[0] + HOSTILE[9])

    def texts(value: Any) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            return [text for each in value.values() for text in texts(each)]
        return [text for each in value for text in texts(each)] if isinstance(value, list) else []

    for text in texts({key: value for key, value in data.items() if key not in ("cite", "text", "notes")}):
        assert len(text) <= 400
        assert text.replace("\u200d", "").isprintable()


def test_one_class_and_no_columns_of_use() -> None:
    model = et.OptimalTreeClassifier(max_depth=2).fit([[1, 2]] * 5, ["only"] * 5)
    data = page_data(model)
    assert data["tree"]["nodes"] == [{"n": [5], "p": [1.0], "i": [1.0, 1.0]}]
    assert json.dumps(data, allow_nan=False)


def test_a_tree_over_some_of_the_tests_keeps_their_numbers() -> None:
    tree = et.Tree.from_key((1, -1, -1), [[0, 0], [1, 1]], [[3, 0], [0, 3]])
    assert page_tree(tree, [[1.0, 1.0]], place=lambda test, _: [4, 7][test])["nodes"][0]["t"] == 7
