"""Parameters in model files: what no classifier would take is refused by ``load_model``, by the name of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.common.fields import sealed
from everytree.verify import InputError

FRAME = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "c": list("uvuu") * 5})
LABELS = pd.Series(list("xxyy") * 5, name="y")
MADE = [
    lambda: et.OptimalTreeClassifier(max_depth=2),
    lambda: et.MAPTreeClassifier(max_depth=2),
    lambda: et.BayesOptimalClassifier(max_depth=2),
    et.C45TreeClassifier,
    et.CARTTreeClassifier,
    et.PathAverageTreeClassifier,
    et.SmoothedTreeClassifier,
    et.OptionTreeClassifier,
]


def saved(model: Any, file: Path, name: str, value: Any) -> None:
    model.fit(FRAME, LABELS).save(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    content["params"][name] = value
    if content.pop("digest", None) is not None:
        content = sealed(content)
    file.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(
    ("name", "value"),
    [("min_leaf", ""), ("min_branch", 0), ("folds", 1), ("max_depth", -1), ("time_limit", "soon"), ("bins", "zzz"),
     ("class_weight", 3), ("memory_limit", 0), ("cuts", "here"), ("alpha", "a"), ("nominal", "c"), ("beam", 0.5),
     ("criterion", "x"), ("criterion", None), ("strategy", "quick"), ("prior", "flat"), ("prior", "fit_all"),
     ("prior", [1]), ("dirichlet", "x"), ("dirichlet", 0), ("dirichlet", [1, None]), ("dirichlet", {}), ("rule", 1),
     ("risk", ""), ("leaf", "x"), ("missing", []), ("nominal_tests", "two"), ("prune", "all"), ("method", "x"),
     ("nonuniform", "x"), ("laplace", "false"), ("laplace", None), ("prune_prior", {"a": 1}), ("random_state", -1)],
)  # fmt: skip
def test_a_parameter_that_no_classifier_takes(made: Any, name: str, value: Any, tmp_path: Path) -> None:
    model, file = made(), tmp_path / "model.json"
    if name not in model.get_params(deep=False):
        pytest.skip(f"no parameter {name}")
    saved(model, file, name, value)
    if not isinstance(model.get_params(deep=False)[name], str) and name in ("leaf", "prune"):
        pytest.skip(f"{name} is no word here")
    with pytest.raises(et.DataError, match=rf"model\.json: .*{name}"):
        et.load_model(file)


@pytest.mark.parametrize("made", MADE)
def test_defaults_and_what_fit_takes_stay(made: Any, tmp_path: Path) -> None:
    model, file = made(), tmp_path / "model.json"
    for name, value in (("class_weight", {"x": 2}), ("min_leaf", 2), ("time_limit", 5), ("nominal", ["c"])):
        if name in model.get_params(deep=False):
            saved(type(model)(**{name: value}), file, name, value if name != "class_weight" else "balanced")
            et.load_model(file)


TAKEN: dict[str, list[Any]] = {
    "n_jobs": [-2, -1, 2, np.int64(2)], "bins": [np.int64(3), "mdl", "all", {"a": 3}, [0.0, 2.0]], "cuts": ["local"],
    "random_state": [np.int64(3)], "min_leaf": [np.int64(2)], "max_depth": [np.int64(2), 0, None],
    "time_limit": [5, np.float64(5)], "memory_limit": [10**9, 1e9], "alpha": [0, np.float32(0.5)], "beta": [0],
    "nominal": [[0], np.array([0]), ("a",)], "class_weight": ["balanced", {"x": 1, "y": np.float64(2)}],
    "missing": ["impute", "error"], "folds": [2],
    "dirichlet": ["1/C", [1.0, 2.0], "base", "fit_decay", et.BaseRate(2.0)],
    "prior": ["uniform", "fit", "average_size", "loo_leaf_penalty", et.CodingPrior()],
    "criterion": ["gini", "entropy", "quality", "bayes", "gain_ratio"], "prune": [True, False, "bayes", "cost", None],
    "lookahead": [2], "max_options": [3], "option_factor": [0.5], "beam": [2], "se": [0], "rule": ["0-SE"],
    "unknown": ["error"], "leaf_penalty": [0.0, 0.01], "max_leaves": [4], "minimize": [("gini", "size")],
    "strategy": ["simple", "closed"], "split_pure": [True], "averaging": [True], "nominal_tests": ["binary"],
    "power": [0.5, "fit"], "laplace": [True, 1, np.False_], "nonuniform": [True, "parent"], "leaf": ["laplace"],
    "prune_prior": ["size", et.SizePrior()], "risk": ["impurity"], "method": ["collapsed"],
}  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_what_fit_takes_is_read_again(made: Any, tmp_path: Path) -> None:
    kind, read = type(made()), 0
    for name, value in ((name, value) for name, values in TAKEN.items() for value in values):
        if name not in kind().get_params(deep=False):
            continue
        model = kind(**{"max_depth": 2, name: value} if "max_depth" in kind().get_params() else {name: value})
        try:
            model.fit(FRAME, LABELS).save(tmp_path / "model.json")
        except et.EverytreeError:  # of another classifier, or not of this one alone
            continue
        again = et.load_model(tmp_path / "model.json").predict_proba(FRAME)
        assert np.allclose(again, model.predict_proba(FRAME)), (name, value)
        read += 1
    assert read > 5


@pytest.mark.parametrize("made", [et.C45TreeClassifier, et.CARTTreeClassifier])
@pytest.mark.parametrize("value", ["false", "", None, 2, [True]])
def test_a_text_is_no_truth_value(made: Any, value: Any, tmp_path: Path) -> None:
    with pytest.raises(et.QueryError, match=r"laplace=.*; expected True or False"):
        made(laplace=value).fit(FRAME, LABELS)
    FRAME.assign(y=LABELS).to_csv(tmp_path / "data.csv", index=False)
    saved(made(), tmp_path / "model.json", "laplace", value)
    with pytest.raises(InputError, match=r"params\.laplace is .*; expected true or false"):
        et.verify_model(tmp_path / "model.json", tmp_path / "data.csv")


def test_a_prior_of_the_folding_that_is_none() -> None:
    with pytest.raises(et.QueryError, match="prune_prior="):
        et.SmoothedTreeClassifier(prune_prior=[1]).fit(FRAME, LABELS)
