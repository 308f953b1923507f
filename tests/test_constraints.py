"""Constraints on leaves, names of tests, class weights: what they mean, and what bad ones are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree import _core, reference
from everytree.query.plan import most_errors
from everytree.query.selection import attribute_of, select
from everytree.reference.chi2 import chi2, chi2_p_value, chi2_tail
from everytree.weights.constraints import chi2_threshold, leaf_constraints
from everytree.weights.costs import as_text, make_cost

X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
Y = [0, 1, 1, 0] * 5
SPACE = et.TreeSpace(X, Y, max_depth=2, test_names=["age <= 30", "smoker"])


@pytest.mark.parametrize("dof", range(1, 9))
@pytest.mark.parametrize("p", [0.999, 0.5, 0.05, 1e-6, 1e-200])
def test_the_threshold_of_a_p_value(dof: int, p: float) -> None:
    x = chi2_threshold(p, dof)
    assert chi2_tail(x, dof) == pytest.approx(p, rel=1e-9)
    assert chi2_tail(x * (1 + 1e-9), dof) <= p <= chi2_tail(x * (1 - 1e-9), dof)


def test_one_class_has_a_p_value_of_one() -> None:
    assert chi2_threshold(1.0, 0) == 0
    assert chi2_threshold(0.999, 0) == np.inf
    space = et.TreeSpace([[0], [1]], [0, 0], 1)
    assert space.best(leaf=et.ChiSquare(p_value=1)).size == 1
    with pytest.raises(et.NoTreeError, match=r"p-value ≤ 0\.5"):
        space.best(leaf=et.ChiSquare(p_value=0.5))


def test_rules_of_the_core_against_the_reference() -> None:
    """χ² at thresholds that leaves reach exactly: the nearest float of the statistic decides."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        totals = rng.integers(0, 9, rng.integers(1, 5))
        leaf = np.array([rng.integers(0, n + 1) for n in totals])
        if not leaf.sum():
            continue
        x = chi2(leaf.tolist(), totals.tolist())
        for threshold in (x, np.nextafter(x, np.inf), np.nextafter(x, 0)):
            rule = _core.LeafRule(0, 0, float(threshold), totals.tolist())
            assert rule.allows(leaf.tolist()) == (x >= threshold)
        p = chi2_p_value(leaf.tolist(), totals.tolist())
        for limit in (p * 0.999, min(1.0, p * 1.001)):
            if limit > 0:
                rule = leaf_constraints(et.ChiSquare(p_value=limit)).rule(totals.tolist())
                assert rule.allows(leaf.tolist()) == (p <= limit)


def test_the_tightest_of_each_kind_counts() -> None:
    both = leaf_constraints([2, et.Support(5), et.Margin(1), et.ChiSquare(2), et.ChiSquare(1)])
    assert (both.support, both.margin, both.chi2) == (et.Support(5), et.Margin(1), et.ChiSquare(2))
    assert leaf_constraints([et.ChiSquare(p_value=0.1), et.ChiSquare(p_value=0.01)]).p_value == et.ChiSquare(
        p_value=0.01
    )
    assert (
        SPACE.best(leaf=5).key == SPACE.best(leaf=et.Support(5)).key == SPACE.best(leaf=[et.Support(5)]).key
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: et.Support(0), r"Support=0; expected a whole number ≥ 1"),
        (lambda: et.Support("many"), r"Support='many'; expected a whole number"),
        (lambda: et.Margin(-1), r"Margin=-1; expected a whole number ≥ 0"),
        (lambda: et.ChiSquare(), r"give a threshold or a p_value"),
        (lambda: et.ChiSquare(3, p_value=0.1), r"give a threshold or a p_value"),
        (lambda: et.ChiSquare(-1), r"ChiSquare=-1; expected a finite number"),
        (lambda: et.ChiSquare(float("nan")), r"ChiSquare=nan; expected a finite number"),
        (lambda: et.ChiSquare(p_value=0), r"p_value\)=0; expected .* between 0 and 1"),
        (lambda: et.ChiSquare(p_value=1.5), r"p_value\)=1.5; expected .* between 0 and 1"),
        (lambda: et.Query(leaf="big"), r"leaf='big'; expected a whole number ≥ 1 .* et.Margin"),
        (lambda: et.Query(leaf=[3, None]), r"leaf=None; expected"),
        (lambda: et.Query(max_error={"accuracy": 1}), r"max_error bounds 'accuracy'; expected a cost"),
        (lambda: et.Query(max_error={"error": "few"}), r"max_error='few'"),
        (lambda: et.Query(min_accuracy=1.1), r"min_accuracy=1.1; expected .*from 0 to 1"),
        (lambda: et.Query(min_accuracy="high"), r"min_accuracy='high'"),
        (lambda: et.Query(forbid=True), r"forbid=True; expected names or columns"),
        (lambda: et.Query(require={"a": 1}), r"require=.*expected names or columns"),
    ],
)
def test_bad_words_are_refused(make: Any, message: str) -> None:
    with pytest.raises(et.QueryError, match=message):
        make()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"forbid": "weight"}, r"forbid='weight' is neither a test nor an attribute; .*'age'"),
        ({"require": 2}, r"require=2; expected .* a column from 0 to 1"),
        ({"require": [0.5]}, r"require=0.5; expected the name"),
        ({"require": "age", "forbid": 0}, r"requires and forbids 'age'"),
        ({"class_weight": "even"}, r"class_weight='even'; expected \"balanced\""),
        ({"class_weight": {7: 1}}, r"class_weight names 7; expected labels among \[0, 1\]"),
        ({"class_weight": [1]}, r"class_weight=\[1\]; expected one number for each of the 2 classes"),
        ({"class_weight": 3}, r"class_weight=3; expected one number for each"),
        ({"class_weight": [1, -1]}, r"class_weight=-1; expected"),
        ({"class_weight": [1, float("inf")]}, r"class_weight=inf; expected"),
        ({"max_error": {"cost": 3}}, r"needs cost_matrix"),
    ],
)
def test_words_that_do_not_fit_the_data_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(et.QueryError, match=message):
        SPACE.best(**words)


