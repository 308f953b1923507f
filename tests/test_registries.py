"""What is registered is known everywhere: in help, the query language, files, and beside its definition.

Each test registers one thing, as a new file of the package would, and takes it out again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import everytree as et
import everytree.cli
from everytree import reference
from everytree.bayes.moves import MOVES, core_moves, named_move, odds_of
from everytree.data.table import Table
from everytree.errors import DataError, QueryError
from everytree.estimators.base import TreeClassifierBase
from everytree.estimators.registry import forget_method, method, methods
from everytree.files.model_file import FORMAT
from everytree.files.registry import forget_classifier, saved_as
from everytree.mcmc.sampler import move_odds
from everytree.report.asked import Asked, choices
from everytree.report.page_data import page_data
from everytree.trees.tree import Tree
from everytree.verify.probable import KINDS
from everytree.verify.query import COSTS as CHECKED_COSTS
from everytree.weights.constraints import (
    LEAF_WORDS,
    ComposedConstraint,
    Margin,
    Support,
    forget_leaf_word,
    leaf_word,
)
from everytree.weights.cost_words import COSTS, named_cost
from everytree.weights.priors import PRIORS, Prior, PriorTables, forget_prior, named_prior

Out = Callable[..., str]


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Out:
    """What a command prints, in this process."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: Any) -> str:
        monkeypatch.setattr(sys, "argv", ["everytree", *map(str, arguments)])
        capsys.readouterr()
        code: Any = None
        try:
            everytree.cli.main()
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        assert not code, said.err
        return said.out

    return run


def rows(seed: int = 0) -> tuple[list[list[int]], list[int]]:
    rng = Random(seed)
    X = [[rng.randrange(2) for _ in range(4)] for _ in range(24)]
    return X, [int((row[0] ^ row[1]) if rng.random() < 0.8 else row[2]) for row in X]


def spaces(depth: int = 2, min_leaf: int = 1) -> tuple[et.TreeSpace, reference.Space]:
    X, y = rows()
    table = reference.Table.from_data(X, y, 2)
    return et.TreeSpace(X, y, depth, min_leaf), reference.Space(table, depth, min_leaf)


# --- a prior


@dataclass(frozen=True)
class TwinDepthPrior:
    """A leaf at depth d weighs rate^d."""

    rate: float

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        return depth * math.log(self.rate)

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        return 0.0


@pytest.fixture
def depth_prior() -> Iterator[Any]:
    @named_prior(
        "toy_depth", "a leaf at depth d weighs rate^d", lambda prior, attributes: TwinDepthPrior(prior.rate)
    )
    @dataclass(frozen=True)
    class ToyDepthPrior(Prior):
        rate: float = 0.25

        def tables(self, deepest: int) -> PriorTables:
            leaf = [d * math.log(self.rate) for d in range(deepest + 1)]
            return PriorTables([0.0], leaf, leaf, per_test=False)

    yield ToyDepthPrior
    forget_prior("toy_depth")


def test_a_prior_that_is_registered_is_known_everywhere(depth_prior: Any, out: Out, tmp_path: Path) -> None:
    space, twin_space = spaces()
    assert "a leaf at depth d weighs rate^d" in out("methods")
    assert Asked.of({"prior": "toy_depth"}, ()).prior == "toy_depth"
    assert ("toy_depth", "toy depth", "a leaf at depth d weighs rate^d") in choices()["prior"]  # of the page
    record = PRIORS["toy_depth"]
    assert callable(record.twin)
    bayes = reference.Bayes(twin_space, record.twin(depth_prior(), ()))
    assert space.posterior("toy_depth").log_evidence == pytest.approx(bayes.log_evidence, abs=1e-12)
    X, y = rows()
    model = et.BayesOptimalClassifier(max_depth=2, prior=depth_prior(0.4)).fit(X, y)
    model.save(tmp_path / "model.json")
    again = et.load_model(tmp_path / "model.json")
    assert again.prior == depth_prior(0.4)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_prior_that_is_taken_out_is_unknown() -> None:
    with pytest.raises(
        QueryError, match="expected one of 'uniform', 'size', 'leaf_penalty', 'balanced', 'shapes', 'coding'"
    ):
        spaces()[0].posterior("toy_depth")


def test_every_prior_has_a_twin_and_a_check() -> None:
    for word, record in PRIORS.items():
        assert isinstance(record.twin, str)
        assert hasattr(reference, record.twin)
        assert KINDS[word].type_name == record.made.__name__


# --- a constraint on leaves


