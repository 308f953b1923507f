"""Model files that someone made up: refused with their name, soon and with little memory, or harmless."""

from __future__ import annotations

import contextlib
import copy
import json
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.common.json_text import digest
from everytree.report import page_html

LEVELS = 4_000  # a chain of so many splits has 8,001 nodes

MADE: dict[str, Callable[[], Any]] = {
    "map": lambda: et.MAPTreeClassifier(max_depth=2),
    "optimal": lambda: et.OptimalTreeClassifier(max_depth=2),
    "bayes": lambda: et.BayesOptimalClassifier(max_depth=1),
    "calibrated": lambda: et.BayesOptimalClassifier(max_depth=1, calibrate="loo"),
    "chains": lambda: et.MCMCTreeClassifier(max_depth=1, n_chains=2, n_draws=5, burn_in=5, random_state=0),
    "c45": lambda: et.C45TreeClassifier(),
    "cart": lambda: et.CARTTreeClassifier(),
    "smoothed": lambda: et.SmoothedTreeClassifier(max_depth=2),
    "option": lambda: et.OptionTreeClassifier(max_depth=2),
    "path": lambda: et.PathAverageTreeClassifier(),
    "compressed": lambda: et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2)),
    "every": lambda: et.EveryTreeClassifier(time_limit=0.2),
}


