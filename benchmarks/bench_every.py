"""EveryTreeClassifier beside forests, logistic regression and our other average: log-loss, accuracy and seconds.

    python benchmarks/bench_every.py                      what has no result yet, then the tables
    python benchmarks/bench_every.py --sets vote iris     only these
    python benchmarks/bench_every.py --report             only the tables, from what is there

A stratified 5-fold cross-validation, one repetition, every model on the same folds. Every fold is appended to
build/bench/every/folds.jsonl at once; a benchmark started again goes on where it stopped.

    every             EveryTreeClassifier(6.0), a second more than by default: the machine may be shared
    average           BayesOptimalClassifier() as it comes, with the same limit of time
    forest            scikit-learn's random forest of 500 trees
    forest-γ          the same, probabilities of at least 0.001 to the power γ, by the log-loss of out-of-bag rows
    logistic          logistic regression: numbers scaled, nominal columns one-hot

Settings of EveryTreeClassifier were chosen on TUNED and other sets that everytree.study.halves lists; FRESH has some of
these too (glass2, heart-cleveland-uci, primary-tumor, vehicle, sonar). The contest is `everytree study beyond`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import paper_data
from everytree.bayes.exponent import best_exponent, tempered
from everytree.metrics import aligned, log_loss, stratified_folds
from everytree.study.measure import as_numbers
from harness import RESULTS, ROOT, Budget, geometric_mean, machine, markdown, write

STORE = ROOT / "build" / "bench" / "every" / "folds.jsonl"
TUNED = ("iris", "hepatitis", "balance-scale", "glass", "breast-w", "diabetes")
FRESH = (
    "vote", "zoo", "glass2", "breast-cancer", "lymph", "colic", "heart-cleveland-uci", "australian-credit",
    "primary-tumor", "ionosphere", "vehicle", "sonar",
)  # fmt: skip
MODELS = ("every", "average", "forest", "forest-γ", "logistic")
MEASURES = {"log_loss": "Log-loss", "accuracy": "Accuracy", "cpu_seconds": "CPU seconds, fit and predict"}
SECONDS = 6.0
SMALLEST = 1e-6


def fitted(model: str, train: Any, y: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """A fitted classifier of ours, and what it says of itself."""
    import everytree as et

    if model == "average":
        return et.BayesOptimalClassifier(time_limit=SECONDS).fit(train, y), {}
    made = et.EveryTreeClassifier(SECONDS).fit(train, y)
    kept = {"tried": made.n_tried_, "averages": len(made.models_)}
    return made, kept | {"loo": made.loo_log_loss_, "notes": len(made.notes_)}


def peer(model: str, X: np.ndarray, y: np.ndarray) -> Any:
    """A function from rows to probabilities, of a peer."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if model == "logistic":
        made = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(X, y)
        return made.classes_, made.predict_proba
    forest = RandomForestClassifier(500, oob_score=model == "forest-γ", random_state=0).fit(X, y)
    if model == "forest":
        return forest.classes_, forest.predict_proba
    # A few rows are in the bag of every tree, and probabilities of zero have no logarithm.
    known = forest.oob_decision_function_.sum(axis=1) > 0
    said = floored(forest.oob_decision_function_[known])
    gamma = best_exponent(said, np.searchsorted(forest.classes_, y[known]), np.ones(int(known.sum())))
    return forest.classes_, lambda rows: tempered(floored(forest.predict_proba(rows)), gamma)


def floored(proba: np.ndarray) -> np.ndarray:
    """Probabilities of at least a thousandth: half a vote of 500."""
    proba = np.maximum(proba, 1e-3)
    return proba / proba.sum(axis=1, keepdims=True)


