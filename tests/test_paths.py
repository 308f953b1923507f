"""Constraints of one's own on paths: what they mean, which are refused, and how they are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import everytree as et
from everytree.query.paths import Paths
from everytree.query.strategies import STRATEGIES

MINERS = STRATEGIES[1:]
rng = np.random.default_rng(3)
X = rng.integers(0, 2, (60, 6)).astype(np.uint8)
y = (X[:, 0] & X[:, 1]) ^ (rng.random(60) < 0.15)
SPACE = et.TreeSpace(X, y, 3, 2, test_names=list("ABCDEF"))


def balanced(counts: tuple[int, ...]) -> bool:
    """Five of each class."""
    return min(counts) >= 5


@pytest.mark.parametrize("strategy", MINERS)
def test_every_node_satisfies_the_rule(strategy: str) -> None:
    free, tree = SPACE.best(strategy=strategy), SPACE.best(strategy=strategy, paths=balanced)
    assert not all(balanced(tuple(n)) for n in free.counts.tolist())  # else the test would say nothing
    assert all(balanced(tuple(n)) for n in tree.counts.tolist())
    assert tree.error > free.error


# Constraints that hold for less and not for more; the third is so in the middle only.
NOT_ANTI_MONOTONE = {
    "few of the first class": lambda n: n[0] <= 3,
    "pure": lambda n: min(n) == 0,
    "not thirteen": lambda n: sum(n) != 13,
    "even": lambda n: sum(n) % 2 == 0,
    "a large share": lambda n: n[0] >= 0.2 * sum(n),
}


@pytest.mark.parametrize("name", NOT_ANTI_MONOTONE)
@pytest.mark.parametrize("strategy", MINERS)
def test_what_is_not_anti_monotone_is_refused(name: str, strategy: str) -> None:
    rule = NOT_ANTI_MONOTONE[name]
    with pytest.raises(
        et.QueryError, match=r"is not anti-monotone: it turns down the class counts .* but not"
    ) as no:
        SPACE.best(strategy=strategy, paths=rule)
    assert not isinstance(no.value, et.NoTreeError)
    assert no.value.parameter == "paths"


def test_databases_refuse_it_too() -> None:
    database = SPACE.mine()
    for rule in NOT_ANTI_MONOTONE.values():
        with pytest.raises(et.QueryError, match="is not anti-monotone"):
            SPACE.mine(paths=rule)
        with pytest.raises(et.QueryError, match="is not anti-monotone"):
            database.best(paths=rule)


def test_two_counts_that_break_the_law_are_found_among_many() -> None:
    """The check looks at the smallest that hold and the largest that do not: as good as looking at all pairs."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        said = {tuple(n): bool(rng.random() < 0.5) for n in rng.integers(0, 8, (6, 3)).tolist()}
        broken = any(
            yes and not no and all(a <= b for a, b in zip(less, more, strict=True))
            for less, yes in said.items()
            for more, no in said.items()
        )
        paths = Paths(lambda n, said=said: said.get(n, False))  # type: ignore[misc]
        for counts in said:
            paths(counts)
        if broken:
            with pytest.raises(et.QueryError, match="is not anti-monotone"):
                paths.check()


def test_what_a_predicate_may_say() -> None:
    assert SPACE.best(strategy="eclat", paths=lambda n: np.bool_(n[0] > 3)).size > 1
    with pytest.raises(et.QueryError, match=r"says 1 of the class counts .* expected True or False"):
        SPACE.best(strategy="eclat", paths=lambda n: 1)  # type: ignore[arg-type, return-value]
    with pytest.raises(et.QueryError, match="paths=7; expected a function of the class counts"):
        SPACE.best(strategy="eclat", paths=7)  # type: ignore[arg-type]
    with pytest.raises(et.QueryError, match=r"strategy='auto'; expected one of simple.*paths=balanced"):
        SPACE.best(paths=balanced)


@pytest.mark.parametrize("strategy", MINERS)
def test_what_a_predicate_raises_comes_out(strategy: str) -> None:
    def broken(counts: tuple[int, ...]) -> bool:
        if sum(counts) < 40:
            raise ZeroDivisionError("in the predicate")
        return True

    with pytest.raises(ZeroDivisionError, match="in the predicate"):
        SPACE.best(strategy=strategy, paths=broken)
    assert SPACE.best(strategy=strategy).size > 1  # nothing is left behind


def test_no_tree_names_the_rule() -> None:
    def all_of_them(counts: tuple[int, ...]) -> bool:
        return sum(counts) >= 60

    sentence = "no tree with nodes within paths=all_of_them tests A; or relax paths=all_of_them"
    for asked in (
        lambda: SPACE.best(require="A", strategy="closed", paths=all_of_them),
        lambda: SPACE.mine(extend_pure=True).best(require="A", paths=all_of_them),
    ):
        with pytest.raises(et.NoTreeError) as none:
            asked()
        assert sentence in str(none.value)
        assert set(none.value.constraints) == {"require", "paths"}
    with pytest.raises(
        et.NoTreeError, match=r"no tree keeps every node within paths=.* turns down all examples"
    ):
        SPACE.mine(paths=lambda n: sum(n) > 60)
    with pytest.raises(
        et.NoTreeError, match="no tree with nodes within paths=balanced reaches error ≤ 2; the least"
    ):
        SPACE.best(max_error=2, strategy="apriori", paths=balanced)


def test_compare_strategies_under_a_rule() -> None:
    runs = et.compare_strategies(SPACE, min_leaf=[2, 4], paths=balanced)
    assert [run.strategy for run in runs] == [*MINERS, *MINERS]
    assert len({(run.objective, run.size) for run in runs if run.min_leaf == 2}) == 1
    free = et.compare_strategies(SPACE, ["eclat"], 2)[0]
    ruled = next(run for run in runs if run.strategy == "eclat" and run.min_leaf == 2)
    assert ruled.itemsets < free.itemsets


def test_databases_tell_their_rule(tmp_path: Path) -> None:
    mined = SPACE.mine(paths=balanced)
    assert mined.paths == "balanced"
    assert "paths='balanced'" in repr(mined)
    mined.save(tmp_path / "mined.jsonl")
    loaded = et.ItemsetDatabase.load(tmp_path / "mined.jsonl")
    assert loaded == mined
    with pytest.raises(et.NoTreeError, match=r"mined with min_leaf=2, max_depth=3, paths=balanced\)"):
        loaded.best(max_error=0)
    text = (tmp_path / "mined.jsonl").read_text().replace('"balanced"', "5")
    (tmp_path / "broken.jsonl").write_text(text)
    with pytest.raises(et.DataError, match="paths is 5; expected the name of a constraint"):
        et.ItemsetDatabase.load(tmp_path / "broken.jsonl")
