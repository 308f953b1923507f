"""Every cut-point: the best tree of everytree beside ConTree (pycontree), and pytrees-rs' ConTree where it installs.

    python benchmarks/bench_continuous.py            all sets at depth 2 and 3, bank and raisin at depth 4
    python benchmarks/bench_continuous.py bank:3     some of them
    python benchmarks/bench_continuous.py --anytime 1 10 60             all sets at depth 3 and 4: training errors
    python benchmarks/bench_continuous.py --anytime 1 10 -- bank:4      after so many seconds; some of them

CPU seconds of one fit each, in processes of their own, one after the other; the best of several for short ones. The
data sets are numeric ones of the literature on optimal trees over all thresholds, blank separated with the class first,
in the folder that EVERYTREE_CONTINUOUS names. ``make bench-continuous`` installs the others in a place of their own and
names it with --peers; where one is not there, its column stays empty. Quant-BnB is a Julia program without a package,
and is left out.
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
DEEP = [f"{name}:{depth}" for depth in (3, 4) for name in SETS]
LIMIT = 300.0
LONG = 0.05  # seconds of pycontree from which on a ratio says something
PEERS = {"pycontree": "pycontree", "pytrees": "pytrees"}  # modules of the others
REPEATED = 0.5  # seconds: below, the best of five


NONE: dict[str, float | bool | str] = {"seconds": math.inf, "errors": -1, "proved": False}


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
        else:  # ConTree by pytrees-rs, or its anytime successor, a search by limited discrepancies
            from pytrees import ConTreeClassifier

            soon = who == "anytime"
            third = ConTreeClassifier(max_depth=depth, max_time=limit, use_lds=soon, sort_by_heuristic=soon)
            began = time.process_time()
            third.fit(X, y)
            took = time.process_time() - began
            errors, proved = int((third.predict(X) != y).sum()), third.status_ == "optimal"
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


def missing(peers: str, skip: list[str]) -> list[str]:
    """List the others that are not to be asked, and say how those that are not there can be installed."""
    gone = [
        name
        for name, module in PEERS.items()
        if name not in skip
        and subprocess.run([peers, "-c", f"import {module}"], capture_output=True, check=False).returncode
    ]
    if gone:
        packages = " ".join({"pycontree": "pycontree==1.0.8", "pytrees": "pytrees-rs"}[name] for name in gone)
        print(
            f"{peers} does not have {' and '.join(gone)}, whose columns stay empty: install with "
            f"`{peers} -m pip install {packages}`, or name a Python that has them with --peers",
            file=sys.stderr,
        )
    return [*skip, *gone]


def greedy_errors(name: str, depth: int) -> int:
    """Count the training errors of scikit-learn's tree of this depth."""
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    with gzip.open(DATA / f"{name}.txt.gz", "rt") as file:
        rows = np.loadtxt(file)
    X, y = rows[:, 1:], rows[:, 0].astype(int)
    return int((DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y).predict(X) != y).sum())


def anytime(sets: list[str], limits: list[float], peers: str, skip: list[str]) -> None:
    """Print how many training errors each has after some seconds; a star where the tree is proved to be the best."""
    print("| set | depth | seconds | greedy tree | everytree | pycontree | pytrees-rs, anytime |")
    print("|---|---|---|---|---|---|---|")
    worse = 0
    for each in sets:
        name, depth = each.split(":")
        greedy, proved = greedy_errors(name, int(depth)), False
        for limit in limits:
            if proved:
                continue  # more time changes nothing
            ours = measured(sys.executable, "everytree", name, int(depth), limit)
            others = [
                NONE if module in skip else measured(peers, who, name, int(depth), limit)
                for who, module in (("pycontree", "pycontree"), ("anytime", "pytrees"))
            ]
            proved = bool(ours["proved"])
            found = int(ours["errors"])
            worse += found > greedy or any(0 <= int(other["errors"]) < found for other in others)
            shown = [
                "–" if one["errors"] == -1 else f"{one['errors']}{'*' if one['proved'] else ''}"
                for one in (ours, *others)
            ]
            print(f"| {name} | {depth} | {limit:g} | {greedy} | {' | '.join(shown)} |", flush=True)
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
    parser.add_argument("sets", nargs="*", help="such as bank:3; all where none is named")
    parser.add_argument("--one", nargs=4)
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has pycontree and pytrees-rs")
    parser.add_argument("--skip", nargs="*", default=[], help="peers to leave out: pycontree, pytrees")
    parser.add_argument(
        "--anytime", nargs="+", type=float, help="seconds after which training errors are compared"
    )
    given = parser.parse_args()
    if given.one:
        who, name, depth, limit = given.one
        print(json.dumps(one(who, name, int(depth), float(limit))))
        return
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there: name the folder of the data sets with EVERYTREE_CONTINUOUS")
    skip = missing(given.peers, given.skip)
    if given.anytime:
        anytime(given.sets or DEEP, given.anytime, given.peers, skip)
        return
    print("| set | depth | errors | everytree | pycontree | pytrees-rs | ratio to pycontree |")
    print("|---|---|---|---|---|---|---|")
    ratios: list[tuple[float, str, float]] = []
    for each in given.sets or ALL:
        name, depth = each.split(":")
        ours = measured(sys.executable, "everytree", name, int(depth), given.limit)
        theirs, third = (
            NONE if who in skip else measured(given.peers, who, name, int(depth), given.limit)
            for who in ("pycontree", "pytrees")
        )
        a, b = float(ours["seconds"]), float(theirs["seconds"])
        known = math.isfinite(a) and math.isfinite(b) and ours["proved"] and theirs["proved"]
        if known:
            ratios.append((a / b, each, b))
        errors = str(ours["errors"])
        if theirs["errors"] not in (-1, ours["errors"]):
            errors += f" (pycontree {theirs['errors']})"
        shown = f"{a / b:.3f}" if known else "–"
        print(
            f"| {name} | {depth} | {errors} | {text(ours)} | {text(theirs)} | {text(third)} | {shown} |",
            flush=True,
        )
    summary(ratios)


def summary(ratios: list[tuple[float, str, float]]) -> None:
    """Print the mean of the ratios, and the largest of those that are more than the start of a program."""
    if not ratios:
        return
    mean = math.exp(sum(math.log(ratio) for ratio, _, _ in ratios) / len(ratios))
    print(f"\nGeometric mean of the ratios: {mean:.3f} over {len(ratios)} instances.")
    largest = max((entry for entry in ratios if entry[2] > LONG), default=None)
    if largest is not None:
        print(f"Largest where pycontree takes over {LONG:g} s: {largest[0]:.3f} ({largest[1]}).")


if __name__ == "__main__":
    main()
