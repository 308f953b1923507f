"""The Binarizer: which tests it makes, which it drops, what it accepts and what it refuses."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from everytree.data.binarizer import Binarizer, Dropped, Test
from everytree.errors import DataError

HEART = {
    "age": [29, 54, 55, 77, 41, 63, 48, 70],
    "chol": [233.0, 204.5, 250.25, 303.0, 199.0, 260.0, 286.0, 211.0],
    "thal": ["normal", "fixed", "normal", "reversible", "fixed", "reversible", "normal", "normal"],
    "sex": ["male", "female", "male", "male", "female", "female", "male", "female"],
    "smoker": [True, False, False, True, False, True, False, True],
}
HEART_NAMES = [
    "age <= 51",
    "age <= 66.5",
    "chol <= 222",
    "chol <= 273",
    "thal == fixed",
    "thal == normal",
    "thal == reversible",
    "sex == male",
    "smoker",
]


def names(binarizer):
    return binarizer.get_feature_names_out().tolist()


def column(values, dtype=object):
    return np.array(values, dtype=dtype).reshape(-1, 1)


def as_pandas(data):
    return pytest.importorskip("pandas").DataFrame(data)


def as_polars(data):
    return pytest.importorskip("polars").DataFrame(data)


def as_pyarrow(data):
    return pytest.importorskip("pyarrow").table(data)


FRAMES = pytest.mark.parametrize("frame", [as_pandas, as_polars, as_pyarrow])


# --- where the cuts are
# ------------------------------------------------------------------------------------------


def test_all_bins_cut_everywhere():
    binarizer = Binarizer(bins="all").fit([[3.0], [1.0], [2.0], [1.0]])
    assert names(binarizer) == ["x0 <= 1.5", "x0 <= 2.5"]


def test_bins_per_column():
    X = {"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": [1, 2, 3, 4, 5, 6, 8, 7], "c": [8, 1, 7, 2, 6, 3, 5, 4]}
    fitted = Binarizer(bins={"a": 2, "b": [2.5, 7]}).fit(as_pandas(X))
    assert names(fitted) == ["a <= 4.5", "b <= 2.5", "b <= 7", "c <= 2.5", "c <= 4.5", "c <= 6.5"]
    fitted = Binarizer(bins={0: 2, "x1": "all"}).fit(np.array([[1, 1], [2, 3], [3, 2], [4, 4]]))
    assert names(fitted) == ["x0 <= 2.5", "x1 <= 1.5", "x1 <= 2.5", "x1 <= 3.5"]


def test_large_whole_numbers_are_exact():
    big = 2**60
    X = np.array([[big], [big + 1], [big + 2], [big + 3]])
    binarizer = Binarizer().fit(X)
    assert [test.value for test in binarizer.tests_] == [big, big + 1, big + 2]
    assert binarizer.transform(X).tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]]
    unsigned = np.array([[2**64 - 3], [2**64 - 2], [2**64 - 1]], dtype=np.uint64)
    assert Binarizer(bins="all").fit_transform(unsigned).tolist() == [[1, 1], [0, 1], [0, 0]]
    with_gap = column([big, None, big + 1])
    assert Binarizer(bins=2, missing="category").fit_transform(with_gap).tolist() == [[1, 0], [0, 1], [0, 0]]
    assert Binarizer(bins="all", missing="impute").fit_transform(with_gap).sum() == 1


@pytest.mark.parametrize("bins", [3, 8, "all"])
def test_every_test_says_what_it_does(bins):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(200, 3)), 2)
    binarizer = Binarizer(bins=bins).fit(X)
    Z = binarizer.transform(X)
    assert Z.dtype == np.uint8
    assert Z.flags.c_contiguous
    for j, test in enumerate(binarizer.tests_):
        assert np.array_equal(Z[:, j] == 1, X[:, test.column] <= test.value)
        assert test.name == names(binarizer)[j]
    assert binarizer.attributes_.tolist() == [test.column for test in binarizer.tests_]


# --- what each kind of column gives
# ------------------------------------------------------------------------------


@FRAMES
def test_a_mixed_frame(frame):
    X = frame(HEART)
    binarizer = Binarizer(bins=3).fit(X)
    assert names(binarizer) == HEART_NAMES
    Z = binarizer.transform(X)
    assert Z.tolist()[:2] == [[1, 1, 0, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 1, 0, 0, 0, 0]]
    assert binarizer.n_features_in_ == 5
    assert binarizer.feature_names_in_.tolist() == list(HEART)
    assert binarizer.attributes_.tolist() == [0, 0, 1, 1, 2, 2, 2, 3, 4]


def test_object_arrays_and_lists_are_read_column_by_column():
    rows = [list(row) for row in zip(*HEART.values(), strict=True)]
    expected = Binarizer(bins=3).fit_transform(as_pandas(HEART))
    for X in (rows, np.array(rows, dtype=object)):
        binarizer = Binarizer(bins=3).fit(X)
        assert np.array_equal(binarizer.transform(X), expected)
        assert names(binarizer)[0] == "x0 <= 51"
        assert not hasattr(binarizer, "feature_names_in_")


def test_text_arrays_are_nominal():
    assert names(Binarizer().fit(np.array([["a"], ["b"], ["c"]]))) == ["x0 == a", "x0 == b", "x0 == c"]


@dataclass
class FakeColumn:
    name: str
    kind: str
    values: np.ndarray
    categories: tuple | None = None


@dataclass
class FakeDataset:
    columns: dict


def test_a_data_set_with_declared_values():
    data = FakeDataset(
        {
            "age": FakeColumn("age", "numeric", np.array([1.0, 2.0, np.nan, 3.0, 4.0])),
            "size": FakeColumn(
                "size", "nominal", column(["s", "xl", "m", "m", "s"]).ravel(), ("xl", "l", "m", "s")
            ),
            "ok": FakeColumn("ok", "boolean", column([True, None, False, False, True]).ravel()),
        }
    )
    binarizer = Binarizer(bins=2, missing="category").fit(data)
    assert names(binarizer) == ["age <= 2.5", "age is missing", "size == xl", "size == m", "ok"]
    assert {test.name: why.kept.name for test, why in binarizer.dropped_.items()} == {
        "size == s": "ok",
        "ok is missing": "size == xl",
    }


def test_the_readers_of_this_package_fit():
    readers = pytest.importorskip("everytree.data.readers")
    if not hasattr(readers, "Dataset"):
        pytest.skip("everytree.data.readers has no Dataset")
    make = pytest.importorskip("everytree.data.column").Column
    size = make("size", "nominal", column(["s", "xl", "m", "s"]).ravel(), ("xl", "l", "m", "s"))
    assert names(Binarizer().fit(FakeDataset({"size": size}))) == ["size == xl", "size == m", "size == s"]


def test_categories_keep_their_order():
    pd = pytest.importorskip("pandas")
    sizes = pd.Categorical(["s", "xl", "m", "s"], categories=["xl", "l", "m", "s"])
    assert names(Binarizer().fit(pd.DataFrame({"size": sizes}))) == ["size == xl", "size == m", "size == s"]
    pl = pytest.importorskip("polars")
    enum = pl.Series("size", ["s", "xl", "m", "s"], dtype=pl.Enum(["xl", "l", "m", "s"]))
    assert names(Binarizer().fit(pl.DataFrame([enum]))) == ["size == xl", "size == m", "size == s"]


def test_numbers_that_are_codes():
    X = np.array([[3, 0.5], [6, 1.5], [7, 2.5], [3, 3.5]])
    binarizer = Binarizer(bins=2, nominal=[0]).fit(X)
    assert names(binarizer) == ["x0 == 3", "x0 == 6", "x0 == 7", "x1 <= 2"]
    assert binarizer.transform(np.array([[7, 0], [4, 9]])).tolist() == [[0, 0, 1, 1], [0, 0, 0, 0]]
    assert names(Binarizer(nominal=["thal"]).fit(as_pandas({"thal": [3, 7, 3]}))) == ["thal == 7"]


@pytest.mark.parametrize("dtype", [float, int, bool, np.uint8, object, np.float32])
def test_a_matrix_of_zeros_and_ones_passes_unchanged(dtype):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40, 12))
    X[:, 1], X[:, 2], X[:, 3], X[:, 4] = 0, 1, X[:, 0], 1 - X[:, 0]  # constant, duplicate and complement stay
    binarizer = Binarizer().fit(X.astype(dtype))
    assert np.array_equal(binarizer.transform(X.astype(dtype)), X)
    assert names(binarizer) == [f"x{j}" for j in range(12)]
    assert binarizer.dropped_ == {}


# --- what is dropped
# ---------------------------------------------------------------------------------------------


def test_constant_duplicate_and_complementary_tests_are_dropped_with_the_map():
    X = {
        "five": [5, 5, 5, 5],
        "age": [10, 20, 30, 40],
        "months": [120, 240, 360, 480],
        "old": ["no", "no", "yes", "yes"],
        "flag": [1, 1, 0, 0],
        "city": ["x", "x", "x", "x"],
    }
    binarizer = Binarizer(bins=2).fit(as_pandas(X))
    flag = Test("flag", "is", True, 4)
    assert binarizer.tests_ == [flag]
    assert binarizer.dropped_ == {
        Test("five", "<=", 5, 0): Dropped("constant"),
        Test("age", "<=", 25.0, 1): Dropped("duplicate", flag),
        Test("months", "<=", 300.0, 2): Dropped("duplicate", flag),
        Test("old", "==", "yes", 3): Dropped("complement", flag),
        Test("city", "==", "x", 5): Dropped("constant"),
    }


def test_no_two_outputs_are_equal_or_complementary():
    rng = np.random.default_rng(9)
    X = rng.integers(0, 5, (12, 30)).astype(float)
    binarizer = Binarizer(bins="all").fit(X[:, (X > 1).any(axis=0)])
    Z = binarizer.transform(X[:, (X > 1).any(axis=0)])
    patterns = {min(tuple(z), tuple(1 - z)) for z in Z.T.tolist() for z in [np.array(z)]}
    assert len(patterns) == Z.shape[1]
    assert binarizer.dropped_
    for test, why in binarizer.dropped_.items():
        outcome = X[:, (X > 1).any(axis=0)][:, test.column] <= test.value
        kept = Z[:, binarizer.tests_.index(why.kept)] == 1
        assert np.array_equal(outcome, kept if why.reason == "duplicate" else ~kept)


def test_all_constant_leaves_no_test():
    binarizer = Binarizer().fit([[7.5], [7.5]])
    assert binarizer.transform([[7.5], [9.0], [1.0]]).shape == (3, 0)
    assert names(binarizer) == []


# --- missing values
# ----------------------------------------------------------------------------------------------

GAPS = {
    "age": [10.0, None, 30.0, 40.0, 80.0, 20.0],
    "thal": ["a", "b", None, "b", "a", "b"],
    "ok": [True, False, None, True, True, False],
}


@FRAMES
def test_missing_may_be_refused(frame):
    message = (
        r"NaN or other missing values in column 'age' \(1 of 6 rows\), 'thal' .*missing='category'.*'impute'"
    )
    with pytest.raises(DataError, match=message):
        Binarizer(missing="error").fit(frame(GAPS))
    fitted = Binarizer(missing="error").fit(frame({"age": [1.0, 2.0, 3.0]}))
    with pytest.raises(DataError, match=r"'age' \(1 of 2 rows\)"):
        fitted.transform(frame({"age": [1.0, None]}))


@FRAMES
def test_missing_as_a_category(frame):
    X = frame(GAPS)
    binarizer = Binarizer(bins=2, missing="category").fit(X)
    assert names(binarizer) == [
        "age <= 35",
        "age is missing",
        "thal == a",
        "thal == b",
        "thal is missing",
        "ok",
    ]
    assert binarizer.transform(X).tolist() == [
        [1, 0, 1, 0, 0, 1],
        [0, 1, 0, 1, 0, 0],
        [1, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0, 1],
        [0, 0, 1, 0, 0, 1],
        [1, 0, 0, 1, 0, 0],
    ]
    gone = Test("ok", "is", "missing", 2)
    assert binarizer.dropped_ == {gone: Dropped("duplicate", Test("thal", "is", "missing", 1))}


@FRAMES
def test_missing_imputed(frame):
    filled = {
        "age": [10.0, 36.0, 30.0, 40.0, 80.0, 20.0],
        "thal": ["a", "b", "b", "b", "a", "b"],
        "ok": [1, 0, 1, 1, 1, 0],
    }
    by_hand = Binarizer(bins=3).fit(as_pandas(filled))
    binarizer = Binarizer(bins=3, missing="impute").fit(frame(GAPS))
    assert [t.name for t in binarizer.tests_] == [t.name for t in by_hand.tests_]
    assert np.array_equal(binarizer.transform(frame(GAPS)), by_hand.transform(as_pandas(filled)))


@pytest.mark.parametrize("gap", [None, np.nan, float("nan"), np.float32("nan")])
def test_every_sign_of_a_missing_value_in_objects(gap):
    X = np.array([["a", 1.5], [gap, 2.5], ["b", gap]], dtype=object)
    assert names(Binarizer(missing="category").fit(X)) == ["x0 == a", "x0 == b", "x0 is missing"]


def test_pandas_na():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(
        {
            "n": pd.array([1, pd.NA, 2**60, 2**60 + 1], dtype="Int64"),
            "s": pd.array(["a", "b", pd.NA, "c"], dtype="string"),
            "b": pd.array([True, pd.NA, False, True], dtype="boolean"),
            "o": pd.Series([pd.NA, 3, 1, 2], dtype=object),
        }
    )
    binarizer = Binarizer(bins="all", missing="category").fit(X)
    tests = {test: test for test in [*binarizer.tests_, *binarizer.dropped_]}
    assert Test("n", "<=", 2**60, 0) in tests
    assert Test("o", "<=", 1.5, 3) in tests
    assert {"n is missing", "s is missing", "b is missing", "o is missing"} <= {t.name for t in tests}


def test_polars_nan_and_null_are_both_missing():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"x": [1.0, float("nan"), None, 2.0]})
    assert Binarizer(missing="category").fit_transform(X).tolist() == [[1, 0], [0, 1], [0, 1], [0, 0]]


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_a_column_of_nothing_gives_no_test(missing):
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    binarizer = Binarizer(missing=missing).fit(X)
    assert names(binarizer) == ["x1 <= 1.5"]
    assert binarizer.transform([[3.0, 1.0], [None, None]]).shape == (2, 1)


def test_missing_that_first_appears_later_is_false_everywhere():
    X = as_pandas({"x": [1.5, 2.5, 3.5, 4.5], "s": ["a", "b", "a", "a"], "b": [1, 1, 0, 1]})
    binarizer = Binarizer(bins=2, missing="category").fit(X)
    assert names(binarizer) == ["x <= 3", "s == b", "b"]
    assert binarizer.transform(as_pandas({"x": [np.nan], "s": [None], "b": [np.nan]})).tolist() == [[0, 0, 0]]


# --- unknown values
# ----------------------------------------------------------------------------------------------


def test_unseen_categories_make_every_test_false():
    X = as_pandas({"two": ["a", "b", "b", "b"], "three": ["x", "y", "z", "x"]})
    binarizer = Binarizer().fit(X)
    assert names(binarizer) == ["two == b", "three == x", "three == y", "three == z"]
    assert binarizer.transform(as_pandas({"two": ["new"], "three": ["new"]})).sum() == 0


def test_unseen_values_can_be_refused():
    X = as_pandas({"s": ["a", "b"], "flag": [0, 1]})
    binarizer = Binarizer(unknown="error").fit(X)
    with pytest.raises(
        DataError, match=r"column 's' holds values not seen during fit: 'q' \(known: 'a', 'b'\)"
    ):
        binarizer.transform(as_pandas({"s": ["q"], "flag": [0]}))
    with pytest.raises(DataError, match=r"column 'flag' holds values not seen during fit: 2 \(known: 0, 1\)"):
        binarizer.transform(as_pandas({"s": ["a"], "flag": [2]}))
    assert Binarizer().fit(X).transform(as_pandas({"s": ["a"], "flag": [2]})).tolist() == [[1]]


def test_a_column_must_keep_its_kind():
    fitted = Binarizer().fit(as_pandas({"n": [1.5, 2.5], "s": ["a", "b"]}))
    with pytest.raises(DataError, match=r"column 'n' held numbers during fit but holds text.*'oops'"):
        fitted.transform(as_pandas({"n": ["oops"], "s": ["a"]}))
    with pytest.raises(
        DataError, match=r"column 's' held text during fit \(for example 'a'\) but is numeric now"
    ):
        fitted.transform(as_pandas({"n": [1.0], "s": [3]}))


# --- weights
# -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_weights_equal_repetition(missing):
    rng = np.random.default_rng(11)
    for seed in range(20):
        w = np.random.default_rng(seed).integers(0, 4, 40)
        X = np.empty((40, 3), dtype=object)
        X[:, 0], X[:, 1] = rng.normal(size=40), rng.integers(0, 6, 40)
        X[:, 2] = rng.choice(np.array(["a", "b", "c"], dtype=object), 40)
        X[rng.random((40, 3)) < 0.1] = None
        weighted = Binarizer(missing=missing).fit(X, sample_weight=w)
        repeated = Binarizer(missing=missing).fit(np.repeat(X, w, axis=0))
        assert weighted.tests_ == repeated.tests_
        assert weighted.dropped_ == repeated.dropped_
        assert np.array_equal(weighted.transform(X), repeated.transform(X))


def test_some_weight_must_be_left():
    with pytest.raises(DataError, match="zero for every row"):
        Binarizer().fit([[1.0], [2.0]], sample_weight=[0, 0])


# --- the scikit-learn side
# ---------------------------------------------------------------------------------------


def test_output_can_be_a_frame():
    pytest.importorskip("pandas")
    out = Binarizer(bins=3).set_output(transform="pandas").fit_transform(as_pandas(HEART))
    assert list(out.columns) == HEART_NAMES
    out = Binarizer(bins=3).set_output(transform="polars").fit_transform(as_polars(HEART))
    assert out.columns == HEART_NAMES


def test_names_for_unnamed_columns():
    binarizer = Binarizer(bins=2).fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]])
    assert binarizer.get_feature_names_out(["a", "b"])[0] == "a <= 2.5"
    with pytest.raises(DataError, match="input_features should have length equal to number of features"):
        binarizer.get_feature_names_out(["a"])


def test_columns_are_checked_against_training():
    fitted = Binarizer().fit(as_pandas({"a": [1, 2, 3], "b": [3, 1, 2]}))
    with pytest.raises(DataError, match=r"unseen at fit time:\n- c\n.*yet now missing:\n- b"):
        fitted.transform(as_pandas({"a": [1], "c": [1]}))
    with pytest.raises(DataError, match="same order"):
        fitted.transform(as_pandas({"b": [1], "a": [1]}))
    with (
        pytest.raises(DataError, match="X has 3 features, but Binarizer is expecting 2 features as input"),
        pytest.warns(UserWarning, match="does not have valid feature names"),
    ):
        fitted.transform(np.ones((1, 3)))


def test_fitting_again_forgets():
    binarizer = Binarizer().fit(as_pandas(HEART))
    binarizer.fit(np.array([[1.0], [2.0]]))
    assert not hasattr(binarizer, "feature_names_in_")
    assert names(binarizer) == ["x0 <= 1.5"]


def test_a_copy_and_a_pickle_do_the_same():
    binarizer = Binarizer(bins=3, missing="category").fit(as_pandas(HEART))
    again = pickle.loads(pickle.dumps(binarizer))
    assert np.array_equal(again.transform(as_pandas(HEART)), binarizer.transform(as_pandas(HEART)))
    assert clone(binarizer).get_params() == binarizer.get_params()


# --- what is refused
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bins": 1}, "bins=1; expected a number of bins of at least 2"),
        ({"bins": True}, "bins=True"),
        ({"bins": "many"}, "bins='many'"),
        ({"bins": 2.5}, "bins=2.5"),
        ({"bins": {"x0": 0}}, r"bins\['x0'\]=0"),
        ({"bins": {"x0": [np.inf]}}, "finite cut points"),
        ({"bins": {"nope": 3}}, "bins names column 'nope', which is not in X; its 1 columns are 'x0'"),
        ({"missing": "drop"}, "missing='drop' is not known; expected one of 'error', 'category', 'impute'"),
        ({"unknown": "guess"}, "unknown='guess' is not known"),
        ({"nominal": "x0"}, r"expected a list of columns, for example \['x0'\]"),
        ({"nominal": [7]}, "nominal names column 7"),
        ({"max_categories": 0}, "max_categories=0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(DataError, match=message):
        Binarizer(**parameters).fit([[1.0], [2.0]])


def test_identifiers_are_refused():
    X = column([f"id{i}" for i in range(300)])
    with pytest.raises(
        DataError, match=r"'x0' has 300 different values in 300 rows.*drop it.*raise max_categories"
    ):
        Binarizer().fit(X)
    assert Binarizer(max_categories=300).fit(X).transform(X).sum() == 300


@pytest.mark.long
def test_too_large_a_matrix_is_refused():
    X = np.arange(70_000.0).reshape(-1, 1)
    with pytest.raises(DataError, match=r"69999 tests on 70000 rows make \d+ cells.*use fewer bins"):
        Binarizer(bins="all").fit(X)


def test_fit_transform_evaluates_each_test_once(monkeypatch):
    import everytree.data.binarizer as module

    asked = []
    plain = module.outcomes

    def counted(column, encoding):
        asked.append(column.name)
        return plain(column, encoding)

    monkeypatch.setattr(module, "outcomes", counted)
    X = [[1.5, "a", 0], [2.5, "b", 1], [3.5, "c", 1], [4.5, "a", 0]]
    bits = Binarizer().fit_transform(X)
    assert sorted(asked) == ["x0", "x1", "x2"]
    assert np.array_equal(bits, Binarizer().fit(X).transform(X))
    assert bits.flags.c_contiguous
    assert bits.dtype == np.uint8
