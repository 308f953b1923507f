"""Queries in one line: what they mean, the way back, and errors that point at their place."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import everytree as et
from everytree.errors import QueryError
from everytree.query.text import format_query, parse_query


@pytest.mark.parametrize(
    ("text", "query", "k"),
    [
        ("most accurate", et.Query(("error", "size")), 1),
        ("Most Accurate tree WHERE leaf≥10 and size<=15", et.Query(leaf=et.Support(10), max_size=15), 1),
        ("most accurate where leaf > 9 and depth < 4", et.Query(leaf=et.Support(10), max_depth=3), 1),
        ("5 most accurate trees where margin >= 3", et.Query(leaf=et.Margin(3)), 5),
        ("most accurate where p <= 0.001", et.Query(leaf=et.ChiSquare(p_value=0.001)), 1),
        ("most accurate where chi2 >= 3.84", et.Query(leaf=et.ChiSquare(3.84)), 1),
        ("least expected error", et.Query(("expected_error", "size")), 1),
        ("smallest where accuracy >= 93%", et.Query(("size", "error"), min_accuracy=0.93), 1),
        ("shallowest, then smallest, most accurate where error <= 7",
         et.Query(("depth", "size", "error"), max_error={"error": 7.0}), 1),
        ('most accurate where uses age, "blood pressure" and avoids id',
         et.Query(require=("age", "blood pressure"), forbid=("id",)), 1),
        ("least gini then least entropy where leaves <= 4 and leaf penalty = 0.5",
         et.Query(("gini", "entropy"), max_leaves=4, leaf_penalty=0.5), 1),
        ("most accurate where leaf >= 5 and margin >= 2", et.Query(leaf=[et.Support(5), et.Margin(2)]), 1),
        (r'most accurate where uses "a \"b\" \\ c", "where", Größe',
         et.Query(require=('a "b" \\ c', "where", "Größe")), 1),
    ],
)  # fmt: skip
def test_meaning(text: str, query: et.Query, k: int) -> None:
    assert parse_query(text) == (query, k)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", 'expected "most accurate"', 0),
        ("best", 'found "best"', 0),
        ("most accurate leaf >= 3", 'expected "where" or "then", found "leaf"', 14),
        ("most accurate where", "expected a condition", 19),
        ("most accurate where leaf <= 3", 'expected >= after "leaf", found "<="', 25),
        ("most accurate where size >= 3", 'expected <= after "size"', 25),
        ("most accurate where leaf >= 2.5", '"leaf" is a whole number', 28),
        ("most accurate where leaf >= 0", "Support", 20),
        ("most accurate where leaf >= 3 and leaf >= 4", "said twice", 34),
        ("most accurate where leaf >= 3 size <= 4", 'expected "and", found "size"', 30),
        ("most accurate where accuracy > 0.9", "write >=", 29),
        ("most accurate where error < 3", "write <=", 26),
        ("most accurate where size <= 10%", "percentage", 28),
        ('most accurate where uses "age', "no closing quote", 25),
        ("most accurate where uses where", "stands in quotes", 25),
        ("most accurate where uses 3", "expected the name of a column", 25),
        ("most accurate where leaf >= 1e999", "too large", 28),
        ("most accurate # comment", "cannot be read", 14),
        ("0 most accurate", "at least 1", 0),
        ("least square", "expected one of error, expected error", 6),
    ],
)
def test_errors_point_at_their_place(text: str, message: str, place: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    said, line, mark = str(caught.value).split("\n")
    assert message in said
    assert line == f"  {text}"
    assert mark == " " * (2 + place) + "^"


def test_what_the_query_itself_refuses() -> None:
    with pytest.raises(QueryError, match="min_accuracy"):
        parse_query("most accurate where accuracy >= 1.5")
    with pytest.raises(QueryError, match="without a bound"):
        parse_query("smallest")
    with pytest.raises(QueryError, match="line of text"):
        parse_query(3)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="class_weight"):
        format_query(et.Query(class_weight="balanced"))
    with pytest.raises(QueryError, match="positions"):
        format_query(et.Query(forbid=[0]))


def test_long_lines_are_shown_around_the_place() -> None:
    text = "most accurate where " + " and ".join(["leaf >= 3"] + ["avoids id"] * 1) + " and " + "x" * 500
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    _, line, mark = str(caught.value).split("\n")
    assert len(line) <= 122
    assert line[len(mark) - 1] == "x"


costs = st.sampled_from(["error", "expected_error", "gini", "entropy", "cost"])
numbers = st.floats(0, 1e11)
whole = st.one_of(st.integers(1, 20), st.integers(1, 2**31 - 1))
texts = st.text(max_size=8)
names = st.one_of(st.none(), texts, st.lists(texts, max_size=3), st.lists(texts, max_size=3).map(tuple))
rules = st.one_of(
    whole,
    st.builds(et.Support, whole),
    st.builds(et.Margin, st.integers(0, 2**31 - 1)),
    st.builds(et.ChiSquare, st.floats(1e-300, 1e300)),
    st.builds(lambda p: et.ChiSquare(p_value=p), st.floats(1e-300, 1)),
)
criteria = st.one_of(costs, st.sampled_from(["size", "depth"]))
optional = {
    "max_size": whole, "max_leaves": whole, "max_depth": st.integers(0, 2**31 - 1), "min_accuracy": st.floats(0, 1),
    "require": names, "forbid": names, "leaf_penalty": numbers, "confidence": st.floats(1e-300, 0.999),
    "max_error": st.one_of(numbers, st.dictionaries(costs, numbers, max_size=3)),
    "leaf": st.one_of(rules, st.lists(rules, max_size=4)),
}  # fmt: skip


@st.composite
def queries(draw: st.DrawFn) -> et.Query:
    """Any query that a line can say, in any spelling."""
    ranking = draw(st.one_of(costs, st.lists(criteria, min_size=1, max_size=5, unique=True)))
    given = {name: draw(values) for name, values in optional.items() if draw(st.booleans())}
    try:
        return et.Query(ranking, **given)  # type: ignore[arg-type]
    except QueryError:  # only shapes, or a shape without a bound
        return et.Query("error", **{**given, "max_error": None})  # type: ignore[arg-type]


@pytest.mark.long
@given(queries(), st.integers(1, 10**6))
@settings(max_examples=300, deadline=None)
def test_round_trip(query: et.Query, k: int) -> None:
    text = format_query(query, k)
    again, many = parse_query(text)
    assert (again, many) == (query, k)
    assert hash(again) == hash(query)
    assert format_query(again, many) == text


def test_one_wish_breaks_ties_unless_it_stands_alone() -> None:
    assert parse_query("least gini alone where leaf >= 3")[0].ranking == ("gini",)
    assert parse_query("least gini")[0].ranking == ("gini", "size")
    assert format_query(et.Query("error")) == "least error alone"
    with pytest.raises(QueryError, match='found "alone"'):
        parse_query("least gini then smallest alone")
    assert parse_query('most accurate where uses "alone"')[0] == et.Query(require="alone")


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.uint8, Fraction])
def test_numbers_of_numpy_are_written_as_numbers(kind: type) -> None:
    given = {
        "max_error": {"gini": kind(3), "error": kind(2)},
        "leaf_penalty": kind(5),
        "min_accuracy": kind(1),
    }
    rules = [et.ChiSquare(kind(4)), et.ChiSquare(p_value=0.25 if kind(0.25) == 0 else kind(0.25))]
    whole = np.int64(3) if kind is Fraction or kind(0.5) == 0.5 else kind(3)
    for more in ({"leaf": rule} for rule in [*rules, et.Support(whole), et.Margin(whole)]):
        query = et.Query(**given, max_size=whole, max_leaves=whole, max_depth=whole, **more)
        assert parse_query(format_query(query)) == (query, 1)
    assert format_query(et.Query(min_accuracy=True)).endswith("accuracy >= 1")
    line = format_query(et.Query(min_accuracy=np.float64(0.9), confidence=np.float32(0.5)))
    assert line == "least error then smallest where accuracy >= 0.9 and confidence = 0.5"


def test_spellings_of_one_query_are_equal() -> None:
    assert et.Query(leaf=5, require="age") == et.Query(leaf=[et.Support(5)], require=["age"])
    assert et.Query(max_error=7) == et.Query(max_error={"error": 7.0})
    assert et.Query("error") != et.Query(("error", "size"))
    assert et.Query(leaf=5) != et.Query(leaf=6)
    assert et.Query(cost_matrix=[[0, 1], [2, 0]], minimize="cost") != et.Query(
        cost_matrix=[[0, 1], [3, 0]], minimize="cost"
    )


WORDS = """most accurate where leaf >= 10 <= and size 3 "x then smallest , uses avoids p chi2 % ≥ least expected error
    = ü"""
words = st.sampled_from([*WORDS.split(), "\x00"])


@given(st.one_of(st.text(max_size=60), st.lists(words, max_size=12).map(" ".join)))
@settings(max_examples=500, deadline=None)
def test_any_text_is_a_query_or_an_error(text: str) -> None:
    try:
        query, k = parse_query(text)
    except QueryError:
        return
    assert parse_query(format_query(query, k)) == (query, k)


@pytest.mark.parametrize("value", [Fraction(1, 3), np.longdouble("0.1"), np.float32(0.1), 1, np.int64(1)])
def test_numbers_of_every_type_come_back(value: object) -> None:
    query = et.Query(("size", "error"), min_accuracy=value, max_error={"gini": value}, leaf_penalty=value)
    assert parse_query(format_query(query)) == (query, 1)


def test_no_bound_is_no_bound() -> None:
    with pytest.raises(QueryError, match="without a bound is the single leaf"):
        et.Query(("size", "error"), max_error={})


@pytest.mark.parametrize("k", [0, -1, 2.5, "2", None, 2**31])
def test_how_many_trees_is_checked(k: object) -> None:
    with pytest.raises(QueryError, match="k="):
        format_query(et.Query(), k)
    with pytest.raises(QueryError, match="at most 2147483647 trees"):
        parse_query("9007199254740993 most accurate")


def test_a_p_value_of_one_is_a_number() -> None:
    assert et.ChiSquare(p_value=np.bool_(True)) == et.ChiSquare(p_value=1.0)
    et.Query(leaf=[et.ChiSquare(p_value=np.bool_(True))])
