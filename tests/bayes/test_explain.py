"""Explanations of one prediction, conditions in words, and the share of the most probable trees."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from everytree import DataError, QueryError, TopTrees, TreeSpace
from everytree.bayes.explain import ExplainedRule, Explanation
from everytree.trees.conditions import conditions
from everytree.weights.dirichlet import DepthDecay

NAMES = ["age <= 30", "age <= 50", "thal == fixed", "thal == normal", "smoker", "bmi <= 25", "bmi is missing"]


def space(seed: int = 0, n_classes: int = 2) -> TreeSpace:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (80, 7))
    X[:, 1] |= X[:, 0]
    y = (X[:, 1] & X[:, 3]) + (n_classes - 2) * X[:, 4]
    y = np.where(rng.random(80) < 0.2, rng.integers(0, n_classes, 80), y)
    return TreeSpace(X, y, 3, 2, test_names=NAMES, classes=range(n_classes))


# --- conditions ---


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([], ()),
        ([(0, 1)], ("age <= 30",)),
        ([(0, 1), (1, 1)], ("age <= 30",)),
        ([(0, 0)], ("age > 30",)),
        ([(0, 0), (1, 0)], ("age > 50",)),
        ([(0, 0), (1, 1)], ("30 < age <= 50",)),
        ([(0, 1), (1, 0)], ("age <= 30", "not (age <= 50)")),  # no number does that
        ([(2, 0)], ("thal != fixed",)),
        ([(2, 0), (3, 0)], ("thal not in {fixed, normal}",)),
        ([(2, 0), (3, 1)], ("thal == normal",)),
        ([(2, 1), (3, 1)], ("thal == fixed", "thal == normal")),
        ([(4, 1)], ("smoker",)),
        ([(4, 0), (0, 1)], ("not smoker", "age <= 30")),
        ([(5, 1)], ("bmi <= 25",)),
        ([(5, 0)], ("bmi > 25 or missing",)),
        ([(5, 0), (6, 0)], ("bmi > 25",)),
        ([(5, 1), (6, 0)], ("bmi <= 25",)),
        ([(5, 0), (6, 1)], ("bmi is missing",)),
        ([(5, 1), (6, 1)], ("bmi <= 25", "bmi is missing")),
        ([(6, 0)], ("bmi is not missing",)),
    ],
)
def test_items_in_words(items: list[tuple[int, int]], words: tuple[str, ...]) -> None:
    assert conditions(items, NAMES) == words


def test_items_without_names_and_odd_names() -> None:
    assert conditions([(3, 1), (5, 0)], None) == ("x3", "not x5")
    odd = ["a <= b", "a b", "x <= 1 == 2", "y <= inf", "n == 1 <= 2"]
    assert conditions([(0, 0), (1, 0), (3, 1)], odd) == ("not (a <= b)", "not (a b)", "y <= inf")
    assert conditions([(2, 0)], odd) == ("x <= 1 != 2",)
    nominal = ["c == a", "c == b", "c is missing"]
    assert conditions([(0, 0), (2, 0)], nominal) == ("c != a", "c is not missing")
    assert conditions([(0, 0), (2, 1)], nominal) == ("c is missing",)


def test_conditions_mean_what_the_items_say() -> None:
    names = ["a <= 1", "a <= 2", "a <= 3", "a <= 10"]
    values = [0, 1, 1.5, 2, 2.5, 3, 5, 10, 11]
    for code in range(3**4):
        items = [(k, code // 3**k % 3) for k in range(4) if code // 3**k % 3 < 2]
        meant = [all((a <= (1, 2, 3, 10)[k]) == b for k, b in items) for a in values]
        words = " and ".join(conditions(items, names)) or "True"
        assert [bool(eval(words, {"a": a})) for a in values] == meant, words


# --- explanations ---


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_moves_add_up_to_the_prediction(n_classes: int) -> None:
    post = space(1, n_classes).posterior()
    row = post.space.table.rows[0]
    told = post.explain(row, top=8)
    assert told.proba == pytest.approx(post.predict_proba([row])[0])
    assert len(told.rules) == 8
    for c in range(n_classes):
        moved = math.fsum(rule.move[c] for rule in told.rules)
        assert told.base[c] + moved + told.rest[c] == pytest.approx(told.proba[c])
        assert math.fsum(rule.share[c] for rule in told.rules) <= 1 + 1e-12
    assert told.covered == pytest.approx(sum(rule.weight for rule in told.rules))
    assert told.prediction == post.predict([row])[0]


def test_all_rules_together_are_everything() -> None:
    post = space(2).posterior()
    told = post.explain(post.space.table.rows[3], top=10**6)
    assert told.covered == pytest.approx(1)
    assert told.rest == pytest.approx((0, 0), abs=1e-9)


def test_maximal_rules_come_first() -> None:
    told = space(3).posterior().explain([0, 1, 0, 1, 0, 1, 0], top=12)
    sets = [set(rule.items) for rule in told.rules]
    for rule, items in zip(told.rules, sets, strict=True):
        assert rule.maximal == (not any(items < other for other in sets))
    kinds = [rule.maximal for rule in told.rules]
    assert kinds == sorted(kinds, reverse=True)
    assert not all(kinds)
    for kind in (True, False):
        weights = [rule.weight for rule in told.rules if rule.maximal == kind]
        assert weights == sorted(weights, reverse=True)


def test_spread_and_interval_are_those_of_the_leaf() -> None:
    post = space(4).posterior(dirichlet=[0.5, 2.0])
    for rule in post.explain(post.space.table.rows[0]).rules:
        for c, a in enumerate((0.5, 2.0)):
            of_leaf = beta(rule.counts[c] + a, sum(rule.counts) + 2.5 - rule.counts[c] - a)
            assert rule.proba[c] == pytest.approx(of_leaf.mean())
            assert rule.spread[c] == pytest.approx(of_leaf.std())
            assert rule.interval[c] == pytest.approx(of_leaf.interval(0.95))


def test_an_explanation_for_people_and_for_machines() -> None:
    post = space(5).posterior()
    told = post.explain(post.space.table.rows[0], top=5)
    text = str(told)
    assert text.startswith(f"P({told.prediction}) = {max(told.proba):.3f}, base rate")
    assert text.count("\n") == 8
    assert text.splitlines()[-1] == "a leaf counts its n examples, plus 1 for each of the 2 classes"
    assert told.rules[0].added == (1.0, 1.0)
    assert "all other rules" in text
    assert any(word in text for word in ("age <=", "age >", "thal", "bmi"))
    again = json.loads(json.dumps(told.to_dict()))
    assert again["rules"][0]["conditions"] == list(told.rules[0].conditions)
    assert again["prediction"] == told.prediction


def test_what_leaves_add_is_told_also_where_it_depends_on_the_depth() -> None:
    post = space(5).posterior(dirichlet=DepthDecay(0.8, 0.5))
    told = post.explain(post.space.table.rows[0], top=20)
    for rule in told.rules:
        assert rule.added == (0.8 * 0.5 ** len(rule.items),) * 2
    assert "and less below: plus " in str(told).splitlines()[-1]


def test_one_class_is_certain() -> None:
    told = TreeSpace([[0], [1]], ["a", "a"]).posterior().explain([0])
    assert told.proba == (1.0,)
    assert told.rules[0].interval == ((1.0, 1.0),)


def test_a_wrong_row_is_refused() -> None:
    post = space().posterior()
    with pytest.raises(DataError, match=r"x has shape \(3,\); expected one row of 7 tests"):
        post.explain([0, 1, 0])
    with pytest.raises(DataError, match="holds 2 in row 0"):
        post.explain([0, 1, 2, 0, 0, 0, 0])
    with pytest.raises(QueryError, match="top=0; expected a whole number ≥ 1"):
        post.explain([0] * 7, top=0)


# --- the most probable trees ---


def test_top_trees_know_their_share() -> None:
    post = space(6).posterior()
    trees = post.top_trees(5)
    assert isinstance(trees, TopTrees)
    assert isinstance(trees, list)
    assert trees.probabilities == pytest.approx([math.exp(post.log_prob(tree)) for tree in trees])
    assert trees.shares == pytest.approx(np.cumsum(trees.probabilities))
    assert trees.share == trees.shares[-1] == pytest.approx(post.coverage(5))
    assert post.coverage(6) > trees.share > post.coverage(4)
    text = str(trees)
    assert text.startswith("5 trees, ")
    assert f"5. probability {trees.probabilities[-1]:.3g}, together {trees.share:.3g}" in text
    assert str(trees[0]) in text


def test_every_tree_is_the_whole_posterior() -> None:
    small = TreeSpace([[0], [0], [1], [1]], [0, 0, 1, 1], max_depth=1).posterior()
    assert small.coverage(10) == pytest.approx(1)
    assert small.coverage(10) <= 1
    assert TopTrees().share == 0
    with pytest.raises(QueryError, match="k=0; expected a whole number ≥ 1"):
        small.coverage(0)


def test_rules_that_read_the_same_are_one_line() -> None:
    rule = ExplainedRule(
        conditions=("plan == basic",), items=((0, 1),), weight=0.2, maximal=False, counts=(30, 10), proba=(0.75, 0.25),
        spread=(0.1, 0.1), interval=((0.6, 0.9), (0.1, 0.4)), share=(0.2, 0.2), move=(0.01, -0.01), added=(1.0, 1.0),
    )  # fmt: skip
    twin = replace(rule, items=((1, 0), (2, 0)), weight=0.3, maximal=True, move=(0.015, -0.015))
    other = replace(rule, counts=(3, 1), weight=0.4)  # the same words, other examples: another leaf
    why = Explanation(("a", "b"), (0.7, 0.3), (0.6, 0.4), (other, rule, twin), 0.9, (0.0, 0.0))
    lines = [line for line in str(why).splitlines() if "plan == basic" in line]
    assert [line.split()[:2] for line in lines] == [["0.5000", "+0.0250"], ["0.4000", "+0.0100"]]
    assert [line.endswith("(within a rule above)") for line in lines] == [False, True]
    assert "2 rules carry 90.0 %" in str(why)
    assert len(why.rules) == 3  # programs have them all
