"""Errors have fields that a program can read, keep them on their way from a worker, and can be told in other words."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import everytree as et
from everytree.common.arguments import argument, number, refused, whole
from everytree.errors import (
    Argument,
    DataError,
    EverytreeError,
    LimitReached,
    NoTreeError,
    Step,
    Wording,
    with_spelling,
)
from everytree.verify import InputError

ROWS, LABELS = [[0], [0], [1], [1]], [0, 0, 1, 1]


def caught(work: Callable[[], Any]) -> EverytreeError:
    with pytest.raises(EverytreeError) as found:
        work()
    return found.value


def option(part: Argument | Step) -> str | None:
    if isinstance(part, Step):
        return None
    name = f"--{part.parameter.replace('_', '-')}"
    return name if part.plain is None else f"{name} {part.plain}"


@pytest.mark.parametrize(
    ("work", "parameter", "value", "text"),
    [
        (lambda: whole("k", 0, 1), "k", 0, "--k 0; expected a whole number ≥ 1"),
        (lambda: whole("k", 2**40, 1), "k", 2**40, "--k 1099511627776 is too large; expected a whole number ≥ 1 and"),
        (lambda: number("a", "x", 0, 1, example=0.5), "a", "x", "--a x; expected a finite number between 0 and 1"),
        (lambda: et.TreeSpace(ROWS, LABELS, -1), "max_depth", -1, "--max-depth -1; expected a whole number ≥ 0"),
        (lambda: et.TreeSpace(ROWS, LABELS, min_leaf=9), "min_leaf", 9, "n_samples=4 is fewer than --min-leaf 9: "),
        (lambda: et.TreeSpace(ROWS, LABELS, n_jobs=0), "n_jobs", 0, "--n-jobs 0; expected a number of threads"),
        (lambda: et.BayesOptimalClassifier(prior="p").fit(ROWS, LABELS), "prior", "p", "--prior p; expected one of"),
        (lambda: et.MAPTreeClassifier(dirichlet="d").fit(ROWS, LABELS), "dirichlet", "d", "--dirichlet d; expected a"),
        (lambda: et.Binarizer(bins=1).fit([[1.0], [2.0]]), "bins", 1, "--bins 1; expected a number of bins"),
    ],
)  # fmt: skip
def test_a_refused_argument_has_its_name_and_value(
    work: Callable[[], Any], parameter: str, value: Any, text: str
) -> None:
    error = caught(work)
    assert (error.code, error.parameter, error.value) == ("parameter", parameter, value)
    assert f"{parameter}={value!r}" in str(error)
    said = error.message_for(option)
    assert said.startswith(text)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.fields) == (type(error), str(error), error.fields)
    assert again.message_for(option) == said


def test_kinds_of_errors_have_codes() -> None:
    space = et.TreeSpace(ROWS, LABELS, max_depth=1)
    none = caught(lambda: space.best(max_error=0, max_leaves=1))
    assert (none.code, isinstance(none, NoTreeError)) == ("no-tree", True)
    holes = caught(lambda: et.OptimalTreeClassifier(1, missing="error").fit([[1.0], [float("nan")]], [0, 1]))
    assert (holes.code, holes.parameter) == ("missing-values", "missing")
    assert (LimitReached("so long", "time").code, DataError("no").code, et.QueryError("no").code) == (
        "limit",
        "data",
        "query",
    )


@pytest.mark.parametrize(
    "error",
    [
        NoTreeError("none", ("max_size", "leaf"), True),
        LimitReached(Wording("try ", argument("max_depth", 3)), "memory"),
        DataError("bad", code="unknown-column", parameter="target", value="x", expected="a column"),
        InputError("bad", code="parameter", parameter="decimal", value=";", expected="'.'"),
        refused(et.QueryError, "progress", "x", "a function"),
    ],
)
def test_errors_survive_pickle_with_their_fields(error: EverytreeError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again), again.code) == (str(error), vars(error), error.code)
    assert again.message_for(option) == error.message_for(option)


def test_a_value_that_cannot_travel_goes_as_its_text() -> None:
    value = lambda: None  # noqa: E731
    error = refused(et.QueryError, "progress", value, "a function of four")
    assert error.value is value
    assert pickle.loads(pickle.dumps(error)).value == repr(value)


def test_an_error_comes_home_from_a_worker_with_its_fields() -> None:
    from joblib import Parallel, delayed

    with pytest.raises(et.QueryError) as found:
        Parallel(n_jobs=2)(delayed(whole)("k", -k, 1) for k in range(2))
    error = found.value
    assert (error.code, error.parameter, error.expected) == ("parameter", "k", "a whole number ≥ 1")
    assert error.message_for(option) == f"--k {error.value}; expected a whole number ≥ 1"


def test_a_wording_is_a_text_and_flattens() -> None:
    inner = Wording("try ", argument("max_depth", 3))
    outer = Wording("too large; ", inner, ", ", Step("no-header", "pass header=False"))
    assert outer == "too large; try max_depth=3, pass header=False"
    assert outer.with_spelling(option) == "too large; try --max-depth 3, pass header=False"
    assert with_spelling("plain", option) == "plain"
    assert pickle.loads(pickle.dumps(outer)).parts == outer.parts
