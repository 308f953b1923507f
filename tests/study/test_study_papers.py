"""The studies of DL8, of Buntine and beyond the papers, on small tables and on real ones."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import REAL, write_set
from sklearn.metrics import roc_auc_score

import everytree as et
from everytree.errors import LimitReached
from everytree.study import (
    artificial,
    beyond,
    buntine1992,
    ensembles,
    krasznahorkay2004,
    nijssen2007,
    nijssen2008,
    runaway,
)
from everytree.study.charts import Chart
from everytree.study.figure9_j48 import default_j48
from everytree.study.halves import CHOOSING, REPORTED, SETS
from everytree.study.jobs import Job
from everytree.study.measure import auc, binary_fold, measured
from everytree.study.peers import PEERS, SolverTree, installed
from everytree.study.report import Cell, Table, printed
from everytree.study.run import Outcome, run_study

real = pytest.mark.skipif(not REAL.is_dir(), reason="needs the data sets beside the repository")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("vote", "iris", "balance-scale")):
        write_set(folder, name, n=300, seed=seed)
    return folder


def table(found: Outcome, name: str) -> Table:
    return next(part for part in found.report.parts if isinstance(part, Table) and part.name == name)


# --- DL8


@pytest.fixture(scope="module")
def dl8(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return run_study("nijssen2007", data, tmp_path_factory.mktemp("out"), quick=True, trials=2)


@pytest.mark.long
def test_the_optimum_fits_the_training_rows_better(dl8: Outcome) -> None:
    rows = table(dl8, "figure9-unpruned").rows
    assert [(row["data set"], row["minfreq"]) for row in rows] == [("balance-scale", 15), ("vote", 20)]
    for row in rows:
        assert row["train DL8"].ours >= row["train J48"].ours - 1e-12
        assert row["train DL8, by share"].ours >= row["train DL8"].ours - 1e-12  # fewer are needed in a leaf
        assert row["proved"] == "2 of 2"
        assert row["test J48"].printed == next(
            each["unpruned"]["test"]["J48"]
            for each in printed("nijssen2007")["figure9"]
            if (each["data"], each["minfreq"]) == (row["data set"], row["minfreq"])
        )


def test_c45_with_its_defaults_is_beside_every_row(dl8: Outcome) -> None:
    rows = table(dl8, "figure9-default").rows
    assert [(row["data set"], row["minfreq of DL8"]) for row in rows] == [("balance-scale", 15), ("vote", 20)]
    for row in rows:
        paper = printed("nijssen2007")
        assert row["test J48, tests"].printed == paper["j48_minfreq_2"][row["data set"]]
        assert row["test J48, numbers"].printed == paper["j48_minfreq_2_not_discretised"][row["data set"]]
        assert row["size J48, tests"].ours >= 1
        assert {row["S, tests"], row["S, numbers"]} <= {"+", "0", "−"}


def test_rows_below_the_printed_optimum_are_named() -> None:
    lines = [
        {"data set": "vote", "minfreq": 20, "train": Cell(0.966, 0.01, 0.97)},  # rounds to it
        {"data set": "zoo", "minfreq": 2, "folds": 9, "train": Cell(0.9649, 0.01, 0.97)},
        {"data set": "iris", "minfreq": 2, "train": Cell(None, 0.01, 0.97)},
    ]
    assert nijssen2007._reached(lines[:1], "train") == "train: at least the printed accuracy in 1 of 1 rows."
    assert nijssen2007._reached(lines, "train").endswith(
        "2 of 3 rows; below it: zoo 2 (0.965 in 9 folds, printed 0.97)."
    )


def test_cells_far_from_the_printed_ones_are_named() -> None:
    cells = dict.fromkeys(nijssen2008.MODELS, Cell(0.80, 0.01, 0.83))
    line = {"data set": "vote", "bins": 4} | cells
    assert nijssen2008._near([line]).endswith("4 of 4 averages and trees.")
    far = line | {"MAP-Unif": Cell(0.79, 0.01, 0.83)}
    assert nijssen2008._near([line, far]).endswith(
        "7 of 8 averages and trees; beyond it: vote in 4 bins, MAP-Unif: -0.040."
    )
    assert "0 of 0" in nijssen2008._near([far | {"data set": "anneal"}])


def test_the_sign_of_c45() -> None:
    def some(model: str, *accuracies: float) -> list[dict[str, Any]]:
        about = {"data": "vote", "minfreq": 20, "model": model, "n_train": 90, "n_test": 10, "nodes": 3}
        return [about | {"trial": k, "accuracy": value} for k, value in enumerate(accuracies)]

    order = [
        row for row in printed("nijssen2007")["figure9"] if (row["data"], row["minfreq"]) == ("vote", 20)
    ]
    rows = some("tests", 0.9, 0.91, 0.92) + some("numbers", 0.5, 0.52, 0.51)
    made = default_j48(rows, some("DL8 pruned", 0.7, 0.72, 0.7), order)
    assert [(row["S, tests"], row["S, numbers"]) for row in made.rows] == [("+", "−")]
    assert "better than DL8 on 1 of 1 data sets with DL8's tests" in made.after[0]


def test_bounded_sizes_are_kept(dl8: Outcome) -> None:
    (row,) = table(dl8, "figure10").rows
    assert row["size DL8"].ours <= row["max size"]


def test_strategies_agree_and_are_drawn(dl8: Outcome) -> None:
    rows = table(dl8, "figure7").rows
    assert [row["minfreq"] for row in rows] == list(nijssen2007.FREQUENCIES["vote"])
    assert not any("≠" in str(row["error, size"]) for row in rows)
    assert any(row["closed"] is not None for row in rows)
    chart = next(part for part in dl8.report.parts if isinstance(part, Chart) and part.name == "figure7")
    assert {"auto", "closed", "simple"} <= chart.panels[0].series.keys()


def test_fronts_queries_and_traps(dl8: Outcome) -> None:
    (front,) = table(dl8, "figure11").rows
    assert front["points"] >= 2
    queries = table(dl8, "queries").rows
    assert {row["problem"] for row in queries} == set(nijssen2007.QUERIES)
    traps = table(dl8, "traps").rows
    assert len(traps) == 4
    for row in traps:
        assert row["root by gain"] == row["root by gain ratio"] == "A" != row["root of the optimum"]
        assert row["errors of the optimum"] == 0
    first, second = traps[:2]
    assert (first["errors of C4.5"], first["nodes of the optimum"]) == (5, 5)
    assert (second["nodes of C4.5"], second["nodes of the optimum"], second["root of the optimum"]) == (
        9,
        7,
        "C",
    )


def test_every_query_can_be_asked() -> None:
    import everytree as et

    assert all(et.parse_query(text) for text in nijssen2007.QUERIES.values())


@pytest.mark.long
@real
@pytest.mark.parametrize(("name", "minfreq"), [("balance-scale", 15), ("breast-w", 40)])
def test_figure_9_is_reached_on_training_rows(name: str, minfreq: int, tmp_path: Path) -> None:
    found = run_study("nijssen2007", REAL, tmp_path, quick=True, sets=[name], parts=["figure9"], trials=10)
    (row,) = (each for each in table(found, "figure9-unpruned").rows if each["minfreq"] == minfreq)
    for column in ("train DL8, by share", "train J48"):
        assert round(row[column].ours + 1e-9, 2) >= row[column].printed - (0.01 if "J48" in column else 0)
    assert abs(row["test DL8"].ours - row["test DL8"].printed) < 0.03


# --- Buntine


@pytest.mark.long
def test_buntine_on_generated_data_needs_no_folder(data: Path, tmp_path: Path) -> None:
    found = run_study("buntine1992", data, tmp_path, quick=True, trials=2, sets=["iris"])
    rows = table(found, "accuracy").rows
    assert [(row["data set"], row["size"]) for row in rows] == [
        ("iris", 20), ("iris", 100), ("xd6", 200), ("led", 100), ("led", 500),
    ]  # fmt: skip
    assert all(sum(str(row[method]).startswith("**") for method in buntine1992.METHODS) >= 1 for row in rows)
    contests = table(found, "contests").rows
    assert all(sum(map(int, row["C4"].split("/"))) == 5 for row in contests)
    assert "mean rank" in table(found, "said").rows[0]["here"]
    for name in ("average", "normalised"):
        assert (tmp_path / "buntine1992-quick" / f"{name}.svg").stat().st_size > 1000
    figure3 = next(part for part in found.report.parts if isinstance(part, Chart) and part.name == "average")
    assert figure3.panels[0].ticks == [f"{row['data set']} {row['size']}" for row in rows]
    for row, middle in zip(rows, figure3.panels[0].series["methods of the paper"][1], strict=True):
        values = [float(str(row[method]).strip("*")) for method in buntine1992.PAPER]
        assert middle == pytest.approx(np.mean(values), abs=1e-3)
    trust = {row["method"]: row for row in table(found, "trust").rows}
    assert list(trust) == list(buntine1992.METHODS)
    expected = table(found, "predicted_accuracy").rows
    over = [
        float(x["none"].split()[0]) - float(str(a["none"]).strip("*"))
        for x, a in zip(expected, rows, strict=True)
    ]
    assert float(trust["none"]["mean"]) == pytest.approx(np.mean(over), abs=2e-3)
    # A tree as it was grown expects too much of itself, and an average over its prunings less.
    assert float(trust["none"]["mean"]) > float(trust["Smooth"]["mean"])


def test_buntine_prunes_one_grown_tree() -> None:
    """The paper: all methods use the same growing, and prune what has grown."""
    X, y = artificial.led(150, random_state=3)
    trees = {
        name: buntine1992._model(name, 60, 0).fit(X, y).tree_ for name in (*buntine1992.OTHERS, "Smooth")
    }

    def tests_of(tree: Any, node: int = 0, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], str | None]:
        options = tree.options(node)
        found = {path: tree.column(options[0]).name if options else None}
        for branch, child in tree.branches(options[0]) if options else ():
            found |= tests_of(tree, child, (*path, branch))
        return found

    grown = tests_of(trees["none"])
    assert tests_of(trees["Smooth"]) == grown
    sizes = {name: tree.n_nodes for name, tree in trees.items()}
    assert sizes["MML"] < sizes["none"]  # else pruning says nothing
    for name, tree in trees.items():
        for path, test in tests_of(tree).items():
            assert path in grown
            assert test in (None, grown[path]), name


def test_predicted_accuracy_is_the_mean_probability_of_what_is_predicted() -> None:
    X, y = artificial.xd6(300, random_state=1)
    model = et.SmoothedTreeClassifier()
    row = measured(model, X[:200], y[:200], X[200:], y[200:], [0, 1])
    proba = model.predict_proba(X[200:])
    assert row["predicted_accuracy"] == pytest.approx(proba.max(axis=1).mean())
    # Classes that training lacks have probability zero, and places of their own.
    row = measured(et.SmoothedTreeClassifier(), X[:200], y[:200] + 1, X[200:], y[200:] + 1, [0, 1, 2, 3])
    assert row["predicted_accuracy"] == pytest.approx(proba.max(axis=1).mean())


# --- chains


@pytest.mark.long
def test_no_energy_is_below_the_optimum(data: Path, tmp_path: Path) -> None:
    found = run_study("krasznahorkay2004", data, tmp_path, quick=True, trials=1)
    rows = table(found, "energies").rows
    assert [(row["data set"], row["risk"]) for row in rows] == [
        (name, risk) for name in ("vote", "xor", "xd6") for risk in krasznahorkay2004.RISKS
    ]
    for row in rows:
        for method in ("single leaf", "greedy", "paper", "stack", "chipman"):
            assert row[method].ours >= row["optimum"].ours - 1e-6
    xor = next(row for row in rows if row["data set"] == "xor" and row["risk"] == "gini")
    assert (
        xor["chipman: optimum reached"] == "1 of 1"
    )  # greedy growing has nothing to go by, a chain finds it
    assert xor["greedy"].ours > xor["optimum"].ours + 5
    assert len(table(found, "runaway").rows) == 2 * len(krasznahorkay2004.RUNAWAY_ALPHAS)
    chart = next(part for part in found.report.parts if isinstance(part, Chart))
    assert all(np.all(np.diff(panel.series["chipman"][1]) <= 1e-9) for panel in chart.panels)


def test_trees_run_away_where_orders_count_and_nothing_bounds_them() -> None:
    looks = range(50, 20_000, 10)
    # With the orders divided out the chain has its law: e^−α / Σ is the share of the single leaf.
    once = np.array([runaway.run_shapes(2.0, "once", looks, seed) for seed in range(4)])
    root = np.sqrt(1 - 4 * np.exp(-2))
    assert np.mean(once == 1) == pytest.approx(np.exp(-2) / ((1 - root) / 2), abs=0.01)
    assert once.mean() == pytest.approx(runaway.mean_leaves(2.0), abs=0.03)
    counted = np.array([runaway.run_shapes(2.0, "counted", [100_000], seed) for seed in range(4)])
    assert np.median(counted) > 5_000
    # Beyond e^α leaves a split is accepted in about e^−α of the proposals.
    assert runaway.run_shapes(1.0, "counted", [20_000], 0)[0] == pytest.approx(20_000 * np.exp(-1), rel=0.05)


def test_shapes_sum_to_one_half_at_ln_4() -> None:
    from math import comb

    def shapes(leaves: int) -> float:
        return comb(2 * leaves - 2, leaves - 1) / leaves * 4.0**-leaves

    total = sum(shapes(leaves) for leaves in range(1, 500))
    assert 0.48 < total < 0.5  # what is missing falls as 1 / √leaves
    assert total + 1 / (2 * np.sqrt(np.pi * 500)) == pytest.approx(0.5, abs=1e-4)


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("risk", krasznahorkay2004.RISKS)
def test_energies_are_those_of_the_estimator(risk: str) -> None:
    from everytree import MCMCTreeClassifier
    from everytree.study.artificial import xd6

    X, y = xd6(120, random_state=0)
    model = MCMCTreeClassifier(
        3,
        1,
        target="risk",
        risk=risk,
        leaf_penalty=krasznahorkay2004.ALPHA,
        n_chains=1,
        n_draws=50,
        random_state=0,
    ).fit(X, y)
    counts = krasznahorkay2004._leaf_counts(model.tree_, X, y)
    assert krasznahorkay2004._energy(counts, risk) == pytest.approx(model.energy_)


# --- beyond


@pytest.mark.long
def test_beyond_with_what_is_installed(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [name for name in installed() if name in ("scikit-learn CART", "random forest")]
    monkeypatch.setattr(beyond, "installed", lambda: some)
    found = run_study("beyond", data, tmp_path, quick=True, trials=2, sets=["iris"])
    rows = table(found, "choosing-everyone").rows
    assert {row["classifier"] for row in rows} == {*beyond.OURS, *some}
    losses = [row["log_loss"].ours for row in rows]
    assert losses == sorted(losses)
    ranks = [row["rank"].ours for row in rows]
    assert ranks == sorted(ranks)
    assert sum(ranks) == pytest.approx(len(rows) * (len(rows) + 1) / 2)
    told = {row["against"]: row["log-loss ratio"].ours for row in table(found, "choosing-pairs").rows}
    (first,) = (row["log_loss"].ours for row in rows if row["classifier"] == "every tree")
    others = {row["classifier"]: row["log_loss"].ours for row in rows if row["classifier"] != "every tree"}
    assert told == pytest.approx({name: first / loss for name, loss in others.items()})
    worse = table(found, "choosing-losses").rows
    assert bool(worse) == any(loss < first for loss in others.values())
    assert all(isinstance(row["accuracy"], Cell) and row["folds without result"] == 0 for row in rows)
    for row in table(found, "choosing-pairs").rows:
        assert sum(map(int, row["accuracy"].split("/"))) == 1
        assert row["sets"] == 1
    monkeypatch.setattr(
        beyond, "installed", lambda: some[:1]
    )  # results of a peer that is gone stay in the file
    again = run_study("beyond", data, tmp_path, quick=True, trials=2, sets=["iris"])
    assert {row["classifier"] for row in table(again, "choosing-everyone").rows} == {*beyond.OURS, *some[:1]}


@pytest.mark.long
def test_a_peer_that_fails_or_takes_too_long_is_a_cell_without_result(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def fit(self, X: Any, y: Any) -> None:
            raise RuntimeError("no licence")

    peer = PEERS["scikit-learn CART"]
    monkeypatch.setitem(PEERS, "scikit-learn CART", peer._replace(make=Broken))
    monkeypatch.setattr(beyond, "installed", lambda: ["scikit-learn CART"])
    found = run_study("beyond", data, tmp_path, quick=True, trials=1, sets=["iris"])
    row = next(
        row for row in table(found, "choosing-everyone").rows if row["classifier"] == "scikit-learn CART"
    )
    assert row["folds without result"] == 1
    assert str(row["accuracy"]) == "–"


FAKES = {
    "crashes": ("import os; os.abort()", "failed: the process ended with code -6"),
    "raises": ("print('{}', end='')\nraise RuntimeError('no licence')", "failed: RuntimeError: no licence"),
    "sleeps": ("import time; time.sleep(60)", "over 1 s"),
}


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("how", FAKES)
def test_a_solver_in_a_process_of_its_own(
    how: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, note = FAKES[how]
    (tmp_path / "pystreed.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(beyond, "SLACK", 10.0)
    monkeypatch.setattr(beyond, "BUSY", 1.0)
    limit = 1.0 if how == "sleeps" else 20.0
    (row,) = beyond.run(Job("fold", "iris", {"model": "STreeD", "time_limit": limit}, 0), data)
    assert row["note"].startswith(note)


def test_the_limit_of_time_of_a_peer() -> None:
    end = time.monotonic() + 60
    with pytest.raises(LimitReached, match=r"over 0\.05 s"), beyond._at_most(0.05):
        all(time.monotonic() < end for _ in iter(int, 1))


@pytest.mark.parametrize("name", [name for name in ("STreeD", "DL8.5", "GOSDT") if name in installed()])
def test_solvers_of_others_give_trees(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (80, 6))
    y = (X[:, 0] & X[:, 1]) + 2 * (X[:, 2] & (1 - X[:, 0]))
    model = PEERS[name].make().fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.95
    assert model.n_nodes_ <= 15
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_tree_of_a_solver_by_hand() -> None:
    tree = (0, (1, None, None), None)
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array(["a", "b", "b", "b"])
    model = SolverTree(lambda *_: tree).fit(X, y)
    assert (model.n_leaves_, model.n_nodes_) == (3, 5)
    # one example of "a" in the first leaf, one of "b" in the second, two of "b" in the third; one more of each class
    assert model.predict_proba(X).tolist() == [[2 / 3, 1 / 3], [1 / 3, 2 / 3], [1 / 4, 3 / 4], [1 / 4, 3 / 4]]
    assert model.predict(X).tolist() == y.tolist()


# --- the parts of Bayes optimal classification beside its table


@pytest.mark.long
def test_both_depths_of_figure_1_and_the_grid_of_the_prior(data: Path, tmp_path: Path) -> None:
    found = run_study("nijssen2008", data, tmp_path, quick=True, trials=2, parts=["figure1", "grid"])
    figure = table(found, "figure1")
    assert {row["tests on a path"] for row in figure.rows} == set(nijssen2008.QUICK_DEPTHS)
    assert len(figure.after) == 2
    rows = table(found, "grid").rows
    grid = nijssen2008.QUICK_GRID
    names = {row["data set"] for row in rows}
    assert len(rows) == len(grid) * len(names) > 0
    assert all(row["folds"] == 2 for row in rows)
    cells = [row[f"β = {beta}"] for row in rows for beta in grid]
    assert all(0 <= float(cell.split()[0]) <= 1 for cell in cells)
    assert sum(cell.endswith("★") for cell in cells) == len(names)
    said = table(found, "grid").after[0]
    assert f"of {(len(grid) ** 2 - 1) * len(names)} settings" in said


def test_one_space_for_all_priors_of_the_grid_is_the_classifier(data: Path) -> None:
    """A job of the grid shares the graph of its fold: the same numbers as those of a classifier for each prior."""
    jobs = [job for job in nijssen2008.jobs(True, ["vote"]) if job.part == "grid" and job.trial == 0]
    given = jobs[0].settings
    fold = binary_fold(data, "vote", given["bins"], nijssen2008.FOLDS, 0)
    for row in nijssen2008.run(jobs[0], data)[::4]:
        model = et.BayesOptimalClassifier(
            given["max_depth"], given["min_leaf"], alpha=row["alpha"], beta=row["beta"]
        )
        for name, value in measured(model, *fold).items():
            assert "seconds" in name or row[name] == pytest.approx(value, abs=1e-9), name


# --- the contest beyond the papers


def test_the_halves_have_every_set_once_and_the_same_rows_together() -> None:
    assert len(SETS) == len(set(SETS)) == len(CHOOSING) + len(REPORTED) == 42
    for alike in (
        ("anneal", "anneal-weka"), ("glass", "glass2"), ("heart-cleveland", "heart-cleveland-uci"),
        ("hypothyroid", "sick"), ("pendigits", "pendigits-train"),
    ):  # fmt: skip
        assert len({name in CHOOSING for name in alike}) == 1


def test_every_peer_and_every_one_of_ours_is_in_one_part() -> None:
    listed = [name for part in beyond.PARTS.values() for name in part]
    assert sorted(listed) == sorted((*beyond.OURS, *PEERS))


def test_the_area_under_the_curve_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y, proba = rng.integers(0, 3, 60), rng.dirichlet(np.ones(3), 60).round(1) + 1e-9
    proba /= proba.sum(axis=1, keepdims=True)
    each = [roc_auc_score(y == c, proba[:, c]) for c in range(3)]
    assert auc(proba, y) == pytest.approx(np.mean(each))
    assert auc(proba[:2], np.array([1, 1])) is None


def test_the_calibrated_forest_has_the_exponent_of_its_out_of_bag_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "b", "a")
    model = ensembles.CalibratedForest().fit(X, y)
    raw = np.maximum(model.model.predict_proba(X), 1e-3)
    raw /= raw.sum(axis=1, keepdims=True)
    powers = raw**model.exponent_
    assert np.allclose(model.predict_proba(X), powers / powers.sum(axis=1, keepdims=True))
    assert model.exponent_ != 1


def test_pruned_cart_is_smaller_than_the_whole_tree() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    y[X[:, 0] > 0] = 1
    model = ensembles.PrunedCart().fit(X, y)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert 1 <= model.tree_.node_count < PEERS["scikit-learn CART"].make().fit(X, y).tree_.node_count
