"""Files of trees on whole columns: what is saved predicts the same after loading, and broken files are refused."""

from __future__ import annotations

import contextlib
import copy
import json
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import everytree as et
from everytree.errors import DataError, EverytreeError
from everytree.estimators.column_base import ColumnTreeClassifier
from everytree.files.column_trees import column_tree_from_dict, column_tree_to_dict

PUBLIC = [getattr(et, name) for name in et.__all__]
MADE = [one for one in PUBLIC if isinstance(one, type) and issubclass(one, ColumnTreeClassifier)]
SETTINGS = {
    "C45TreeClassifier": [
        {},
        {"binary_splits": True, "laplace": True, "prune": False},
        {"nominal": ["code"]},
    ],
    "CARTTreeClassifier": [{}, {"rule": "1-SE", "risk": "error", "laplace": True, "nominal": ["code"]}],
    "SmoothedTreeClassifier": [
        {"missing": "category"},
        {"missing": "impute", "prune": "map", "dirichlet": "fit", "prior": "size", "nominal": ["code"]},
        {
            "missing": "category",
            "n_trees": 3,
            "random_state": 1,
            "dirichlet": "decay",
            "nominal_tests": "binary",
        },
    ],
    "OptionTreeClassifier": [
        {"max_nodes": 40, "missing": "category"},
        {"cuts": "each", "max_nodes": 300, "missing": "impute"},
        {"missing": "category"},
    ],
    "PathAverageTreeClassifier": [
        {"missing": "category"},
        {"missing": "impute", "bins": "mdl", "s": "classes", "nonuniform": True},
        {
            "missing": "category",
            "bins": {"age": [30, 50.5], "weight": "all"},
            "nominal": ["code"],
            "averaging": False,
        },
    ],
}
MODELS = [(made, words) for made in MADE for words in SETTINGS.get(made.__name__, [{}])]


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "weight": rng.normal(70, 10, n),
            "color": rng.choice(["blue", "red", "green"], n),
            "smoker": rng.random(n) < 0.5,
            "code": rng.integers(0, 3, n),
            "unit": 5,
            "gone": None,
            "size": pd.Categorical(rng.choice(["small", "large"], n), ["small", "huge", "large"]),
        }
    )
    y = np.where(((frame["age"] > 50) & (frame["color"] != "red")) ^ (rng.random(n) < 0.1), "yes", "no")
    y[:3] = "perhaps"
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    frame["color"] = frame["color"].mask(rng.random(n) < 0.15, None)
    return frame, y


def rows_to_ask(seed=1):
    frame, _ = mixed(60, seed)
    frame.loc[:5, "color"] = "violet"
    return frame


def test_every_one_is_here():
    assert {"C45TreeClassifier", "CARTTreeClassifier", "PathAverageTreeClassifier"} <= {
        made.__name__ for made in MADE
    }


@pytest.mark.parametrize(("made", "words"), MODELS, ids=str)
def test_a_loaded_model_predicts_the_same(made, words, tmp_path):
    X, y = mixed()
    model = made(**words).fit(X, pd.Series(y, name="sick"))
    model.save(tmp_path / "model.json")
    loaded = et.load_model(tmp_path / "model.json")
    assert type(loaded) is made
    assert loaded.tree_ == model.tree_
    for new in (X, rows_to_ask()):
        assert np.array_equal(model.predict_proba(new), loaded.predict_proba(new))
        assert np.array_equal(model.predict(new), loaded.predict(new))
        assert model.predict(new).dtype == loaded.predict(new).dtype
    # A file holds no training rows: which of them were used, and in what parts, is known after fit alone.
    assert set(vars(model)) - {"_used", "weight_rounding_", "per_example_"} == set(vars(loaded))
    assert loaded.target_name_ == "sick"
    for name in made.CLAIMS:
        assert np.array_equal(getattr(loaded, name), getattr(model, name)), name
        assert type(getattr(loaded, name)) is type(getattr(model, name)), name
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    with pytest.raises(DataError, match="yet now missing"):
        loaded.predict(X.drop(columns="age"))


