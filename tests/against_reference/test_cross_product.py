"""The engine against the reference over a covering sample of every option (see ``engine_cases``).

Every case is asked every question, so every question meets every pair of options. A failure prints its case,
which can be rebuilt from that text alone.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from engine_cases import OPTIONS, Case, Twins, covering_cases, pairs_of
from questions import QUESTIONS

ROUNDS = 6
SLOW_ROUNDS = 60
CASES = covering_cases(ROUNDS)


def ask_everything(case: Case) -> None:
    """Every question; all the wrong answers are told at once."""
    twins = Twins(case)
    wrong = []
    for name, question in QUESTIONS.items():
        try:
            question(twins)
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
    assert not wrong, f"{case!r}\n" + "\n".join(wrong)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.table}-{case.seed}")
def test_every_question_on_a_covering_sample(case: Case) -> None:
    ask_everything(case)


def test_the_sample_covers_every_pair_of_options() -> None:
    seen = set().union(*(pairs_of(vars(case)) for case in CASES))
    wanted = {((a, x), (b, y)) for a, b in combinations(OPTIONS, 2) for x in OPTIONS[a] for y in OPTIONS[b]}
    assert seen == wanted


@pytest.mark.slow
@pytest.mark.parametrize("block", range(SLOW_ROUNDS))
def test_a_much_larger_sample(block: int) -> None:
    for case in covering_cases(1, seed=1000 + block):
        ask_everything(case)
