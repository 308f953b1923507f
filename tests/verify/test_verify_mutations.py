"""No edit of a model file that moves a prediction gets past ``load_model`` and ``verify``, whatever the kind of model.

Free are values that no prediction depends on and that no data can tell: ``everytree`` (the version), ``target``,
``encoding.named_columns``; parameters of how an answer was searched or drawn
(``n_jobs``, ``time_limit``, ``memory_limit``, ``strategy``, ``random_state``, ``n_draws``, ``burn_in``, ``bins``, …) or
that the other claims agree with all the same (``min_leaf`` within the smallest leaf); ``claims.n_states``,
``claims.stop_reason``, and a claim that says less (``claims.optimal`` false).
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
import verify_mutations as made
from verify_cases import Case, people

import everytree as et
from everytree.common.json_text import digest
from everytree.verify import InputError, verify_model

NEVER_SAID = {
    "version", "tests", "columns.name", "columns.kind", "table.rows", "table.counts", "tree.test",
    "tree.children", "tree.counts", "tree.proba", "claims.gap", "claims.lower_bound", "claims.objective",
    "claims.error", "claims.log_joint", "claims.upper_bound", "claims.draws.trees", "claims.draws.which",
    "claims.draws.log_prior", "claims.draws.log_data", "claims.dirichlet", "claims.mixture",
    "rules.rules.moves", "rules.base", "tree.log_b", "tree.probabilities", "tree.attribute", "tree.threshold",
    "tree.options.log_split", "tree.nodes.counts", "tree.dirichlet",
}  # fmt: skip


IN_FORCE = ("prior in force", "dirichlet in force")
# What no data can tell of an honest file, or what is chosen by much that is not in it.
OPEN = {
    "smoothed": ("weights of options",), "option": ("weights of options",), "chains": ("draws",),
    "chains of risk": ("draws",), "map fitted": IN_FORCE, "bayes fitted": IN_FORCE,
    "bayes averaged": ("dirichlet in force",),
}  # fmt: skip


@pytest.mark.parametrize("kind", made.MADE)
def test_every_kind_of_model_is_checked(kind: str, tmp_path: Path) -> None:
    _, file, data, _ = made.fitted(kind, tmp_path)
    report = verify_model(file, data)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report.unchecked == OPEN.get(kind, ())


@pytest.mark.parametrize("kind", made.MADE)
def test_no_edit_that_moves_a_prediction_is_missed(kind: str, tmp_path: Path) -> None:
    found = made.tried(kind, tmp_path, 50)
    assert found["missed"] == []
    free = {".".join(key for key in path if isinstance(key, str)) for path in found["no effect, ticked"]}
    assert not free & NEVER_SAID


# Edits by somebody who also writes the digest anew: what the data determine is found without it.
DETERMINED = {
    "c45": [("tree", "counts"), ("tree", "threshold"), ("tree", "attribute"), ("claims",)],
    "cart": [("tree", "counts"), ("tree", "threshold"), ("tree", "attribute")],
    "path average": [("tree",), ("claims",), ("columns",), ("params", "s")],
    "smoothed": [
        ("tree", "nodes", "counts"),
        ("tree", "dirichlet"),
        ("tree", "options", "threshold"),
        ("claims",),
    ],
    "option": [
        ("tree", "nodes", "counts"),
        ("tree", "dirichlet"),
        ("tree", "options", "column"),
        ("tree", "kind"),
    ],
    "compressed": [("fingerprint",), ("rules", "bound"), ("average", "dirichlet"), ("average", "prior")],
}


@pytest.mark.parametrize("kind", DETERMINED)
def test_what_the_data_determine_is_found_without_the_digest(kind: str, tmp_path: Path) -> None:
    _, file, data, X = made.fitted(kind, tmp_path)
    saved = json.loads(file.read_text(encoding="utf-8"))
    before, rng, tried = made.predictions(file, made.probes(X)), random.Random(0), 0
    for prefix in DETERMINED[kind]:
        places = [path for path in made.places(saved) if path[: len(prefix)] == prefix]
        for path in rng.sample(places, min(12, len(places))):
            content = copy.deepcopy(saved)
            at = content
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = made.other(at[path[-1]], rng)
            del content["digest"]
            content["digest"] = digest(content)
            file.write_text(json.dumps(content), encoding="utf-8")
            now = made.predictions(file, made.probes(X))
            if now is None or (np.abs(now[0] - before[0]).max() <= 1e-9 and now[1] == before[1]):
                continue
            tried += 1
            with contextlib.suppress(InputError):
                assert not verify_model(file, data).ok, path
    assert tried or kind == "compressed"


ODD = [
    None,
    True,
    -1,
    10**400,
    1e300,
    "",
    "x",
    [],
    {},
    [[]],
    {"$type": "Tree"},
    {"$float": "nan"},
    [1, 2],
    0.5,
]


@pytest.mark.long
@pytest.mark.parametrize("kind", made.MADE)
def test_odd_values_anywhere_are_an_error_or_a_model_that_works(kind: str, tmp_path: Path) -> None:
    _, file, data, X = made.fitted(kind, tmp_path, 40)
    saved = json.loads(file.read_text(encoding="utf-8"))
    for name in ("digest", "fingerprint"):
        saved.pop(name, None) if kind != "compressed" or name == "digest" else None
    rng = random.Random(1)
    everywhere = list(made.places(saved)) + [(key,) for key in saved]
    inner = [path for path in everywhere if path[0] in ("claims", "params", "average")]
    for path in rng.sample(everywhere, min(80, len(everywhere))) + rng.sample(inner, min(40, len(inner))):
        content = copy.deepcopy(saved)
        at = content
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = rng.choice(ODD)
        file.write_text(json.dumps(content), encoding="utf-8")
        with contextlib.suppress(InputError):
            verify_model(file, data, max_states=1000, time_limit=2)
        with contextlib.suppress(et.EverytreeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proba = et.load_model(file).predict_proba(X)
            assert np.isfinite(proba).all(), path
            assert ((proba >= 0) & (proba <= 1 + 1e-12)).all(), path
            assert np.abs(proba.sum(axis=1) - 1).max() <= 1e-9, path


def test_claims_about_the_search_are_shown_and_not_ticked(case: Case) -> None:
    report = case.verify()
    for name in ("stop_reason", "n_states"):
        assert report[name].verdict == "not checkable"
    assert report.proved
    for name, value in (("gap", 0.1), ("lower_bound", 0.0)):
        changed = case.changed(lambda data, name=name, value=value: data["claims"].update({name: value}))
        assert not changed.ok, name
    assert case.changed(lambda data: data["claims"].update(n_states=7)).ok


def test_a_changed_table_is_refused_and_found(tmp_path: Path) -> None:
    case = Case(tmp_path, people(), et.BayesOptimalClassifier(max_depth=2))
    assert case.verify().unchecked == ()

    def change(data) -> None:
        data["table"]["counts"][0] = [40, 0]

    report = case.changed(change)
    assert {"table", "fingerprint of table", "predictions"} <= {
        fact.name for fact in report.facts if fact.verdict == "false"
    }
    assert "off by" in report["predictions"].note
    with pytest.raises(et.DataError, match=r"claims\.fingerprint is .* table has"):
        et.load_model(case.file)


def test_hyper_parameters_in_force_are_those_asked_for(tmp_path: Path) -> None:
    case = Case(tmp_path, people(), et.BayesOptimalClassifier(max_depth=2))
    report = case.changed(lambda data: data["claims"].update(dirichlet=20.0))
    assert report["dirichlet in force"].verdict == "false"
    assert report["predictions"].verdict == "false"
    with pytest.raises(et.DataError, match=r"claims\.dirichlet is 20\.0; params ask for 1\.0"):
        et.load_model(case.file)
    chosen = Case(tmp_path, people(), et.BayesOptimalClassifier(max_depth=1, dirichlet="fit"))
    chosen.changed(lambda data: data["claims"].update(dirichlet=20.0))
    with pytest.raises(et.DataError, match=r"claims\.log_evidence is"):
        et.load_model(chosen.file)


def test_a_space_too_large_is_said_not_to_be_checked(tmp_path: Path) -> None:
    case = Case(tmp_path, people(), et.BayesOptimalClassifier(max_depth=3))
    report = case.verify(max_states=3)
    assert report.ok
    assert report.unchecked == ("predictions",)
    assert not report.proved


def test_draws_of_an_older_file_are_said_not_to_be_checked(tmp_path: Path) -> None:
    case = Case(tmp_path, people(), et.MCMCTreeClassifier(n_draws=10, burn_in=5, n_chains=2, random_state=0))
    assert case.verify().unchecked == ("draws",)
    report = case.changed(lambda data: data["claims"]["draws"].pop("fingerprint"))
    assert report.unchecked == ("draws", "fingerprint of draws")
    et.load_model(case.file)


def test_rules_that_do_not_balance_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 3))
    model = et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2)).fit(X, X[:, 0] + X[:, 1])
    written = model.rules_.to_dict()
    for change, message in (
        (lambda data: data["base"].__setitem__(0, 0.5), r"base add up to"),
        (lambda data: data["base"].__setitem__(0, 1e17), r"base\[0\] is 1e\+17"),
        (lambda data: data["rules"][0]["moves"].__setitem__(1, -1e17), r"rules\[0\]\.moves\[1\] is -1e\+17"),
        (lambda data: data["rules"][0]["moves"].__setitem__(1, 0.7), r"rules\[0\]\.moves add up to"),
    ):
        data = copy.deepcopy(written)
        change(data)
        with pytest.raises(et.DataError, match=message):
            type(model.rules_).from_dict(data)