@pytest.mark.parametrize("made", MADE)
def test_arrays_labels_and_one_example(made, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    for y in ((X[:, 0] > 0).astype(np.uint8), (X[:, 0] > 0), np.where(X[:, 1] > 0, 5.0, -3.0)):
        model = made().fit(X, y)
        model.save(tmp_path / "model.json", target="y")
        loaded = et.load_model(tmp_path / "model.json")
        assert loaded.target_name_ == "y"
        assert not hasattr(loaded, "feature_names_in_")
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.predict(X).dtype == y.dtype
    made().fit([[1.0]], ["only"]).save(tmp_path / "one.json")
    assert et.load_model(tmp_path / "one.json").predict([[2.0]]).tolist() == ["only"]


@pytest.mark.parametrize("made", MADE)
def test_what_cannot_be_saved(made, tmp_path):
    with pytest.raises(NotFittedError):
        made().save(tmp_path / "model.json")
    own = type("Own", (made,), {})
    with pytest.raises(DataError, match="Own is not a classifier of everytree"):
        own().fit([[0], [1]], [0, 1]).save(tmp_path / "model.json")
    with pytest.raises(DataError, match="target=5"):
        made().fit([[0], [1]], [0, 1]).save(tmp_path / "model.json", target=5)
    when = pd.Categorical([pd.Period("2020-01"), pd.Period("2020-02")])
    with pytest.raises(DataError, match="column 'when' holds the value"):
        made().fit(pd.DataFrame({"when": when}), [0, 1]).save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# --- files that are broken


def saved(made, words):
    return json.loads(json.dumps(column_tree_to_dict(made(**words).fit(*mixed()))))


def changed(data, path, value):
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


EITHER = {
    "estimator": (
        ("estimator",),
        "OptimalTreeClassifier",
        "estimator is 'OptimalTreeClassifier'; .* whole columns",
    ),
    "version": (("version",), 2, "version is 2, newer"),
    "unknown": (("mood",), 1, "'mood' is not a field"),
    "param": (("params", "wisdom"), 1, "params.wisdom is not a parameter"),
    "classes": (("classes",), ["b", "a"], "ascending"),
    "one class": (("classes",), ["a"], "tree: .*; expected (1 numbers|a whole number from 0 to 0)"),
    "target": (("target",), 3, "target=3"),
    "named": (("named_columns",), "yes", "named_columns is 'yes'"),
    "columns": (("columns",), [], "columns is"),
    "column": (("columns", 0), {"name": "age"}, r"columns\[0\] is .*; expected an object with name"),
    "twice": (
        ("columns", 0, "name"),
        "color",
        r"columns\[2\].name is 'color'; expected a text that no other",
    ),
    "values": (("columns", 2, "values"), ["a", "a"], r"columns\[2\].values holds a value twice"),
    "value": (("columns", 2, "values"), [["a"]], r"columns\[2\].values\[0\] is \['a'\]"),
    "tree": (("tree",), None, "tree: the tree is a NoneType"),
    "leaves": (("claims", "n_leaves"), 1, "claims.n_leaves is 1; the tree has"),
    "lists": (("claims", "n_leaves"), [1, 2], "claims.n_leaves is array"),
    "claims": (("claims",), {}, "claims holds nothing; expected"),
    "claim": (("claims", "tree"), 1, "claims holds .*'tree'"),
}
OWN = {
    "C45TreeClassifier": {
        "kind": (("columns", 0, "kind"), "odd", r"columns\[0\].kind is 'odd'; expected numeric or nominal"),
        "numeric": (("columns", 0, "values"), [1], r"columns\[0\].values is \[1\]; expected null"),
        "nominal": (("columns", 2, "values"), None, r"columns\[2\].values is None"),
        "truth": (("claims", "size"), True, "claims.size is True; the tree has"),
    },
    "CARTTreeClassifier": {
        "missing": (("tree", "missing", 0), 2, r"tree: missing\[0\] is 2; the node has 2 children"),
        "empty": (("tree", "counts", 1), [0, 0, 0], "the tree has a node without examples"),
        "alphas": (("claims", "alphas"), [0, "x"], "claims.alphas is"),
    },
    "SmoothedTreeClassifier": {
        "fill": (("columns", 0, "fill"), "x", r"columns\[0\].fill is 'x'; expected a finite number"),
        "no fill": (("columns", 0), {"name": "age"}, r"columns\[0\] is .*; expected .* fill"),
        "nominal fill": (("columns", 2, "fill"), 3, r"columns\[2\].fill is 3; expected the number of one"),
        "prior": (("params", "prior"), "odd", r"params\.prior is 'odd'; expected a prior"),
        "share": (("tree", "nodes", "counts", 0), [1, 1, 1], "tree: option 0 of the option graph"),
    },
    "PathAverageTreeClassifier": {
        "s": (("params", "s"), "x", "params: s='x'"),
        "missing": (("params", "missing"), "guess", r"params\.missing is 'guess'; expected one of"),
        "bins": (("params", "bins"), "best", "bins(=| is )'best'"),
        "cuts": (("columns", 0, "cuts"), [3, 2], r"columns\[0\].cuts\[1\] is 2; expected cuts in ascending"),
        "cut": (("columns", 0, "cuts"), ["x"], r"columns\[0\].cuts\[0\] is 'x'"),
        "both": (("columns", 2, "cuts"), [1], r"columns\[2\].cuts is \[1\]"),
        "own": (("columns", 0, "missing"), 1, r"columns\[0\].missing is 1; expected true or false"),
        "fill": (("columns", 0, "fill"), "x", r"columns\[0\].fill is 'x'"),
        "nominal fill": (("columns", 2, "fill"), "x", r"columns\[2\].fill is 'x'; expected one of"),
        "nothing": (("columns", 6, "missing"), False, r"columns\[6\] has neither values nor missing"),
        "s_": (("claims", "s"), 2.0, "claims.s is 2.0; the tree has 1.0"),
    },
}


@pytest.mark.parametrize("made", MADE)
def test_a_broken_field_is_named(made):
    good = saved(*next(each for each in MODELS if each[0] is made))
    for path, value, message in [*EITHER.values(), *OWN.get(made.__name__, {}).values()]:
        with pytest.raises(DataError, match=message):
            column_tree_from_dict(changed(good, path, value))


def places(data, path=()):
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@pytest.mark.parametrize("made", MADE)
def test_damage_anywhere_is_an_error_of_everytree_or_a_model_that_works(made):
    good = saved(*next(each for each in MODELS if each[0] is made))
    rng = random.Random(0)
    X = rows_to_ask()
    values = [
        None,
        True,
        -1,
        0,
        1,
        7,
        2**70,
        1e300,
        "",
        "x",
        [],
        {},
        [[]],
        {"$type": "Tree"},
        {"$float": "nan"},
    ]
    everywhere = [path for path in places(good) if path]
    refused = 0
    tried = rng.sample(everywhere, min(600 if len(everywhere) < 5000 else 150, len(everywhere)))
    for path in tried:
        place = good
        for key in path[:-1]:
            place = place[key]
        before, place[path[-1]] = place[path[-1]], rng.choice(values)
        with contextlib.suppress(EverytreeError):
            refused += 1
            proba = column_tree_from_dict(good).predict_proba(X)
            refused -= 1
            assert np.isfinite(proba).all()
            assert np.allclose(proba.sum(axis=1), 1)
        place[path[-1]] = before
    assert refused > len(tried) / 2


def test_the_checker_recounts_a_tree_on_whole_columns(tmp_path):
    X, y = mixed()
    X.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    et.C45TreeClassifier().fit(X, y).save(tmp_path / "model.json", target="y")
    report = et.verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert report.proved, [fact for fact in report.facts if fact.verdict != "true"]
    assert report["counts of nodes"].verdict == "true"
