"""Tables counted inside an engine are those of the same rows in memory: same tests, same counts, on every engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_frames import as_engine

import everytree as et
from everytree.data.cuts import distinct_numbers
from everytree.data.quantiles import Ranges, exact_cuts
from everytree.data.shortened import choose_cuts
from everytree.data.table import Table
from everytree.errors import DataError, LimitReached

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

ENGINES = ["polars", "polars-eager", "arrow", "pandas", "duckdb"]


def mixed(seed: int, holes: bool, n: int = 200) -> Any:
    """Columns of every kind, some of them constant, equal or complementary, with repeated rows."""
    rng = np.random.default_rng(seed)

    def with_holes(values: list[Any]) -> list[Any]:
        return [None if holes and rng.random() < 0.1 else value for value in values]

    few = rng.integers(0, 4, n)
    real = np.round(rng.normal(size=n), int(rng.integers(0, 4)))
    columns = {
        "real": with_holes(real.tolist()),
        "small": with_holes((rng.integers(-3, 9, n)).tolist()),
        "skewed": with_holes((np.exp(rng.normal(0, 6, n))).tolist()),
        "large": with_holes((rng.integers(0, 5, n) + 2**60).tolist()),
        "flag": with_holes((few % 2).tolist()),
        "truth": with_holes((few > 1).tolist()),
        "text": with_holes(np.array(["b", "a", "é", "d"])[few].tolist()),
        "two": with_holes(np.where(few > 1, "yes", "no").tolist()),
        "same": ["x"] * n,
        "seven": [7] * n,
        "code": with_holes((few * 10).tolist()),
        "ones": with_holes(np.where(few > 2, 1.0, 0.0).tolist()),
    }
    y = np.where(rng.random(n) < 0.2 + 0.15 * few, "ill", "well")
    frame = pl.DataFrame(columns, schema_overrides={"large": pl.Int64}, strict=False)
    return frame.with_columns(pl.Series("y", y.tolist()), pl.Series("w", rng.integers(0, 4, n)))


def in_memory(frame: Any, weight: str | None, **options: Any) -> tuple[Any, Table]:
    X = frame.drop("y", "w")
    weights = None if weight is None else frame[weight].to_numpy()
    binarizer = et.Binarizer(**options).fit(X, sample_weight=weights)
    labels = frame["y"].to_numpy()
    if weights is not None:
        X, labels, weights = X.filter(weights > 0), labels[weights > 0], weights[weights > 0]
    classes, codes = np.unique(labels, return_inverse=True)
    return binarizer, Table.from_arrays(
        binarizer.transform(X),
        codes,
        len(classes),
        weights,
        test_names=binarizer.get_feature_names_out().tolist(),
        classes=classes.tolist(),
    )


def assert_same(table: Table, expected: Table, binarizer: Any) -> None:
    assert table.test_names == expected.test_names
    assert table == expected
    made = table.binarizer
    assert made is not None
    assert made.tests_ == binarizer.tests_
    assert made.dropped_ == binarizer.dropped_
    assert [(e.kind, e.fill, e.codes) for e in made.encodings_] == [
        (e.kind, e.fill, e.codes) for e in binarizer.encodings_
    ]
    assert made.feature_names_in_.tolist() == binarizer.feature_names_in_.tolist()


OPTIONS = [
    {"bins": 2},
    {"bins": 4, "missing": "category"},
    {"bins": 5, "missing": "impute"},
    {"bins": {"real": [-0.5, 0.5], "small": "all", "large": 3}, "missing": "category", "nominal": ["code"]},
    {"bins": "all", "missing": "impute", "nominal": ["code", "flag", "truth", "ones"]},
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_the_table_of_memory(engine: str, options: dict[str, Any]) -> None:
    for seed, weight in ((0, None), (1, "w")):
        frame = mixed(seed, options.get("missing", "error") != "error")
        binarizer, expected = in_memory(frame, weight, **options)
        given = frame if weight else frame.drop("w")
        table = Table.from_frame(as_engine(given, engine), "y", weight=weight, **options)
        assert_same(table, expected, binarizer)


def test_missing_numbers_are_null_and_nan_alike() -> None:
    frame = pl.DataFrame({"a": [1.0, float("nan"), None, 2.0], "y": [0, 1, 1, 0]})
    table = Table.from_frame(frame.lazy(), "y", missing="category")
    assert table.test_names == ("a <= 1.5", "a is missing")
    assert table.class_counts.tolist() == [[1, 0], [0, 2], [1, 0]]


@pytest.mark.parametrize("engine", ["polars-eager", "polars", "arrow", "pandas"])
def test_declared_order_of_categories(engine: str) -> None:
    frame = pl.DataFrame({"size": ["s", "l", "m", "s"], "y": [1, 0, 0, 1]}).with_columns(
        pl.col("size").cast(pl.Enum(["s", "m", "l", "never"]))
    )
    table = Table.from_frame(as_engine(frame, engine), "y")
    assert table.test_names == ("size == s", "size == m", "size == l")


def test_declared_order_of_an_enum_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
    rows = "(VALUES ('s', 1), ('l', 0), ('m', 0), ('s', 1)) AS t(size, y)"
    frame = duckdb.connect(":memory:").sql(
        f"SELECT size::ENUM('s', 'm', 'l', 'never') AS size, y FROM {rows}"
    )
    assert Table.from_frame(frame, "y").test_names == ("size == s", "size == m", "size == l")


def test_categories_that_are_numbers() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"grade": pd.Categorical([3, 1, 2, 3], categories=[3, 2, 1]), "y": list("abab")})
    table = Table.from_frame(frame, "y")
    binarizer = et.Binarizer().fit(frame[["grade"]])
    assert list(table.test_names or ()) == binarizer.get_feature_names_out().tolist()


@pytest.mark.parametrize("seed", range(40))
def test_cuts_from_ranges(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of values, refined where it matters, give the cuts of all values: for any way to split ranges."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr("everytree.data.quantiles.FEW", int(rng.integers(1, 30)))
    values = rng.choice([np.round(rng.normal(size=400), 1), np.exp(rng.normal(0, 20, 400))])
    values = np.concatenate([values, np.repeat(values[:3], rng.integers(0, 300, 3))])
    points, counts = distinct_numbers(values, None)
    asked = []

    def ask(low: Any, high: Any, plain: bool) -> Ranges:
        asked.append(plain)
        inside = (points >= low) & (points <= high)
        held, n = points[inside], counts[inside]
        if plain:
            return Ranges(held, held, n)
        starts = np.unique(np.concatenate([[0], rng.integers(1, held.size, 3)]))
        ends = np.append(starts[1:], held.size) - 1
        return Ranges(held[starts], held[ends], np.add.reduceat(n, starts))

    for bins in (2, 3, 4, 10, 50):
        found = exact_cuts(ask, points[0], points[-1], int(counts.sum()), bins)
        assert found == choose_cuts(points, counts, bins)
    assert not all(asked)


def test_shuffled_split_and_merged() -> None:
    frame = mixed(5, False, 400)
    whole = Table.from_frame(frame.lazy(), "y", columns=["real", "small", "text", "flag"])
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    assert Table.from_frame(shuffled.lazy(), "y", columns=["real", "small", "text", "flag"]) == whole
    parts = [Table.from_frame(shuffled[i::3], "y", like=whole) for i in range(3)]
    merged = parts[0] + parts[1] + parts[2]
    assert merged == whole
    assert merged.binarizer is whole.binarizer
    model = et.OptimalTreeClassifier(max_depth=2).fit_table(merged)
    again = et.OptimalTreeClassifier(max_depth=2).fit_table(whole)
    assert model.tree_ == again.tree_


@pytest.mark.parametrize(
    "made",
    [
        et.OptimalTreeClassifier(max_depth=2, missing="category", bins=4),
        et.BayesOptimalClassifier(max_depth=2, missing="category"),
        et.MAPTreeClassifier(max_depth=2, missing="category"),
    ],
)
def test_models_of_tables_are_models_of_rows(made: Any, tmp_path: Any) -> None:
    from sklearn.base import clone

    frame = mixed(7, True)
    X, y = frame.drop("y", "w"), frame["y"]
    rows = clone(made).fit(X, y.to_numpy())
    model = clone(made).fit_table(Table.from_frame(frame.drop("w").lazy(), "y", missing="category"))
    assert model.fingerprint_ == rows.fingerprint_
    assert model.classes_.tolist() == rows.classes_.tolist()
    assert model.target_name_ == "y"
    assert np.array_equal(model.predict_proba(X), rows.predict_proba(X))
    model.save(tmp_path / "model.json")
    assert np.array_equal(et.load_model(tmp_path / "model.json").predict_proba(X), rows.predict_proba(X))


def test_tables_of_plain_tests_and_absent_classes() -> None:
    table = Table([[0, 1], [1, 1], [1, 0]], [[0, 2, 0], [0, 0, 3], [0, 1, 0]], classes=["c", "b", "a"])
    model = et.OptimalTreeClassifier(max_depth=2, leaf_penalty=0).fit_table(table)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict([[0, 1], [1, 1], [1, 0]]).tolist() == ["b", "a", "b"]
    with pytest.raises(DataError, match="expected a Table"):
        model.fit_table([[0, 1]])


def test_partial_fit_does_not_add_to_a_table() -> None:
    model = et.BayesOptimalClassifier(max_depth=1).fit_table(Table([[0], [1]], [[1, 0], [0, 1]]))
    with pytest.raises(et.QueryError, match="learned from a table"):
        model.partial_fit([[0]], [1])


@pytest.mark.long
@pytest.mark.parametrize("engine", ["duckdb", "polars", None])
def test_files(engine: str | None, tmp_path: Any) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
    frame = mixed(9, False).drop("w")
    binarizer, expected = in_memory(frame.with_columns(w=1), None)
    for i in range(3):
        frame[i::3].write_parquet(tmp_path / f"part{i}.parquet")
    for paths in (tmp_path, str(tmp_path / "*.parquet"), [tmp_path / f"part{i}.parquet" for i in (2, 0, 1)]):
        assert_same(Table.from_parquet(paths, "y", engine=engine), expected, binarizer)
    for i in range(3):
        frame[i::3].write_csv(tmp_path / f"part{i}.csv")
    columns = [
        name for name in frame.columns if name not in ("truth", "y")
    ]  # true and false stay text in DuckDB
    table = Table.from_files(str(tmp_path / "*.csv"), "y", engine=engine, columns=columns)
    assert table == Table.from_frame(frame, "y", columns=columns)


def test_chunks() -> None:
    frame = mixed(11, True)
    bins = {name: [-1, 0.5, 3] for name in ("real", "small", "skewed", "large", "seven", "code")}
    options = {"bins": bins, "missing": "category"}
    for weight in (None, "w"):
        binarizer, expected = in_memory(frame, weight, **options)
        given = frame if weight else frame.drop("w")
        chunks = [given[i : i + 37] for i in range(0, 200, 37)]
        assert_same(Table.from_chunks(iter(chunks), "y", weight=weight, **options), expected, binarizer)
    with pytest.raises(LimitReached, match="after 1 chunks the counts take"):
        Table.from_chunks(chunks, "y", memory_limit=100, **options)
    with pytest.raises(DataError, match="give the same columns"):
        Table.from_chunks([chunks[0], chunks[1].drop("real")], "y", **options)
    with pytest.raises(DataError, match="no column of a chunk"):
        Table.from_chunks(chunks, "z", **options)
    with pytest.raises(DataError, match="0 examples"):
        Table.from_chunks([], "y")
    with pytest.raises(DataError, match="no parameter of Binarizer"):
        Table.from_chunks(chunks, "y", depth=3)


def test_unlabelled_rows() -> None:
    frame = pl.LazyFrame({"a": [1, 2, 3, 4, 900], "y": [0, 0, 1, 1, None]})
    with pytest.raises(DataError, match="1 labels of 'y' are missing"):
        Table.from_frame(frame, "y")
    table = Table.from_frame(frame, "y", bins=2, unlabelled="drop")
    assert table.test_names == ("a <= 2.5",)
    assert table.total == 4


def test_values_not_seen_before() -> None:
    first = pl.LazyFrame({"a": ["x", "y", "z"], "y": [0, 1, 1]})
    for unknown in ("ignore", "error"):
        table = Table.from_frame(first, "y", unknown=unknown)
        later = pl.LazyFrame({"a": ["x", "new"], "y": [0, 1]})
        if unknown == "error":
            with pytest.raises(DataError, match="not seen during fit, such as 'new'"):
                Table.from_frame(later, "y", like=table)
        else:
            more = Table.from_frame(later, "y", like=table)
            assert more.rows.tolist() == [[0, 0, 0], [1, 0, 0]]
    with pytest.raises(DataError, match="holds the label 5"):
        Table.from_frame(pl.LazyFrame({"a": ["x"], "y": [5]}), "y", like=table)
    with pytest.raises(DataError, match="held text when the tests were made"):
        Table.from_frame(pl.LazyFrame({"a": [1.5], "y": [1]}), "y", like=table)
    with pytest.raises(DataError, match="does not know its columns"):
        Table.from_frame(first, "y", like=Table([[0]], [[1]]))


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": [1, 2]}, {}, "target='y' is no column"),
        ({"a": [1, 2], "y": [0, 1]}, {"weight": "w"}, "weight='w' is no column"),
        ({"a": [1, 2], "y": [0, 1], "w": [1.5, 1]}, {"weight": "w"}, "whole numbers"),
        ({"a": [1, 2], "y": [0, 1], "w": [-1, 1]}, {"weight": "w"}, "whole numbers"),
        ({"a": [1, 2], "y": [0, 1], "w": [None, 1]}, {"weight": "w"}, "missing in 1 rows"),
        ({"a": [1, 2], "y": [0, 1], "w": [2**62, 2**62]}, {"weight": "w"}, "more than 2\\*\\*62"),
        ({"a": [1, 2], "y": [0, 1], "w": ["x", "y"]}, {"weight": "w"}, "expected whole numbers"),
        (
            {"a": [1, None], "y": [0, 1]},
            {"missing": "error"},
            "missing values in column 'a' \\(1 of 2 rows\\)",
        ),
        ({"a": [1, float("inf")], "y": [0, 1]}, {}, "infinity"),
        ({"a": ["u", "v"], "y": [0.5, 1]}, {}, "fractions"),
        ({"a": ["u", "v", "w"], "y": [0, 1, 1]}, {"max_categories": 2}, "more than max_categories=2"),
        ({"a": [1, 2], "y": [0, 1]}, {"columns": ["b"]}, "columns='b' is no column"),
        ({"a": [1, 2], "y": [0, 1]}, {"columns": ["a", "y"]}, "named twice"),
        ({"a": [1, 2], "y": [0, 1]}, {"columns": "a"}, "expected a list of names"),
        ({"a": [1, 2], "y": [0, 1]}, {"nominal": ["b"]}, "'b'"),
        ({"a": [1, 2], "y": [0, 1]}, {"bins": 1}, "bins=1"),
        ({"a": [1, 2], "y": [0, 1]}, {"unlabelled": "keep"}, "unlabelled='keep'"),
        ({"y": [0, 1]}, {}, "no column beside target"),
        ({"a": [[1], [2]], "y": [0, 1]}, {}, "expected numbers, text"),
        ({"a": [1, 2], "y": [None, None]}, {"unlabelled": "drop"}, "0 examples"),
    ],
)
def test_bad_input(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Table.from_frame(pl.LazyFrame(columns, strict=False), "y", **options)


def test_memory_limit_and_no_frame(tmp_path: Any) -> None:
    frame = pl.LazyFrame({"a": list(range(200)), "b": list(range(200)), "y": [0, 1] * 100})
    with pytest.raises(LimitReached, match="different rows, which is what the memory limit allows"):
        Table.from_frame(frame, "y", bins={"a": "all"}, memory_limit=10_000)
    with pytest.raises(DataError, match="too small for one row"):
        Table.from_frame(frame, "y", memory_limit=10)
    with pytest.raises(DataError, match="is no frame"):
        Table.from_frame([[1, 2]], "y")
    with pytest.raises(DataError, match="no file matches"):
        Table.from_parquet(str(tmp_path / "*.parquet"), "y")
    with pytest.raises(DataError, match=r"holds no \.parquet"):
        Table.from_parquet(tmp_path, "y")
    (tmp_path / "broken.parquet").write_bytes(b"no parquet file at all")
    with pytest.raises(DataError, match=r"cannot|could not"):
        Table.from_parquet(tmp_path, "y")
    (tmp_path / "data.txt").write_text("a")
    with pytest.raises(DataError, match="extension is not known"):
        Table.from_files(tmp_path / "data.txt", "y")
    with pytest.raises(DataError, match="engine='spark'"):
        Table.from_files(tmp_path, "y", engine="spark")


@pytest.mark.slow
def test_spark() -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        for options in OPTIONS[1:4]:
            frame = mixed(2, True)
            binarizer, expected = in_memory(frame, "w", **options)
            held = session.createDataFrame(frame.rows(), list(frame.columns))
            assert_same(Table.from_frame(held, "y", weight="w", **options), expected, binarizer)
    finally:
        session.stop()


def test_score_of_a_table() -> None:
    frame = mixed(3, False)
    X, y = frame.drop("y", "w"), frame["y"].to_numpy()
    table = Table.from_frame(frame.drop("w").lazy(), "y")
    model = et.OptimalTreeClassifier(max_depth=2, bins=4).fit(X, y)
    assert model.score_table(table) == pytest.approx(model.score(X, y), abs=1e-15)
    with pytest.raises(DataError, match="not those of the model"):
        model.score_table(Table([[0]], [[1, 0]]))


def test_a_cut_that_is_left_out_does_not_move_the_others():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"z": [0, 0, 0, 1, 1, 1], "x": [1, 2, 3, 4, 5, 6], "y": [0, 1, 0, 1, 1, 0]})
    X = frame.drop("y")
    binarizer = et.Binarizer("all").fit(X)
    assert [test.name for test in binarizer.dropped_] == ["x <= 3.5"]
    names = binarizer.get_feature_names_out().tolist()
    rows = Table.from_arrays(
        binarizer.transform(X), frame["y"].to_numpy(), 2, test_names=names, classes=[0, 1]
    )
    assert Table.from_frame(frame, "y", bins="all") == rows


def test_an_engine_that_is_interrupted_ends_as_ctrl_c_does(monkeypatch: pytest.MonkeyPatch) -> None:
    from everytree.data import lazy

    def interrupted(*given: Any) -> Any:
        raise RuntimeError("Query interrupted")  # what DuckDB makes of Ctrl-C

    monkeypatch.setattr(lazy, "opened", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Table.from_frame(object(), "y")
