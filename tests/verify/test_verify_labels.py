"""Labels and weights as data and parameters have them: what is honest is found true."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.verify import InputError, verify_model

MADE: dict[str, Any] = {
    "optimal": lambda **more: et.OptimalTreeClassifier(max_depth=1, bins=2, **more),
    "bayes": lambda **more: et.BayesOptimalClassifier(max_depth=1, bins=2, **more),
    "c45": et.C45TreeClassifier,
    "compressed": lambda **more: et.CompressedClassifier(
        et.BayesOptimalClassifier(max_depth=1, bins=2, **more)
    ),
}


def people(labels: Any) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 60, 60), "color": rng.choice(list("uvw"), 60)})
    ill = (X["age"] > 38) ^ (rng.random(60) < 0.2)
    return X, pd.Series(np.array(labels)[ill.to_numpy().astype(int)], name="state")


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        ([0.0, 1.0], {1: 2, 0: 1}),
        ([0, 1], {1.0: 2, 0.0: 0.5}),
        ([False, True], {1: 3, 0: 1}),
        ([0, 1], {True: 2}),
        ([1, 2**53 + 1], {2**53 + 1: 2}),
        (["1", "1.0"], {"1": 2}),
    ],
    ids=str,
)
def test_weights_of_classes_are_by_equal_labels(
    kind: str, labels: Any, weights: dict[Any, Any], tmp_path: Path
) -> None:
    """Where models learn, 1 and 1.0 are one label; the checker took them for two, and called these files false."""
    X, y = people(labels)
    MADE[kind](class_weight=weights).fit(X, y).save(tmp_path / "model.json", target="state")
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    assert verify_model(tmp_path / "model.json", tmp_path / "data.csv").proved


def test_values_that_no_float_holds(tmp_path: Path) -> None:
    X, y = people(["no", "yes"])
    X["id"] = pd.Categorical(2**60 + X["age"] % 3)
    et.BayesOptimalClassifier(max_depth=1).fit(X, y).save(tmp_path / "model.json")
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    assert verify_model(tmp_path / "model.json", tmp_path / "data.csv").proved


@pytest.mark.parametrize("key", [[], {}, None])
def test_a_weight_of_what_is_no_label(key: Any, tmp_path: Path) -> None:
    X, y = people([0, 1])
    et.C45TreeClassifier(class_weight={1: 2}).fit(X, y).save(tmp_path / "model.json")
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    content = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    content["params"]["class_weight"] = {"$dict": [[key, 2]]}
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InputError, match=r"params\.class_weight is .*; expected a weight for each label"):
        verify_model(tmp_path / "model.json", tmp_path / "data.csv")


def test_draws_of_a_risk_with_weights_that_have_fractions(tmp_path: Path) -> None:
    """The scale is by default the number of examples, which has a fraction then."""
    X, y = people(["no", "yes"])
    chains = {"n_chains": 2, "n_draws": 8, "burn_in": 10, "thin": 2, "random_state": 0}
    model = et.MCMCTreeClassifier(max_depth=2, bins=2, target="risk", class_weight="balanced", **chains)
    model.fit(X, y).save(tmp_path / "model.json")
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert report.ok
    assert report.unchecked == ("draws",)


def test_a_column_with_one_value_and_gaps(tmp_path: Path) -> None:
    """The value takes the place of the gaps; the checker took the column for one of 0 and 1."""
    X, y = people(["no", "yes"])
    X["seven"] = np.where(X.index % 5 == 0, np.nan, 7)
    et.BayesOptimalClassifier(max_depth=1, missing="impute").fit(X, y).save(tmp_path / "model.json")
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    assert verify_model(tmp_path / "model.json", tmp_path / "data.csv").proved


@pytest.mark.parametrize("field", ["yes", "no", "keep", "same"])
@pytest.mark.parametrize("value", [5, None, ["a"]])
def test_recipes_have_the_fields_of_their_kind(field: str, value: Any, tmp_path: Path) -> None:
    X, y = people(["no", "yes"])
    X.assign(paid=[f"${1000 + age:,}" for age in X["age"]], state=y).to_csv(
        tmp_path / "data.csv", index=False
    )
    read = et.read(tmp_path / "data.csv", target="state").split("state")
    et.BayesOptimalClassifier(max_depth=1).fit(*read).save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert [recipe["as"] for recipe in content["recipes"]] == ["number"]
    assert verify_model(tmp_path / "model.json", tmp_path / "data.csv").ok
    changed = copy.deepcopy(content)
    changed["recipes"][0][field] = value
    (tmp_path / "model.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(InputError, match=rf"model\.json: recipes\[0\] has the field '{field}'"):
        verify_model(tmp_path / "model.json", tmp_path / "data.csv")