@pytest.fixture
def clear() -> Iterator[Any]:
    @leaf_word("clear", "examples, and lead of the largest class, of every leaf", "examples")
    @dataclass(frozen=True)
    class ToyClear(ComposedConstraint):
        examples: int

        def parts(self) -> tuple[Support, Margin]:
            return Support(2 * self.examples), Margin(self.examples)

    yield ToyClear
    forget_leaf_word("clear")


def test_a_constraint_that_is_registered_is_known_everywhere(clear: Any, out: Out, tmp_path: Path) -> None:
    assert "lead of the largest class, of every leaf" in out("methods")
    line = "least error then smallest where leaf >= 3 and clear >= 2"
    query, _ = et.parse_query(line)
    assert query.leaf == [Support(3), clear(2)]
    assert et.format_query(query) == line
    assert et.parse_query("most accurate where clear > 1")[0].leaf == clear(2)
    assert et.format_query(et.Query(forbid="clear")).endswith('avoids "clear"')  # now a word of the language
    with pytest.raises(QueryError, match='"clear" is a whole number'):
        et.parse_query("most accurate where clear >= 1.5")
    space, twin_space = spaces()
    wanted = reference.best(twin_space, reference.Query(("error", "size"), min_support=4, min_margin=2))[0]
    found = space.best(query)
    assert (found.info["objective"], found.size) == wanted.rank
    X, y = rows()
    model = et.OptimalTreeClassifier(max_depth=2, leaf=clear(2), leaf_penalty=0).fit(X, y)
    assert model.objective_ == wanted.rank[0]
    model.save(tmp_path / "model.json")
    assert et.load_model(tmp_path / "model.json").leaf == clear(2)


def test_a_constraint_that_is_taken_out_is_unknown() -> None:
    with pytest.raises(QueryError, match="expected a condition such as leaf >= 10"):
        et.parse_query("most accurate where clear >= 2")


def test_every_constraint_of_the_core_has_a_twin() -> None:
    twins = {record.twin for record in LEAF_WORDS.values()}
    assert twins == set(reference.criteria.LEAF_CONSTRAINTS)


# --- a cost


HARM = ((0.0, 1.0), (2.5, 0.0))


@pytest.fixture
def harm() -> Iterator[str]:
    yield named_cost("toy_harm", "two and a half for a miss, one for an alarm", matrix=lambda n: HARM).name
    del COSTS["toy_harm"]


def test_a_cost_that_is_registered_is_known_everywhere(harm: str, out: Out, tmp_path: Path) -> None:
    assert "two and a half for a miss" in out("methods")
    assert Asked.of({"objective": harm}, ()).objective == harm
    assert (harm, "toy harm", COSTS[harm].about) in choices()["objective"]  # of the form of the page
    line = "least toy harm then smallest where toy harm <= 20.0"
    query, _ = et.parse_query(line)
    assert query == et.Query((harm, "size"), max_error={harm: 20.0})
    assert et.format_query(query) == line
    space, twin_space = spaces()
    wanted = reference.best(twin_space, reference.Query(("cost", "size"), cost_matrix=HARM))[0]
    found = space.best((harm, "size"))
    assert (found.info["objective"], found.size) == wanted.rank
    X, y = rows()
    model = et.OptimalTreeClassifier(max_depth=2, minimize=(harm, "size")).fit(X, y)
    assert model.objective_ == wanted.rank[0]
    told = et.OptimalTreeClassifier(max_depth=2, minimize=("cost", "size"), cost_matrix=HARM).fit(X, y)
    assert model.predict(X).tolist() == told.predict(X).tolist()
    model.save(tmp_path / "model.json")
    again = et.load_model(tmp_path / "model.json")
    assert list(again.minimize) == [harm, "size"]
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_a_cost_that_is_taken_out_is_unknown() -> None:
    with pytest.raises(
        QueryError, match="expected criteria among error, expected_error, gini, entropy, cost, size"
    ):
        et.Query("toy_harm")


def test_every_cost_has_a_twin_and_a_check() -> None:
    assert set(COSTS) <= set(reference.criteria.CRITERIA)
    assert tuple(COSTS) == CHECKED_COSTS


# --- a move of chains


@pytest.fixture
def rename() -> Iterator[str]:
    """A move made of others; one with a kernel of its own is C++, and is known by the same record."""
    yield named_move("toy_rename", "change one test, or exchange two", mixture={"change": 1, "swap": 3}).name
    del MOVES["toy_rename"]


