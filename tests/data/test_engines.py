"""The same awkward rows in every engine give the same table, to the last count; or the same refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_frames import ENGINES, SLOW, as_engine, awkward, pl

import everytree as et
from everytree.data.table import Table


def options_of(seed: int, frame: Any) -> dict[str, Any]:
    rng = np.random.default_rng([seed, 1])
    whole = [
        name
        for name, kind in frame.schema.items()
        if kind.is_integer() and name not in ("the label", "how often")
    ]
    return {
        "bins": [2, 4, 7][int(rng.integers(3))],
        "missing": ["category", "impute"][int(rng.integers(2))],
        "nominal": whole[:1] if rng.random() < 0.3 else None,
        "max_categories": 200,
        "weight": "how often" if rng.random() < 0.6 else None,
    }


def in_memory(frame: Any, weight: str | None, **options: Any) -> Table:
    """The table of the same rows by way of the Binarizer alone."""
    weights = None if weight is None else frame[weight].to_numpy()
    kept = frame if weights is None else frame.filter(weights > 0)
    X, labels = kept.drop("the label", "how often"), kept["the label"].to_numpy()
    counts = None if weights is None else weights[weights > 0]
    binarizer = et.Binarizer(**options).fit(X, sample_weight=counts)
    classes, codes = np.unique(labels, return_inverse=True)
    names = binarizer.get_feature_names_out().tolist()
    return Table.from_arrays(
        binarizer.transform(X), codes, len(classes), counts, test_names=names, classes=classes.tolist()
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_table(engine: str) -> None:
    for seed in range(3 if engine in SLOW else 24):
        frame = awkward(seed)
        options = options_of(seed, frame)
        native = as_engine(frame, engine)
        expected = in_memory(pl.from_pandas(native) if engine == "pandas-numpy" else frame, **options)
        columns = [name for name in frame.columns if name not in ("the label", "how often")]
        found = Table.from_frame(native, "the label", columns=columns, **options)
        assert found.test_names == expected.test_names, seed
        assert found.classes == expected.classes, seed
        assert np.array_equal(found.rows, expected.rows), seed
        assert np.array_equal(found.class_counts, expected.class_counts), seed
        assert found.fingerprint() == expected.fingerprint(), seed
        assert found.class_counts.dtype == np.int64
