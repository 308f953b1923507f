"""Trees by Markov chains (Krasznahorkay, 2004): the risk that greedy growing, chains and the exact search reach.

The paper proves that its chain converges and prints no experiment; this is the one it asks for. All look for a tree of
least energy over the same 0/1 tests, at most four levels:

    E(T) = n · R(T) + α · leaves(T),   R = Σ_leaves φ(leaf) · share of the examples,   α = 2 > ln 4

    greedy     scikit-learn's CART (Gini), and of all its prunings by cost complexity the one with the least energy
    paper      the paper's kernel as it is: split any leaf, or undo the last split, every feasible test alike
    stack      the same moves, with our proposals of tests, which look at the classes first, and heated trees
    chipman    ours: grow, prune, change and swap, with the same proposals and heated trees
    optimum    the exact search, with its proof

Risks: misclassification and Gini. Chains begin at the single leaf; a trial is a seed.

Runaway. The same kernel where nothing bounds the trees, on shapes alone: with the order of additions in the state, as
in the paper, trees grow for ever, and no α makes the sum of its Theorem 5.1 finite (study/runaway.py has the law).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.study import artificial, datasets
from everytree.study.charts import Chart, Panel
from everytree.study.jobs import Job, Row, Study, merged
from everytree.study.report import Cell, Report, Table, mean_and_error, printed
from everytree.study.runaway import SHAPES_ARE_FINITE, mean_leaves, run_shapes

__all__ = ["greedy", "study"]

ALPHA, DEPTH, BINS = 2.0, 4, 4
RISKS = ("misclassification", "gini")
KERNELS: dict[str, Row] = {
    "paper": {"kernel": "stack", "informed": 0.0, "tempering": 1},
    "stack": {"kernel": "stack"},
    "chipman": {"kernel": "chipman"},
}
GENERATED = ("xor", "xd6", "led")
SETS = ("balance-scale", "breast-w", "heart-cleveland", "vote", "diabetes", "iris")
QUICK_SETS = ("vote", "xor", "xd6")
CHAINS, THIN = 4, 20
# Of the part on unbounded shapes.
RUNAWAY_ALPHAS = (SHAPES_ARE_FINITE, ALPHA, 2.5, 3.0)
LOOKS = (100, 1_000, 10_000, 100_000)
FAR = 100  # leaves: from here a chain that counts orders does not come back


def study() -> Study:
    """Return the study, for ``run_study``.

    Returns
    -------
    Study
        Its data sets, jobs and report.

    Examples
    --------
    >>> study().name
    'krasznahorkay2004'
    """
    return Study("krasznahorkay2004", "Trees by Markov chains", needs, settings, jobs, run, report)


def needs(quick: bool) -> Sequence[str]:
    """List the data sets that are not generated."""
    return [name for name in (QUICK_SETS if quick else SETS) if name not in GENERATED]


def settings(quick: bool) -> Row:
    """Return what the results depend on beside the jobs."""
    return {"alpha": ALPHA, "depth": DEPTH, "chains": CHAINS, "thin": THIN, "kernels": KERNELS}


def jobs(quick: bool, names: Sequence[str]) -> list[Job]:
    """List the jobs: one risk on one data set with one seed each, with all methods; and chains without data."""
    wanted = (*names, *(name for name in GENERATED if not quick or name in QUICK_SETS))
    draws = {"draws": 300 if quick else 2000}
    found = [
        Job("energy", name, {"risk": risk, **draws}, trial)
        for name in wanted
        for risk in RISKS
        for trial in range(2 if quick else 10)
    ]
    looks = {"looks": list(LOOKS[:3] if quick else LOOKS)}
    return found + [
        Job("runaway", "no data", {"alpha": alpha, **looks}, trial)
        for alpha in RUNAWAY_ALPHAS
        for trial in range(2 if quick else 10)
    ]


@lru_cache(maxsize=2)
def _table(name: str, folder: Path | None) -> tuple[Any, Any]:
    if name == "xor":
        return artificial.xor(300, n_irrelevant=10, noise=0.1, random_state=0)
    if name == "xd6":
        return artificial.xd6(400, random_state=0)
    if name == "led":
        return artificial.led(500, n_irrelevant=5, random_state=0)
    assert folder is not None
    X, y = datasets.binary_tests(folder, name, BINS)
    return X, datasets.classes_of(y)[1]


def run(job: Job, folder: Path | None) -> list[Row]:
    """Return the rows of one job."""
    import warnings

    if job.part == "runaway":
        alpha, looks = job.settings["alpha"], job.settings["looks"]
        return [
            {"orders": orders, "leaves": run_shapes(alpha, orders, looks, job.trial)}
            for orders in ("counted", "once")
        ]
    X, y = _table(job.data, folder)
    risk, draws = job.settings["risk"], job.settings["draws"]
    cost = "error" if risk == "misclassification" else risk
    best = et.TreeSpace(X, y, DEPTH, 1).best(cost, leaf_penalty=ALPHA)
    found = [
        {"method": "single leaf", "energy": _energy(np.bincount(y)[None, :], risk), "leaves": 1},
        greedy(X, y, risk),
        {"method": "optimum", "energy": _energy(_leaf_counts(best, X, y), risk), "leaves": best.n_leaves},
    ]
    for kernel, moves in KERNELS.items():
        model = et.MCMCTreeClassifier(
            DEPTH, 1, **moves, target="risk", risk=risk, leaf_penalty=ALPHA, n_chains=CHAINS, n_draws=draws,
            burn_in=draws // 2, thin=THIN, random_state=job.trial,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X, y)
            summary = model.summary()
        sofar = np.minimum.accumulate(model.energy_trace_, axis=1)
        steps = np.unique(np.geomspace(1, sofar.shape[1], 15).round().astype(int)) - 1
        found.append(
            {
                "method": kernel,
                "energy": float(model.energy_),
                "leaves": model.tree_.n_leaves,
                "rhat": float(summary.rhat),
                "ess": float(summary.ess),
                "accepted": float(np.mean(list(model.acceptance_.values()))) if model.acceptance_ else None,
                "proposals": [int(THIN * (step + 1)) for step in steps],
                "best so far": [round(float(value), 4) for value in sofar[:, steps].mean(axis=0)],
            }
        )
    return found


def _leaf_counts(tree: Any, X: Any, y: Any) -> Any:
    leaf = np.unique(tree.apply(X), return_inverse=True)[1]
    counts = np.zeros((leaf.max() + 1, int(y.max()) + 1))
    np.add.at(counts, (leaf, y), 1)
    return counts


def _energy(counts: Any, risk: str) -> float:
    """Return n · R + α · leaves of a tree with these class counts in its leaves.

    >>> _energy(np.array([[3, 1], [0, 4]]), "misclassification"), _energy(np.array([[2, 2]]), "gini")
    (5.0, 4.0)
    """
    n = counts.sum(axis=1)
    wrong = n - counts.max(axis=1) if risk == "misclassification" else n - (counts**2).sum(axis=1) / n
    return float(wrong.sum() + ALPHA * len(counts))


def greedy(X: Any, y: Any, risk: str) -> Row:
    """Grow CART on these tests, and return, of all its prunings by cost complexity, the one of least energy.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_tests)
        The 0/1 tests.
    y : ndarray of shape (n_rows,)
        The class codes.
    risk : str
        The impurity: "misclassification" or "gini".

    Returns
    -------
    dict
        The method, the energy and the number of leaves.

    Examples
    --------
    >>> X, y = np.array([[0], [0], [1], [1]] * 5), np.array([0, 0, 1, 1] * 5)
    >>> greedy(X, y, "gini")
    {'method': 'greedy', 'energy': 4.0, 'leaves': 2}
    """
    from sklearn.tree import DecisionTreeClassifier

    grown = DecisionTreeClassifier(max_depth=DEPTH, random_state=0)
    found: Row = {}
    for price in np.maximum(grown.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0):
        tree = DecisionTreeClassifier(max_depth=DEPTH, random_state=0, ccp_alpha=price).fit(X, y)
        counts = _leaf_counts(tree, X, y)
        energy = _energy(counts, risk)
        if not found or energy < found["energy"]:
            found = {"method": "greedy", "energy": energy, "leaves": len(counts)}
    return found


# --- the report


def report(rows: list[Row], quick: bool) -> Report:
    """Report energies, how often chains reach the optimum, and how fast; and trees that run away."""
    first = [row for row in rows if row["part"] == "energy"]
    parts: list[Table | Chart] = [energies(first), convergence(first)]
    if first:
        parts.append(progress(first))
    if second := [row for row in rows if row["part"] == "runaway"]:
        parts.append(runaway(second))
    notes = [
        "The paper prints no numbers to compare with. Lower energies are better; none can be lower than the optimum's.",
    ]
    return Report(
        "Trees by Markov chains: risk reached and convergence",
        printed("krasznahorkay2004")["citation"],
        notes,
        parts,
    )


def _reached(mine: Sequence[Row], optimum: float) -> int:
    return sum(row["energy"] <= optimum + 1e-6 for row in mine)


def energies(rows: list[Row]) -> Table:
    """Make the table of the energy of each method's best tree; chains have their mean over the seeds.

    It also counts how many chains reach the optimum.
    """
    lines = []
    for (data, risk), some in merged(rows, "data", "risk").items():
        by = {method: mine for (method,), mine in merged(some, "method").items()}
        optimum = by["optimum"][0]["energy"]
        line: Row = {"data set": data, "risk": risk}
        for method in ("single leaf", "greedy", "optimum"):
            line[method] = Cell(by[method][0]["energy"], math.nan, digits=2)
        for kernel in KERNELS:
            mean, error = mean_and_error([row["energy"] for row in by.get(kernel, [])])
            line[kernel] = Cell(mean, error, digits=2)
            line[f"{kernel}: optimum reached"] = (
                f"{_reached(by.get(kernel, []), optimum)} of {len(by.get(kernel, []))}"
            )
        line["leaves: greedy, optimum"] = f"{by['greedy'][0]['leaves']}, {by['optimum'][0]['leaves']}"
        lines.append(line)
    columns = ["data set", "risk", "single leaf", "greedy", *KERNELS, "optimum"]
    columns += [f"{kernel}: optimum reached" for kernel in KERNELS] + ["leaves: greedy, optimum"]
    better = sum(line["greedy"].ours > line["optimum"].ours + 1e-6 for line in lines)
    after = [f"Greedy growing misses the optimum in {better} of {len(lines)} rows."]
    return Table("energies", "The least energy found", columns, lines, after=after)


def convergence(rows: list[Row]) -> Table:
    """Make the table of R-hat, effective draws and acceptance of each kernel, medians over the seeds."""
    lines = []
    for (data, risk, method), mine in merged(rows, "data", "risk", "method").items():
        if method in KERNELS:
            line: Row = {"data set": data, "risk": risk, "kernel": method, "draws": CHAINS * mine[0]["draws"]}
            for what in ("rhat", "ess", "accepted"):
                values = [row[what] for row in mine if row[what] is not None]
                if what == "rhat":  # no variance within chains
                    values = [value if math.isfinite(value) else math.inf for value in values]
                middle = float(np.median([value for value in values if not math.isnan(value)] or [math.nan]))
                line[what] = None if math.isnan(middle) else middle if math.isfinite(middle) else "∞"
            lines.append(line)
    columns = ["data set", "risk", "kernel", "draws", "rhat", "ess", "accepted"]
    note = (
        "R-hat and effective draws are those of the worst quantity: target, leaves, depth, or the use of one of the "
        "ten tests that are used most. R-hat is infinite where a test is in every tree of one chain and in none of "
        "another."
    )
    return Table("convergence", "Convergence: medians over the seeds", columns, lines, [note])


def runaway(rows: list[Row]) -> Table:
    """Make the table of leaves after so many proposals where nothing bounds the trees, medians over the seeds."""
    lines = []
    for (alpha, orders), mine in merged(rows, "alpha", "orders").items():
        after = np.array([row["leaves"] for row in mine])
        line: Row = {
            "α": "ln 4" if alpha == SHAPES_ARE_FINITE else alpha,
            "orders": orders,
            "seeds": len(mine),
        }
        for k, proposals in enumerate(mine[0]["looks"]):
            line[f"after {proposals:,}"] = f"{np.median(after[:, k]):,.0f}"
        line["most"] = f"{after.max():,}"
        line[f"beyond {FAR} leaves"] = f"{int((after[:, -1] > FAR).sum())} of {len(mine)}"
        line["mean by the law"] = f"{mean_leaves(alpha):.2f}" if orders == "once" else "no law"
        lines.append(line)
    looks = [name for name in lines[0] if name.startswith("after")]
    columns = ["α", "orders", "seeds", *looks, "most", f"beyond {FAR} leaves", "mean by the law"]
    after_text = [
        "counted is the kernel of the paper: with ℓ leaves there are (ℓ − 1)! shapes with an order, so that the sum "
        "over them of exp(−α · leaves) is infinite for every α. A larger α only takes longer to reach the ℓ near e^α "
        "from which splits outnumber the one undoing. Spaces of data are finite, and chains on them have a law.",
    ]
    return Table("runaway", "Leaves of trees that nothing bounds", columns, lines, after=after_text)


def progress(rows: list[Row]) -> Chart:
    """Plot the best energy so far against the number of proposals, means over chains and seeds."""
    panels = []
    for (data, risk), some in merged(rows, "data", "risk").items():
        series: dict[str, Any] = {}
        by = {method: mine for (method,), mine in merged(some, "method").items()}
        for kernel in KERNELS:
            if kernel in by:
                x = by[kernel][0]["proposals"]
                series[kernel] = (
                    x,
                    np.mean([row["best so far"] for row in by[kernel]], axis=0).tolist(),
                    None,
                )
                for method in ("greedy", "optimum"):
                    series[method] = ([x[0], x[-1]], [by[method][0]["energy"]] * 2, None)
        panels.append(
            Panel(f"{data}, {risk}", series, "proposals of a chain", "best energy so far", log_x=True)
        )
    return Chart("progress", "The best energy so far", panels)
