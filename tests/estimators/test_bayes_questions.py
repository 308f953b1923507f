"""Questions to a fitted BayesOptimalClassifier in original columns; compressed classifiers and their files."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import everytree as et
from everytree.errors import DataError, QueryError
from everytree.files.rules_file import rules_model_from_dict, rules_model_to_dict


def data(n=80, seed=0, holes=False):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "color": rng.choice(["red", "blue", "green"], n),
            "flag": rng.integers(0, 2, n),
            "same": 3,
        }
    )
    y = np.where((X["age"] > 50) & (X["color"] != "red") | (rng.random(n) < 0.1), "sick", "well")
    if holes:
        X["color"] = X["color"].astype(object).mask(rng.random(n) < 0.2, None)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = data()
    return et.BayesOptimalClassifier(max_depth=2).fit(X, y), X, y


def test_answers_are_those_of_the_posterior(fitted):
    model, X, _ = fitted
    rows, post = model.binarizer_.transform(X), model.posterior_
    lower, upper = model.predict_interval(X, 0.8, n_draws=50, random_state=1)
    expected = post.interval(rows, 0.8, 50, 1)
    assert np.array_equal(lower, expected[0])
    assert np.array_equal(upper, expected[1])
    assert (lower <= upper).all()
    assert np.array_equal(model.moments(X).variance, post.moments(rows).variance)
    np.testing.assert_allclose(model.moments(X).mean, model.predict_proba(X), atol=1e-12)
    assert model.top_trees(3) == post.top_trees(3)
    assert not model.sampling_error(X).any()
    assert model.sampling_error(X).shape == (80, 2)


def test_every_column_has_a_probability(fitted):
    model, X, _ = fitted
    found = model.attribute_inclusion()
    assert list(found) == list(X.columns)
    assert found["same"] == 0
    assert found["age"] > found["flag"]
    listed = model.posterior_.attribute_inclusion()
    assert all(found[name] == p for name, p in listed.items())
    numbers = et.BayesOptimalClassifier(max_depth=1).fit(X[["age", "flag"]].to_numpy(), model.predict(X))
    assert list(numbers.attribute_inclusion()) == ["x0", "x1"]


def test_a_row_in_any_form_is_explained(fitted):
    model, X, _ = fitted
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = model.explain(X.iloc[[5]], top=3)
        assert model.explain(X.iloc[5], top=3) == expected
        assert model.explain(X[5:6], top=3) == expected
    with pytest.warns(UserWarning, match="feature names"):
        assert model.explain(X.iloc[5].tolist(), top=3) == expected
    assert expected.proba == tuple(model.predict_proba(X.iloc[[5]])[0])
    assert any("age" in text for rule in expected.rules for text in rule.conditions)
    with pytest.raises(DataError, match="x has 2 rows; expected one"):
        model.explain(X[:2])


def test_questions_need_a_fitted_model():
    for ask in ("moments", "predict_interval", "explain", "sampling_error"):
        with pytest.raises(NotFittedError):
            getattr(et.BayesOptimalClassifier(), ask)([[1]])
    for ask in ("top_trees", "attribute_inclusion", "compress"):
        with pytest.raises(NotFittedError):
            getattr(et.BayesOptimalClassifier(), ask)()


# --- an average over hyper-parameters


def test_an_average_has_mixed_moments_and_marginals():
    X, y = data()
    model = et.BayesOptimalClassifier(max_depth=2, dirichlet="average").fit(X, y)
    rows, mixed = model.binarizer_.transform(X), model.posterior_
    parts = [one.moments(rows) for one in mixed.posteriors]
    mean = sum(w * m.mean for w, m in zip(mixed.weights, parts, strict=True))
    second = sum(w * m.second for w, m in zip(mixed.weights, parts, strict=True))
    found = model.moments(X)
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.second, second, atol=1e-12)
    np.testing.assert_allclose(found.variance, second - mean**2, atol=1e-12)
    assert (found.between >= 0).all()
    names = model.attribute_inclusion()
    assert names["age"] == pytest.approx(
        sum(w * p.attribute_inclusion()["age"] for w, p in zip(mixed.weights, mixed.posteriors, strict=True))
    )
    for ask in (lambda: model.explain(X[:1]), lambda: model.top_trees(2), lambda: model.compress(0.1)):
        with pytest.raises(QueryError, match='use method="exact" and "fit"'):
            ask()


# --- sampling


def test_sampled_probabilities_have_an_error():
    X, y = data()
    exact = et.BayesOptimalClassifier(max_depth=4, min_leaf=2).fit(X, y)
    model = et.BayesOptimalClassifier(
        max_depth=4, min_leaf=2, method="collapsed", n_draws=300, random_state=0
    )
    model.fit(X, y)
    off = np.abs(model.predict_proba(X) - exact.predict_proba(X))
    error = model.sampling_error(X)
    assert (off < 5 * error + 1e-9).all()
    assert model.log_evidence_ is None
    assert model.n_states_ == 0
    assert model.stop_reason_ == "complete"
    again = clone(model).fit(X, y)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(QueryError, match="only samples trees"):
        model.explain(X[:1])
    with pytest.raises(DataError, match="sampled"):
        model.save("never.json")
    with pytest.raises(QueryError, match="a sample does not tell"):
        model.set_params(prior="fit").fit(X, y)


# --- compressed classifiers


@pytest.mark.parametrize("missing", ["error", "category", "impute"])
def test_a_compressed_classifier_keeps_its_bound_and_its_file(missing, tmp_path):
    X, y = data(holes=missing != "error")
    model = et.BayesOptimalClassifier(max_depth=2, missing=missing).fit(X, pd.Series(y, name="state"))
    new, _ = data(200, seed=1, holes=missing != "error")
    for epsilon in (0.0, 0.01, 0.2):
        small = model.compress(epsilon)
        off = np.abs(small.predict_proba(new) - model.predict_proba(new)).max()
        assert off <= small.bound_ + 1e-12
        assert small.bound_ <= epsilon
        assert small.n_rules_ == small.rules_.n_rules
        small.save(tmp_path / "rules.json")
        loaded = et.load_model(tmp_path / "rules.json")
        assert np.array_equal(loaded.predict_proba(new), small.predict_proba(new))
        assert loaded.predict(new).dtype == small.predict(new).dtype
        assert (loaded.bound_, loaded.epsilon) == (small.bound_, small.epsilon)
        assert (loaded.target_name_, loaded.fingerprint_) == ("state", model.fingerprint_)
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "rules.json").read_bytes()
        assert np.array_equal(pickle.loads(pickle.dumps(small)).predict_proba(new), small.predict_proba(new))


def test_compressing_in_one_step():
    X, y = data()
    average = et.BayesOptimalClassifier(max_depth=2)
    made = et.CompressedClassifier(average, epsilon=0.02).fit(X, y)
    assert made.rules_ == average.fit(X, y).compress(0.02).rules_
    assert not hasattr(made.estimator, "posterior_") or made.estimator is average
    assert "age" in made.to_text()
    assert '"age"' in made.to_sql()
    with pytest.raises(QueryError, match="expected a BayesOptimalClassifier"):
        et.CompressedClassifier(et.MAPTreeClassifier()).fit(X, y)
    with pytest.raises(QueryError, match="epsilon"):
        et.CompressedClassifier(average, epsilon=-1).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version is 2"),
        ({"extra": 1}, "expected the fields"),
        ({"target": 5}, "target is 5"),
        ({"classes": ["a", "b"]}, "rules.classes"),
        ({"rules": {}}, "rules: "),
        ({"tests": []}, "rules are over"),
        ({"encoding": []}, "encoding is"),
        ({"columns": 7}, "columns is 7"),
    ],
    ids=str,
)
def test_a_changed_file_is_refused(change, message, fitted):
    written = rules_model_to_dict(fitted[0].compress(0.05)) | change
    with pytest.raises(DataError, match=message):
        rules_model_from_dict(written)
