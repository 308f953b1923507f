"""Wide and tall tables: processor time and peak memory of one question, over rows × tests × depth.

random      independent tests, a few of them with signal
cuts        twenty cuts of each of many numeric columns, some of them correlated
one-hot     the values of categorical columns, some of them rare

Two classes, min_leaf 5, every question in a process of its own on one thread. The clock starts when the table is made.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from harness import RESULTS, machine, resident

KINDS = ("random", "cuts", "one-hot")
VALUES = 20  # cuts or values of a column
WIDE = [(kind, 10_000, tests, 3, "best") for tests in (250, 500, 1000, 2000) for kind in KINDS]
JOBS = [
    *[(kind, 10_000, 2000, 2, "best") for kind in KINDS],
    *WIDE,
    *[("random", rows, 50, depth, "best") for rows in (100_000, 1_000_000) for depth in (2, 3)],
    *[("cuts", 10_000, 2000, 2, question) for question in ("front", "posterior")],
    *[
        ("cuts", 10_000, tests, 3, question)
        for question in ("front", "posterior")
        for tests in (125, 250, 500)
    ],
]
QUICK = [(kind, 2_000, 60, depth, "best") for kind in KINDS for depth in (2, 3)]


def generated(kind: str, rows: int, tests: int) -> tuple[np.ndarray, np.ndarray]:
    """A 0/1 matrix with this many tests, and two classes that follow a few of its columns."""
    rng = np.random.default_rng(0)
    if kind == "random":
        X = np.empty((rows, tests), np.uint8)
        for j, share in enumerate(rng.uniform(0.1, 0.9, tests)):
            X[:, j] = rng.random(rows) < share
        score = 2.0 * (X[:, 0] & X[:, 1]) + (X[:, 2] ^ X[:, 3]) + 0.5 * X[:, 4]
    elif kind == "cuts":
        columns = max(4, -(-tests // VALUES))
        Z = (
            rng.normal(size=(rows, columns))
            + 0.7 * rng.normal(size=(rows, 5))[:, rng.integers(0, 5, columns)]
        )
        at = np.quantile(Z, np.arange(1, VALUES + 1) / (VALUES + 1), axis=0)
        X = (Z[:, :, None] <= at.T[None]).reshape(rows, -1)[:, :tests].astype(np.uint8)
        score = Z[:, 0] + np.abs(Z[:, 1]) - 2.0 * ((Z[:, 2] > 0.3) & (Z[:, 3] > 0))
    else:
        share = 1 / np.arange(1, VALUES + 1) ** 0.8
        C = rng.choice(VALUES, size=(rows, max(4, -(-tests // VALUES))), p=share / share.sum())
        X = (C[:, :, None] == np.arange(VALUES)).reshape(rows, -1)[:, :tests].astype(np.uint8)
        effect = rng.normal(size=(3, VALUES))
        score = effect[0][C[:, 0]] + effect[1][C[:, 1]] + effect[2][C[:, 2]] * (C[:, 3] < 3)
    score = score + rng.normal(0, 0.8, rows)
    return X, (score > np.median(score)).astype(np.int64)


def worker(kind: str, rows: int, tests: int, depth: int, question: str) -> dict[str, Any]:
    """Ask one question; seconds of the processor for the table and for the answer, and MB at most."""
    X, y = generated(kind, rows, tests)
    et.TreeSpace(X[:50, :4], y[:50], max_depth=1).best()  # imports
    start = time.process_time()
    space = et.TreeSpace(X, y, max_depth=depth, min_leaf=5)
    distinct = space.table.n_rows
    table = time.process_time()
    if question == "best":
        tree = space.best()
        answer = f"{tree.error} errors, {tree.n_leaves} leaves"
    elif question == "front":
        answer = f"{len(space.front())} trees"
    else:
        answer = f"log evidence {space.posterior().log_evidence:.1f}"
    end = time.process_time()
    return {
        "rows": distinct,
        "table": table - start,
        "seconds": end - table,
        "mb": resident("VmHWM"),
        "answer": answer,
    }


def main() -> None:
    """Run the grid and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small tables only")
    parser.add_argument("--out", type=Path, default=RESULTS / "wide.md")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(worker(*json.loads(options.worker))))
        return
    lines = [
        "# Wide and tall tables", "", machine(), "",
        "Processor seconds on one thread, two classes, min_leaf 5; every question in a process of its own. The peak "
        "is that of the whole process: Python, the matrix and the table are in it.", "",
        "| tests | distinct rows × tests | depth | question | table s | answer s | peak MB | answer |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for job in QUICK if options.quick else JOBS:
        done = subprocess.run(
            [sys.executable, __file__, "--worker", json.dumps(job)], capture_output=True, text=True
        )
        kind, rows, tests, depth, question = job
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            lines.append(f"| {kind} | {rows:,} × {tests:,} | {depth} | {question} | | failed | | |")
            continue
        found = json.loads(done.stdout)
        lines.append(
            f"| {kind} | {found['rows']:,} × {tests:,} | {depth} | {question} | {found['table']:.2f} | "
            f"{found['seconds']:.2f} | {found['mb']:.0f} | {found['answer']} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    print(text)
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