WHY: list[tuple[dict[str, Any], str]] = [
    (
        {"max_error": 4, "max_size": 5},
        "no tree with ≤ 5 nodes reaches error ≤ 4; the least is 5; or relax max_size=5 to 7",
    ),
    (
        {"min_accuracy": 0.9, "max_depth": 1},
        "no tree with depth ≤ 1 reaches accuracy ≥ 0.9; the most is 0.5; or relax max_depth=1 to 2",
    ),
    (
        {"minimize": ("size", "error"), "max_size": 1, "require": "smoker"},
        "no tree with a test on smoker has ≤ 1 nodes; the least is 3; or relax require='smoker'",
    ),
    ({"leaf": et.Margin(6)}, "no tree has a margin ≥ 6 in every leaf; the most is 5"),
    (
        {"leaf": [et.Margin(3), et.Support(8)]},
        "no tree with a margin ≥ 3 in every leaf has ≥ 8 examples in every leaf; the most is 5; or relax "
        "leaf=Margin(3) to 0",
    ),
    ({"leaf": et.ChiSquare(9.5)}, "no tree has χ² ≥ 9.5 in every leaf"),
    (
        {"forbid": "age", "max_error": 3},
        "no tree with no test on age reaches error ≤ 3; the least is 10; or relax forbid=age",
    ),
    # Two bounds on the shape would have to go together; the error alone is enough.
    (
        {"max_error": 3, "max_size": 3, "max_depth": 1},
        "no tree with ≤ 3 nodes and depth ≤ 1 reaches error ≤ 3; the least is 10",
    ),
    (
        {"max_error": -1, "leaf": et.Margin(6), "max_size": 9},
        "no tree satisfies the query: max_error=-1 and leaf=Margin(6) are too tight together; relax both",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), WHY, ids=[str(words) for words, _ in WHY])
