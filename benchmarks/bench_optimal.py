"""Optimal trees beside their peers: time to a proven optimum, as ratios of one run.

    make bench-optimal                                          every part, a few starts of ten minutes
    python benchmarks/bench_optimal.py --part depth --files vote anneal --depths 3 4
    python benchmarks/bench_optimal.py --quick                  a few minutes, written to build/bench only

    depth         least error at depth 3, 4 and 5, one example in a leaf: beside pystreed and pydl8.5
    regularised   error + 0.01·n·leaves, depth at most 5: beside gosdt and pystreed
    front         the least error for every size at depth 4: beside one optimum
    threads       two threads beside one, where one needs over a second
    near-best     the number of near-best trees of tic-tac-toe at depth 4: beside treefarms, with memory
    figure9       no depth limit, minimum frequency only: every row of DL8's Figure 9, and lower

One core each unless said otherwise; interleaved runs; medians; ours from the 0/1 matrix to the tree. A solver that
needs more than its cap counts as "over" it. What was measured is kept in build/bench: the same command goes on where
the last start ended (--budget seconds for one), --fresh begins again. Peers that are not installed are reported as
absent; they may live in another environment (--peer-python).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import bench_figure9
import harness
from compare import CAPS, ENOUGH, Bench, Entry, finish, median, outcome, ratio, shown, solved, summary
from harness import Row, geometric_mean

FILES = [
    "anneal",
    "heart-cleveland",
    "german-credit",
    "kr-vs-kp",
    "splice-1",
    "tic-tac-toe",
    "vote",
    "mushroom",
    "hypothyroid",
    "diabetes",
    "lymph",
    "hepatitis",
    "pendigits",
    "soybean",
]
QUICK_FILES = ["vote", "lymph", "tic-tac-toe", "hepatitis"]
PENALTY, EPSILON = 0.01, 0.05
OURS, PEERS = ("error", "error, size"), ("pystreed", "pydl8.5")  # of the part depth
# Instances that may take one thread over a second: CP4IM files with a depth, and data of DL8's Figure 9 with a minimum
# frequency and no depth limit.
LONG = [
    *((file, {"task": "depth", "file": file, "depth": 5, "minimize": ["error", "size"]})
      for file in ("german-credit", "heart-cleveland", "diabetes", "anneal", "kr-vs-kp", "hypothyroid", "soybean")),
    *((file, {"task": "depth", "file": file, "depth": 4, "minimize": ["error", "size"]})
      for file in ("pendigits", "splice-1")),
    *((name, {"task": "figure9", "name": name, "minfreq": minfreq})
      for name, minfreq in (("vehicle", 50), ("australian-credit", 45), ("vote", 15), ("diabetes", 2), ("yeast", 2))),
]  # fmt: skip


# --- parts


def depth(bench: Bench) -> None:
    """Time to proven optimum at a depth."""
    store = bench.store("depth", "file", "depth")
    entries = {
        "error": Entry("everytree", {"minimize": "error"}),
        "error, size": Entry("everytree", {"minimize": ["error", "size"]}),
        "pystreed": Entry("pystreed"),
        "pydl8.5": Entry("pydl8.5"),
    }
    for d in bench.args.depths:
        for file in bench.args.files:
            what = {"file": file, "depth": d}
            for label, entry in entries.items():  # over the cap at a smaller depth is over the cap here
                below = [outcome(store, {"file": file, "depth": e}, label) for e in range(1, d)]
                if entry.solver != "everytree" and "over" in below and not store.of(**what, label=label):
                    store.add(what | {"label": label, "limit": "over at a smaller depth"}, peer=True)
            bench.interleave(store, entries, what, {"task": "depth", **what})

    rows, ratios = [], {}
    for file, d in dict.fromkeys((row["file"], row["depth"]) for row in store.rows):
        what = {"file": file, "depth": d}
        errors = {label: median(store, what, label, "error") for label in entries}
        row: Row = what | {label: outcome(store, what, label) for label in entries}
        for ours in OURS:
            for peer in PEERS:
                found = ratio(store, what, ours, peer, bench.cap("everytree"), bench.cap(peer))
                row[f"{ours} / {peer}"] = shown(found)
                if found is not None:
                    ratios.setdefault((ours, peer), {})[file, d] = found
        known = {int(error) for error in errors.values() if error is not None}
        row["optimum"] = " ≠ ".join(map(str, sorted(known))) if known else None
        rows.append(row)
    rows.sort(key=lambda row: (row["depth"], FILES.index(row["file"]) if row["file"] in FILES else 99))
    caps = ", ".join(f"{name} {bench.cap(name):g} s" for name in ("everytree", *PEERS))
    notes = [
        "Seconds to the proven least error of a tree of at most that depth, one example in a leaf (medians of"
        " interleaved runs, one thread each). `error` is `TreeSpace(X, y, max_depth).best('error')`, `error, size` is"
        f" `.best()`, the smallest of the best trees. `over`: not within the cap ({caps}); a ratio with < or > then"
        " uses the cap in place of the time. Optima that differ would show as ≠.",
        "",
    ]
    for (ours, peer), found in ratios.items():
        notes.append("- " + summary(f"`{ours}` / {peer}", found.values()))
        for d in sorted({key[1] for key in found}):
            part = [value for key, value in found.items() if key[1] == d]
            notes.append("  - " + summary(f"depth {d}", part))
    columns = ["file", "depth", "optimum", *entries, *(f"{a} / {b}" for a in OURS for b in PEERS)]
    finish(bench, "depth", "Time to proven optimum, by depth", notes, rows, columns)


def regularised(bench: Bench) -> None:
    """Error plus a price for every leaf."""
    store = bench.store("regularised", "file", "depth")
    entries = {name: Entry(name) for name in ("everytree", "pystreed", "gosdt")}
    for file in bench.args.files:
        what = {"file": file, "depth": 5}
        bench.interleave(store, entries, what, {"task": "regularised", "penalty": PENALTY, **what})

    rows, ratios = [], []
    for file in dict.fromkeys(row["file"] for row in store.rows):
        what = {"file": file, "depth": 5}
        row: Row = what | {label: outcome(store, what, label) for label in entries}
        solved = {
            label: store.of(**what, label=label)[0] for label in entries if isinstance(row[label], float)
        }
        # error + λ·n·leaves, times 100, in whole numbers
        values = {
            100 * run["error"] + round(100 * PENALTY) * run["rows"] * run["leaves"] for run in solved.values()
        }
        row["objective"] = " ≠ ".join(f"{value / 100:.2f}" for value in sorted(values)) or None
        peers = [row[label] for label in ("pystreed", "gosdt") if isinstance(row[label], float)]
        if isinstance(row["everytree"], float) and peers:
            ratios.append((row["everytree"] / min(peers), ""))
            row["ratio"] = ratios[-1][0]
        elif isinstance(row["everytree"], float) and "over" in (row["pystreed"], row["gosdt"]):
            ratios.append((row["everytree"] / bench.cap("pystreed"), "<"))
            row["ratio"] = shown(ratios[-1])
        elif row["everytree"] == "over" and peers:
            ratios.append((bench.cap("everytree") / min(peers), ">"))
            row["ratio"] = shown(ratios[-1])
        rows.append(row)
    notes = [
        f"Seconds to the proven least of error + {PENALTY}·n·leaves, depth at most 5 (medians of interleaved runs, one"
        " thread each). `ratio` is ours over the faster peer. Objectives that differ would show as ≠.",
        "",
        "- " + summary("everytree / the faster peer", ratios),
    ]
    finish(bench, "regularised", "Time to proven optimum, with a price for leaves", notes, rows,
           ["file", "objective", *entries, "ratio"])  # fmt: skip


def front(bench: Bench) -> None:
    """The whole front beside one optimum."""
    store = bench.store("front", "file", "depth")
    entries = {
        "error": Entry("everytree", {"task": "depth", "minimize": "error"}),
        "error, size": Entry("everytree", {"task": "depth", "minimize": ["error", "size"]}),
        "front": Entry("everytree", {"task": "front"}),
    }
    for file in bench.args.files:
        what = {"file": file, "depth": 4}
        bench.interleave(store, entries, what, what)

    rows, ratios = [], {"error": [], "error, size": []}
    for file in dict.fromkeys(row["file"] for row in store.rows):
        what = {"file": file, "depth": 4}
        row: Row = what | {label: outcome(store, what, label) for label in entries}
        row["points"] = median(store, what, "front", "points")
        for one, found in ratios.items():
            if isinstance(row["front"], float) and isinstance(row[one], float):
                row[f"front / {one}"] = row["front"] / row[one]
                found.append((row["front"] / row[one], ""))
        ends = {(int(run["error"]), run["size"]) for label in ("error, size", "front")
                for run in store.of(**what, label=label) if "error" in run}  # fmt: skip
        row["last point"] = " ≠ ".join(f"error {e}, size {s}" for e, s in sorted(ends))
        rows.append(row)
    notes = [
        "Seconds for `TreeSpace(X, y, 4).front()`, the least error for every size from 1 to 31, beside one optimum on"
        " the same file (medians of interleaved runs, one thread). Its last point is that optimum.",
        "",
        *("- " + summary(f"front / `{one}`", found) for one, found in ratios.items()),
    ]
    finish(bench, "front", "The whole front beside one optimum", notes, rows,
           ["file", "points", "last point", *entries, "front / error", "front / error, size"])  # fmt: skip


def threads(bench: Bench) -> None:
    """Two threads beside one."""
    store = bench.store("threads", "file", "space")
    entries = {
        "1 thread": Entry("everytree", {"threads": 1}),
        "2 threads": Entry("everytree", {"threads": 2}),
    }
    for file, job in LONG:
        space = f"depth {job['depth']}" if "depth" in job else f"minfreq {job['minfreq']}"
        what = {"file": file, "space": space}
        if bench.args.named and file not in bench.args.files:
            continue
        if not store.of(**what, label="1 thread") and not bench.budget.spent():
            bench.measure(store, "1 thread", entries["1 thread"], what, job)
        one = outcome(store, what, "1 thread")
        if isinstance(one, float) and one > 1:
            bench.interleave(store, entries, what, job)

    rows, ratios = [], []
    for file, space in dict.fromkeys((row["file"], row["space"]) for row in store.rows):
        what = {"file": file, "space": space}
        row: Row = what | {label: outcome(store, what, label) for label in entries}
        one, two = row["1 thread"], row["2 threads"]
        if isinstance(one, float) and isinstance(two, float) and one > 1:
            row["speed-up"] = one / two
            ratios.append(one / two)
        rows.append(row)
    least = min(ratios, default=0.0)
    mean = (
        f"geometric mean {geometric_mean(ratios):.3g}, least {least:.3g}"
        if ratios
        else "nothing is that long"
    )
    notes = [
        "Seconds for `TreeSpace(X, y, …, n_jobs=…).best()`; only instances that take one thread over a second are"
        " compared. A minimum frequency stands for no depth limit, on the data of DL8's Figure 9.",
        "",
        f"- Speed-up with two threads: {mean}.",
    ]
    finish(bench, "threads", "Two threads beside one", notes, rows, ["file", "space", *entries, "speed-up"])


def near_best(bench: Bench) -> None:
    """Counting the near-best trees."""
    store = bench.store("near-best", "file", "depth")
    entries = {name: Entry(name) for name in ("everytree", "treefarms")}
    bench.compared |= set(entries)
    file = "tic-tac-toe"
    what = {"file": file, "depth": 3 if bench.args.quick else 4}
    for _ in range(bench.args.repeats):
        for label, entry in entries.items():
            done = store.of(**what, label=label)
            if entry.solver in bench.absent or len(done) >= 3 or bench.budget.spent():
                continue
            if sum(row.get("seconds", 0) for row in done) > ENOUGH or not all(map(solved, done)):
                continue
            bench.worker(label, entry).close()  # memory is that of a process of its own
            bench.measure(
                store,
                label,
                entry,
                what,
                {"task": "near_best", "penalty": PENALTY, "epsilon": EPSILON, **what},
            )
    rows = []
    for label in entries:
        runs = store.of(**what, label=label)
        if runs:
            row: Row = what | {"solver": label, "seconds": outcome(store, what, label)}
            failed = next((run["failed"] for run in runs if "failed" in run), None)
            rows.append(
                row
                | {name: median(store, what, label, name) for name in ("memory_mb", "trees")}
                | {"note": failed}
            )
    notes = [
        f"Trees with error/n + {PENALTY}·leaves at most {1 + EPSILON} times the least; each run in a process of its"
        " own; memory is the growth of the resident set at its largest.",
        "",
        "The two sets differ. treefarms leaves out trees in which two sibling leaves predict the same class: without"
        " these ours has 21 trees at depth 2 and 572 at depth 3, as treefarms has. At depth 4 treefarms' set is larger"
        " than it should be: it holds trees of objective 0.290, where 1.05 times the least objective is 0.271.",
    ]
    finish(bench, "near-best", "Counting near-best trees", notes, rows,
           ["file", "depth", "solver", "seconds", "memory_mb", "trees", "note"])  # fmt: skip


PARTS: dict[str, Callable[[Bench], None]] = {
    "depth": depth,
    "regularised": regularised,
    "front": front,
    "threads": threads,
    "near-best": near_best,
    "figure9": bench_figure9.run,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--files", nargs="+", help="CP4IM files (figure9: data sets)")
    parser.add_argument("--depths", type=int, nargs="+", help="of the part depth")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--cap", type=float, help="most seconds for one run of any solver")
    parser.add_argument("--budget", type=float, default=660, help="seconds for one part of one start")
    parser.add_argument(
        "--quick", action="store_true", help="small files, low caps; results stay in build/bench"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--peer-python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--out", type=Path, help="where to write the tables")
    args = parser.parse_args()
    args.named = args.files is not None
    args.files = args.files or (QUICK_FILES if args.quick else FILES)
    args.depths = args.depths or ([3, 4] if args.quick else [3, 4, 5])
    args.repeats = args.repeats or (3 if args.quick else 5)
    args.cap = args.cap or (10.0 if args.quick else max(CAPS.values()))
    args.out = args.out or (harness.ROOT / "build" / "bench" / "quick" if args.quick else harness.RESULTS)
    return args


def main() -> int:
    args = arguments()
    if not harness.CP4IM.is_dir():
        print("bench-optimal needs the data sets in ../shared/data beside the project", file=sys.stderr)
        return 2
    unfinished = []
    for part in args.part:
        print(f"== {part}", flush=True)
        bench = Bench(args)
        try:
            PARTS[part](bench)
        finally:
            bench.close()
        if bench.budget.ran_out:
            unfinished.append(part)
    if unfinished:
        print(f"not finished: {', '.join(unfinished)}; the same command (without --fresh) goes on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
