"""Cuts that the classes choose: by description length, and from a boosted ensemble."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import everytree as et
from everytree.data import boosted
from everytree.data.categories import Categorizer
from everytree.data.mdl import mdl_cuts
from everytree.errors import DataError, QueryError
from everytree.verify import verify_model

WORDS = ("mdl", "boosted")


def mixed(seed: int = 0, n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Two numeric columns, one with missing values, one 0/1 and one of text; the class is a stripe of the first."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 50, n), rng.normal(size=n).round(2)
    b[rng.random(n) < 0.2] = np.nan
    frame = pd.DataFrame(
        {"a": a, "b": b, "flag": rng.integers(0, 2, n), "text": rng.choice(["x", "y", "z"], n)}
    )
    return frame, np.where(((a > 15) & (a < 35)) | (b > 1), "in", "out")


def cuts_of(binarizer: et.Binarizer, column: str) -> list[float]:
    return [test.value for test in binarizer.tests_ if test.attribute == column and test.op == "<="]


@pytest.mark.parametrize("word", WORDS)
def test_the_classes_are_needed_and_said_to_be_seen(word: str) -> None:
    X, y = mixed()
    with pytest.raises(
        DataError, match=rf"bins='{word}' chooses cuts by the classes, and y is None .*fit\(X, y\)"
    ):
        et.Binarizer(word).fit(X)
    with pytest.raises(DataError, match="inconsistent numbers"):
        et.Binarizer(word).fit(X, y[1:])
    with pytest.raises(DataError, match=r"chooses cuts once, from all rows.*cuts=\"global\""):
        et.Binarizer(word, cuts="local").fit(X, y)
    assert et.Binarizer(word).fit(X, y).saw_classes_
    assert et.Binarizer({"a": word}).fit(X, y).saw_classes_
    assert not et.Binarizer().fit(X, y).saw_classes_


def test_cuts_by_description_length() -> None:
    X, y = mixed()
    codes = (y == "out").astype(np.intp)
    there = X["b"].notna().to_numpy()
    own = et.Binarizer("mdl").fit(X, y)
    assert cuts_of(own, "a") == mdl_cuts(X["a"].to_numpy(), codes, 2)
    assert cuts_of(own, "b") == mdl_cuts(X["b"].to_numpy()[there], codes[there], 2)
    filled = X["b"].fillna(float(X["b"].mean()))
    assert cuts_of(et.Binarizer("mdl", "impute").fit(X, y), "b") == mdl_cuts(filled.to_numpy(), codes, 2)
    some = et.Binarizer({"a": "mdl", "b": [0.5]}).fit(X, y)
    assert (cuts_of(some, "a"), cuts_of(some, "b")) == (cuts_of(own, "a"), [0.5])
    assert [t.name for t in own.tests_ if t.op != "<="] == [
        "b is missing",
        "flag",
        "text == x",
        "text == y",
        "text == z",
    ]


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_boosted_cuts_lie_between_neighbours_and_find_the_stripe(missing: str) -> None:
    X, y = mixed()
    made = et.Binarizer("boosted", missing).fit(X, y)
    values = np.unique(X["a"])
    assert all(sum(lo <= cut < hi for lo, hi in pairwise(values)) == 1 for cut in cuts_of(made, "a"))
    assert all(cut < X["b"].max() for cut in cuts_of(made, "b"))
    n_cuts = len(cuts_of(made, "a")) + len(cuts_of(made, "b"))
    assert 2 <= n_cuts <= boosted.MOST
    for edge in (15, 34):  # the stripe: no other value lies between its edge and a cut
        assert any(edge <= cut < values[values > edge][0] for cut in cuts_of(made, "a"))


def test_boosted_cuts_depend_neither_on_the_order_of_rows_nor_on_weights_for_repetitions() -> None:
    X, y = mixed(1)
    names = et.Binarizer("boosted").fit(X, y).get_feature_names_out().tolist()
    order = np.random.default_rng(2).permutation(len(y))
    assert et.Binarizer("boosted").fit(X.iloc[order], y[order]).get_feature_names_out().tolist() == names
    times = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = et.Binarizer("boosted").fit(X, y, times)
    repeated = et.Binarizer("boosted").fit(X.loc[X.index.repeat(times)], np.repeat(y, times))
    assert weighted.get_feature_names_out().tolist() == repeated.get_feature_names_out().tolist()


def test_boosted_cuts_of_some_columns_only(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = mixed()
    made = et.Binarizer({"a": "boosted", "b": 2}).fit(X, y)
    assert len(cuts_of(made, "b")) == 1
    assert len(cuts_of(made, "a")) > 1
    monkeypatch.setattr(boosted, "MOST", 2)
    assert cuts_of(et.Binarizer("boosted").fit(X[["a"]], y), "a") == [15.5, 34.5]
    monkeypatch.setattr(boosted, "ROWS", 60)
    assert len(cuts_of(et.Binarizer("boosted").fit(X, y), "a")) <= 2


@pytest.mark.parametrize("word", WORDS)
def test_a_single_class_has_no_cuts(word: str) -> None:
    X, y = mixed()
    made = et.OptimalTreeClassifier(bins=word).fit(X[["a"]], np.zeros(len(y), dtype=int))
    assert made.binarizer_.tests_ == []
    assert made.tree_.n_leaves == 1


def test_codes_empty_columns_and_large_whole_numbers() -> None:
    X, y = mixed()
    X = X.assign(none=np.nan, large=X["a"].astype(np.int64) + 2**60)
    for word in WORDS:
        made = et.Binarizer(word, nominal=["a"]).fit(X, y)
        assert not cuts_of(made, "a")
        assert cuts_of(made, "large")
        assert all(isinstance(cut, int) for cut in cuts_of(made, "large"))
        assert made.transform(X).shape == (len(y), len(made.tests_))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("kind", [et.OptimalTreeClassifier, et.BayesOptimalClassifier, et.MAPTreeClassifier])
def test_classifiers_give_the_classes_and_files_keep_the_cuts(kind: Any, word: str, tmp_path: Path) -> None:
    X, y = mixed()
    made = kind(max_depth=2, bins=word).fit(X, y)
    assert made.binarizer_.saw_classes_
    wanted = et.Binarizer(word).fit(X, y).get_feature_names_out().tolist()
    assert made.binarizer_.get_feature_names_out().tolist() == wanted
    made.save(tmp_path / "model.json", target="class")
    read = et.load_model(tmp_path / "model.json")
    assert read.binarizer_.saw_classes_
    np.testing.assert_array_equal(read.predict_proba(X), made.predict_proba(X))
    X.assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
    assert verify_model(tmp_path / "model.json", tmp_path / "data.csv").ok


@pytest.mark.parametrize("word", WORDS)
def test_leaving_out_is_refused(word: str, tmp_path: Path) -> None:
    X, y = mixed()
    with pytest.raises(QueryError, match=rf"calibrate=\"loo\" with bins='{word}'.*calibrate=\"cv\""):
        et.BayesOptimalClassifier(2, bins=word, calibrate="loo").fit(X, y)
    made = et.BayesOptimalClassifier(2, bins=word).fit(X, y)
    made.save(tmp_path / "model.json")
    space = et.TreeSpace.from_frame(X, y, bins=word, cuts="global", max_depth=2)
    space.table.save(tmp_path / "table.arrow")
    table = et.Table.load(tmp_path / "table.arrow")
    counted = et.BayesOptimalClassifier(2).fit_table(table)
    counted.save(tmp_path / "counted.json")
    for posterior in (
        made.posterior_,
        et.load_model(tmp_path / "model.json").posterior_,
        space.posterior(),
        counted.posterior_,
        et.load_model(tmp_path / "counted.json").posterior_,
    ):
        with pytest.raises(QueryError, match=r"the classes chose the cuts.*cross-validate"):
            posterior.leave_one_out()
    with pytest.raises(QueryError, match="the classes chose the cuts"):
        et.BayesOptimalClassifier(2, calibrate="loo").fit_table(table)
    et.BayesOptimalClassifier(2, calibrate="loo").fit(X, y)


@pytest.mark.parametrize("word", WORDS)
def test_rows_that_are_not_together_are_refused(word: str) -> None:
    X, y = mixed()
    frame = X.assign(label=y)
    with pytest.raises(
        DataError, match=rf"bins='{word}'.*needs all rows in memory, and this counts inside an engine"
    ):
        et.Table.from_frame(pl.from_pandas(frame).lazy(), "label", bins=word)
    with pytest.raises(DataError, match="this counts batch by batch"):
        et.Table.from_chunks([frame], "label", bins=word)
    with pytest.raises(DataError, match="this counts batch by batch"):
        et.BayesOptimalClassifier(2, bins=word).partial_fit(X, y)


def test_a_file_says_only_what_holds(tmp_path: Path) -> None:
    X, y = mixed()
    et.OptimalTreeClassifier(2, bins="mdl").fit(X, y).save(tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    data["encoding"]["saw_classes"] = 1
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match=r"encoding\.saw_classes is 1; expected true"):
        et.load_model(tmp_path / "model.json")


def test_categories_have_no_boosted_cuts() -> None:
    with pytest.raises(DataError, match="'all', 'mdl', or a dict"):
        Categorizer("boosted")._rules.check()
