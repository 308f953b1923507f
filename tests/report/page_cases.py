"""Small tables and fitted classifiers that the tests of the page share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import everytree as et

# Names that try to be markup, to end a string, or to turn the text around.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"quotes\" & 'more' `ticks`",
    "-->]]><!--",
    "\u202eright to left\u202c",
    "عمر المريض",
    "👩‍👩‍👧‍👦 family",
    "line\nbreak\ttab\x00null\x07bell",
    "\u2028separator\u2029",
    "a very long name " * 600,
    "{{7*7}} ${7*7} %s %(x)s",
]


def mixed_table(
    n: int = 90, seed: int = 0, missing: bool = True
) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers, whole numbers, texts, truth values, with or without missing cells; the class depends on some."""
    rng = np.random.default_rng(seed)
    size, age = rng.normal(10, 3, n).round(2), rng.integers(20, 80, n)
    colour, smoker = rng.choice(["red", "green", "blue"], n), rng.random(n) < 0.4
    score = (size > 10).astype(int) + (colour == "red") + (smoker & (age > 50)) + rng.integers(0, 2, n)
    y = np.array(["low", "mid", "high"], dtype=object)[np.clip(score - 1, 0, 2)]
    X = pd.DataFrame(
        {"size": size, "age": age, "colour": colour, "smoker": smoker, "level": rng.integers(0, 2, n)}
    )
    if missing:
        X.loc[rng.random(n) < 0.15, "size"] = np.nan
        X["colour"] = X["colour"].where(rng.random(n) > 0.1, None)
    return X, y


def classifiers(missing: str) -> dict[str, Any]:
    """One of every kind that the page shows, unfitted."""
    common = {"max_depth": 3, "min_leaf": 4, "missing": missing}
    return {
        "optimal": et.OptimalTreeClassifier(leaf_penalty=0, **common),
        "costs": et.OptimalTreeClassifier(class_weight="balanced", **common),
        "map": et.MAPTreeClassifier(**common),
        "bayes": et.BayesOptimalClassifier(**common),
        "average": et.BayesOptimalClassifier(dirichlet="average", max_depth=2, min_leaf=8, missing=missing),
        "compressed": et.CompressedClassifier(et.BayesOptimalClassifier(**common), 0.05),
        "c45": et.C45TreeClassifier(),
        "laplace": et.C45TreeClassifier(laplace=True),
        "path": et.PathAverageTreeClassifier(missing=missing),
        "smoothed": et.SmoothedTreeClassifier(missing="category"),
        "option": et.OptionTreeClassifier(missing="category"),
        "cart": et.CARTTreeClassifier(),
        "mcmc": et.MCMCTreeClassifier(n_draws=100, burn_in=50, n_chains=2, random_state=0, **common),
    }
