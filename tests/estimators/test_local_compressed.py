"""CompressedClassifier of an average whose nodes choose their own cuts: columns, files, languages, the checker."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.estimators.compressed import CompressedClassifier
from everytree.verify.check import verify_model


def examples(seed: int = 0, n: int = 120) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "size": rng.normal(size=n).round(3),
            "color": rng.choice(["red", "green", "blue"], n),
            "kind": rng.choice(["a", "b"], n),
            "smoker": rng.integers(0, 2, n),
        }
    )
    X.loc[rng.random(n) < 0.15, "age"] = np.nan
    X.loc[rng.random(n) < 0.1, "color"] = None
    odds = (X["age"].fillna(40) > 50).astype(int) + (X["color"] == "red") + X["smoker"]
    y = pd.Series(np.where(rng.random(n) < 0.15 + 0.25 * odds, "yes", "no"), name="sick")
    return X, y


@pytest.mark.parametrize("missing", ["category", "impute"])
@pytest.mark.parametrize("bins", [4, "all"])
def test_it_reads_the_columns_and_stays_within_its_bound(bins, missing, tmp_path):
    X, y = examples()
    new, _ = examples(1, 300)
    new.loc[0, "color"] = "unseen"
    model = et.BayesOptimalClassifier(cuts="local", bins=bins, max_depth=3, min_leaf=2, missing=missing)
    model.fit(X, y)
    small = model.compress(0.02)
    exact, said = model.predict_proba(new), small.predict_proba(new)
    assert 0 < small.bound_ <= 0.02
    assert np.abs(exact - said).max() <= small.bound_ + 1e-12
    assert small.binarizer_.cuts == "global"
    fitted = CompressedClassifier(model, 0.02).fit(X, y)
    assert (fitted.predict_proba(new) == said).all()
    assert (pickle.loads(pickle.dumps(small)).predict_proba(new) == said).all()
    small.save(tmp_path / "rules.json")
    read = et.load_model(tmp_path / "rules.json")
    assert (read.predict_proba(new) == said).all()
    assert read.average_["cuts"] == "local"


def test_the_posterior_of_a_frame_gives_rules_that_read_frames():
    X, y = examples()
    space = et.TreeSpace.from_frame(X, y, max_depth=2, min_leaf=3)
    posterior = space.posterior()
    rules = posterior.compress(0.01)
    new, _ = examples(2, 50)
    assert np.abs(rules.predict_proba(new) - posterior.predict_proba(new)).max() <= rules.bound + 1e-12
    assert set(rules.predict(new)) <= {"yes", "no"}
    with pytest.raises(et.DataError, match="how far rows reach; expected the rows themselves"):
        rules.predict_proba(space.rows_of(new))
    # A column that may be missing is not promised to be there.
    words = {
        words for rule in posterior.compress(0.0).rules for words in rule.conditions if words[:5] == "age >"
    }
    assert words
    assert all(each.endswith("or missing") for each in words)
    single = et.TreeSpace.from_frame(X[["kind"]], ["same"] * len(X), max_depth=2).posterior().compress(0.1)
    assert single.n_rules == 0


def test_the_checker_says_what_it_cannot_check(tmp_path):
    X, y = examples()
    X.assign(sick=y).to_csv(tmp_path / "data.csv", index=False)
    model = et.BayesOptimalClassifier(cuts="local", bins=4, max_depth=2, min_leaf=2, missing="category")
    small = model.fit(X, y).compress(0.02)
    small.save(tmp_path / "rules.json")
    found = {fact.name: fact for fact in verify_model(tmp_path / "rules.json", tmp_path / "data.csv").facts}
    assert found["bound"].verdict == found["fingerprint"].verdict == "not checked"
    assert "chose their own cuts" in found["bound"].note
    assert found["floor"].verdict == "true"


def test_other_languages_ask_the_cuts_of_the_rules():
    X, y = examples()
    model = et.BayesOptimalClassifier(cuts="local", bins=4, max_depth=2, min_leaf=2, missing="category")
    small = model.fit(X, y).compress(0.02)
    names: dict[str, Any] = {}
    exec(small.to_python(), names)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    for row, proba in zip(rows, small.predict_proba(X), strict=True):
        assert names["predict_proba"](row) == pytest.approx(proba, abs=1e-12)
    # Rules of local cuts take the Binarizer of the model for their own.
    posterior_rules = model.posterior_.compress(0.02)
    assert posterior_rules.over(model.binarizer_).form == small.portable()