def test_a_move_that_is_registered_is_known_everywhere(rename: str, out: Out, tmp_path: Path) -> None:
    assert "change one test, or exchange two" in out("methods")
    given = {"grow": 1, "prune": 1, rename: 2}
    assert move_odds(given) == [0.25, 0.25, 0.125, 0.375, 0]
    with pytest.raises(QueryError, match="'toy_rename'"):
        move_odds({"toy_other": 1})
    odds = {MOVES[kind].twin: share for kind, share in odds_of({rename: 1.0}).items() if MOVES[kind].twin}
    kernel = reference.ChipmanKernel(spaces()[1], None, odds)
    proposed = kernel.moves((0, (1, None, None), None))
    assert {move.kind for move in proposed} == {"change", "swap"}
    X, y = rows()
    options: dict[str, Any] = {
        "max_depth": 2,
        "n_draws": 100,
        "burn_in": 20,
        "n_chains": 2,
        "random_state": 0,
    }
    model = et.MCMCTreeClassifier(moves=given, **options).fit(X, y)
    same = et.MCMCTreeClassifier(moves={"grow": 2, "prune": 2, "change": 1, "swap": 3}, **options).fit(X, y)
    assert np.array_equal(model.predict_proba(X), same.predict_proba(X))
    assert set(model.acceptance_) <= {*core_moves(), "exchange"}
    model.save(tmp_path / "model.json")
    again = et.load_model(tmp_path / "model.json")
    assert again.moves == given
    assert again.acceptance_ == model.acceptance_


def test_a_move_that_is_taken_out_is_unknown() -> None:
    with pytest.raises(QueryError, match="a dict from 'grow', 'prune', 'change', 'swap', 'regrow' to"):
        move_odds({"toy_rename": 1})


def test_every_move_of_the_core_has_a_twin_or_a_law_of_its_own() -> None:
    twins = {MOVES[kind].twin for kind in core_moves()}
    assert twins - {None} == set(reference.ChipmanKernel.KINDS)
    assert [kind for kind in core_moves() if MOVES[kind].twin is None] == [
        "regrow"
    ]  # tests/mcmc, test_chain_laws


def test_the_documentation_names_every_move() -> None:
    text = (Path(__file__).parents[1] / "docs" / "mcmc.md").read_text(encoding="utf-8")
    assert [word for word in MOVES if f"*{word}" not in text] == []


# --- a classifier


@pytest.fixture
def stump() -> Iterator[Any]:
    @method("toy_stump", "the best tree with one test")
    @saved_as(FORMAT)
    class ToyStumpClassifier(TreeClassifierBase):
        tree_: Tree

        def __init__(self, bins: int = 4, missing: str = "error") -> None:
            self.bins = bins
            self.missing = missing

        def _fit_table(
            self,
            table: Table,
            X01: npt.NDArray[np.uint8],
            y_codes: npt.NDArray[np.intp],
            sample_weight: npt.NDArray[np.int64] | None,
        ) -> None:
            self.tree_ = et.TreeSpace.from_table(table, 1, 1).best()

        def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
            return self.tree_.predict_proba(X01)

    yield ToyStumpClassifier
    forget_method("toy_stump")
    forget_classifier("ToyStumpClassifier")


def test_a_classifier_that_is_registered_is_known_everywhere(stump: Any, out: Out, tmp_path: Path) -> None:
    X, y = rows()
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    data, file = tmp_path / "data.csv", tmp_path / "model.json"
    data.write_text("\n".join(["a,b,c,d,class", *lines]))
    assert "the best tree with one test" in out("methods")
    shown = out("fit", data, "--target", "class", "--method", "toy_stump", "--out", file)
    assert "by the method toy_stump" in shown
    assert "training errors" in shown
    assert out("compare", data, "--target", "class", "--methods", "toy_stump,optimal", "--folds", "2")
    model = et.load_model(file)
    assert type(model) is stump
    assert model.tree_.n_leaves == 2
    assert model.column_kinds() == {"a": "any", "b": "any", "c": "any", "d": "any"}
    assert model.explain_row(et.read(data, "class").split()[0].take([0])).covered == 1
    assert out("explain", file, data, "--row", "1")
    page = page_data(model, data)
    assert page["answer"] == "tree"
    assert page["summary"] == "The best tree with one test on 24 examples."


def test_a_classifier_that_is_taken_out_is_unknown(tmp_path: Path) -> None:
    assert "toy_stump" not in methods()
    (tmp_path / "model.json").write_text('{"format": "everytree.model"}')
    with pytest.raises(DataError):
        et.load_model(tmp_path / "model.json")


def test_the_documentation_names_every_method() -> None:
    text = (Path(__file__).parents[1] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [word for word in methods() if f"`{word}`" not in text] == []