def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(2)
    return X, ((X[:, 0] > 0) ^ (rng.random(60) < 0.2)).astype(int)


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The content of a file of each kind."""
    path, found = tmp_path_factory.mktemp("made") / "model.json", {}
    X, y = numbers()
    for kind, made in MADE.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made().fit(X, y).save(path)
        found[kind] = json.loads(path.read_text(encoding="utf-8"))
    return found


def written(content: dict[str, Any], path: Path) -> Path:
    """Write a changed content, with the seal that belongs to it."""
    if "digest" in content:
        content = {key: value for key, value in content.items() if key != "digest"}
        content["digest"] = digest(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def chain_of_columns(tree: dict[str, Any]) -> None:
    """A chain of the trees of C4.5 and CART: node 2k is a split with the leaf 2k + 1 and the split 2k + 2."""
    tree["attribute"] = [0, -1] * LEVELS + [-1]
    tree["first_child"] = [x for k in range(LEVELS) for x in (2 * k + 1, 0)] + [0]
    tree["n_children"] = [2, 0] * LEVELS + [0]
    tree["threshold"] = [x for k in range(LEVELS) for x in (float(LEVELS - k), None)] + [None]
    tree["counts"] = [x for k in range(LEVELS) for x in ([LEVELS + 1 - k, 0], [1, 0])] + [[1, 0]]
    if tree["missing"] is not None:
        tree["missing"] = [-1] * (2 * LEVELS + 1)


def chain_of_options(tree: dict[str, Any]) -> None:
    tree["nodes"] = {
        "depth": [x for k in range(LEVELS) for x in (k, k + 1)] + [LEVELS],
        "open": [True] * (2 * LEVELS + 1),
        "classes": [[0]] * (2 * LEVELS + 1),
        "counts": [[x] for k in range(LEVELS) for x in (LEVELS + 1 - k, 1)] + [[1]],
    }
    tree["options"] = {
        "node": [2 * k for k in range(LEVELS)],
        "column": [0] * LEVELS,
        "threshold": [float(LEVELS - k) for k in range(LEVELS)],
        "log_split": [-1.0] * LEVELS,
        "children": [[2 * k + 1, 2 * k + 2] for k in range(LEVELS)],
    }


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("c45", chain_of_columns),
        ("cart", chain_of_columns),
        ("option", chain_of_options),
        ("smoothed", chain_of_options),
    ],
)
def test_a_chain_of_8000_nodes_is_refused_soon_with_little_memory(
    kind: str, change: Callable[[dict[str, Any]], None], contents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    content = copy.deepcopy(contents[kind])
    change(content["tree"])
    path = written(content, tmp_path / "model.json")
    begun = time.process_time()
    with pytest.raises(et.DataError, match=r"model\.json: "):
        et.load_model(path)
    assert time.process_time() - begun < 1
    tracemalloc.start()
    with pytest.raises(et.DataError):
        et.load_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


def test_a_small_file_takes_little_memory(contents: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    path = written(contents["optimal"], tmp_path / "model.json")
    X, y = numbers()
    data = tmp_path / "data.csv"
    data.write_text(
        "a,b,c,y\n" + "".join(f"{','.join(map(str, row))},{label}\n" for row, label in zip(X, y, strict=True))
    )
    et.load_model(path)  # what is imported once
    et.verify_model(path, data)
    for read in (lambda: et.load_model(path), lambda: et.verify_model(path, data)):
        tracemalloc.start()
        read()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10e6  # Python takes the bytes that a file is asked for: it was asked for a GiB


@pytest.mark.parametrize("value", [1e308, -1e308, 1e15, -1e15])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, name) for kind in ("option", "smoothed") for name in ("log_leaf_open", "log_leaf_closed")),
        ("path", "log_leaf"),
        ("path", "log_b"),
    ],
)
def test_extreme_weights_are_refused_or_give_probabilities(
    kind: str, name: str, value: float, contents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    content = copy.deepcopy(contents[kind])
    content["tree"][name] = [value] * len(content["tree"][name])
    path = written(content, tmp_path / "model.json")
    if kind != "path" and abs(value) > 1e15:
        with pytest.raises(et.DataError, match=rf"{name}\[0\] is .* from -1e\+15 to 1e\+15"):
            et.load_model(path)
        return
    proba = et.load_model(path).predict_proba(numbers()[0])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-9)


def test_rules_whose_sums_are_1_024_are_refused(contents: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    for change, message in (
        (
            lambda rules: rules["base"].__setitem__(0, rules["base"][0] + 0.024),
            r"rules: base add up to 1\.024",
        ),
        (
            lambda rules: [
                each["moves"].__setitem__(0, each["moves"][0] + 0.024) for each in rules["rules"][:1]
            ],
            r"rules\[0\]\.moves add up to 0\.024",
        ),
    ):
        content = copy.deepcopy(contents["compressed"])
        change(content["rules"])
        with pytest.raises(et.DataError, match=rf"model\.json: .*{message}"):
            et.load_model(written(content, tmp_path / "model.json"))


def test_very_many_averages_are_refused(contents: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """Each is taken again when a file is read: ten thousand of a file of a megabyte took 4 seconds and 900 MB."""
    content = copy.deepcopy(contents["every"])
    content["members"] = content["members"][:1] * 10_000
    with pytest.raises(et.DataError, match=r"model\.json: members has 10000 entries"):
        et.load_model(written(content, tmp_path / "model.json"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    X, y = numbers()
    data = tmp_path / "data.csv"
    lines = [f"{','.join(map(str, row))},{label}\n" for row, label in zip(X, y, strict=True)]
    data.write_text("x0,x1,x2,y\n" + "".join(lines))
    return data


def test_the_checker_refuses_weights_that_add_up_to_very_much(
    contents: dict[str, dict[str, Any]], table: Path, tmp_path: Path
) -> None:
    content = copy.deepcopy(contents["bayes"])
    content["params"]["class_weight"] = {"$dict": [[0, 0.5], [1, 1e300]]}
    with pytest.raises(et.DataError, match=r"weights with fractions add up to"):
        et.verify_model(written(content, tmp_path / "model.json"), table, target="y")


def test_the_checker_refuses_very_many_classes_soon(
    contents: dict[str, dict[str, Any]], table: Path, tmp_path: Path
) -> None:
    content = copy.deepcopy(contents["path"])
    content["classes"] = list(range(100_000))
    path = written(content, tmp_path / "model.json")
    begun = time.process_time()
    with pytest.raises(et.DataError, match=r"model\.json: tree\.counts\[0\]"):
        et.verify_model(path, table, target="y")
    assert time.process_time() - begun < 2


def test_the_checker_reads_very_many_tests_soon(
    contents: dict[str, dict[str, Any]], table: Path, tmp_path: Path
) -> None:
    content = copy.deepcopy(contents["optimal"])
    n = 30_000
    content["tests"] = [{"column": 0, "kind": "threshold", "value": -5 + i / 3000} for i in range(n)]
    content["tree"] |= {"n_tests": n, "test_names": None}
    path = written(content, tmp_path / "model.json")
    begun = time.process_time()
    report = et.verify_model(path, table, target="y", time_limit=0)
    assert not report.ok
    assert time.process_time() - begun < 12


def refusal(path: Path) -> str | None:
    try:
        et.load_model(path)
    except et.EverytreeError as error:
        return str(error)
    return None


def changed(content: Any, rng: np.random.Generator) -> Any:
    """Return the content with something else in one random place."""
    found = copy.deepcopy(content)
    at, steps = found, int(rng.integers(1, 6))
    for _ in range(steps):
        keys = list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else []
        if not keys:
            break
        key = keys[int(rng.integers(len(keys)))]
        if steps == 1 or not isinstance(at[key], dict | list) or not at[key] or rng.random() < 0.3:
            values = [None, -1, 2**70, 1e300, "x", [], {}, True, [[]], "\ud800"]
            at[key] = values[int(rng.integers(len(values)))]
            break
        at = at[key]
    return found


@pytest.mark.parametrize("kind", MADE)
def test_every_error_names_the_file(kind: str, contents: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    rng, path = np.random.default_rng(1), tmp_path / "the model.json"
    texts = [json.dumps(contents[kind])[: int(rng.integers(2, 400))] for _ in range(5)]
    for k in range(120):
        if k < len(texts):
            path.write_text(texts[k], encoding="utf-8")
        else:
            written(changed(contents[kind], rng), path)
        error = refusal(path)
        if error is not None:
            assert str(path) in error
            assert len(error) < 1000 + len(str(path))


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("every", ("members", 0, "weights", 0), 10**30),
        ("every", ("members", 0, "loo_log_loss"), 10**400),
        ("every", ("columns", 0, "fine", "bins"), 10**30),
        ("bayes", ("params", "dirichlet"), 10**400),
        ("path", ("columns", 0, "fill"), 10**30),
        ("optimal", ("params", "time_limit"), 10**400),
        ("optimal", ("params", "bins"), -(10**30)),
        ("path", ("params", "nominal"), -1),
        ("option", ("tree", "log_leaf_open"), True),
        ("calibrated", ("claims", "exponent"), 10**400),
        ("calibrated", ("claims", "loo_log_loss"), 10**400),
    ],
    ids=lambda given: str(given)[:40],
)
def test_values_that_fuzzing_found(
    kind: str, path: tuple[str | int, ...], value: object, contents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """Whole numbers longer than a float holds, and what is no list: answered or refused, and never anything else."""
    content = copy.deepcopy(contents[kind])
    holder: Any = content
    for key in path[:-1]:
        holder = holder[key]
    assert path[-1] in holder or isinstance(path[-1], int)
    holder[path[-1]] = value
    file, (X, y) = written(content, tmp_path / "model.json"), numbers()
    data = tmp_path / "data.csv"
    rows = zip(X.tolist(), y.tolist(), strict=True)
    data.write_text("a,b,c,y\n" + "".join(f"{','.join(map(str, row))},{label}\n" for row, label in rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(et.EverytreeError):
            et.verify_model(file, data, target="y", time_limit=2)
        with contextlib.suppress(et.EverytreeError):
            model = et.load_model(file)
            assert np.isfinite(model.predict_proba(X)).all()
            page_html(model, (X, y), time_limit=0.1)


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part.reverse(),
        lambda part: part.pop(),
        lambda part: part.__setitem__(0, 0.5),
        lambda part: part.__setitem__(0, None),
        lambda part: part.__setitem__(1, "x"),
        lambda part: part.__setitem__(1, {"$type": "UniformPrior", "fields": {"attribute_fair": False}}),
        lambda part: part.__setitem__(2, "1"),
        lambda part: part.__setitem__(2, True),
        lambda part: part.__setitem__(2, None),
    ],
)
def test_parts_of_a_mixture_are_a_prior_dirichlet_parameters_and_a_weight(
    change: Callable[[list[Any]], Any], tmp_path: Path
) -> None:
    X, y = numbers()
    path = tmp_path / "model.json"
    et.BayesOptimalClassifier(max_depth=1, prior="average", dirichlet="average").fit(X, y).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content["claims"]["mixture"][-1])
    with pytest.raises(et.DataError, match=r"model\.json: .*claims"):
        et.load_model(written(content, path))


def test_more_bins_than_a_number_of_the_core_holds() -> None:
    X, y = numbers()
    said = [
        et.BayesOptimalClassifier(max_depth=1, bins=bins, cuts="local").fit(X, y).predict_proba(X)
        for bins in (100, 2**31, 10**30)
    ]
    assert all((other == said[0]).all() for other in said)


@pytest.mark.parametrize("kind", ["optimal", "map"])
@pytest.mark.parametrize(
    "name", ["recipes", "feature_names_in", "n_features_in", "feature_importances", "target_name", "loo_fit"]
)
@pytest.mark.parametrize("value", [0.5, "abc", None])
def test_no_claim_takes_the_place_of_another_field(
    kind: str, name: str, value: object, contents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """With "abc" for the names of three columns, a frame was read by columns a, b and c; with numbers nothing was."""
    content = copy.deepcopy(contents[kind])
    content["claims"][name] = value
    path = written(content, tmp_path / "model.json")
    with pytest.raises(et.DataError, match=rf"model\.json: claims\.'?{name}'? is not a name of a claim"):
        et.load_model(path)


def test_labels_are_those_that_the_file_says(tmp_path: Path) -> None:
    """A dtype that rounds them would answer other labels than are in the file and in the data."""
    X, y = numbers()
    path = tmp_path / "model.json"
    et.BayesOptimalClassifier(max_depth=1).fit(X, np.where(y, 2049.0, 100_001.0)).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["label_dtype"] == "float64"
    written(content | {"label_dtype": "float32"}, path)
    assert et.load_model(path).classes_.tolist() == [2049, 100_001]
    written(content | {"label_dtype": "float16"}, path)
    with pytest.raises(
        et.DataError, match=r"classes\[0\] is 2049.0; as float16, the label_dtype, it would be 2048.0"
    ):
        et.load_model(path)
