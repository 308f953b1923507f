"""Chains, cross-validation and studies on the workers of every backend: what one process finds, to the last bit."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import everytree as et
from everytree import cluster
from everytree.study import run as runner
from everytree.study.jobs import rows_of_line
from everytree.study.run import run_study

pytestmark = pytest.mark.long

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (120, 6))
Y = (X[:, 0] & X[:, 1]) ^ (RNG.random(120) < 0.15)

CHAINS: list[dict[str, Any]] = [
    {},
    {"kernel": "stack", "orders": "once", "tempering": 1},
    {"target": "risk", "leaf_penalty": 1.5, "anneal": True},
    {"start": "map", "density": {"x0": 3}, "n_chains": 3, "prior": "uniform"},
]


def chains(**options: Any) -> et.MCMCTreeClassifier:
    given = {"max_depth": 3, "n_draws": 40, "burn_in": 20, "thin": 10, "random_state": 5} | options
    return et.MCMCTreeClassifier(**given)


def assert_same_draws(one: et.MCMCTreeClassifier, two: et.MCMCTreeClassifier) -> None:
    assert [one.draws_.key(k) for k in range(one.draws_.n_distinct)] == [
        two.draws_.key(k) for k in range(two.draws_.n_distinct)
    ]
    assert np.array_equal(one.draws_.which, two.draws_.which)
    assert np.array_equal(one.draws_.log_prior, two.draws_.log_prior)
    assert np.array_equal(one.draws_.log_data, two.draws_.log_data)
    assert one.tree_ == two.tree_
    assert one.acceptance_ == two.acceptance_
    if one.target == "risk":
        assert np.array_equal(one.energy_trace_, two.energy_trace_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", CHAINS, ids=range(len(CHAINS)))
def test_chains_draw_the_same_trees_anywhere(backend: str, options: dict[str, Any]) -> None:
    if backend in ("ray", "spark") and options != CHAINS[2]:
        pytest.skip("one setting is enough where every task takes a second")
    made = chains(**options).fit(X, Y)  # where the backend says
    with joblib.parallel_config(backend="sequential"):
        here = chains(n_jobs=2, **options).fit(X, Y)
        assert_same_draws(made, here)
        made.continue_sampling(7)  # a chain comes back, goes on here, and leaves again
        here.continue_sampling(15)
    made.continue_sampling(8)
    assert_same_draws(made, here)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_limits_progress_and_copies_of_chains_elsewhere() -> None:
    told: list[tuple[str, int, int]] = []
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        chains(progress=lambda stage, done, total, seconds: told.append((stage, done, total))).fit(X, Y)
        assert [done for _, done, _ in told] == [60, 120, 180, 240]
        assert told[0][2] == 240
        with pytest.warns(UserWarning, match="time limit reached: 1?.* of 1000000 draws in each of 4 chains"):
            short = chains(n_draws=10**6, time_limit=0.3).fit(X, Y)
        assert short.stop_reason_ == "time limit"
        assert short.draws_.n_draws >= 1
        assert short.draws_.which.shape[0] == 4
        with pytest.raises(et.QueryError, match="kernel='walk'"):
            chains(kernel="walk").fit(X, Y)
        copied = pickle.loads(pickle.dumps(chains().fit(X, Y)))
        assert copied.continue_sampling(5).draws_.n_draws == 45
    assert np.array_equal(copied.predict_proba(X).shape, (120, 2))


# --- cross-validation

MODELS = [
    et.OptimalTreeClassifier(max_depth=2, n_jobs=2),
    et.BayesOptimalClassifier(max_depth=2, n_jobs=2),
    et.MAPTreeClassifier(max_depth=2, n_jobs=2),
    et.SmoothedTreeClassifier(),
    et.OptionTreeClassifier(max_nodes=200),
    et.PathAverageTreeClassifier(),
    chains(n_jobs=2),
    et.C45TreeClassifier(),
    et.CARTTreeClassifier(),
    et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2)),
    et.EveryTreeClassifier(time_limit=None),
]


def test_the_list_of_models_is_complete() -> None:
    import everytree.estimators

    assert {type(model).__name__ for model in MODELS} == set(everytree.estimators.__all__)


def assert_same_scores(model: Any) -> None:
    """With threads inside of each worker too, where the model has them."""
    found = cross_val_score(clone(model), X, Y, cv=3, scoring="neg_log_loss")
    with joblib.parallel_config(backend="sequential"):
        expected = cross_val_score(clone(model), X, Y, cv=3, scoring="neg_log_loss")
    assert np.array_equal(found, expected)
    assert np.isfinite(found).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"], indirect=True)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_cross_validation(backend: str, model: Any) -> None:
    assert_same_scores(model)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("backend", ["dask", "ray", "spark"], indirect=True)
def test_cross_validation_on_a_cluster(backend: str) -> None:
    for model in (MODELS[1], MODELS[6]):
        assert_same_scores(model)


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing", "dask"], indirect=True)
def test_a_grid_search(backend: str) -> None:
    grid = {"max_depth": [1, 2], "min_leaf": [1, 5]}
    search = GridSearchCV(et.BayesOptimalClassifier(n_jobs=2), grid, cv=3, scoring="neg_log_loss").fit(X, Y)
    with joblib.parallel_config(backend="sequential"):
        expected = GridSearchCV(et.BayesOptimalClassifier(), grid, cv=3, scoring="neg_log_loss").fit(X, Y)
    assert search.best_params_ == expected.best_params_
    assert np.array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fitted_models_are_sent_and_answer_there(model: Any) -> None:
    fitted = clone(model).fit(X, Y)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = cluster.distribute(type(fitted).predict_proba, [(fitted, X[:40]), (fitted, X[40:])])
    assert np.array_equal(np.concatenate(there), fitted.predict_proba(X))


# --- studies


def lines_of(path: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()][1:]
    plain = [
        {k: v for k, v in row.items() if "seconds" not in k} for line in lines for row in rows_of_line(line)
    ]
    return {"keys": sorted(line["key"] for line in lines), "rows": sorted(map(repr, plain))}


OPTIONS: dict[str, Any] = {"quick": True, "trials": 1, "sets": []}
RESULTS = Path("krasznahorkay2004-quick/results.jsonl")


@pytest.fixture(scope="module")
def expected_lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("here")
    run_study("krasznahorkay2004", None, place, n_jobs=1, **OPTIONS)
    return lines_of(place / RESULTS)


def test_a_study(backend: str, tmp_path: Path, expected_lines: dict[str, Any]) -> None:
    run_study("krasznahorkay2004", None, tmp_path, **OPTIONS)
    assert lines_of(tmp_path / RESULTS) == expected_lines


@pytest.mark.parametrize("backend", ["loky", "dask", "ray"], indirect=True)
def test_a_study_whose_worker_is_killed(
    backend: str, tmp_path: Path, expected_lines: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, died = runner._work, str(tmp_path / "died")

    def work(name: str, job: Any, folder: Any) -> Any:  # sent by value
        import os
        import signal

        if "xor" in job.key and not os.path.exists(died):
            open(died, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return real(name, job, folder)

    monkeypatch.setattr(runner, "_work", work)
    found = run_study("krasznahorkay2004", None, tmp_path, **OPTIONS)
    assert found.done == found.jobs
    assert Path(died).exists()
    assert lines_of(tmp_path / RESULTS) == expected_lines
