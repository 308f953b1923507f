"""Chains over trees: proposals per second, effective draws per second beside others, and annealing beside the optimum.

    make bench-mcmc
    python benchmarks/bench_mcmc.py --peers /path/to/python     one with bayesml and stochtree
    python benchmarks/bench_mcmc.py --part search

CPU seconds of one core, burn-in included. The target of ours and of the plain-Python reference is the same: size prior
(0.8, 0.8), Dirichlet 1, depth 4, at least 2 examples in a leaf. What the peers sample is not: see ``NOTES``.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import everytree as et
from everytree import reference
from everytree.bayes.chains import effective_draws, split_rhat
from everytree.mcmc.draws import DrawnTrees, TreeDraws
from everytree.mcmc.run import run_chains
from everytree.mcmc.sampler import TreeSampler
from everytree.mcmc.summary import summarize
from everytree.mcmc.target import PosteriorTarget
from harness import RESULTS, load, machine, markdown, write

SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"informed": 0.0, "tempering": 1, "moves": {"grow": 1, "prune": 1, "change": 1, "swap": 1}},
    "informed": {"tempering": 1},
    "tempered (default)": {},
}
NOTES = """\
The reference is the definition of the same chain in plain Python, with every move listed; it samples exactly the target
of ours. bayesml draws the tests of a full binary tree and sums over its prunings: a chain over fewer, larger states,
whose log marginal likelihood is looked at. stochtree with one tree has a probit link and draws numbers for leaves and
latent variables: another likelihood, of which the log is looked at. Neither has ours as a special case; what is
compared is how soon each learns its own posterior. ESS is that of one quantity, and of one chain for the others: where
a chain does not leave a mode, it is too good to be true, and R-hat of the halves says so only at times.
"""


def sampler(space: et.TreeSpace, **options: Any) -> TreeSampler:
    return TreeSampler(space, PosteriorTarget(et.SizePrior(), 1.0), "chipman", 4, 0, **options)


def speed(seconds: float) -> list[dict[str, Any]]:
    """Proposals per second without a depth limit; of heated trees too."""
    rows = []
    for name in ("german-credit", "mushroom"):
        X, y = load(name)
        space = et.TreeSpace(X, y, None, 2)
        for setting, options in SETTINGS.items():
            chains = sampler(space, **options)
            rungs = 3 if options.get("tempering", 3) == 3 else 1
            run_chains(chains, DrawnTrees(), 1, 100, 100)
            done, begin = 0, time.process_time()
            while time.process_time() - begin < seconds:
                run_chains(chains, DrawnTrees(), 1, 249, 100)
                done += 4 * 250 * 100 * rungs
            spent = time.process_time() - begin
            rows.append({"file": name, "rows": len(y), "tests": X.shape[1], "chain": setting,
                         "proposals per second": round(done / spent)})  # fmt: skip
    return rows


def mixing(name: str, seconds: float, peers: str | None) -> list[dict[str, Any]]:
    """Effective draws of the log posterior per second, and of the test that mixes worst where it is known."""
    X, y = load(name)
    space = et.TreeSpace(X, y, 4, 2)
    rows = []
    for setting, options in SETTINGS.items():
        chains, trees = sampler(space, **options), DrawnTrees()
        begin, which = time.process_time(), []
        run_chains(chains, DrawnTrees(), 1, 500, 20)
        while time.process_time() - begin < seconds:
            which.append(run_chains(chains, trees, 500, 0, 20).which)
        spent = time.process_time() - begin
        draws = TreeDraws(space, PosteriorTarget(et.SizePrior(), 1.0), 1.0, trees, np.hstack(which))
        told = summarize(draws, {}, "complete")
        worst = min((q for q in told if q.name.startswith("uses")), key=lambda q: q.ess)
        rows.append(_row(f"everytree, {setting}", "log posterior", draws.log_target, spent)
                    | {"ESS/s of the worst test": worst.ess / spent, "its R-hat": worst.rhat})  # fmt: skip
    rows.append(_row("reference (plain Python)", "log posterior", *_reference(space, seconds)))
    if peers:
        with tempfile.TemporaryDirectory() as place:
            np.savez(Path(place) / "data.npz", X=X, y=y)
            for peer in ("bayesml", "stochtree"):
                script = Path(__file__).with_name("mcmc_peers.py")
                answer = subprocess.run(
                    [peers, str(script), peer, str(Path(place) / "data.npz"), str(seconds)],
                    capture_output=True, text=True, check=True, timeout=60 * seconds + 60,
                ).stdout  # fmt: skip
                found = json.loads(answer)
                rows.append(_row(peer, found["what"], np.array([found["trace"]]), found["seconds"]))
    first = rows[2]["ESS/s"]
    return [{"file": name} | row | {"ours / this": first / row["ESS/s"]} for row in rows]


def _row(chain: str, what: str, trace: Any, spent: float) -> dict[str, Any]:
    ess = effective_draws(trace)
    return {
        "chain": chain,
        "quantity": what,
        "CPU s": spent,
        "ESS": ess,
        "ESS/s": ess / spent,
        "R-hat": split_rhat(trace),
    }


def _reference(space: et.TreeSpace, seconds: float) -> tuple[Any, float]:
    table = reference.Table(
        [tuple(row) for row in space.table.rows.tolist()],
        [tuple(counts) for counts in space.table.class_counts.tolist()],
    )
    law = reference.Bayes(reference.Space(table, space.max_depth, space.min_leaf), reference.SizePrior(), 1.0)
    kernel = reference.ChipmanKernel(law.space)
    trace: list[float] = []
    begin = time.process_time()
    known: dict[Any, float] = {}

    def log_target(tree: Any) -> float:
        if tree not in known:
            known[tree] = law.log_joint(tree)
        return known[tree]

    for state in reference.chain(kernel, log_target, None, 10**9, random.Random(0)):
        trace.append(log_target(state))
        if time.process_time() - begin > seconds:
            break
    spent = time.process_time() - begin
    return np.array([trace[len(trace) // 5 :]]), spent


def search(seeds: int) -> list[dict[str, Any]]:
    """heart-cleveland, depth 4: annealed chains beside greedy CART and the optimum."""
    X, y = load("heart-cleveland")
    penalty = 0.1
    best = et.TreeSpace(X, y, 4, 1).best("error", leaf_penalty=penalty)
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    wrong = int((cart.predict(X) != y).sum())
    rows = [
        {"by": "exact search", "errors": best.error, "leaves": best.n_leaves, "penalised": best.info["objective"]},
        {"by": "greedy CART", "errors": wrong, "leaves": cart.get_n_leaves(),
         "penalised": wrong + penalty * cart.get_n_leaves()},
    ]  # fmt: skip
    for seed in range(seeds):
        begin = time.process_time()
        model = et.MCMCTreeClassifier(
            max_depth=4, min_leaf=1, target="risk", leaf_penalty=penalty, anneal=(1.5, 2.5), n_chains=2, n_draws=1,
            burn_in=5000, thin=200, tempering=[1, 0.8, 0.65, 0.5], random_state=seed,
        ).fit(X, y)  # fmt: skip
        rows.append({"by": f"chains, seed {seed}", "errors": model.tree_.error, "leaves": model.tree_.n_leaves,
                     "penalised": model.energy_, "CPU s": time.process_time() - begin})  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["speed", "mixing", "search"], action="append")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--peers", help="a Python with bayesml and stochtree")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = args.part or ["speed", "mixing", "search"]
    lines, rows = ["# Chains over trees", "", machine(), ""], []
    if "speed" in parts:
        found = speed(args.seconds / 2)
        lines += ["## Proposals per second", "", *markdown(found, list(found[0])), ""]
        rows += found
    if "mixing" in parts:
        found = mixing("heart-cleveland", args.seconds, args.peers)
        lines += ["## Effective draws per second", "", *markdown(found, list(found[0])), "", NOTES]
        rows += found
    if "search" in parts:
        found = search(args.seeds)
        lines += [
            "## Low risk by annealing",
            "",
            *markdown(found, ["by", "errors", "leaves", "penalised", "CPU s"]),
            "",
        ]
        rows += found
    print(write("mcmc" if not args.part else "mcmc-" + "-".join(parts), lines, rows, args.out))


if __name__ == "__main__":
    main()
