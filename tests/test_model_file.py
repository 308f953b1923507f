"""Model files: what is saved predicts the same after loading; a broken file is refused by the field that breaks it."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import everytree as et
from everytree.common.values import value_from_json, value_to_json
from everytree.errors import DataError, EverytreeError
from everytree.estimators.base import TreeClassifierBase
from everytree.files.model_file import model_from_dict, model_to_dict

MODELS = [et.OptimalTreeClassifier, et.MAPTreeClassifier, et.BayesOptimalClassifier]


def mixed(n: int = 80, seed: int = 0, holes: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "weight": rng.normal(70, 10, n),
            "color": rng.choice(["blue", "red", "green"], n),
            "smoker": rng.random(n) < 0.5,
            "code": rng.integers(0, 3, n),
            "unit": 5,
            "flag": rng.integers(0, 2, n),
            "size": pd.Categorical(rng.choice(["small", "large"], n), ["small", "large"], ordered=True),
        }
    )
    y = np.where((frame["age"] > 50) ^ (frame["color"] == "red"), "yes", "no")
    if holes:
        for column in ("age", "color", "smoker"):
            frame[column] = frame[column].astype(object).mask(rng.random(n) < 0.2, None)
    return frame, y


def assert_same_model(one, other, X) -> None:
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    predicted = one.predict(X)
    assert np.array_equal(predicted, other.predict(X))
    assert predicted.dtype == other.predict(X).dtype
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.binarizer_.tests_ == other.binarizer_.tests_
    assert one.binarizer_.dropped_ == other.binarizer_.dropped_
    assert one.fingerprint_ == other.fingerprint_
    if hasattr(one, "tree_"):
        assert one.tree_ == other.tree_


@pytest.mark.parametrize("made", MODELS)
@pytest.mark.parametrize("missing", ["error", "category", "impute"])
def test_a_loaded_model_predicts_the_same(made, missing, tmp_path) -> None:
    X, y = mixed(holes=missing != "error")
    model = made(max_depth=2, missing=missing).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = et.load_model(tmp_path / "model.json")
    assert type(loaded) is made
    new, _ = mixed(50, seed=1, holes=missing != "error")
    assert_same_model(model, loaded, new)
    # A file holds no training data, and so no space to ask again and no counts to add to.
    assert (
        set(vars(model))
        - {"space_", "_tally", "_given", "_used", "_every_cut", "_beside", "weight_rounding_"}
        <= set(vars(loaded))
        <= set(vars(loaded))
        or made is et.BayesOptimalClassifier
    )
    for name in ("objective_", "optimal_", "lower_bound_", "gap_", "error_", "log_joint_", "log_evidence_"):
        if hasattr(model, name):
            assert getattr(loaded, name) == getattr(model, name)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [0, 1, 2], [-1.0, 0.0, 5.0], np.array([3, 1, 2], np.uint8)], ids=str
)
def test_labels_come_back_in_their_type(labels, tmp_path) -> None:
    X, codes = load_iris(return_X_y=True)
    for y in (np.asarray(labels)[codes], np.asarray(labels)[codes].astype(object)):
        model = et.OptimalTreeClassifier(max_depth=2).fit(X, y)
        model.save(tmp_path / "model.json")
        assert_same_model(model, et.load_model(tmp_path / "model.json"), X)


def test_truth_values_as_labels(tmp_path) -> None:
    model = et.OptimalTreeClassifier(leaf_penalty=0).fit([[0], [1], [2]], [True, False, False])
    model.save(tmp_path / "model.json")
    assert et.load_model(tmp_path / "model.json").predict([[0]]).tolist() == [True]


def test_data_frames_of_other_kinds(tmp_path) -> None:
    X, y = mixed()
    frame = pl.from_pandas(X.astype({"size": str}))
    model = et.OptimalTreeClassifier(max_depth=2).fit(frame, y)
    model.save(tmp_path / "model.json")
    assert_same_model(model, et.load_model(tmp_path / "model.json"), frame)


def test_loaded_models_check_their_columns(tmp_path) -> None:
    X, y = mixed()
    et.OptimalTreeClassifier(max_depth=1).fit(X, y).save(tmp_path / "model.json")
    loaded = et.load_model(tmp_path / "model.json")
    with pytest.raises(DataError, match="yet now missing"):
        loaded.predict(X.drop(columns="age"))
    with pytest.raises(DataError, match="held text during fit"):
        loaded.predict(X.assign(color=1))


def test_typed_parameters_come_back(tmp_path) -> None:
    X, y = mixed()
    params = {
        "prior": et.SizePrior(0.7, 0.3),
        "dirichlet": et.DepthDecay(0.5, 0.5),
        "bins": {"age": [30, 50.5], "weight": 3},
    }
    et.MAPTreeClassifier(max_depth=2, **params).fit(X, y).save(tmp_path / "model.json")
    loaded = et.load_model(tmp_path / "model.json")
    for name, value in params.items():
        assert loaded.get_params()[name] == value
    assert_same_model(loaded, et.MAPTreeClassifier(max_depth=2, **params).fit(X, y), X)


def test_costs_decide_after_loading(tmp_path) -> None:
    X, y = mixed()
    model = et.OptimalTreeClassifier(
        max_depth=1, minimize=("cost", "size"), cost_matrix=np.array([[0, 1], [9, 0]])
    ).fit(X, y)
    model.save(tmp_path / "model.json")
    assert_same_model(model, et.load_model(tmp_path / "model.json"), X)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.5,
        "a",
        [1, [2.0]],
        {"a": 1},
        {1: "x", "b": {True: 2}},
        {"$odd": 1},
        float("inf"),
        2**70,
    ],
    ids=str,
)
def test_values_survive_json(value) -> None:
    assert value_from_json(json.loads(json.dumps(value_to_json(value, "v"))), "v") == value


def test_values_that_no_file_holds_are_named() -> None:
    with pytest.raises(DataError, match=r"params\[.f.\] is .* cannot hold"):
        value_to_json({"f": print}, "params")
    deep = None
    for _ in range(50):
        deep = [deep]
    with pytest.raises(DataError, match="nested more than"):
        value_from_json(deep, "params.x")
    for broken, message in [
        ({"$type": "Tree", "fields": {}}, "a typed argument of everytree"),
        ({"$type": "os.system", "fields": {}}, "a typed argument of everytree"),
        ({"$type": "SizePrior", "fields": {"alpha": 7}}, "is no SizePrior"),
        ({"$type": "SizePrior", "fields": {"gamma": 7}}, "is no SizePrior"),
        ({"$type": "SizePrior", "fields": 3}, "fields is 3"),
        ({"$float": "1e5"}, "expected an object"),
        ({"$dict": 3}, "pairs"),
        ({"$dict": [[[], 1]]}, "a text, a number or a boolean"),
    ]:
        with pytest.raises(DataError, match=message):
            value_from_json(broken, "params.prior")


def test_only_a_fitted_model_of_everytree_can_be_saved(tmp_path) -> None:
    with pytest.raises(NotFittedError):
        et.OptimalTreeClassifier().save(tmp_path / "model.json")

    class Own(et.OptimalTreeClassifier):
        pass

    with pytest.raises(DataError, match="Own is not a classifier of everytree"):
        Own(max_depth=1).fit([[0], [1]], [0, 1]).save(tmp_path / "model.json")
    with pytest.raises(DataError, match="target=5"):
        et.OptimalTreeClassifier(max_depth=1).fit([[0], [1]], [0, 1]).save(tmp_path / "model.json", target=5)
    dates = pd.Categorical([pd.Period("2020-01"), pd.Period("2020-02")])
    with pytest.raises(DataError, match="column 'when' holds the value"):
        et.OptimalTreeClassifier(max_depth=1).fit(pd.DataFrame({"when": dates}), [0, 1]).save(
            tmp_path / "m.json"
        )
    assert not list(tmp_path.iterdir())


def test_the_name_of_y_is_the_target(tmp_path) -> None:
    X, y = mixed()
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, pd.Series(y, name="sick"))
    assert model_to_dict(model)["target"] == "sick"
    assert model_to_dict(model, "ill")["target"] == "ill"
    assert model_to_dict(et.OptimalTreeClassifier(max_depth=1).fit(X, y))["target"] is None


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch) -> None:
    X, y = mixed()
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, y)
    path, link = tmp_path / "model.json", tmp_path / "link.json"
    path.write_text("before", encoding="utf-8")
    link.symlink_to(path)
    broken = OSError("no space left on device")

    def fail(*_):
        raise broken

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="no space left"):
            model.save(path)
    assert path.read_text(encoding="utf-8") == "before"
    model.save(link)
    assert link.is_symlink()
    assert_same_model(model, et.load_model(path), X)
    assert {each.name for each in tmp_path.iterdir()} == {"model.json", "link.json"}
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "nowhere" / "model.json")


def test_the_fingerprint_is_of_the_examples_not_of_their_order() -> None:
    X, y = mixed()
    one = et.OptimalTreeClassifier(max_depth=1).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    assert et.OptimalTreeClassifier(max_depth=1).fit(X.iloc[order], y[order]).fingerprint_ == one.fingerprint_
    assert et.OptimalTreeClassifier(max_depth=1).fit(X, y[::-1]).fingerprint_ != one.fingerprint_


# --- files that are broken


@pytest.fixture(scope="module")
def saved() -> dict:
    X, y = mixed()
    return json.loads(json.dumps(model_to_dict(et.OptimalTreeClassifier(max_depth=2).fit(X, y))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not a model file"),
        (b"{", "not a model file"),
        (b"\xff\xfe", "not a model file"),
        (b"[" * 100_000, "not a model file"),
        (b'{"format": Infinity}', "holds Infinity"),
        (b'{"a": 1, "a": 2}', "'a' occurs twice"),
        (b"[]", "the model is a list"),
        (b"{}", "format is None"),
        (b'{"format": "everytree.model", "version": 7}', "version is 7, newer"),
        (b'{"format": "everytree.model", "version": "1"}', "version is '1'"),
        (b'{"format": "everytree.model", "version": 1}', "everytree is missing"),
    ],
)
def test_a_file_that_is_no_model(text, message, tmp_path) -> None:
    (tmp_path / "model.json").write_bytes(text)
    with pytest.raises(DataError, match=f"model.json: .*{message}"):
        et.load_model(tmp_path / "model.json")


CHANGES = {
    "estimator": (("estimator",), "Tree", "estimator is 'Tree'"),
    "base": (("estimator",), "TreeClassifierBase", "estimator is"),
    "params": (("params",), [], "params is"),
    "param": (("params", "wisdom"), 1, "params.wisdom is not a parameter"),
    "classes": (("classes",), [], "classes is"),
    "label": (("classes", 0), 7, r"classes\[0\] is 7"),
    "order": (("classes",), ["yes", "no"], "ascending"),
    "dtype": (("label_dtype",), "datetime64", "label_dtype"),
    "encoding": (("encoding", "missing"), "guess", "encoding.missing"),
    "other": (("encoding", "missing"), "impute", "the same as params.missing"),
    "columns": (("columns",), [], "columns is"),
    "kind": (("columns", 0, "kind"), "odd", r"columns\[0\].kind"),
    "twice": (("columns", 0, "name"), "color", "'color' twice"),
    "values": (("columns", 2, "values"), ["a", "a"], r"columns\[2\].values holds a value twice"),
    "fill": (("columns", 0, "fill"), "x", r"columns\[0\].fill"),
    "nominal fill": (("columns", 2, "fill"), "x", r"columns\[2\].fill"),
    "test": (("tests", 0, "value"), "x", r"tests\[0\].value"),
    "test kind": (("tests", 0, "kind"), "equals", r"tests\[0\].kind"),
    "test column": (("tests", 0, "column"), -1, r"tests\[0\].column"),
    "test order": (("tests", 0), {"column": 6, "kind": "identity", "value": None}, "order of their columns"),
    "dropped": (("dropped", 0, "reason"), "mood", r"dropped\[0\].reason"),
    "kept": (("dropped", 0, "kept"), 10**9, r"dropped\[0\].kept"),
    "tree": (("tree", "test"), [], "tree: test is empty"),
    "cut": (("tests", 0, "value"), 1, r"tree.test_names\[0\]"),
    "tree classes": (("tree", "classes"), ["a", "b"], "tree.classes"),
    "no tree": (("tree",), None, "table is None"),
    "target": (("target",), 3, "target is 3"),
    "claims": (("claims",), [], "claims is"),
    "claim": (("claims", "gap"), [], "claims.gap is"),
    "dunder": (("claims", "__class__"), 1, "is not a name of a claim"),
    "claimed tree": (("claims", "tree"), "x", "is not a name of a claim"),
    "leaves": (("claims", "leaves"), [], "claims.leaves"),
    "says": (("claims", "leaves", 0, "says"), "maybe", r"claims.leaves\[0\].says is 'maybe'; the tree has"),
    "unknown": (("mood",), 1, "'mood' is not a field"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_broken_field_is_named(name, saved) -> None:
    path, value, message = CHANGES[name]
    data = copy.deepcopy(saved)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(DataError, match=message):
        model_from_dict(data)


def places(data, path=()):
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@pytest.mark.parametrize("made", [et.OptimalTreeClassifier, et.BayesOptimalClassifier])
def test_damage_anywhere_is_an_error_of_everytree_or_a_model_that_works(made) -> None:
    X, y = mixed(40)
    good = json.loads(json.dumps(model_to_dict(made(max_depth=1).fit(X, y))))
    rng = random.Random(0)
    values = [None, True, -1, 2**70, 1e300, "", "x", [], {}, [[]], {"$type": "Tree"}, {"$float": "nan"}]
    everywhere = [path for path in places(good) if path]
    for path in rng.sample(everywhere, min(300, len(everywhere))):
        data = copy.deepcopy(good)
        place = data
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = rng.choice(values)
        with contextlib.suppress(EverytreeError):
            model_from_dict(data).predict(X)


def test_every_classifier_can_be_saved_and_loaded(tmp_path) -> None:
    X, y = mixed()
    found = [getattr(et, name) for name in et.__all__]
    classifiers = [each for each in found if isinstance(each, type) and issubclass(each, TreeClassifierBase)]
    assert len(classifiers) >= len(MODELS)
    for made in classifiers:
        model = made().fit(X, y)
        model.save(tmp_path / "model.json")
        assert_same_model(model, et.load_model(tmp_path / "model.json"), X)


def test_a_limit_of_the_file_names_the_file(tmp_path) -> None:
    path = tmp_path / "model.json"
    et.BayesOptimalClassifier(max_depth=2).fit([[1], [2], [3], [4]], [0, 0, 1, 1]).save(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["params"]["memory_limit"] = 1
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(et.LimitReached, match=r"model\.json: memory limit") as caught:
        et.load_model(path)
    assert caught.value.reason == "memory"


@pytest.mark.parametrize("made", [et.C45TreeClassifier, et.CARTTreeClassifier, et.SmoothedTreeClassifier])
def test_cuts_at_the_largest_numbers(made: Any, tmp_path: Path) -> None:
    """What was saved is read again: a cut of C4.5 is a value of the column."""
    largest = np.finfo(np.float64).max
    X, y = np.array([[-largest], [largest], [largest / 2]] * 10), np.array([0, 1, 1] * 10)
    model = made().fit(X, y)
    model.save(tmp_path / "model.json")
    assert (et.load_model(tmp_path / "model.json").predict_proba(X) == model.predict_proba(X)).all()
