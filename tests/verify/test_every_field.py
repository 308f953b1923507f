"""Every field of every kind of model file: a changed value is refused, found false, or known to change nothing.

``verify_mutations`` tries random edits; here each field (places of a list are one field) gets its own, so that a field
that is added without a check fails a test. ``FREE`` are the fields that may be changed unseen, with the reason.
"""

from __future__ import annotations

import copy
import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import verify_mutations as made

import everytree as et
from everytree.verify import InputError, verify_model

MORE: dict[str, Any] = {
    "optimal local": lambda: et.OptimalTreeClassifier(max_depth=2, min_leaf=4, cuts="local", bins=3),
    "optimal costs": lambda: et.OptimalTreeClassifier(
        max_depth=2, min_leaf=4, cost_matrix=[[0, 1], [5, 0]], minimize=("cost", "size")
    ),
    "bayes local": lambda: et.BayesOptimalClassifier(max_depth=2, bins=2, cuts="local"),
    "bayes balanced": lambda: et.BayesOptimalClassifier(max_depth=2, bins=2, prior=et.BalancedPrior(0.5)),
    "map local": lambda: et.MAPTreeClassifier(max_depth=2, bins=2, cuts="local"),
    "chains local": lambda: et.MCMCTreeClassifier(
        max_depth=2, bins=2, cuts="local", n_chains=2, n_draws=12, burn_in=20, thin=3, random_state=0
    ),
}
KINDS = made.MADE | MORE

NO_DATA = "nothing that predicts depends on it, and no data can tell it"
SEARCH = "how the answer was searched or drawn, or what a further fit would do"
LOOSE = "a parameter under which the same tree, or the same average, is still the answer"
FREE = {
    "everytree": NO_DATA, "encoding.named_columns": NO_DATA,
    "target": "where the labels stand in the file that it is checked with",
    "claims.n_states": NO_DATA, "claims.n_left_out": NO_DATA, "claims.stop_reason": NO_DATA,
    "claims.depth_profile": NO_DATA, "claims.log_evidence": "only where it is null: nothing was claimed",
    "columns.*.fine.low.*": "where between two neighbouring values a cut lies: none of the rows is there",
    "columns.*.fine.high.*": "where between two neighbouring values a cut lies: none of the rows is there",
    **dict.fromkeys(
        ("params." + name for name in (
            "anneal", "burn_in", "memory_limit", "n_chains", "n_draws", "n_jobs", "progress", "random_state", "start",
            "strategy", "tempering", "thin", "time_limit", "method", "moves", "informed",
        )), SEARCH,
    ),
    **dict.fromkeys(
        ("params." + name for name in (
            "alpha", "beta", "bins", "confidence", "cuts", "forbid", "leaf", "leaf_penalty", "max_depth", "min_leaf",
            "omega", "risk", "scale", "max_leaves", "max_size", "require", "max_error", "min_accuracy", "unknown",
            "minimize",
        )), LOOSE,
    ),
    "claims.mixture.*.*.fields.beta": "with one level of tests every tree has the same factor of it",
}  # fmt: skip
# A value that the checker does not know: exit code 3 says so.
TOLD = ("params.prior", "params.dirichlet", "params.class_weight", "claims.dirichlet")


def fields(saved: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """The fields of a file, as dotted names with ``*`` for places of a list, and where each of them is."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for path in made.places(saved):
        name = ".".join("*" if isinstance(key, int) else key for key in path)
        found.setdefault(name, []).append(path)
    return found


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_refused_found_or_free(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made, "MADE", KINDS)
    _, file, data, X = made.fitted(kind, tmp_path)
    saved, rows, rng = json.loads(file.read_text(encoding="utf-8")), made.probes(X), random.Random(0)
    before, n_refused, n_found = made.predictions(file, rows), 0, 0
    assert verify_model(file, data).ok
    for name, paths in fields(saved).items():
        for path in rng.sample(paths, min(2, len(paths))):
            content = copy.deepcopy(saved)
            at: Any = content
            for key in path[:-1]:
                at = at[key]
            was = now = at[path[-1]]
            while now == was and isinstance(now, bool) == isinstance(was, bool):
                now = made.other(was, rng)
            at[path[-1]] = now
            file.write_text(json.dumps(content), encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                after = made.predictions(file, rows)
            if after is None:
                n_refused += 1
                continue
            same = after[0].shape == before[0].shape and np.abs(after[0] - before[0]).max() <= 1e-9
            same = same and after[1] == before[1]
            try:
                report = verify_model(file, data)
            except InputError:
                n_found += 1
                continue
            if not report.ok:
                n_found += 1
                continue
            assert same, (name, was, now)
            if name in TOLD:
                assert report.unchecked, (name, was, now)
            else:
                assert name in FREE, (name, was, now)
    assert n_refused + n_found > 20


def test_answers_that_cannot_be_checked_are_told_by_exit_code_3(tmp_path: Path) -> None:
    _, file, data, _ = made.fitted("optimal", tmp_path)
    saved = json.loads(file.read_text(encoding="utf-8"))
    for name in ("class_weight", "minimize"):
        content = copy.deepcopy(saved)
        content["params"][name] = 0.5 if name == "class_weight" else ["least surprise"]
        file.write_text(json.dumps(content), encoding="utf-8")
        report = verify_model(file, data)
        assert report.ok
        assert "answers of leaves" in report.unchecked
