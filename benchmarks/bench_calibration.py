"""Are the probabilities good? A stratified 10-fold cross-validation on the data sets of the papers.

    python benchmarks/bench_calibration.py                      what has no result yet, then the tables
    python benchmarks/bench_calibration.py --sets vote iris     only these
    python benchmarks/bench_calibration.py --report             only the tables, from what is there
    python benchmarks/bench_calibration.py --heart              time of one cross-validation on heart-cleveland

The models are described in calibration_models.py, the data in paper_data.py, the measures in everytree.metrics.
Every fold is appended to build/bench/calibration/folds.csv at once; a benchmark started again goes on where it stopped.

Ours have depth 4. Where a fold takes longer than the cap (10 s of CPU), the whole data set is done again one level less
deep, with the average and the MAP tree alike; the tables say so. A peer that does has no result, and a note.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import calibration_models as models
import calibration_report as report
import paper_data
from everytree.errors import LimitReached
from everytree.metrics import Fold, Reliability, brier, log_loss, stratified_folds
from harness import RESULTS, ROOT, Budget

STORE = ROOT / "build" / "bench" / "calibration"
DEPTH = 4
CAP = 10.0
# From quick to slow.
_SETS = """
iris labor zoo colic glass2 glass hepatitis balance-scale lymph heart-cleveland breast-cancer solar-flare1 diabetes
breast-w vote australian-credit solar-flare2 primary-tumor anneal sponge yeast autos soybean vehicle german-credit
ionosphere sick hypothyroid kr-vs-kp audiology anneal-weka vowel sonar segment mushroom pendigits-train letter splice
optdigits mfeat-pixel
"""
SETS = _SETS.split()
_FIELDS = """
set model depth fold n_train n_test accuracy log_loss brier fit_seconds predict_seconds leaves
rows confidence hits note
"""
FIELDS = _FIELDS.split()


class Folds:
    """The folds measured so far, one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, str]] = []
        if path.exists():
            with path.open(newline="", encoding="utf-8") as stream:
                self.rows = list(csv.DictReader(stream))

    def add(self, row: dict[str, Any]) -> None:
        """Write one fold down, in one piece."""
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, FIELDS, restval="")
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append({name: str(row.get(name, "")) for name in FIELDS})

    def depth(self, name: str, model: str = "average") -> int:
        """How deep the space of a model is: one level less for each depth at which a fold took too long.

        The average and the MAP tree have the same space; the variants have their own depth.
        """
        kin = ("average", "MAP") if model in ("average", "MAP") else (model,)
        lines = [row for row in self.rows if row["set"] == name and row["model"] in kin and row["note"]]
        return DEPTH - len({row["depth"] for row in lines if row["depth"]})

    def of(self, name: str, model: str) -> list[dict[str, str]]:
        """The lines of a model on a data set, at the depth that holds now."""
        lines = [row for row in self.rows if row["set"] == name and row["model"] == model]
        depth = str(self.depth(name, model))
        return [row for row in lines if row["depth"] in ("", depth)]


def measured(answer: models.Answer, y: np.ndarray, fold: Fold) -> dict[str, Any]:
    """A line of the store, without the names."""
    truth = y[fold.test]
    bins = Reliability.of(answer.proba, truth)
    return {
        "fold": fold.fold,
        "n_train": len(fold.train),
        "n_test": len(fold.test),
        "accuracy": float((answer.proba.argmax(axis=1) == truth).mean()),
        "log_loss": float(log_loss(answer.proba, truth).mean()),
        "brier": float(brier(answer.proba, truth).mean()),
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
        "leaves": answer.leaves,
        "rows": " ".join(map(str, bins.rows)),
        "confidence": " ".join(map(repr, bins.confidence)),
        "hits": " ".join(map(str, bins.hits)),
    }


def run_set(name: str, wanted: Sequence[str], store: Folds, cap: float, budget: Budget) -> None:
    """Every wanted model on every fold of one data set that has no line yet."""
    features, labels = paper_data.complete(name)
    classes, y = np.unique(labels.astype(str), return_inverse=True)
    folds = stratified_folds(y, 10, seed=0)
    codes = list(range(len(classes)))
    again = True
    while again:
        again = False
        for model in wanted:
            depth = store.depth(name, model)
            done = store.of(name, model)
            if any(row["note"] for row in done) or budget.spent():
                continue
            left = [fold for fold in folds if str(fold.fold) not in {row["fold"] for row in done}]
            if not left:
                continue
            ours = {"depth": depth} if model in models.BAYES else {}
            start = time.perf_counter()
            try:
                for fold, found in models.answers(model, features, y, codes, left, depth, cap):
                    for twin, answer in found.items():
                        store.add({"set": name, "model": twin} | ours | measured(answer, y, fold))
                    if budget.spent():
                        break
            except (LimitReached, subprocess.TimeoutExpired) as limit:
                store.add(
                    {"set": name, "model": model, "note": f"more than {cap:g} s of CPU or 6 GiB"} | ours
                )
                print(f"{name} {model}: {limit}", flush=True)
                if ours and depth > 1:
                    again = True
                    break
            print(f"{name} {model} {time.perf_counter() - start:.1f} s", flush=True)


def heart(store: Path, runs: int = 3) -> None:
    """Seconds of fitting and predicting in a 10-fold cross-validation on heart-cleveland, several times."""
    features, labels = paper_data.complete("heart-cleveland")
    classes, y = np.unique(labels.astype(str), return_inverse=True)
    folds = stratified_folds(y, 10, seed=0)
    seconds, cpu = [], []
    for _ in range(runs + 1):  # the first loads modules and is not counted
        start, start_cpu = time.perf_counter(), time.process_time()
        list(models.answers("average", features, y, list(range(len(classes))), folds, 4, CAP))
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    load = os.getloadavg()[0]
    store.mkdir(parents=True, exist_ok=True)
    found = {"seconds": seconds[1:], "cpu_seconds": cpu[1:], "load": load}
    (store / "heart.json").write_text(json.dumps(found), encoding="utf-8")
    print("\n".join(report.heart_line(store)))


def available(wanted: Iterable[str]) -> list[str]:
    """The models that can run here."""
    import everytree as et

    found = [model for model in wanted if model not in models.WEKA or models.weka_jar()]
    try:  # fitted hyper-parameters: checked on two rows
        et.BayesOptimalClassifier(1, 1, prior="fit", dirichlet="fit").fit([[0], [1]], [0, 1])
    except et.EverytreeError:
        found = [model for model in found if not model.endswith("-fit")]
    for model in wanted:
        if model not in found:
            print(f"{model}: absent here")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET")
    parser.add_argument(
        "--models", nargs="+", choices=models.MODELS, default=list(models.MODELS), metavar="MODEL"
    )
    parser.add_argument(
        "--cap", type=float, default=CAP, help="CPU seconds for one fold (default %(default)g)"
    )
    parser.add_argument(
        "--budget", type=float, default=3600, help="seconds for this start (default %(default)g)"
    )
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--report", action="store_true", help="only write the tables")
    parser.add_argument(
        "--heart", action="store_true", help="only time one cross-validation on heart-cleveland"
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.heart:
        heart(STORE)
        return
    if options.fresh:
        (STORE / "folds.csv").unlink(missing_ok=True)
    store = Folds(STORE / "folds.csv")
    if not options.report:
        budget = Budget(options.budget)
        wanted = available(options.models)
        for name in options.sets:
            run_set(name, wanted, store, options.cap, budget)
        if budget.ran_out:
            print("The budget is spent; start again to go on.")
    print(report.write_tables(store, SETS, STORE, options.out))


if __name__ == "__main__":
    main()
