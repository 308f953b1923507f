"""Which defaults should OptimalTreeClassifier have? Accuracy and leaves, cross-validated, on numeric and mixed data.

    python benchmarks/bench_defaults.py                        what has no result yet, then the tables
    python benchmarks/bench_defaults.py --step "what to cut"   only the candidates of one step
    python benchmarks/bench_defaults.py --budget 600           no new fold begins after these seconds
    python benchmarks/bench_defaults.py --report               only the tables, from what is there

The candidates are compared on the *choosing* sets, with 5 folds, in steps: each step keeps what won the one before.
The winner, the defaults before and the baselines then meet once on the *reporting* sets, with 10 folds, which played no
part in the choice. A candidate is a line of words, as in ``local 4, depth 4, min_leaf 2, penalty 2``.

Every fold is appended to build/bench/defaults/folds.csv at once; a benchmark started again goes on where it stopped.
A fit may take so many seconds of CPU (limits are in real time, so they grow with the load of the machine); where they
do not suffice the tree is the best so far, and the column ``proved`` says how often it was proved best.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import everytree as et
from calibration_models import slowdown
from everytree.data.frames import read_frame
from everytree.metrics import Fold, stratified_folds
from everytree.study import datasets
from harness import DATA, RESULTS, ROOT, Budget, markdown, write

STORE = ROOT / "build" / "bench" / "defaults" / "folds.csv"
SECONDS = 4.0
CHOOSING = [
    "iris",
    "glass",
    "heart-cleveland-uci",
    "breast-w",
    "vehicle",
    "sonar",
    "hepatitis",
    "australian-credit",
]
REPORTING = [
    "diabetes",
    "ionosphere",
    "german-credit",
    "segment",
    "vowel",
    "balance-scale",
    "colic",
    "autos",
    "labor",
    "anneal",
    "lymph",
    "zoo",
    "yeast",
    "glass2",
]
FIELDS = ["set", "model", "k", "fold", "n_test", "hits", "leaves", "proved", "seconds"]

BEFORE = "global 4, depth 3, min_leaf 1, penalty 0"
WINNER = "global 8, depth 3, min_leaf 1, penalty 2"
CUTS = ("global 4", "global 8", "global mdl", "global boosted", "local 8")
# What each step compares, on the choosing sets; the names are headings of the tables.
STEPS: dict[str, list[str]] = {
    "before, and the baselines": [BEFORE, "C4.5", *(f"scikit-learn, depth {d}" for d in (3, 4, 5))],
    "what to cut, depth 3": [f"{cuts}, depth 3, min_leaf 2, penalty 2" for cuts in CUTS],
    "what to cut, depth 4": [
        f"{cuts}, depth 4, min_leaf 2, penalty 2" for cuts in (*CUTS, "local 3", "local 4", "local 6")
    ],
    "depth 5": ["global boosted, depth 5, min_leaf 2, penalty 2"],
    "the price of a leaf": [
        f"{cuts}, depth 3, min_leaf 2, penalty {p}" for cuts in ("global 8", "local 8") for p in (0, 1, 2, 3)
    ],
    "the fewest examples in a leaf": [f"global 8, depth 3, min_leaf {n}, penalty 2" for n in (1, 2, 5)],
}
# Those that meet on the reporting sets.
FINALISTS = [
    WINNER,
    "global 4, depth 3, min_leaf 1, penalty 2",
    "local 8, depth 3, min_leaf 1, penalty 2",
    BEFORE,
    "scikit-learn, depth 3",
    "C4.5",
]


def options_of(model: str) -> dict[str, Any]:
    """The parameters that a line of words stands for.

    >>> options_of("local 4, depth 3, min_leaf 2, penalty 1.5")
    {'cuts': 'local', 'bins': 4, 'max_depth': 3, 'min_leaf': 2, 'leaf_penalty': 1.5}
    """
    how, depth, leaf, penalty = (part.split() for part in model.split(", "))
    return {
        "cuts": how[0],
        "bins": int(how[1]) if how[1].isdigit() else how[1],
        "max_depth": int(depth[1]),
        "min_leaf": int(leaf[1]),
        "leaf_penalty": float(penalty[1]),
    }


def numbers(features: Any) -> np.ndarray:
    """The attributes as scikit-learn's tree reads them: numbers, missing ones as NaN, and a 0/1 column per value."""
    parts = []
    for column in read_frame(features).columns:
        mask = np.zeros(len(column), dtype=bool) if column.mask is None else column.mask
        if column.kind == "nominal":
            parts += [(column.data == code) & ~mask for code in range(len(column.labels))]
            parts += [mask] if mask.any() else []
        else:
            parts.append(np.where(mask, np.nan, column.data))
    return np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])


def measured(model: str, features: Any, y: np.ndarray, fold: Fold, seconds: float) -> dict[str, Any]:
    """One model on one fold: how many rows it got right, its leaves, whether it was proved best, its CPU seconds."""
    start, proved = time.process_time(), ""
    if model.startswith("scikit-learn"):
        X = numbers(features)
        made: Any = DecisionTreeClassifier(max_depth=int(model.split()[-1]), random_state=0)
        said = made.fit(X[fold.train], y[fold.train]).predict(X[fold.test])
        leaves = int(made.get_n_leaves())
    else:
        if model == "C4.5":
            made = et.C45TreeClassifier()
        else:
            made = et.OptimalTreeClassifier(**options_of(model), time_limit=seconds * slowdown())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            made.fit(features.take(fold.train), y[fold.train])
        said = made.predict(features.take(fold.test))
        leaves = made.tree_.n_leaves
        proved = "" if model == "C4.5" else str(int(made.optimal_))
    return {
        "n_test": len(fold.test),
        "hits": int((said == y[fold.test]).sum()),
        "leaves": leaves,
        "proved": proved,
        "seconds": f"{time.process_time() - start:.3f}",
    }


