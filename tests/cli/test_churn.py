"""Who leaves: the default fit beside a forest on a file of customers of whom 11 % leave, judged on rows not seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from messy import write_messy
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import everytree as et


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rows_are_ranked_as_well_as_by_a_forest(seed: int, tmp_path: Path) -> None:
    data = et.read(write_messy(tmp_path / "customers.csv", 5000, seed=100 + seed), target="churned")
    X, y = data.split("churned")
    leaves = np.asarray(y) == "Yes"
    assert 0.1 < leaves.mean() < 0.13
    train, test = train_test_split(np.arange(5000), test_size=0.5, stratify=leaves, random_state=seed)
    model = et.EveryTreeClassifier(time_limit=10).fit(X.take(train), np.asarray(y)[train])
    ours = model.predict_proba(X.take(test))[:, model.classes_.tolist().index("Yes")]
    Z = numbers(X)
    forest = RandomForestClassifier(500, random_state=0).fit(Z[train], leaves[train])
    theirs = forest.predict_proba(Z[test])[:, 1]
    assert roc_auc_score(leaves[test], ours) >= roc_auc_score(leaves[test], theirs) - 0.01


def numbers(X: et.Dataset) -> np.ndarray:
    """Numbers with gaps filled by the median, and a column for each value of a text, as a forest needs them."""
    found = []
    for column in X.columns.values():
        values = column.values
        if column.kind == "numeric":
            cells = values.astype(float)
            found.append(np.where(np.isnan(cells), np.nanmedian(cells), cells))
        else:
            found += [values == value for value in {v for v in values.tolist() if v is not None}]
    return np.column_stack(found).astype(float)
