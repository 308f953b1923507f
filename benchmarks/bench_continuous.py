"""Every cut-point: the best tree of everytree beside ConTree (pycontree), and pytrees-rs' ConTree where it installs.

    python benchmarks/bench_continuous.py            all sets at depth 2 and 3, bank and raisin at depth 4
    python benchmarks/bench_continuous.py bank:3     some of them
    python benchmarks/bench_continuous.py --anytime 1 10 -- bank:4      training errors after so many seconds

CPU seconds of one fit each, in processes of their own, one after the other; the best of several for short ones. The
data sets are numeric ones of the literature on optimal trees over all thresholds, blank separated with the class first,
in the folder that EVERYTREE_CONTINUOUS names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
DATA = Path(os.environ.get("EVERYTREE_CONTINUOUS", HERE.parent.parent / "shared" / "data" / "continuous"))
SETS = ["bank", "raisin", "rice", "segment", "fault", "page", "bidding", "magic", "htru", "eeg", "avila"]
ALL = [f"{name}:{depth}" for depth in (2, 3) for name in SETS] + ["bank:4", "raisin:4"]
LIMIT = 300.0
REPEATED = 0.5  # seconds: below, the best of five


def one(who: str, name: str, depth: int, limit: float) -> dict[str, float | bool | str]:
    """Fit once and measure; this runs in a process of its own."""
    import numpy as np

    with gzip.open(DATA / f"{name}.txt.gz", "rt") as file:
        rows = np.loadtxt(file)
    X, y = np.ascontiguousarray(rows[:, 1:]), rows[:, 0].astype(int)
    best = math.inf
    proved = True
    for _ in range(5):
        if who == "everytree":
            import warnings

            import everytree as et

            warnings.simplefilter("ignore")
            model = et.OptimalTreeClassifier(
                depth, bins="all", minimize="error", leaf_penalty=0, time_limit=limit
            )
            began = time.process_time()
            model.fit(X, y)
            took = time.process_time() - began
            errors, proved = model.error_, model.optimal_
        elif who == "pycontree":
            import pandas as pd
            from pycontree import ConTree

            frame, labels = pd.DataFrame(X), pd.Series(y)
            other = ConTree(max_depth=depth, time_limit=limit)
            began, clock = time.process_time(), time.monotonic()
            other.fit(frame, labels)
            took = time.process_time() - began
            errors, proved = int((other.predict(frame) != labels).sum()), time.monotonic() - clock < limit
        else:
            from pytrees import ConTreeClassifier

            third = ConTreeClassifier(max_depth=depth, max_time=limit)
            began, clock = time.process_time(), time.monotonic()
            third.fit(X, y)
            took = time.process_time() - began
            errors, proved = int((third.predict(X) != y).sum()), time.monotonic() - clock < limit
        best = min(best, took)
        if took > REPEATED:
            break
    return {"seconds": best, "errors": int(errors), "proved": bool(proved)}


def measured(python: str, who: str, name: str, depth: int, limit: float) -> dict[str, float | bool | str]:
    """Measure in a process of its own."""
    command = [python, __file__, "--one", who, name, str(depth), str(limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * limit + 60, check=False)
    except subprocess.TimeoutExpired:
        return {"seconds": math.inf, "errors": -1, "proved": False}
    if done.returncode:
        return {"seconds": math.inf, "errors": -1, "proved": False, "why": done.stderr.strip()[-200:]}
    found: dict[str, float | bool | str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def greedy_errors(name: str, depth: int) -> int:
    """Count the training errors of scikit-learn's tree of this depth."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    with gzip.open(DATA / f"{name}.txt.gz", "rt") as file:
        rows = np.loadtxt(file)
    X, y = rows[:, 1:], rows[:, 0].astype(int)
    return int((DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y).predict(X) != y).sum())


def anytime(sets: list[str], limits: list[float], peers: str) -> None:
    """Print how many training errors each has after some seconds; a star where the tree is proved to be the best."""
    print("| set | depth | seconds | greedy tree | everytree | pycontree |")
    print("|---|---|---|---|---|---|")
    worse = 0
    for each in sets:
        name, depth = each.split(":")
        greedy, proved = greedy_errors(name, int(depth)), False
        for limit in limits:
            if proved:
                continue  # more time changes nothing
            ours = measured(sys.executable, "everytree", name, int(depth), limit)
            theirs = measured(peers, "pycontree", name, int(depth), limit)
            proved = bool(ours["proved"])
            found = int(ours["errors"])
            worse += found > greedy or 0 <= int(theirs["errors"]) < found
            shown = [
                "–" if one["errors"] == -1 else f"{one['errors']}{'*' if one['proved'] else ''}"
                for one in (ours, theirs)
            ]
            print(f"| {name} | {depth} | {limit:g} | {greedy} | {shown[0]} | {shown[1]} |", flush=True)
    print(f"\n{worse} of these have more errors here than another tree at the same time.")


def text(found: dict[str, float | bool | str]) -> str:
    """Write a measurement for the table."""
    if not math.isfinite(float(found["seconds"])):
        return "–"
    return f"{float(found['seconds']):.3f}" + ("" if found["proved"] else " (limit)")


def main() -> None:
    """Run the benchmark and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=ALL)
    parser.add_argument("--one", nargs=4)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has pycontree and pytrees-rs")
    parser.add_argument("--skip", nargs="*", default=[], help="peers to leave out: pycontree, pytrees")
    parser.add_argument(
        "--anytime", nargs="+", type=float, help="seconds after which training errors are compared"
    )
    given = parser.parse_args()
    if given.anytime:
        anytime(given.sets, given.anytime, given.peers)
        return
    if given.one:
        who, name, depth, limit = given.one
        print(json.dumps(one(who, name, int(depth), float(limit))))
        return
    print("| set | depth | errors | everytree | pycontree | pytrees-rs | ratio to pycontree |")
    print("|---|---|---|---|---|---|---|")
    logs = []
    for each in given.sets:
        name, depth = each.split(":")
        ours = measured(sys.executable, "everytree", name, int(depth), given.limit)
        none: dict[str, float | bool | str] = {"seconds": math.inf, "errors": -1, "proved": False}
        theirs, third = (
            none if who in given.skip else measured(given.peers, who, name, int(depth), given.limit)
            for who in ("pycontree", "pytrees")
        )
        a, b = float(ours["seconds"]), float(theirs["seconds"])
        ratio = (
            a / b if math.isfinite(a) and math.isfinite(b) and ours["proved"] and theirs["proved"] else None
        )
        if ratio is not None:
            logs.append(math.log(ratio))
        errors = str(ours["errors"])
        if theirs["errors"] not in (-1, ours["errors"]):
            errors += f" (pycontree {theirs['errors']})"
        shown = "–" if ratio is None else f"{ratio:.3f}"
        print(
            f"| {name} | {depth} | {errors} | {text(ours)} | {text(theirs)} | {text(third)} | {shown} |",
            flush=True,
        )
    if logs:
        print(
            f"\nGeometric mean of the ratios: {math.exp(sum(logs) / len(logs)):.3f} over {len(logs)} instances."
        )


if __name__ == "__main__":
    main()
