"""What is said of a row does not depend on the rows beside it: asked alone, in a batch, or in another order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et

SHORT: dict[type, dict[str, Any]] = {
    et.MCMCTreeClassifier: {"n_draws": 50, "burn_in": 20, "random_state": 0},
    et.EveryTreeClassifier: {"time_limit": 0.5},
    et.OptionTreeClassifier: {"max_nodes": 200},
}
CLASSIFIERS = [
    et.OptimalTreeClassifier,
    et.MAPTreeClassifier,
    et.BayesOptimalClassifier,
    et.MCMCTreeClassifier,
    et.EveryTreeClassifier,
    et.SmoothedTreeClassifier,
    et.OptionTreeClassifier,
    et.PathAverageTreeClassifier,
    et.C45TreeClassifier,
    et.CARTTreeClassifier,
]


def messy(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "count": rng.integers(0, 12, n),
            "rare": np.where(rng.random(n) < 0.9, np.nan, rng.integers(0, 5, n)),
            "colour": pd.Series(rng.choice(["red", "green", "blue", None], n), dtype=object),
            "flag": pd.Series(rng.choice([True, False, None], n, p=[0.5, 0.4, 0.1]), dtype=object),
        }
    )


def cases() -> list[Any]:
    out = []
    for kind in CLASSIFIERS:
        accepted = kind().get_params()
        for missing in ("category", "impute"):
            if "missing" not in accepted and missing == "impute":
                continue
            ways = {"global": ("global", "local"), "average": ("average", "each")}
            for cuts in ways.get(accepted.get("cuts", ""), (None,)):
                out.append(pytest.param(kind, missing, cuts, id=f"{kind.__name__}-{missing}-{cuts}"))
    return out


@pytest.mark.parametrize(("kind", "missing", "cuts"), cases())
def test_a_row_is_answered_as_it_is_among_others(kind: Any, missing: str, cuts: str | None) -> None:
    X, new = messy(90, 0), messy(12, 1)
    new.loc[0, ["size", "rare"]] = np.nan
    new.loc[1, "colour"] = "unseen"
    y = np.random.default_rng(2).integers(0, 3, 90)
    params = {"missing": missing, **({} if cuts is None else {"cuts": cuts}), **SHORT.get(kind, {})}
    params = {name: value for name, value in params.items() if name in kind().get_params()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(**params).fit(X, y)
        together = model.predict_proba(new)
        backwards = model.predict_proba(new.iloc[::-1])[::-1]
        alone = np.vstack([model.predict_proba(new.iloc[[k]]) for k in range(len(new))])
    assert np.abs(backwards - together).max() < 1e-12
    assert np.abs(alone - together).max() < 1e-12
