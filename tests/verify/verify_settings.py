"""Models of every kind under settings that change what a file holds, on a table with three classes and missing values.

Beside the settings of one kind: rows with weights that have fractions ("weighed"), and tables without missing values.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import everytree as et
from everytree.common.json_text import digest

COSTS = [[0, 1, 2], [1, 0, 1], [3, 1, 0]]
CHAINS: dict[str, Any] = {
    "max_depth": 2, "bins": 2, "n_chains": 2, "n_draws": 12, "burn_in": 20, "thin": 3, "random_state": 0
}  # fmt: skip


def average(**settings: Any) -> et.BayesOptimalClassifier:
    """A small average over every tree."""
    return et.BayesOptimalClassifier(**({"max_depth": 2, "bins": 2} | settings))


def best(**settings: Any) -> et.OptimalTreeClassifier:
    """A small best tree."""
    return et.OptimalTreeClassifier(**({"max_depth": 2, "min_leaf": 4, "bins": 3} | settings))


SETTINGS: dict[str, Callable[[], Any]] = {
    "optimal": best,
    "optimal, impute": lambda: best(missing="impute"),
    "optimal, weighed": best,
    "optimal, balanced": lambda: best(class_weight="balanced"),
    "optimal, all cuts": lambda: best(bins="all"),
    "optimal, cuts by classes": lambda: best(bins="mdl"),
    "optimal, given cuts": lambda: best(bins={"age": [30, 40.5], "pressure": 2}),
    "optimal, local and given cuts": lambda: best(bins={"age": [30, 40.5], "pressure": 2}, cuts="local"),
    "map": lambda: et.MAPTreeClassifier(max_depth=2, bins=2),
    "map, weighed": lambda: et.MAPTreeClassifier(max_depth=2, bins=2),
    "map, impute": lambda: et.MAPTreeClassifier(max_depth=2, bins=2, missing="impute"),
    "bayes, power": lambda: average(power=0.5),
    "bayes, power by left-out examples": lambda: average(power="loo"),
    "bayes, cv": lambda: average(calibrate="cv"),
    "bayes, loo, weighed": lambda: average(calibrate="loo"),
    "bayes, local, weighed": lambda: average(cuts="local", power=0.5, calibrate="loo"),
    "bayes, impute, costs": lambda: average(missing="impute", cost_matrix=COSTS),
    "bayes, limit": lambda: average(max_depth=None, time_limit=0.3),
    "chains, power, cv": lambda: et.MCMCTreeClassifier(power=0.5, calibrate="cv", **CHAINS),
    "chains, weighed": lambda: et.MCMCTreeClassifier(**CHAINS),
    "chains, stack": lambda: et.MCMCTreeClassifier(kernel="stack", **CHAINS),
    "compressed": lambda: et.CompressedClassifier(average(), 0.02),
    "compressed, power, impute": lambda: et.CompressedClassifier(average(power=0.5, missing="impute"), 0.02),
    "compressed, balanced": lambda: et.CompressedClassifier(average(class_weight="balanced"), 0.02),
    "compressed, classes weighed": lambda: et.CompressedClassifier(
        average(class_weight={"ill": 2, "so": 0.5}), 0.02
    ),
    "compressed, local": lambda: et.CompressedClassifier(average(cuts="local"), 0.02),
    "c45, laplace": lambda: et.C45TreeClassifier(laplace=True, binary_splits=True),
    "c45, weighed": et.C45TreeClassifier,
    "cart, balanced": lambda: et.CARTTreeClassifier(folds=3, laplace=True, class_weight="balanced"),
    "cart, weighed": lambda: et.CARTTreeClassifier(folds=3),
    "path average, cv": lambda: et.PathAverageTreeClassifier(calibrate="cv"),
    "path average, impute": lambda: et.PathAverageTreeClassifier(missing="impute", nonuniform="parent"),
    "path average, weighed": et.PathAverageTreeClassifier,
    "path average, laplace": lambda: et.PathAverageTreeClassifier(averaging=False, leaf="laplace"),
    "smoothed, weighed": lambda: et.SmoothedTreeClassifier(max_depth=3),
    "smoothed, map": lambda: et.SmoothedTreeClassifier(max_depth=3, prune="map"),
    "smoothed, cv, fitted": lambda: et.SmoothedTreeClassifier(max_depth=3, calibrate="cv", dirichlet="fit"),
    "smoothed, several trees": lambda: et.SmoothedTreeClassifier(max_depth=3, n_trees=3, random_state=0),
    "option, weighed": lambda: et.OptionTreeClassifier(max_depth=2, max_options=2),
    "option, impute": lambda: et.OptionTreeClassifier(
        max_depth=2, max_options=2, missing="impute", nominal_tests="binary"
    ),
    "every": lambda: et.EveryTreeClassifier(time_limit=None),
    "every, balanced": lambda: et.EveryTreeClassifier(time_limit=None, class_weight="balanced"),
    "every, impute, costs": lambda: et.EveryTreeClassifier(
        time_limit=None, missing="impute", cost_matrix=COSTS
    ),
}


def people(n: int = 60, seed: int = 5) -> pd.DataFrame:
    """Numbers and texts with gaps, weights with fractions, and one of three labels that depends on them, with noise."""
    rng = np.random.default_rng(seed)
    age, pressure = rng.integers(18, 60, n), rng.normal(120, 15, n).round(1)
    color, smoker = rng.choice(["blue", "green, dark", "red"], n), rng.choice(["yes", "no"], n)
    sick = (age > 35).astype(int) + (color == "red") + (rng.random(n) < 0.15)
    frame = pd.DataFrame({"age": age, "pressure": pressure, "color": color, "smoker": smoker})
    for name in ("pressure", "color"):
        frame[name] = frame[name].mask(rng.random(n) < 0.12)
    frame["weight"] = rng.choice([1, 2, 0.5, 1.5], n)
    frame["state"] = np.array(["ill", "so", "well"])[np.minimum(sick, 2)]
    return frame


class Made:
    """A fitted model of one setting, as a file, with its data as a file and what the checker must be told of them."""

    def __init__(self, setting: str, folder: Path) -> None:
        self.data, self.file = folder / "data.csv", folder / "model.json"
        frame = people(24 if setting.startswith("every") else 60)
        self.ways = {"weights": "weight"} if "weighed" in setting else {}
        (frame if self.ways else frame.drop(columns="weight")).to_csv(self.data, index=False)
        frame = pd.read_csv(self.data)
        self.X = frame.drop(columns=["state", *self.ways.values()])
        given = {"sample_weight": frame["weight"]} if self.ways else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            SETTINGS[setting]().fit(self.X, frame["state"], **given).save(self.file)
        self.saved = json.loads(self.file.read_text(encoding="utf-8"))

    def probes(self) -> pd.DataFrame:
        """The rows of training, and rows with other values: also between and beyond those of training."""
        rng = np.random.default_rng(0)
        parts = [self.X.astype({"age": float})]
        for k in range(4):
            mixed = {name: self.X[name].to_numpy()[rng.permutation(len(self.X))] for name in self.X}
            for name in ("age", "pressure"):
                mixed[name] = mixed[name].astype(float) + rng.normal(0, 0.2 + 0.6 * k, len(self.X))
                mixed[name] = np.where(rng.random(len(self.X)) < 0.1, 2 * mixed[name], mixed[name])
            parts.append(pd.DataFrame(mixed).astype(dict(self.X.dtypes) | {"age": float}))
        return pd.concat(parts, ignore_index=True)


def sealed(content: dict[str, Any]) -> None:
    """Write the digests of a file anew, as anybody can."""
    if "digest" in content:
        del content["digest"]
        content["digest"] = digest(content)
    claims = content.get("claims")
    draws = claims.get("draws") if isinstance(claims, dict) else None
    if isinstance(draws, dict) and "fingerprint" in draws:
        rest = {name: value for name, value in draws.items() if name != "fingerprint"}
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
        draws["fingerprint"] = hashlib.sha256(text.encode("ascii")).hexdigest()
