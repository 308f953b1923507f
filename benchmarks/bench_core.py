"""Time of the exact engine beside STreeD's, on the CP4IM files, as ratios of one run.

    make bench-core                                  every file, depth 3, 4 and 5 (a quarter of an hour)
    python benchmarks/bench_core.py --depths 4 --files vote anneal

One thread each, interleaved runs, medians. Ours are evidence (every tree: build the graph and fold it), and on the
stored graph MAP, count and optimum; STreeD's is the time to one tree of least error at the same depth. Both start from
the 0/1 matrix. Memory is the growth of the resident set in a process of its own. Writes a CSV and a markdown table.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

from harness import CP4IM, RESULTS, cell, geometric_mean, load, machine, markdown, timed, write

FILES = [
    "heart-cleveland",
    "diabetes",
    "german-credit",
    "anneal",
    "vote",
    "hepatitis",
    "lymph",
    "tic-tac-toe",
    "hypothyroid",
    "kr-vs-kp",
    "soybean",
    "primary-tumor",
]
LIMIT = 120.0  # seconds for one run of either


def ours(X, y, depth: int, min_leaf: int) -> dict[str, float]:
    import everytree as et

    evidence, post = timed(
        lambda: et.TreeSpace(X, y, max_depth=depth, min_leaf=min_leaf, time_limit=LIMIT).posterior()
    )
    space = post.space
    fold, _ = timed(space.posterior)  # on the stored graph, to compare the other folds with
    map_, _ = timed(lambda: post.core.log_map(space.limits.control()))
    count, _ = timed(lambda: space.n_trees)
    from everytree.weights.dirichlet import leaf_cost

    optimum, _ = timed(lambda: space.graph().least(leaf_cost("error", 2), space.limits.control()))
    states, size = space.graph().n_states, space.graph().n_bytes
    return {
        "evidence": evidence,
        "fold": fold,
        "map": map_,
        "count": count,
        "optimum": optimum,
        "log_evidence": post.log_evidence,
        "states": states,
        "bytes_per_state": size / states,
    }


def streed(X, y, depth: int) -> tuple[float, int]:
    from pystreed import STreeDClassifier

    X, y = X.astype(np.int32), y.astype(np.int32)
    model = STreeDClassifier("accuracy", max_depth=depth, max_num_nodes=2**depth - 1, time_limit=LIMIT)
    seconds, _ = timed(lambda: model.fit(X, y))
    return seconds, int((model.predict(X) != y).sum())


def least_error(X, y, depth: int) -> int:
    """Our optimum under STreeD's own constraint (one example in a leaf is enough), to compare with its tree."""
    import everytree as et

    return int(et.TreeSpace(X, y, max_depth=depth, min_leaf=1, time_limit=LIMIT).best().error)


def memory(name: str, depth: int, min_leaf: int) -> float:
    """Growth of the resident set in MB, in a fresh process."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import bench_core as b, harness as h, everytree as et, everytree.space.tree_space\n"
        "X, y = h.load(sys.argv[2]); et.TreeSpace([[0], [1]], [0, 1], 1).posterior()  # load every library\n"
        "before = h.resident('VmRSS'); et.TreeSpace(X, y, max_depth=int(sys.argv[3]), min_leaf=int(sys.argv[4]), "
        "time_limit=b.LIMIT).posterior()\n"
        "print(h.resident('VmHWM') - before)"
    )
    args = [sys.executable, "-c", code, str(Path(__file__).parent), name, str(depth), str(min_leaf)]
    done = subprocess.run(args, capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else math.nan


def bench(name: str, depth: int, min_leaf: int, repeats: int, peer: bool) -> dict[str, object]:
    from everytree.errors import LimitReached

    X, y = load(name)
    runs: list[dict[str, float]] = []
    peers: list[float] = []
    errors = None
    for _ in range(repeats):
        try:
            runs.append(run := ours(X, y, depth, min_leaf))
        except LimitReached as limit:
            print(f"{name} depth {depth}: {limit}", file=sys.stderr)
            break
        if peer:
            seconds, errors = streed(X, y, depth)
            peers.append(seconds)
        if run["evidence"] + (peers[-1] if peers else 0) > 20:
            break  # long enough to be told apart from noise
    row: dict[str, object] = {
        "file": name,
        "depth": depth,
        "rows": len(X),
        "tests": X.shape[1],
        "runs": len(runs),
    }
    if runs:
        row |= {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        row["memory_mb"] = memory(name, depth, min_leaf)
        row["map_ratio"] = row["map"] / row["fold"]  # type: ignore[operator]
        row["count_ratio"] = row["count"] / row["fold"]  # type: ignore[operator]
    if peers:
        row["streed"] = statistics.median(peers)
        row["errors"] = f"{least_error(X, y, depth)} / {errors}" if depth <= 4 else None
        if runs:
            row["ratio"] = statistics.median(run["evidence"] / p for run, p in zip(runs, peers, strict=False))
    return row


COLUMNS = ["file", "depth", "rows", "tests", "states", "bytes_per_state", "memory_mb", "evidence", "map", "count",
           "optimum", "map_ratio", "count_ratio", "streed", "ratio", "errors"]  # fmt: skip


def report(rows: list[dict[str, object]], out: Path, min_leaf: int) -> str:
    lines = [
        "# The exact engine beside STreeD",
        "",
        f"Seconds, medians of interleaved runs, one thread each; min_leaf {min_leaf} for ours, 1 for STreeD."
        " `evidence` sums over every tree of the depth, `streed` finds one tree of least error; `ratio` is"
        " evidence / streed. map, count and optimum are folds of the stored graph. memory_mb is the growth of the"
        " resident set for evidence.",
        "",
        machine(),
        "",
        *markdown(rows, COLUMNS),
        "",
    ]
    for depth in sorted({int(row["depth"]) for row in rows}):  # type: ignore[call-overload]
        ratios = [float(row["ratio"]) for row in rows if row["depth"] == depth and "ratio" in row]  # type: ignore[arg-type]
        if ratios:
            mean = geometric_mean(ratios)
            lines.append(
                f"Depth {depth}: geometric mean of the ratios {mean:.3f}, largest {max(ratios):.3f}."
            )
    return write("core", lines, rows, out)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4, 5])
    parser.add_argument("--files", nargs="+", default=FILES)
    parser.add_argument("--min-leaf", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-peer", action="store_true", help="leave STreeD out")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    if not CP4IM.is_dir():
        print("bench-core needs the CP4IM files in ../shared/data/cp4im beside the project", file=sys.stderr)
        return 2
    rows = []
    for depth in args.depths:
        for name in args.files:
            row = bench(name, depth, args.min_leaf, args.repeats, not args.no_peer)
            print(json.dumps({key: cell(row.get(key)) for key in COLUMNS}), flush=True)
            rows.append(row)
    print(report(rows, args.out, args.min_leaf))
    return 0


if __name__ == "__main__":
    sys.exit(main())
