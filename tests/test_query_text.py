"""Queries in one line: what they mean, the way back, and errors that point at their place."""

from __future__ import annotations

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
numbers = st.floats(0.001, 1e6)
names = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3).map(tuple)


@st.composite
def queries(draw: st.DrawFn) -> et.Query:
    ranking = draw(st.permutations(["size", "depth", *draw(st.sets(costs, min_size=1, max_size=2))]))
    leaf = draw(
        st.lists(
            st.sampled_from([et.Support(3), et.Margin(0), et.ChiSquare(2.5), et.ChiSquare(p_value=0.01)]),
            unique_by=lambda x: repr(x),
            max_size=3,
        )
    )
    given: dict[str, object] = {"max_size": draw(st.integers(1, 99))}
    order = [et.Support(3), et.Margin(0), et.ChiSquare(2.5), et.ChiSquare(p_value=0.01)]
    leaf = [x for x in order if x in leaf]
    if leaf:
        given["leaf"] = leaf[0] if len(leaf) == 1 else leaf
    for name, values in (
        ("max_leaves", st.integers(1, 99)), ("max_depth", st.integers(0, 9)),
        ("min_accuracy", st.floats(0, 1)), ("require", names), ("forbid", names),
        ("leaf_penalty", numbers), ("confidence", st.floats(0.01, 0.5)),
    ):  # fmt: skip
        if draw(st.booleans()):
            given[name] = draw(values)
    if draw(st.booleans()):
        given["max_error"] = draw(st.dictionaries(costs, numbers, min_size=1, max_size=2))
    return et.Query(tuple(ranking), **given)  # type: ignore[arg-type]


@given(queries(), st.integers(1, 50))
@settings(max_examples=300, deadline=None)
def test_round_trip(query: et.Query, k: int) -> None:
    assert parse_query(format_query(query, k)) == (query, k)


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
