"""The tables and the picture of the calibration study, from the folds measured so far."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import calibration_models as models
import paper_data
from everytree.metrics import CLIP, Reliability, corrected_t_test, verdict
from harness import machine, markdown, write

OURS = "average"
FOLDS = 10
LEVEL = 0.05
MEASURES = {"brier": "Brier score", "log_loss": "Log-loss", "accuracy": "Accuracy"}
MARK = {"win": " ▲", "tie": "", "loss": " ▼"}
MAIN = ("average", "MAP", "C4.5", "C4.5-tests", "CART", "CART-raw", "CART-tests")  # the others may lack sets
SHOWN = ("average", "MAP", "C4.5", "CART")  # in the picture

Table = dict[tuple[str, str], list[dict[str, str]]]


def gather(store: Any, sets: Sequence[str]) -> Table:
    """The ten lines of every data set and model that has all ten."""
    table = {}
    for name in sets:
        for model in models.MODELS:
            lines = [row for row in store.of(name, model) if not row["note"]]
            by_fold = {row["fold"]: row for row in lines}
            if len(by_fold) == FOLDS:
                table[name, model] = [by_fold[str(fold)] for fold in range(FOLDS)]
    return table


def losses(lines: Sequence[dict[str, str]], measure: str) -> np.ndarray:
    """The loss of each fold; of accuracy, the share of errors."""
    values = np.array([float(line[measure]) for line in lines])
    return 1 - values if measure == "accuracy" else values


def reliability(lines: Sequence[dict[str, str]]) -> Reliability:
    """All test rows of a data set together."""
    total = None
    for line in lines:
        one = Reliability(
            tuple(map(int, line["rows"].split())),
            tuple(map(float, line["confidence"].split())),
            tuple(map(int, line["hits"].split())),
        )
        total = one if total is None else total + one
    assert total is not None
    return total


def rows_of(lines: Sequence[dict[str, str]]) -> tuple[float, float]:
    """Mean numbers of training and of test rows."""
    train, test = ([int(line[part]) for line in lines] for part in ("n_train", "n_test"))
    return float(np.mean(train)), float(np.mean(test))


def judged(ours: Sequence[dict[str, str]], theirs: Sequence[dict[str, str]], measure: str) -> str:
    """Win, tie or loss of ours by the corrected test."""
    return verdict(losses(ours, measure), losses(theirs, measure), *rows_of(ours), LEVEL)


def plainly(ours: float, theirs: float) -> str:
    """The same by the means alone."""
    if abs(ours - theirs) <= 1e-9:
        return "tie"
    return "win" if ours < theirs else "loss"


def value_of(lines: Sequence[dict[str, str]], measure: str) -> float:
    """The mean over the folds; the ECE is of all test rows together."""
    if measure == "ece":
        return reliability(lines).ece
    return float(np.mean([float(line[measure]) for line in lines]))


# --- tables


def counts(table: Table, sets: Sequence[str], model: str, peer: str, measure: str) -> dict[str, str]:
    """Sets won / tied / lost by a model against one peer."""
    plain, tested = [], []
    for name in sets:
        if (name, model) in table and (name, peer) in table:
            ours, theirs = table[name, model], table[name, peer]
            if measure == "ece":
                plain.append(plainly(reliability(ours).ece, reliability(theirs).ece))
            else:
                plain.append(plainly(losses(ours, measure).mean(), losses(theirs, measure).mean()))
                tested.append(judged(ours, theirs, measure))
    kinds = ("win", "tie", "loss")
    shown = {"plain": " / ".join(str(plain.count(kind)) for kind in kinds), "sets": str(len(plain))}
    return shown | {"tested": " / ".join(str(tested.count(kind)) for kind in kinds) if tested else "–"}


def summary(table: Table, sets: Sequence[str], model: str, peers: Sequence[str]) -> list[str]:
    """Won / tied / lost against every peer: by means, and in brackets by the test."""
    rows = []
    title_of = f"{model} against"
    for peer in peers:
        row = {title_of: peer}
        for measure, title in (*MEASURES.items(), ("ece", "ECE")):
            found = counts(table, sets, model, peer, measure)
            row[title] = found["plain"] + (f" ({found['tested']})" if found["tested"] != "–" else "")
            row["sets"] = found["sets"]
        rows.append(row)
    return markdown(rows, [title_of, "sets", *MEASURES.values(), "ECE"])


def by_set(table: Table, store: Any, sets: Sequence[str], present: Sequence[str], measure: str) -> list[str]:
    """One measure: a line for each data set, a column for each model."""
    rows = []
    for name in sets:
        row: dict[str, Any] = {"data set": name, "depth": store.depth(name)}
        for model in present:
            if (name, model) not in table:
                row[model] = None
                continue
            text = f"{value_of(table[name, model], measure):.3f}"
            if model != OURS and measure != "ece" and (name, OURS) in table:
                text += MARK[judged(table[name, OURS], table[name, model], measure)]
            row[model] = text
        rows.append(row)
    main = [model for model in MAIN if model in present]
    shared = [name for name in sets if all((name, model) in table for model in main)]
    if shared:
        mean: dict[str, Any] = {"data set": f"**mean of {len(shared)}**", "depth": ""}
        for model in present:
            if all((name, model) in table for name in shared):
                mean[model] = f"**{np.mean([value_of(table[name, model], measure) for name in shared]):.3f}**"
        rows.append(mean)
    return markdown(rows, ["data set", "depth", *present])


def csv_rows(table: Table, store: Any, sets: Sequence[str], present: Sequence[str]) -> list[dict[str, Any]]:
    """One line for each data set and model, with the p-values against the average."""
    rows = []
    for name in sets:
        for model in present:
            row: dict[str, Any] = {"set": name, "model": model, "papers": " ".join(paper_data.papers(name))}
            row["depth"] = store.depth(name, model) if model in models.BAYES else ""
            if (name, model) not in table:
                rows.append(row | {"note": why(store, name, model)})
                continue
            lines = table[name, model]
            row["n"] = sum(int(line["n_test"]) for line in lines)
            for measure in (*MEASURES, "ece"):
                row[measure] = round(value_of(lines, measure), 6)
            for measure in MEASURES:
                if model != OURS and (name, OURS) in table:
                    less = losses(table[name, OURS], measure) - losses(lines, measure)
                    row[f"p_{measure}"] = round(corrected_t_test(less, *rows_of(lines)).p, 6)
            for part in ("fit", "predict"):
                row[f"{part}_seconds"] = round(sum(float(line[f"{part}_seconds"]) for line in lines), 4)
            rows.append(row)
    return rows


def why(store: Any, name: str, model: str) -> str:
    """Why there is no result."""
    lines = store.of(name, model)
    notes = [row["note"] for row in lines if row["note"]]
    if notes:
        return notes[0]
    return f"{len({row['fold'] for row in lines})} of {FOLDS} folds measured" if lines else "not measured"


def notes(table: Table, store: Any, sets: Sequence[str], present: Sequence[str]) -> list[str]:
    """What is less deep than asked for, and what is absent, line by line."""
    lines = []
    for name in sets:
        over = [row for row in store.rows if row["set"] == name and row["note"] and row["depth"]]
        for row in sorted(over, key=lambda row: (row["model"], -int(row["depth"]))):
            depth = int(row["depth"])
            text = f"- {name}, {row['model']}: a fold at depth {depth} took {row['note']}; done at depth {depth - 1}."
            lines.append(text)
        reasons: dict[str, list[str]] = {}
        for model in present:
            if (name, model) not in table:
                reasons.setdefault(why(store, name, model), []).append(model)
        lines += [f"- {name}: no result of {', '.join(who)} ({reason})." for reason, who in reasons.items()]
    return lines or ["- Every set has depth 4 and every model a result."]


def heart_line(folder: Path) -> list[str]:
    """The time of a cross-validation on heart-cleveland, where it was measured."""
    path = folder / "heart.json"
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    real, cpu = (", ".join(f"{s:.2f}" for s in found[part]) for part in ("seconds", "cpu_seconds"))
    return [
        f"Fit and predict in all ten folds of heart-cleveland (4 bins, depth 4, min_leaf 2), one thread, three runs: "
        f"{real} s; of CPU {cpu} s (load average {found['load']:.1f}).",
        "",
    ]


def write_tables(store: Any, sets: Sequence[str], folder: Path, out: Path) -> str:
    """calibration.md, .csv and .svg in ``out``; returns the text."""
    table = gather(store, sets)
    present = [model for model in models.MODELS if any((name, model) in table for name in sets)]
    absent = [model for model in models.MODELS if model not in present]
    ours = [model for model in present if model.startswith("average")]
    peers = [model for model in present if model not in ours]
    lines = [
        "# Probabilities, cross-validated",
        "",
        machine(),
        "",
        f"Stratified 10-fold cross-validation, one repetition, seed 0; every model on the same folds. Brier: sum of "
        f"squares over the classes. Log-loss: natural, probabilities below {CLIP:g} count as {CLIP:g}. ECE: confidence "
        f"of the predicted class, ten bins of equal width, all test rows of a set together.",
        "",
        "```text",
        *(line.strip("\n") for line in str(models.__doc__).split("\n\n")[2].splitlines()),
        "```",
        "",
        f"Absent: {', '.join(absent)}." if absent else "Every model was there.",
        "",
        *heart_line(folder),
        "## Won / tied / lost by the average over every tree",
        "",
        f"By the mean; in brackets by the corrected paired t-test at {LEVEL:.0%} (Nadeau and Bengio).",
        "",
    ]
    for model in ours:
        lines += [*summary(table, sets, model, peers), ""]
    for paper in paper_data.PAPERS:
        inside = [name for name in sets if paper in paper_data.papers(name)]
        lines += [f"Only the data sets of {paper}:", ""]
        for model in ours:
            lines += [*summary(table, inside, model, peers), ""]
    lines += [
        "## By data set",
        "",
        "Means over the folds. ▲: the average is better than this by the test; ▼: it is worse.",
        "",
    ]
    for measure, title in (*MEASURES.items(), ("ece", "ECE")):
        lines += [f"### {title}", "", *by_set(table, store, sets, present, measure), ""]
    lines += ["## Notes", "", *notes(table, store, sets, present)]
    plot(table, sets, out)
    return write("calibration", lines, csv_rows(table, store, sets, present), out)


# --- the picture


def plot(table: Table, sets: Sequence[str], out: Path) -> None:
    """How often the predicted class is right, by how sure the model is. Every data set counts alike."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is absent: no picture")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shared = [name for name in sets if all((name, model) in table for model in SHOWN)]
    if not shared:
        return
    with pyplot.rc_context({"svg.hashsalt": "everytree", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = pyplot.subplots(figsize=(4.2, 4.2), layout="constrained")
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
        for model, marker in zip(SHOWN, "osD^", strict=True):
            rows, sure, hits = (sum_of(table, shared, model, part) for part in ("rows", "confidence", "hits"))
            enough = rows > 0.005 * len(shared)
            axes.plot(
                sure[enough] / rows[enough],
                hits[enough] / rows[enough],
                marker=marker,
                markersize=4,
                label=model,
            )
        axes.set(xlabel="how sure: probability of the predicted class", ylabel="how often it is right")
        axes.set(xlim=(0.15, 1.01), ylim=(0.15, 1.01), aspect="equal")
        axes.legend(frameon=False)
        out.mkdir(parents=True, exist_ok=True)
        figure.savefig(out / "calibration.svg", metadata={"Date": None})
        pyplot.close(figure)


def sum_of(table: Table, sets: Sequence[str], model: str, part: str) -> np.ndarray:
    """The sum over data sets of one part of the bins, each set with weight one in all."""
    total = np.zeros(10)
    for name in sets:
        found = reliability(table[name, model])
        total += np.array(getattr(found, part)) / sum(found.rows)
    return total