def test_why_no_tree_satisfies_a_query(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(et.NoTreeError) as caught:
        SPACE.best(**words)
    assert str(caught.value) == sentence
    assert caught.value.together == ("together" in sentence)


def test_a_limit_while_explaining_is_told() -> None:
    """The answer is known by then; only the reason is not."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 30))
    space = et.TreeSpace(X, X[:, 0] ^ X[:, 1] ^ (rng.random(200) < 0.3), 3)
    from everytree.query.plan import Session, plan_of
    from everytree.query.why import why_none

    control = space.limits.control()
    control.stop()
    plan = plan_of(et.Query(max_error=0, max_size=3), space)
    error = why_none(Session(space, control), plan)
    assert "which constraint is too tight is not known (stopped" in str(error)


def test_queries_are_values() -> None:
    query = et.Query(max_size=7, leaf=et.Margin(2), cost_matrix=np.eye(2))
    assert repr(query) == (
        "Query(minimize=('error', 'size'), max_size=7, leaf=Margin(2), cost_matrix=((1.0, 0.0), (0.0, 1.0)))"
    )
    assert query == et.Query(max_size=7, leaf=et.Margin(2), cost_matrix=[[1, 0], [0, 1]])
    assert replace(query, max_size=9).max_size == 9
    assert repr(et.Query()) == "Query(minimize=('error', 'size'))"
    assert et.Query("error") != et.Query()


def test_a_query_beside_keywords_is_refused() -> None:
    assert SPACE.best(et.Query(max_size=3), k=2)[0].size == 1
    with pytest.raises(et.QueryError, match="a Query or keywords, not both"):
        SPACE.best(et.Query(), max_size=3)
    with pytest.raises(et.QueryError, match=r"a Query or keywords, not both \(leaf_penalty=1\)"):
        SPACE.best(et.Query(), leaf_penalty=1)
    with pytest.raises(et.QueryError, match=r"not both \(cost_matrix="):
        SPACE.best(et.Query(), cost_matrix=np.eye(2))
    assert SPACE.best(et.Query(max_size=3), confidence=0.25, leaf_penalty=0) == SPACE.best(max_size=3)


def test_fronts_refuse_what_they_do_not_run_over() -> None:
    with pytest.raises(et.QueryError, match="by='error'; a front runs over 'size', 'leaves' or 'depth'"):
        SPACE.front(by="error")


def test_names() -> None:
    assert attribute_of("a <= b <= 3") == "a <= b"
    assert attribute_of("thal == a == b") == "thal"
    assert attribute_of("age is missing") == "age"
    names = ["age <= 3", "age <= 5", "age is missing", "x"]
    assert select("forbid", ["age", 3], 4, names, None)[0].tests == {0, 1, 2}
    assert select("forbid", "age <= 5", 4, names, None)[0].tests == {1}
    assert select("forbid", "b", 3, None, ["a", "b", "b"])[0].tests == {1, 2}
    assert select("forbid", np.int64(1), 3, None, None)[0].tests == {1}
    assert select("forbid", None, 3, None, None) == []


@pytest.mark.parametrize("total", [1, 3, 7, 10, 30, 97, 1000])
def test_accuracy_as_a_person_computes_it(total: int) -> None:
    for accuracy in (0.0, 0.1, 1 / 3, 0.5, 2 / 3, 0.7, 0.9, 0.97, 1.0):
        most = most_errors(accuracy, total)
        assert (total - most) / total >= accuracy
        assert most == total or (total - most - 1) / total < accuracy


def test_leaves_say_what_costs_least() -> None:
    """Also where that is not the largest class; another matrix overrules it."""
    space = et.TreeSpace([[0]] * 5 + [[1]] * 5, [0, 0, 0, 1, 1, 1, 1, 0, 0, 0], 1)
    tree = space.best(class_weight={1: 2})
    # Two of class 1 among five outweigh three of class 0.
    assert tree.predict([[0], [1]]).tolist() == [1, 1]
    assert tree.predict([[0], [1]], [[0, 1], [1, 0]]).tolist() == [0, 0]
    assert (tree.error, tree.info["objective"]) == (6, 6)
    assert space.best("cost", cost_matrix=[[0, 1], [5, 0]]).predict([[0], [1]]).tolist() == [1, 1]
    assert space.best().predict([[0], [1]]).tolist() == [0, 0]


def test_weights_become_whole_numbers() -> None:
    table = et.Table(X[:4], [[3, 0], [0, 2], [0, 1], [1, 0]])
    cost = make_cost("error", table, class_weight={0: 0.1, 1: 0.3})
    assert cost.whole
    assert cost.scale == 10
    assert cost.in_query_units(7) == 0.7
    assert cost.bound(0.7) == 7
    assert cost.bound(0.69) == 6
    third = make_cost("error", table, class_weight="balanced")
    assert third.whole
    huge = make_cost("error", table, class_weight=[1e-9, 1e9])
    assert not huge.whole
    assert make_cost("error", table, class_weight=[1, 1]).scale == 1
    assert as_text(1e20) == "1e+20"


def test_spaces_without_tests_and_without_classes_to_tell_apart() -> None:
    assert SPACE.best(forbid=[0, 1]).key == SPACE.best(forbid=["age", "smoker"], k=3)[0].key == (-1,)
    one = et.TreeSpace(X, [0] * 20, 2)
    assert one.best(("size", "error"), max_size=3, require=0).key == (0, -1, -1)
    assert one.best(class_weight="balanced", leaf=et.Margin(20)).key == (-1,)


def test_bounds_on_costs_that_may_be_negative() -> None:
    """Such a cost shrinks on the way up, so its bound cannot prune below the root."""
    matrix = [[-1, 2], [3, -4]]
    for ranking in (("cost",), ("depth", "cost"), ("size", "cost"), ("cost", "error", "size")):
        tree = SPACE.best(ranking, cost_matrix=matrix, max_error={"cost": -50})
        assert tree.info.get("cost", tree.info["objective"]) == -50
        with pytest.raises(et.NoTreeError, match=r"reaches cost ≤ -51; the least is -50"):
            SPACE.best(ranking, cost_matrix=matrix, max_error={"cost": -51})


def test_constraints_on_leaves_of_many_classes_and_large_counts() -> None:
    """Counts that 16 bits do not hold, and more than two classes: the plain loops."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (14, 4))
    y = (X[:, 0] + X[:, 1]) % 3
    w = rng.integers(1, 4, 14) * 7000
    space = et.TreeSpace(X, y, 3, sample_weight=w, classes=range(3))
    twin = reference.Space(reference.Table.from_data(X.tolist(), y.tolist(), 3, w.tolist()), 3, 1)
    for margin in (0, 7000, 14000, 28000):
        query = reference.Query(min_margin=margin)
        try:
            wanted = reference.best(twin, query)[0].rank
        except reference.NoTreeError:
            with pytest.raises(et.NoTreeError):
                space.best(leaf=et.Margin(margin))
            continue
        tree = space.best(leaf=et.Margin(margin))
        assert (tree.error, tree.size) == wanted
