"""The estimator base: labels, names, weights, mixed columns, and the messages for what cannot work."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from greedy import GreedyTree
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from everytree.data.binarizer import Binarizer
from everytree.data.table import Table
from everytree.errors import DataError
from everytree.estimators.base import TreeClassifierBase

PREDICTIONS = ("predict", "predict_proba", "predict_log_proba")


def heart(n=60, seed=0):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    age = rng.integers(29, 78, n)
    thal = rng.choice(np.array(["normal", "fixed", "reversible"], dtype=object), n)
    smoker = rng.random(n) < 0.5
    y = np.where((age > 50) & (thal != "normal"), "sick", "well")
    return pd.DataFrame({"age": age, "thal": thal, "smoker": smoker}), y


def numeric(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_a_mixed_frame_is_learned():
    X, y = heart()
    model = GreedyTree(bins=8).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.feature_names_in_.tolist() == ["age", "thal", "smoker"]
    assert model.n_features_in_ == 3
    assert "thal == normal" in model.binarizer_.get_feature_names_out()
    assert model.table_.test_names == tuple(model.binarizer_.get_feature_names_out())
    assert model.table_.classes == ("sick", "well")
    assert model.table_.total == 60


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_every_data_frame_gives_the_same(library):
    X, y = heart()
    expected = GreedyTree().fit(X, y).predict_proba(X)
    if library != "pandas":
        module = pytest.importorskip(library)
        data = {name: X[name].tolist() for name in X}
        X = module.DataFrame(data) if library == "polars" else module.table(data)
        y = module.Series(y.tolist()) if library == "polars" else module.array(y.tolist())
    assert np.array_equal(GreedyTree().fit(X, y).predict_proba(X), expected)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([3, 7]),
        np.array([3, 7], dtype=object),
        np.array([False, True]),
        np.array([False, True], dtype=object),
        np.array([1.0, 2.0]),
        np.array([-1, 1], dtype=np.int8),
    ],
    ids=lambda labels: f"{labels.dtype}-{labels[1]}",
)
def test_labels_of_any_type(labels):
    X, codes = numeric()
    model = GreedyTree().fit(X, labels[codes])
    assert model.classes_.tolist() == labels.tolist()
    predicted = model.predict(X)
    assert predicted.tolist() == model.classes_[model.predict_proba(X).argmax(axis=1)].tolist()
    assert set(map(type, predicted.tolist())) <= {type(labels.tolist()[0])}


def test_pandas_and_column_labels():
    pd = pytest.importorskip("pandas")
    X, codes = numeric()
    text = np.array(["no", "yes"])[codes]
    for y in (
        pd.Series(text),
        pd.Series(text, dtype="category"),
        pd.Series(text, dtype="string"),
        text.tolist(),
    ):
        assert GreedyTree().fit(X, y).classes_.tolist() == ["no", "yes"]

    class Column:
        kind, categories, values = "nominal", ("yes", "no"), text.astype(object)

    assert GreedyTree().fit(X, Column()).classes_.tolist() == ["no", "yes"]


def test_three_classes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = GreedyTree(bins=8).fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (200, 3)
    assert np.allclose(proba.sum(axis=1), 1)
    assert np.allclose(np.exp(model.predict_log_proba(X)), proba)
    assert model.score(X, y) > 0.9


def test_a_probability_of_zero_has_a_quiet_logarithm(recwarn):
    class Certain(GreedyTree):
        def _predict_proba_tests(self, X01):
            return np.tile([1.0, 0.0], (X01.shape[0], 1))

    X, y = numeric()
    assert Certain().fit(X, y).predict_log_proba(X[:1]).tolist() == [[0.0, -np.inf]]
    assert not recwarn.list


def test_a_subclass_may_predict_by_its_own_rule():
    class Contrary(GreedyTree):
        def _predict_codes_tests(self, X01):
            return 1 - super()._predict_codes_tests(X01)

    X, y = numeric()
    assert np.array_equal(Contrary().fit(X, y).predict(X), 1 - GreedyTree().fit(X, y).predict(X))


def test_one_class_is_a_single_leaf():
    X, _ = numeric()
    model = GreedyTree().fit(X, ["only"] * 40)
    assert model.classes_.tolist() == ["only"]
    assert set(model.predict(X)) == {"only"}
    assert model.predict_proba(X).tolist() == [[1.0]] * 40


def test_constant_columns_leave_a_single_leaf():
    model = GreedyTree().fit(np.full((4, 2), 7.5), [0, 0, 0, 1])
    assert model.table_.n_tests == 0
    assert model.predict([[1.0, 2.0]]).tolist() == [0]


def test_weights_equal_repetition_and_zero_is_absence():
    X, y = heart()
    y[0] = "rare"
    w = np.random.default_rng(3).integers(0, 4, 60)
    w[0] = 0
    weighted = GreedyTree().fit(X, y, sample_weight=w)
    repeated = GreedyTree().fit(X.loc[X.index.repeat(w)], np.repeat(y, w))
    assert weighted.classes_.tolist() == repeated.classes_.tolist() == ["sick", "well"]
    assert weighted.table_ == repeated.table_
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("method", PREDICTIONS)
def test_prediction_needs_a_fit(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(GreedyTree(), method)("not even data")


@pytest.mark.parametrize("method", PREDICTIONS)
def test_new_rows_are_checked(method):
    X, y = heart()
    predict = getattr(GreedyTree().fit(X, y), method)
    for bad, message in (
        (X[["age", "thal"]], "yet now missing:\n- smoker"),
        (X[["thal", "age", "smoker"]], "same order"),
        (X.assign(age=np.nan), r"'age' \(60 of 60 rows\).*missing='category'"),
        (X.assign(age="old"), "held numbers during fit but holds text"),
        (X.iloc[:0], r"0 sample\(s\)"),
    ):
        with pytest.raises(DataError, match=message):
            predict(bad)
    X, y = numeric()
    predict = getattr(GreedyTree().fit(X, y), method)
    with pytest.raises(DataError, match="X has 2 features, but GreedyTree is expecting 3 features as input"):
        predict(X[:, :2])


def test_unseen_categories_are_predicted_or_refused():
    X, y = heart()
    new = X.iloc[:2].assign(thal="never seen")
    assert GreedyTree().fit(X, y).predict(new).shape == (2,)
    with pytest.raises(DataError, match="column 'thal' holds values not seen during fit: 'never seen'"):
        GreedyTree(unknown="error").fit(X, y).predict(new)


def test_missing_values_follow_the_parameter():
    X, y = heart()
    X = X.astype({"age": float})
    X.loc[::5, "age"] = np.nan
    X.loc[::7, "thal"] = None
    with pytest.raises(
        DataError, match=r"NaN or other missing values in column 'age' \(12 of 60 rows\), 'thal'"
    ):
        GreedyTree().fit(X, y)
    for missing in ("category", "impute"):
        model = GreedyTree(missing=missing).fit(X, y)
        assert model.score(X, y) > 0.7
        assert model.__sklearn_tags__().input_tags.allow_nan
    assert not GreedyTree().__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([0, 1], "inconsistent numbers of samples: 40 rows in X and 2 labels in y"),
        (np.linspace(0, 1, 40), "Unknown label type: continuous. y holds fractions"),
        ([np.nan] * 40, "Input y contains NaN or None: 40 of 40"),
        (["a", None] * 20, "Input y contains NaN or None: 20 of 40"),
        ([np.inf] * 40, "y contains infinity"),
        (np.array(["a", 1] * 20, dtype=object), "Unknown label type: y holds objects of type int, str"),
        (np.array([{}] * 40, dtype=object), "objects of type dict"),
        (np.zeros((40, 2)), r"y has shape \(40, 2\); expected one label per row.*one classifier per target"),
        (np.zeros(40, dtype="datetime64[D]"), "Unknown label type: datetime64"),
        (np.zeros(40, dtype=complex), "Unknown label type: complex"),
    ],
)
def test_bad_labels_are_refused(y, message):
    X, _ = numeric()
    with pytest.raises(DataError, match=message):
        GreedyTree().fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, np.nan), "NaN or infinity; give every row a finite weight"),
        (np.full(40, -0.5), "must not be negative, but holds -0.5"),
        (np.full(40, 1e-320), "divide the weights by a common factor, or round them"),
        (np.full(40, -1), "must not be negative"),
        (np.zeros(40), "sample_weight is zero for every row"),
        (np.ones(3), "one weight per row"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    X, y = numeric()
    with pytest.raises(DataError, match=message):
        GreedyTree().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), r"0 sample\(s\)"),
        (np.zeros((40, 0)), r"0 feature\(s\)"),
        (sparse.csr_array(np.eye(40)), "sparse input is not supported"),
        (np.full((40, 1), np.nan), "missing='category'"),
        (np.full((40, 1), np.inf), r"infinity \(inf\)"),
        (np.zeros(40), "Reshape your data"),
    ],
)
def test_bad_data_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        GreedyTree().fit(X, [0, 1] * 20)


def test_bad_encoding_parameters_are_refused_at_fit():
    X, y = numeric()
    with pytest.raises(DataError, match="bins=1"):
        GreedyTree(bins=1).fit(X, y)


def test_only_parameters_of_the_binarizer_are_passed_on():
    assert (
        GreedyTree(bins=7, missing="impute").new_binarizer().get_params()
        == Binarizer(7, "impute").get_params()
    )


def test_the_base_alone_cannot_be_built():
    with pytest.raises(TypeError, match="abstract"):
        TreeClassifierBase()


def test_it_works_where_scikit_learn_does():
    X, y = heart(200)
    assert cross_val_score(GreedyTree(bins=8), X, y, cv=5).mean() > 0.85
    model = GreedyTree().fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert "GreedyTree" in model._repr_html_()


def test_the_fingerprint_is_computed_when_asked_for(monkeypatch):
    X, y = heart()
    asked = []
    plain = Table.fingerprint
    monkeypatch.setattr(Table, "fingerprint", lambda table: asked.append(1) or plain(table))
    model = GreedyTree(bins=8)
    assert not hasattr(model, "fingerprint_")
    first = model.fit(X, y)._counted.fingerprint()
    asked.clear()
    model.fit(X, y).predict(X)
    assert asked == []
    assert model.fingerprint_ == model.fingerprint_ == first
    assert asked == [1]
    assert model.fit(X, y[::-1]).fingerprint_ != first


def test_a_copy_has_the_fingerprint_and_not_the_examples():
    X, y = heart()
    model = GreedyTree(bins=8).fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    assert "_counted" not in vars(copied)
    assert copied.fingerprint_ == model.fingerprint_
