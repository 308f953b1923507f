"""Which defaults should BayesOptimalClassifier and MAPTreeClassifier have? Log-loss and accuracy, cross-validated.

    python benchmarks/bench_bayes_defaults.py                 what has no result yet, then the tables
    python benchmarks/bench_bayes_defaults.py --budget 600    no new fold begins after these seconds
    python benchmarks/bench_bayes_defaults.py --report        only the tables, from what is there

Candidates are compared on the *choosing* sets of bench_defaults.py (but sonar, whose 60 columns make depth 4 slow),
with 5 folds; the defaults and what did best then meet on the *reporting* sets, which played no part in the choice. A
candidate is a line of words, as in ``average, local 4, depth 4, fair``:

    average | tree             BayesOptimalClassifier or MAPTreeClassifier
    global k | local k         cuts and bins
    fair                       the size prior, attribute-fair
    uniform                    the uniform prior in the place of the size prior
    base, power η, loo         Dirichlet by base rates, the power of leaves, calibrate="loo"

Every fold is appended to build/bench/bayes-defaults/folds.csv at once; a benchmark started again goes on from there.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from bench_defaults import CHOOSING as ALL_CHOOSING
from bench_defaults import REPORTING
from everytree.metrics import Fold, aligned, log_loss, stratified_folds
from everytree.study import datasets
from harness import DATA, RESULTS, ROOT, Budget, markdown, write

STORE = ROOT / "build" / "bench" / "bayes-defaults" / "folds.csv"
CHOOSING = [name for name in ALL_CHOOSING if name != "sonar"]
FIELDS = ["set", "model", "k", "fold", "n_test", "hits", "log_loss", "leaves", "fit", "predict"]

AVERAGES = [
    "average, global 4, depth 4",
    "average, global 4, depth 4, fair",
    "average, local 4, depth 4",
    "average, local 4, depth 4, fair",
    "average, local 4, depth 3, fair",
    "average, local 3, depth 4, fair",
    "average, local 6, depth 4, fair",
    "average, local 4, depth 4, fair, min_leaf 1",
    "average, local 4, depth 4, fair, min_leaf 5",
    "average, local 4, depth 4, fair, uniform",
    "average, local 4, depth 4, fair, base",
    "average, global 4, depth 4, base",
    "average, global 4, depth 4, uniform",
    "average, global 4, depth 4, base, uniform",
    "average, local 4, depth 4, fair, base, uniform",
    "average, local 6, depth 4, fair, base",
    "average, local 6, depth 4, fair, base, uniform",
    "average, global 6, depth 4, base, uniform",
    "average, global 4, depth 4, base, power 0.5",
    "average, global 4, depth 4, base, uniform, power 0.5",
    "average, global 4, depth 4, base, uniform, power 0.5, loo",
    "average, local 4, depth 4, fair, base, power 0.5, loo",
    "average, local 4, depth 4, fair, base, power 0.25, loo",
]
TREES = [
    "tree, global 4, depth 4",
    "tree, global 4, depth 4, fair",
    "tree, global 8, depth 4",
    "tree, local 4, depth 4",
    "tree, local 4, depth 4, fair",
    "tree, local 6, depth 4, fair",
    "tree, local 8, depth 4, fair",
    "tree, local 4, depth 3, fair",
    "tree, local 8, depth 3, fair",
    "tree, global 4, depth 4, min_leaf 5",
    "tree, global 4, depth 4, base",
    "tree, local 4, depth 4, fair, base",
    "tree, global 4, depth 4, uniform",
    "tree, global 4, depth 4, base, uniform",
    "tree, global 4, depth 4, base, min_leaf 5",
    "tree, global 8, depth 4, base, min_leaf 5",
    "tree, local 4, depth 4, fair, base, min_leaf 5",
    "tree, local 4, depth 4, fair, min_leaf 1",
    "tree, local 4, depth 4, fair, min_leaf 5",
]
FINALISTS = [
    "average, global 4, depth 4",
    "average, global 4, depth 4, base, uniform",
    "average, local 4, depth 4, fair, base, uniform",
    "tree, global 4, depth 4",
    "tree, global 4, depth 4, base, uniform",
]
REPORTED = 5  # folds


def made(model: str) -> Any:
    """The classifier that a line of words stands for.

    >>> made("tree, local 8, depth 3, fair")
    MAPTreeClassifier(bins=8, cuts='local', max_depth=3,
                      prior=SizePrior(alpha=0.8, beta=0.8, attribute_fair=True))
    """
    kind, *words = (part.split() for part in model.split(", "))
    options: dict[str, Any] = {}
    fair, uniform = ["fair"] in words, ["uniform"] in words
    options["prior"] = et.UniformPrior(attribute_fair=fair) if uniform else et.SizePrior(attribute_fair=fair)
    for word in words:
        if word[0] in ("global", "local"):
            options |= {"cuts": word[0], "bins": int(word[1])}
        elif word[0] in ("depth", "min_leaf"):
            options["max_depth" if word[0] == "depth" else "min_leaf"] = int(word[1])
        elif word[0] == "base":
            options["dirichlet"] = "base"
        elif word[0] == "power":
            options["power"] = float(word[1])
        elif word[0] == "loo":
            options["calibrate"] = "loo"
    return (et.BayesOptimalClassifier if kind == ["average"] else et.MAPTreeClassifier)(**options)


def measured(model: str, features: Any, y: np.ndarray, classes: list[str], fold: Fold) -> dict[str, Any]:
    """One model on one fold: hits, mean log-loss, leaves of a tree, CPU seconds to fit and to predict."""
    start = time.process_time()
    found = made(model).fit(features.take(fold.train), y[fold.train])
    fitted = time.process_time()
    proba = found.predict_proba(features.take(fold.test))
    done = time.process_time()
    said = found.classes_[np.argmax(proba, axis=1)]
    codes = np.searchsorted(classes, y[fold.test])
    return {
        "n_test": len(fold.test),
        "hits": int((said == y[fold.test]).sum()),
        "log_loss": f"{np.mean(log_loss(aligned(proba, found.classes_, classes), codes)):.6f}",
        "leaves": found.tree_.n_leaves if hasattr(found, "tree_") else "",
        "fit": f"{fitted - start:.3f}",
        "predict": f"{done - fitted:.3f}",
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
        n = sum(int(row["n_test"]) for row in rows)
        return {
            "log_loss": sum(float(row["log_loss"]) * int(row["n_test"]) for row in rows) / n,
            "accuracy": 100 * sum(int(row["hits"]) for row in rows) / n,
            "leaves": statistics.mean(float(row["leaves"] or 0) for row in rows),
            "fit": statistics.mean(float(row["fit"]) for row in rows),
            "predict": statistics.mean(float(row["predict"]) for row in rows),
        }


def run(sets: Iterable[str], wanted: Iterable[str], k: int, store: Folds, budget: Budget) -> None:
    """Every wanted model on every fold of the data sets that has no line yet."""
    for name in sets:
        features, labels = datasets.whole(DATA, name, declared=True).split("class")
        y = np.asarray(labels).astype(str)
        classes = sorted(set(y))
        for model in wanted:
            for fold in stratified_folds(y, k, seed=0):
                if (name, model, str(k), str(fold.fold)) in store.rows:
                    continue
                if budget.spent():
                    return
                found = measured(model, features, y, classes, fold)
                store.add({"set": name, "model": model, "k": k, "fold": fold.fold} | found)
        print(name, flush=True)


def means(store: Folds, sets: list[str], models: Iterable[str], k: int) -> list[dict[str, Any]]:
    """A row for each model that has all folds of all these sets: means over the sets."""
    rows: list[dict[str, Any]] = []
    for model in models:
        lines = [line for line in (store.line(name, model, k) for name in sets) if line is not None]
        if len(lines) == len(sets):
            mean = {key: statistics.mean(line[key] for line in lines) for key in lines[0]}
            rows.append({
                "model": model,
                "log-loss": f"{mean['log_loss']:.4f}",
                "accuracy, %": f"{mean['accuracy']:.2f}",
                "leaves": f"{mean['leaves']:.1f}" if model.startswith("tree") else "",
                "CPU s a fit": f"{mean['fit']:.2f}",
                "to predict": f"{mean['predict']:.2f}",
            })  # fmt: skip
    return rows


def by_set(store: Folds, sets: Iterable[str], models: list[str], k: int) -> list[dict[str, Any]]:
    """A row for each data set: log-loss and accuracy of every model."""
    rows = []
    for name in sets:
        row: dict[str, Any] = {"set": name}
        for model in models:
            line = store.line(name, model, k)
            row[model] = "" if line is None else f"{line['log_loss']:.3f} ({line['accuracy']:.1f})"
        rows.append(row)
    return rows


def report(store: Folds, out: Path) -> str:
    """Write the tables, and all lines that they are made of."""
    lines = [
        "# Defaults of BayesOptimalClassifier and MAPTreeClassifier",
        "",
        "Made by benchmarks/bench_bayes_defaults.py.",
        "",
    ]
    columns = ["model", "log-loss", "accuracy, %", "leaves", "CPU s a fit", "to predict"]
    lines += [f"## Choosing: {len(CHOOSING)} sets, 5 folds", "", ", ".join(CHOOSING) + ".", ""]
    lines += [*markdown(means(store, CHOOSING, AVERAGES, 5), columns), ""]
    lines += [*markdown(means(store, CHOOSING, TREES, 5), columns), ""]
    lines += [f"## Reporting: {len(REPORTING)} sets, {REPORTED} folds", "", "Means over the sets.", ""]
    lines += [*markdown(means(store, REPORTING, FINALISTS, REPORTED), columns), ""]
    lines += ["Each set: log-loss, and accuracy in % in brackets.", ""]
    lines += [*markdown(by_set(store, REPORTING, FINALISTS, REPORTED), ["set", *FINALISTS]), ""]
    rows = []
    for name, model, k in dict.fromkeys(key[:3] for key in store.rows):
        line = store.line(name, model, int(k))
        if line is not None:
            rows.append(
                {"set": name, "model": model, "folds": k} | {key: round(v, 4) for key, v in line.items()}
            )
    return write("bayes-defaults", lines, sorted(rows, key=lambda row: tuple(map(str, row.values()))), out)


def main() -> None:
    """Measure what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", choices=["choosing", "reporting"], help="only this step")
    parser.add_argument("--budget", type=float, default=3600, help="seconds for this start")
    parser.add_argument("--report", action="store_true", help="only write the tables")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    store, budget = Folds(STORE), Budget(options.budget)
    if not options.report:
        if options.step in (None, "choosing"):
            run(CHOOSING, [*AVERAGES, *TREES], 5, store, budget)
        if options.step in (None, "reporting"):
            run(REPORTING, FINALISTS, REPORTED, store, budget)
        if budget.ran_out:
            print("The budget is spent; start again to go on.")
    print(report(store, options.out))


if __name__ == "__main__":
    main()
