"""Dirichlet parameters of any size: evidence and draws of an honest file are found true, and no other number is."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from verify_cases import Case, people

import everytree as et
from everytree.common.fields import sealed
from everytree.verify import InputError
from everytree.verify.rising import log_rising

CHAINS = {"max_depth": 2, "bins": 2, "n_chains": 2, "n_draws": 12, "burn_in": 20, "random_state": 0}
SIZES = [1e-100, 1e-9, 1e4, 1e8, 1e12, 1e15, 1e20, 1e50, 1e100, [1e-50, 1e50]]


@pytest.mark.parametrize("x", [1e-100, 1e-9, 0.3, 1.0, 999.0, 1000.0, 1001.5, 1e5, 1e8, 1e15, 1e50, 1e100])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 300])
def test_as_a_product(x: float, n: int) -> None:
    product = Fraction(1)
    for i in range(n):
        product *= Fraction(x) + i
    with localcontext() as context:
        context.prec = 50
        wanted = float(Decimal(product.numerator).ln() - Decimal(product.denominator).ln())
    assert math.isclose(log_rising(x, n), wanted, rel_tol=2e-15, abs_tol=1e-11)


@pytest.mark.parametrize("x", [1000.0, 1e4, 1e6])
def test_parts_of_examples(x: float) -> None:
    assert math.isclose(log_rising(x, 0.5) + log_rising(x + 0.5, 0.5), math.log(x), rel_tol=1e-14)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(
    "made",
    [
        lambda size: et.BayesOptimalClassifier(max_depth=2, bins=2, dirichlet=size),
        lambda size: et.BayesOptimalClassifier(max_depth=2, bins=2, dirichlet=size, calibrate="loo"),
        lambda size: et.MAPTreeClassifier(max_depth=2, bins=2, dirichlet=size),
        lambda size: et.MCMCTreeClassifier(**CHAINS, dirichlet=size),
    ],
    ids=["bayes", "left out", "map", "chains"],
)
def test_an_honest_file_is_found_true(made: Any, size: Any, tmp_path: Path) -> None:
    case = Case(tmp_path, people(60), made(size))
    report = case.verify()
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    for name in ("log_evidence", "log_joint"):
        if case.saved["claims"].get(name) is not None:
            report = case.changed(lambda content, name=name: content["claims"].update({name: 0.0}))
            assert report[name].verdict in ("false", "not checkable")


@pytest.mark.parametrize("s", [1e-8, 1e3, 1e6, 9e8])
def test_trees_with_averages_along_the_path(s: float, tmp_path: Path) -> None:
    assert Case(tmp_path, people(60), et.PathAverageTreeClassifier(s=s)).verify().proved


@pytest.mark.parametrize("s", [0.0, 1e-300, 1e-9, 1e9, 1e11])
def test_sizes_that_no_classifier_takes(s: float, tmp_path: Path) -> None:
    case = Case(tmp_path, people(60), et.PathAverageTreeClassifier())
    case.saved["params"]["s"] = s
    del case.saved["digest"]
    with pytest.raises(InputError, match=r"params\.s is .*; expected a number between 1e-09 and 1e\+09"):
        case.changed(lambda content: content.update(sealed(content)))


def test_a_split_that_other_data_speak_against_without_end(tmp_path: Path) -> None:
    """The odds against it, with eighty values and a small S, are beyond all floats; its claims are false, no more."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": [f"v{k:02}" for k in rng.integers(0, 80, 3000)]})
    frame["state"] = np.where(frame["c"] < "v40", "a", "b")
    case = Case(tmp_path, frame, et.PathAverageTreeClassifier(s=1e-5))
    assert case.verify().proved
    frame.assign(state=np.where(rng.random(3000) < 0.5, "a", "b")).to_csv(case.data, index=False)
    assert not case.verify().ok
