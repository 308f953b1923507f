"""How many rules a bound on every prediction costs, and what is gained in time.

    python benchmarks/bench_compress.py

For each data set: tests from four bins per numeric column, missing values imputed, every tree of depth at most 4 with
two examples in a leaf, size prior. Per epsilon the rules kept, the bound that was promised, the largest error over
the rows of the file and over random 0/1 rows, and the time to predict the whole file beside the exact average: the
least of several runs, taken in turn. Writes a CSV and a markdown table.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from harness import DATA, RESULTS, cpu, timed

FILES = ("heart-cleveland", "vote", "diabetes")
EPSILONS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001, 0.0)
RANDOM_ROWS = 500
COLUMNS = ["file", "rows", "tests", "epsilon", "rules", "share", "bound", "error_on_file", "error_on_random_rows",
           "seconds_compress", "seconds_exact", "seconds_rules", "ratio"]  # fmt: skip


def bench(name: str, epsilons: tuple[float, ...], repeats: int) -> list[dict[str, Any]]:
    """The curve of one data set, as rows."""
    data, y = et.read_csv(DATA / f"{name}.csv").split("class")
    binarizer = et.Binarizer(bins=4, missing="impute")
    X = binarizer.fit_transform(data)
    post = et.TreeSpace(X, y, max_depth=4, min_leaf=2).posterior()
    unseen = np.random.default_rng(0).integers(0, 2, (RANDOM_ROWS, X.shape[1])).astype(np.uint8)
    rows = np.concatenate([X, unseen])
    exact = post.predict_proba(rows)
    found = []
    for epsilon in epsilons:
        made, rules = timed(lambda epsilon=epsilon: post.compress(epsilon))
        off = np.abs(rules.predict_proba(rows) - exact).max(axis=1)
        slow, quick = [], []
        for _ in range(repeats):
            slow.append(timed(lambda: post.predict_proba(X))[0])
            quick += [timed(lambda rules=rules: rules.predict_proba(X))[0] for _ in range(5)]
        if max(off) > rules.bound + 1e-12:
            raise SystemExit(f"{name}, epsilon {epsilon}: off by {max(off)}, promised {rules.bound}")
        values = [name, *X.shape, epsilon, rules.n_rules, rules.n_rules / rules.n_exact, rules.bound,
                  off[: len(X)].max(), off[len(X) :].max(), made, min(slow), min(quick),
                  min(slow) / min(quick)]  # fmt: skip
        found.append(dict(zip(COLUMNS, values, strict=True)))
    return found


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table for people."""
    lines = [
        "# Rules kept against the bound on every prediction",
        "",
        f"Written by `benchmarks/bench_compress.py` on {cpu()}.",
        "Four bins, depth at most 4, two examples in a leaf, size prior. *bound*: no probability of any 0/1 row is",
        f"further from the exact average; *off*: the largest error seen, on the file and on {RANDOM_ROWS} random rows;",
        "*faster*: time of the exact average for the whole file over that of the rules, both on one core and in turn.",
        "",
        "| file | tests | ε | rules | of all | bound | off, file | off, random | exact, ms | rules, ms | faster |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        lines.append(
            f"| {row['file']} | {row['tests']} | {row['epsilon']:g} | {row['rules']:,} | {percent(row['share'])} "
            f"| {row['bound']:.2g} | {row['error_on_file']:.1g} | {row['error_on_random_rows']:.1g} "
            f"| {1000 * row['seconds_exact']:.0f} | {1000 * row['seconds_rules']:.2g} "
            f"| {float(format(row['ratio'], '.2g')):,.0f}× |"
        )
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    """A share with two digits."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", nargs="*", default=FILES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = [row for name in options.files for row in bench(name, EPSILONS, options.repeats)]
    with (options.out / "compress.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (options.out / "compress.md").write_text(markdown(rows), encoding="utf-8")
    print(markdown(rows))


if __name__ == "__main__":
    main()
