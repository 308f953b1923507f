"""Compare the engine with the reference until a million numbers agree, or one does not.

    python tests/against_reference/million.py [--numbers N] [--seed S] [--jobs J]        (``make test-million``)

Half of the cases are drawn from the product of options of 0/1 tables (``engine_cases``) with every question to the
engine, under a power and with examples left out too; half from spaces whose nodes choose their cuts, with priors,
powers and left-out examples (``test_local_product``). The first number that differs is printed with the case that
makes it, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

import questions
from engine_cases import OPTIONS, Case, Twins
from test_local_product import KINDS, compared
from test_local_product import Case as LocalCase

BATCH = 20  # cases that a process takes at a time


def drawn(seed: int, number: int) -> tuple[str, object]:
    """Return the case of a number: a 0/1 table for even numbers, columns for odd ones."""
    rng = Random(f"{seed} {number}")
    if number % 2 == 0:
        values = {name: rng.choice(values) for name, values in OPTIONS.items()}
        return "table", Case(seed=rng.randrange(2**31), **values)
    options = (
        rng.choice(list(KINDS)),
        rng.choice((2, 3, 4, "all")),
        rng.choice((0, 1, 2, 3, 4, None)),
        rng.choice((1, 2, 3)),
    )
    return "columns", (*options, rng.randrange(2**31))


def batch(seed: int, first: int) -> tuple[int, str | None]:
    """Return how many numbers agreed in a batch, and the first case that did not."""
    agreed = 0
    for number in range(first, first + BATCH):
        kind, case = drawn(seed, number)
        try:
            if kind == "columns":
                agreed += compared(LocalCase(*case), case[-1])
                continue
            twins, before = Twins(case), questions.COMPARED[0]
            for question in (questions.QUESTIONS | questions.FURTHER).values():
                question(twins)
            agreed += questions.COMPARED[0] - before
        except AssertionError as error:
            return agreed, f"case {number} of seed {seed}: {case!r}\n{error}"
    return agreed, None


def results(seed: int, jobs: int) -> Iterator[tuple[int, str | None]]:
    """Yield batches as they come, in order, for ever."""
    with ProcessPoolExecutor(jobs) as pool:
        running = [pool.submit(batch, seed, BATCH * k) for k in range(2 * jobs)]
        for k in count(2 * jobs):
            yield running.pop(0).result()
            running.append(pool.submit(batch, seed, BATCH * k))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numbers", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    total, batches, begin, told = 0, 0, time.perf_counter(), time.perf_counter()
    for agreed, wrong in results(args.seed, args.jobs):
        total, batches = total + agreed, batches + 1
        if wrong:
            print(f"{total} numbers agreed, then: {wrong}")
            return 1
        if time.perf_counter() - told > 30:
            told = time.perf_counter()
            print(f"{total:,} numbers of {BATCH * batches:,} cases agree", flush=True)
        if total >= args.numbers:
            break
    print(
        f"{total:,} numbers of {BATCH * batches:,} cases compared, 0 wrong, {time.perf_counter() - begin:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    raise SystemExit(main())
