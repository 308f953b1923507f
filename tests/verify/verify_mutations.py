"""Small models of every kind, and seeded random edits of single values in their files."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from verify_cases import people

import everytree as et
from everytree.verify import InputError, verify_model

Path_ = tuple[Any, ...]


def gaps(frame: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """The table with some cells missing."""
    rng = np.random.default_rng(seed)
    out = frame.copy()
    out["pressure"] = out["pressure"].mask(rng.random(len(out)) < 0.1)
    out["color"] = out["color"].mask(rng.random(len(out)) < 0.1)
    return out


MADE: dict[str, Callable[[], Any]] = {
    "optimal": lambda: et.OptimalTreeClassifier(max_depth=2, min_leaf=4),
    "map": lambda: et.MAPTreeClassifier(max_depth=2, dirichlet=0.5),
    "map fitted": lambda: et.MAPTreeClassifier(max_depth=2, bins=2, prior="fit", dirichlet="fit"),
    "bayes": lambda: et.BayesOptimalClassifier(max_depth=2, bins=2),
    "bayes fitted": lambda: et.BayesOptimalClassifier(max_depth=2, bins=2, prior="fit", dirichlet="fit"),
    "bayes averaged": lambda: et.BayesOptimalClassifier(max_depth=1, bins=2, dirichlet="average"),
    "bayes calibrated": lambda: et.BayesOptimalClassifier(
        max_depth=2, bins=2, power=0.5, dirichlet="base", calibrate="loo"
    ),
    "compressed": lambda: et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2, bins=2), 0.02),
    "chains": lambda: et.MCMCTreeClassifier(
        max_depth=2, bins=2, n_chains=2, n_draws=12, burn_in=20, thin=3, random_state=0
    ),
    "chains of risk": lambda: et.MCMCTreeClassifier(
        max_depth=2, bins=2, n_chains=2, n_draws=12, burn_in=20, thin=3, random_state=0, target="risk"
    ),
    "c45": lambda: et.C45TreeClassifier(),
    "cart": lambda: et.CARTTreeClassifier(folds=3),
    "path average": lambda: et.PathAverageTreeClassifier(nonuniform=True, missing="category"),
    "smoothed": lambda: et.SmoothedTreeClassifier(max_depth=3, missing="category"),
    "option": lambda: et.OptionTreeClassifier(max_depth=2, max_options=2, missing="category"),
}  # fmt: skip
WITH_GAPS = ("c45", "cart", "path average", "smoothed", "option")


def fitted(kind: str, folder: Path, n: int = 60) -> tuple[Any, Path, Path, pd.DataFrame]:
    """(model, its file, the data, columns of the data)."""
    frame = people(n)
    if kind in WITH_GAPS:
        frame = gaps(frame)
    data, file = folder / "data.csv", folder / "model.json"
    frame.to_csv(data, index=False)
    frame = pd.read_csv(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MADE[kind]().fit(frame.drop(columns="state"), frame["state"])
    model.save(file)
    return model, file, data, frame.drop(columns="state")


def probes(X: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The rows of training, and rows with the values of each column in another order."""
    rng = np.random.default_rng(seed)
    mixed = pd.DataFrame({name: X[name].to_numpy()[rng.permutation(len(X))] for name in X})
    return pd.concat([X, mixed.astype(X.dtypes)], ignore_index=True)


def places(data: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The paths to all plain values."""
    if isinstance(data, dict):
        for key, item in data.items():
            yield from places(item, (*path, key))
    elif isinstance(data, list):
        for k, item in enumerate(data):
            yield from places(item, (*path, k))
    else:
        yield path


def other(value: Any, rng: random.Random) -> Any:
    """A value of the same type that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-2, -1, 1, 2, 7])
    if isinstance(value, float):
        return rng.choice([value * 1.1 + 0.01, value * 0.5, value + 1e-3, value - 0.02, -value, 0.25])
    if isinstance(value, str):
        if value and set(value) <= {"0", "1"}:  # a row of outcomes
            k = rng.randrange(len(value))
            return value[:k] + ("1" if value[k] == "0" else "0") + value[k + 1 :]
        return rng.choice([value + "x", "size", "uniform", "smooth", "none", "1/C"])
    return rng.choice([1, 0.5, "1/C", True])


def edited(saved: dict[str, Any], rng: random.Random) -> tuple[Path_, dict[str, Any]]:
    """The content with one value changed, and where; every part of the file gets its share of the edits."""
    content = copy.deepcopy(saved)
    everywhere = list(places(content))
    groups: dict[Any, list[Path_]] = {}
    for each in everywhere:
        groups.setdefault(tuple(key for key in each[:3] if isinstance(key, str)), []).append(each)
    path = rng.choice(groups[rng.choice(sorted(groups))])
    at: Any = content
    for key in path[:-1]:
        at = at[key]
    before = now = at[path[-1]]
    while now == before and isinstance(now, bool) == isinstance(before, bool):
        now = other(before, rng)
    at[path[-1]] = now
    return path, content


def predictions(file: Path, X: pd.DataFrame) -> Any:
    """What the file predicts, as probabilities and labels; None where it is refused."""
    try:
        model = et.load_model(file)
        return model.predict_proba(X), [str(label) for label in model.predict(X)]
    except et.EverytreeError:
        return None


def tried(kind: str, folder: Path, n_edits: int, seed: int = 0) -> dict[str, Any]:
    """What became of random edits: refused, without effect, caught by verify, or missed (with their places)."""
    _, file, data, X = fitted(kind, folder)
    saved = json.loads(file.read_text(encoding="utf-8"))
    rows = probes(X)
    before = predictions(file, rows)
    rng = random.Random(seed)
    found: dict[str, Any] = {"refused": 0, "no effect": 0, "no effect, ticked": [], "caught": 0, "missed": []}
    for _ in range(n_edits):
        path, content = edited(saved, rng)
        file.write_text(json.dumps(content), encoding="utf-8")
        now = predictions(file, rows)
        if now is None:
            found["refused"] += 1
            continue
        moved = float(np.abs(now[0] - before[0]).max()) if now[0].shape == before[0].shape else 1.0
        try:
            report = verify_model(file, data)
            fine = report.ok
        except InputError:
            fine = False
        if moved <= 1e-9 and now[1] == before[1]:
            found["no effect"] += 1
            if fine:
                found["no effect, ticked"].append(path)
        elif fine:
            found["missed"].append((path, moved))
        else:
            found["caught"] += 1
    return found
