"""Bayesian trees that scale: how fast they grow beside scikit-learn's, and how good they are beside C4.5 and CART.

speed     a smoothed tree and scikit-learn's DecisionTreeClassifier to the same depth, on generated numeric columns,
          alternately on one core; growth with rows, columns and classes
letter    20,000 letters: accuracy, log-loss, seconds and memory of each method, in a process of its own
methods   the data sets of the papers, ten folds: none, smoothing, averaging with one and two plies, several trees,
          C4.5, CART, minimum encoding
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.metrics import aligned, brier, log_loss, stratified_folds
from harness import DATA, RESULTS, machine, resident
from paper_data import frame as load_frame
from solvers import generated

GRID = [
    (25_000, 30, 2), (50_000, 30, 2), (100_000, 30, 2), (200_000, 30, 2),
    (100_000, 10, 2), (100_000, 100, 2), (100_000, 30, 10),
]  # fmt: skip
DEPTH = 10
REPEATS = 3
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "none": ("SmoothedTreeClassifier", {"prune": "none"}),
    "smoothing": ("SmoothedTreeClassifier", {}),
    "smoothing, 2-ply": ("SmoothedTreeClassifier", {"lookahead": 2}),
    "minimum encoding": ("SmoothedTreeClassifier", {"prune": "map", "prior": "coding"}),
    "five trees": ("SmoothedTreeClassifier", {"n_trees": 5, "random_state": 0}),
    "averaging": ("OptionTreeClassifier", {}),
    "averaging, 2-ply": ("OptionTreeClassifier", {"lookahead": 2, "max_nodes": 1_000}),
    "C4.5": ("C45TreeClassifier", {}),
    "C4.5, Laplace": ("C45TreeClassifier", {"laplace": True}),
    "CART": ("CARTTreeClassifier", {}),
}
LETTER = ("smoothing", "averaging", "C4.5", "C4.5, Laplace")
SETS = [
    "anneal", "australian-credit", "autos", "balance-scale", "breast-cancer", "breast-w", "diabetes", "glass",
    "heart-cleveland-uci", "hepatitis", "ionosphere", "iris", "lymph", "primary-tumor", "sonar", "soybean", "vehicle",
    "vote", "vowel", "zoo",
]  # fmt: skip


def model_of(name: str) -> Any:
    """A fresh classifier of the table."""
    kind, parameters = METHODS[name]
    return getattr(et, kind)(**parameters)


def speed(grid: list[tuple[int, int, int]], repeats: int) -> list[str]:
    """Seconds of both, their ratio, and the leaves."""
    from sklearn.tree import DecisionTreeClassifier

    lines = [
        f"To depth {DEPTH}, the median of {repeats} runs of each, taken in turn, on one core.", "",
        "| rows | columns | classes | everytree s | scikit-learn s | ratio | leaves | scikit-learn |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for n, d, c in grid:
        X, y = generated(n, d, c)
        ours, theirs = [], []
        for _ in range(repeats):
            start = time.process_time()
            tree = et.SmoothedTreeClassifier(max_depth=DEPTH).fit(X, y)
            ours.append(time.process_time() - start)
            start = time.process_time()
            other = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(X, y)
            theirs.append(time.process_time() - start)
        a, b = statistics.median(ours), statistics.median(theirs)
        lines.append(
            f"| {n:,} | {d} | {c} | {a:.2f} | {b:.2f} | {a / b:.2f} | {tree.n_leaves_} | {other.get_n_leaves()} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def judged(model: Any, X: Any, y: Any, train: Any, test: Any) -> dict[str, float]:
    """Learn from some rows and be judged by others."""
    start = time.process_time()
    model.fit(X.take(np.asarray(train)), y[train])
    fitted = time.process_time() - start
    start = time.process_time()
    given = model.predict_proba(X.take(np.asarray(test)))
    predicted = time.process_time() - start
    classes = np.unique(y)
    proba = aligned(given, model.classes_.tolist(), classes.tolist())
    codes = np.searchsorted(classes, y[test])
    return {
        "accuracy": float(np.mean(proba.argmax(axis=1) == codes)),
        "log_loss": float(np.mean(log_loss(proba, codes))),
        "brier": float(np.mean(brier(proba, codes))),
        "fit": fitted,
        "predict": predicted,
        "memory": resident("VmHWM"),
    }


def letter_worker(name: str) -> None:
    """One method on one split of letter; prints JSON."""
    X, y = load_frame("letter")
    fold = stratified_folds(y, 10)[0]
    print(json.dumps(judged(model_of(name), X, y, fold.train, fold.test)))


def letter() -> list[str]:
    """Each method in a process of its own, so that its memory is its own."""
    lines = [
        "letter, 18,000 examples to learn from and 2,000 to be judged by.", "",
        "| method | accuracy | log-loss | Brier | fit s | predict s | peak MB |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name in LETTER:
        done = subprocess.run(
            [sys.executable, __file__, "--letter-worker", name], capture_output=True, text=True, check=True
        )
        m = json.loads(done.stdout)
        lines.append(
            f"| {name} | {m['accuracy']:.4f} | {m['log_loss']:.3f} | {m['brier']:.3f} | {m['fit']:.1f} | "
            f"{m['predict']:.1f} | {m['memory']:.0f} |"
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def methods(names: list[str]) -> list[str]:
    """Means over the data sets of ten-fold means."""
    found: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for data in names:
        X, y = load_frame(data)
        folds = stratified_folds(y, 10)
        for name in METHODS:
            each = [judged(model_of(name), X, y, fold.train, fold.test) for fold in folds]
            found[name].append(
                [
                    statistics.mean(one[key] for one in each)
                    for key in ("accuracy", "log_loss", "brier", "fit")
                ]
            )
        print(data, file=sys.stderr, flush=True)
    lines = [
        f"Means over {len(names)} data sets, ten folds: {', '.join(names)}.", "",
        "| method | accuracy | log-loss | Brier | fit s |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for name, rows in found.items():
        accuracy, loss, score, seconds = np.mean(rows, axis=0)
        lines.append(f"| {name} | {accuracy:.4f} | {loss:.3f} | {score:.3f} | {seconds:.3f} |")
    return lines


def main() -> None:
    """Run the parts and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--part", nargs="+", choices=("speed", "letter", "methods"), default=["speed", "letter", "methods"]
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "grow.md")
    parser.add_argument("--letter-worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.letter_worker:
        letter_worker(options.letter_worker)
        return
    lines = ["# Bayesian trees that scale", "", machine(), ""]
    if "speed" in options.part:
        lines += ["## Speed", "", *speed(GRID, REPEATS), ""]
    if "letter" in options.part and (DATA / "letter.json").exists():
        lines += ["## Letter", "", *letter(), ""]
    if "methods" in options.part and DATA.exists():
        lines += ["## Methods", "", *methods([name for name in SETS if (DATA / f"{name}.json").exists()]), ""]
    text = "\n".join(lines)
    print(text)
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
