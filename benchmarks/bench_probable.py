"""The most probable tree without a depth limit: which files are proved, how fast, and how far the others are.

    make bench-probable
    python benchmarks/bench_probable.py --limit 600 --memory 16 --files hepatitis heart-cleveland

Every CP4IM file, size prior (0.95, 0.5), Dirichlet 2.5, one example in a leaf, one core: the setting of the published
AO* search (Sullivan et al., AAAI 2024). Beside the tree of the search stands the most probable tree of depth 4 by
folding everything: a tree that the search must not be worse than, once both are weighed in the unlimited space. Written
after every file; files that are in the table already are kept unless --fresh.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import everytree as et
import harness
from harness import RESULTS, cell, load, markdown, timed

FILES = [
    "zoo-1", "hepatitis", "primary-tumor", "vote", "lymph", "tic-tac-toe", "audiology", "soybean", "heart-cleveland",
    "breast-wisconsin", "ionosphere", "mushroom", "hypothyroid", "kr-vs-kp", "anneal", "segment", "pendigits",
    "australian-credit", "diabetes", "german-credit", "vehicle", "yeast", "splice-1",
]  # fmt: skip
COLUMNS = ["file", "rows", "tests", "proved", "log joint", "upper bound", "gap", "leaves", "depth 4 joint", "seconds",
           "states", "MB", "limit"]  # fmt: skip
PRIOR, DIRICHLET = et.SizePrior(0.95, 0.5), 2.5


def bench(name: str, limit: float, memory: float) -> dict[str, Any]:
    """One file as a row of the table."""
    X, y = load(name)
    space = et.TreeSpace(X, y, None, 1, time_limit=limit, memory_limit=int(memory * 2**30))
    seconds, tree = timed(lambda: space.most_probable(PRIOR, DIRICHLET))
    shallow = et.TreeSpace(X, y, 4, 1).most_probable(PRIOR, DIRICHLET)
    # The same tree where all of its leaves could be split further.
    joint = weigh(et.TreeSpace(X, y, shallow.depth + 1, 1), shallow.key)
    info = tree.info
    values = [name, *X.shape, info["optimal"], info["log_joint"], info["upper_bound"], info["gap"], tree.n_leaves,
              joint, seconds, info["n_states"], info["n_bytes"] / 2**20, limit]  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def weigh(space: et.TreeSpace, key: tuple[int, ...]) -> float:
    """Log joint of a tree in a space, from the definition."""
    from everytree import reference

    table = reference.Table(
        [tuple(row) for row in space.table.rows.tolist()],
        [tuple(counts) for counts in space.table.class_counts.tolist()],
    )
    model = reference.Bayes(
        reference.Space(table, space.max_depth, 1), reference.SizePrior(0.95, 0.5), DIRICHLET
    )
    return float(model.log_joint(reference.from_key(key)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", nargs="+", default=FILES)
    parser.add_argument("--limit", type=float, default=60, help="seconds for a file")
    parser.add_argument("--memory", type=float, default=8, help="GiB for a file")
    parser.add_argument("--fresh", action="store_true", help="measure again what is in the table")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    path = args.out / "probable.csv"
    rows: dict[str, dict[str, Any]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            rows = {row["file"]: dict(row) for row in csv.DictReader(file)}
    et.TreeSpace([[0], [1]], [0, 1], None).most_probable()  # what is imported late is not measured
    for name in args.files:
        if name in rows and not args.fresh:
            continue
        rows[name] = bench(name, args.limit, args.memory)
        print({key: cell(value) for key, value in rows[name].items()}, flush=True)
        write(args.out, [rows[each] for each in FILES if each in rows])


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with (out / "probable.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    proved = [row["file"] for row in rows if str(row["proved"]) == "True"]
    lines = [
        "# The most probable tree without a depth limit",
        "",
        "Size prior (0.95, 0.5), Dirichlet 2.5, one example in a leaf; one core. `log joint` is that of the tree,",
        "`upper bound` what none exceeds; `depth 4 joint` is the most probable tree of depth 4, weighed in the",
        "unlimited space. `limit` is the time allowed, in seconds.",
        "",
        f"Proved: {len(proved)} of {len(rows)} files ({', '.join(proved)}).",
        "",
        f"{harness.machine()}",
        "",
        *markdown([{k: shown(k, v) for k, v in row.items()} for row in rows], COLUMNS),
    ]
    (out / "probable.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def shown(column: str, value: Any) -> Any:
    """Logarithms with four digits behind the point, times with three digits."""
    if column in ("log joint", "upper bound", "gap", "depth 4 joint"):
        return f"{float(value):.4f}"
    if column in ("seconds", "MB", "limit"):
        return float(f"{float(value):.3g}")
    return value


if __name__ == "__main__":
    main()