def run(name: str, wanted: list[str], rows: list[dict[str, Any]], budget: Budget) -> None:
    """Every wanted model on every fold of one set that has no line yet."""
    from everytree.data.frames import read_frame

    features, labels = paper_data.complete(name)
    as_matrix, features = as_numbers(features), read_frame(features)
    classes, y = np.unique(labels.astype(str), return_inverse=True)
    for fold in stratified_folds(y, 5, seed=0):
        for model in wanted:
            if budget.spent() or any(
                (r["set"], r["model"], r["fold"]) == (name, model, fold.fold) for r in rows
            ):
                continue
            start, cpu = time.perf_counter(), time.process_time()
            more: dict[str, Any] = {}
            if model in ("every", "average"):
                made, more = fitted(model, features.take(fold.train), y[fold.train])
                known, says, test = made.classes_, made.predict_proba, features.take(fold.test)
            else:
                test = as_matrix[fold.test]
                known, says = peer(model, as_matrix[fold.train], y[fold.train])
            trained = time.perf_counter()
            proba = aligned(says(test), known.tolist(), list(range(len(classes))))
            truth = y[fold.test]
            rows.append({
                "set": name, "model": model, "fold": fold.fold, "n": len(y), "columns": len(features.columns),
                "classes": len(classes), "log_loss": float(log_loss(proba, truth).mean()),
                "accuracy": float((proba.argmax(axis=1) == truth).mean()), "fit_seconds": trained - start,
                "predict_seconds": time.perf_counter() - trained, "cpu_seconds": time.process_time() - cpu, **more,
            })  # fmt: skip
            STORE.parent.mkdir(parents=True, exist_ok=True)
            with STORE.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(rows[-1]) + "\n")
    print(name, flush=True)


def table(rows: list[dict[str, Any]], sets: list[str], measure: str) -> list[str]:
    """A line for each set that is complete, a column for each model; the best one is bold."""
    lines = []
    for name in sets:
        found = {}
        for model in MODELS:
            of = [row for row in rows if (row["set"], row["model"]) == (name, model)]
            if len(of) == 5:
                found[model] = float(np.mean([row[measure] for row in of]))
        if len(found) < len(MODELS):
            continue
        best = max(found.values()) if measure == "accuracy" else min(found.values())
        some = next(row for row in rows if row["set"] == name)
        shown = {
            m: f"**{v:.3f}**" if v == best and "seconds" not in measure else f"{v:.3f}"
            for m, v in found.items()
        }
        shape = f"{some['n']} × {some['columns']}, {some['classes']}"
        lines.append({"data set": name, "rows × columns, classes": shape} | shown | {"values": found})
    if lines and measure == "log_loss":
        ratio = {m: geometric_mean(x["values"]["every"] / x["values"][m] for x in lines) for m in MODELS}
        wins = {m: sum(x["values"]["every"] < x["values"][m] for x in lines) for m in MODELS}
        lines.append(
            {"data set": "**every / this**, geometric mean"} | {m: f"**{r:.3f}**" for m, r in ratio.items()}
        )
        lines.append(
            {"data set": f"**every is better**, of {len(lines) - 1}"}
            | {m: w for m, w in wins.items() if m != "every"}
        )
    return markdown(lines, ["data set", "rows × columns, classes", *MODELS])


def report(rows: list[dict[str, Any]], out: Path) -> str:
    """The tables, of all sets that are complete."""
    text = ["# Every tree, beside others", "", machine(), ""]
    text += [
        "Stratified 5-fold cross-validation, one repetition, the mean over the folds; the best is bold.",
        "",
    ]
    for title, sets in (
        ("Sets that nothing was chosen on", FRESH),
        ("Sets that choices were made on", TUNED),
    ):
        text += [f"## {title}", ""]
        for measure, words in (
            ("log_loss", "Log-loss"),
            ("accuracy", "Accuracy"),
            ("cpu_seconds", "CPU seconds, fit and predict"),
        ):
            text += [f"{words}:", "", *table(rows, list(sets), measure), ""]
    text += ["Averages that were taken and kept, means over the folds:", ""]
    for name in (*FRESH, *TUNED):
        own = [row for row in rows if (row["set"], row["model"]) == (name, "every")]
        if own:
            tried, kept = (np.mean([row[key] for row in own]) for key in ("tried", "averages"))
            text.append(f"- {name}: {tried:.0f}, {kept:.0f}")
    return write("every", text, rows, out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = (*FRESH, *TUNED)
    parser.add_argument("--sets", nargs="+", choices=known, default=list(known), metavar="SET")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), metavar="MODEL")
    parser.add_argument(
        "--budget", type=float, default=3600, help="seconds for this start (default %(default)g)"
    )
    parser.add_argument("--report", action="store_true", help="only write the tables")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = [json.loads(x) for x in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []
    if not options.report:
        budget = Budget(options.budget)
        for name in options.sets:
            run(name, options.models, rows, budget)
    print(report(rows, options.out))


if __name__ == "__main__":
    main()