class Folds:
    """The folds measured so far, one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[tuple[str, ...], dict[str, str]] = {}
        if path.exists():
            with path.open(newline="", encoding="utf-8") as stream:
                for row in csv.DictReader(stream):
                    self._keep(row)

    def _keep(self, row: dict[str, str]) -> None:
        self.rows[row["set"], row["model"], row["k"], row["fold"]] = row

    def add(self, row: dict[str, Any]) -> None:
        """Write one fold down, in one piece."""
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, FIELDS)
            if new:
                writer.writeheader()
            writer.writerow(row)
        self._keep({name: str(row[name]) for name in FIELDS})

    def line(self, name: str, model: str, k: int) -> dict[str, float] | None:
        """The results of a model on a data set; None unless all folds are there."""
        found = [self.rows.get((name, model, str(k), str(i))) for i in range(k)]
        rows = [row for row in found if row is not None]
        if len(rows) < k:
            return None
        return {
            "accuracy": 100 * sum(int(row["hits"]) for row in rows) / sum(int(row["n_test"]) for row in rows),
            "leaves": statistics.mean(float(row["leaves"]) for row in rows),
            "proved": statistics.mean(float(row["proved"] or 0) for row in rows),
            "seconds": statistics.mean(float(row["seconds"]) for row in rows),
        }


def run(
    sets: Iterable[str], wanted: Iterable[str], k: int, store: Folds, seconds: float, budget: Budget
) -> None:
    """Every wanted model on every fold of the data sets that has no line yet."""
    for name in sets:
        features, labels = datasets.whole(DATA, name, declared=True).split("class")
        y = np.asarray(labels).astype(str)
        folds = stratified_folds(y, k, seed=0)
        for model in wanted:
            for fold in folds:
                if (name, model, str(k), str(fold.fold)) in store.rows:
                    continue
                if budget.spent():
                    return
                found = measured(model, features, y, fold, seconds)
                store.add({"set": name, "model": model, "k": k, "fold": fold.fold} | found)
        print(name, flush=True)


def means(store: Folds, sets: Iterable[str], models: Iterable[str], k: int) -> list[dict[str, Any]]:
    """A row for each model that has all folds of all these sets: means over the sets."""
    rows: list[dict[str, Any]] = []
    for model in models:
        lines = [line for line in (store.line(name, model, k) for name in sets) if line is not None]
        if len(lines) == len(list(sets)):
            mean = {key: statistics.mean(line[key] for line in lines) for key in lines[0]}
            rows.append({
                "model": model,
                "accuracy, %": f"{mean['accuracy']:.2f}",
                "leaves": f"{mean['leaves']:.1f}",
                "proved, %": f"{100 * mean['proved']:.0f}" if "," in model and "scikit" not in model else "",
                "CPU s a fit": f"{mean['seconds']:.2f}",
            })  # fmt: skip
    return rows


def by_set(store: Folds, sets: Iterable[str], models: list[str], k: int) -> list[dict[str, Any]]:
    """A row for each data set: accuracy and leaves of every model."""
    rows = []
    for name in sets:
        row: dict[str, Any] = {"set": name}
        for model in models:
            line = store.line(name, model, k)
            row[model] = "" if line is None else f"{line['accuracy']:.1f} ({line['leaves']:.1f})"
        rows.append(row)
    return rows


def report(store: Folds, out: Path) -> str:
    """Write the tables, and all lines that they are made of."""
    lines = ["# Defaults of OptimalTreeClassifier", "", "Made by benchmarks/bench_defaults.py.", ""]
    columns = ["model", "accuracy, %", "leaves", "proved, %", "CPU s a fit"]
    lines += [f"## Choosing: {len(CHOOSING)} sets, 5 folds", "", ", ".join(CHOOSING) + ".", ""]
    for step, models in STEPS.items():
        lines += [f"### {step}", "", *markdown(means(store, CHOOSING, models, 5), columns), ""]
    final = FINALISTS
    lines += [f"## Reporting: {len(REPORTING)} sets, 10 folds", "", "Means over the sets.", ""]
    lines += [*markdown(means(store, REPORTING, final, 10), columns), ""]
    lines += ["Each set: accuracy in %, and leaves in brackets.", ""]
    lines += [*markdown(by_set(store, REPORTING, final, 10), ["set", *final]), ""]
    rows = []
    for name, model, k in dict.fromkeys(key[:3] for key in store.rows):
        line = store.line(name, model, int(k))
        if line is not None:
            rows.append(
                {"set": name, "model": model, "folds": k} | {key: round(v, 4) for key, v in line.items()}
            )
    return write("defaults", lines, sorted(rows, key=lambda row: tuple(map(str, row.values()))), out)


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", choices=[*STEPS, "reporting"], help="only this step")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="CPU seconds of a fit")
    parser.add_argument("--budget", type=float, default=3600, help="seconds for this start")
    parser.add_argument("--report", action="store_true", help="only write the tables")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    store, budget = Folds(STORE), Budget(options.budget)
    if not options.report:
        for step, models in STEPS.items():
            if options.step in (None, step):
                run(CHOOSING, models, 5, store, options.seconds, budget)
        if options.step in (None, "reporting"):
            run(REPORTING, FINALISTS, 10, store, options.seconds, budget)
        if budget.ran_out:
            print("The budget is spent; start again to go on.")
    print(report(store, options.out))


if __name__ == "__main__":
    main()
