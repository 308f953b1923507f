"""Draws as plain lists for a model file, and back.

    {"trees": [[tests in preorder, −1 for a leaf], …], "log_prior": […], "log_data": […],    one entry per distinct
    tree
     "which": [[number of a tree, for each draw], …],                                          one list per chain
     "proposed": {"grow": […], …}, "accepted": {…},                                      by kind of move, for each
     chain "best": [key of the best tree visited], "seed": …, "fingerprint": …}

Moves have their names in the file, so that a new kind changes no older file; the first files had lists by chain and
then by position, see ``OLDER``.
Numbers of leaves and depths follow from the keys. How often a tree was drawn follows from nothing else in the file, so
``fingerprint``, the SHA-256 of all the rest in one fixed form, shows whether it was changed; older files have none.
Reading trusts nothing: every tree must be one, over these tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.fields import checked_number
from everytree.common.json_text import digest
from everytree.common.text import clip
from everytree.engine.engine import Engine
from everytree.errors import DataError
from everytree.mcmc.draws import DrawnTrees, TreeDraws
from everytree.mcmc.sampler import TRIED
from everytree.mcmc.target import PosteriorTarget, RiskTarget
from everytree.trees import routes as tree_routes

__all__ = ["SavedDraws", "draws_from_dict", "draws_to_dict"]

FIELDS = ("trees", "log_prior", "log_data", "which", "proposed", "accepted", "best", "seed")
OLDER = (
    "grow",
    "prune",
    "change",
    "swap",
    "regrow",
    "exchange",
)  # kinds of moves, by position in older files


@dataclass(frozen=True)
class SavedDraws:
    """The draws of a file, how often moves were tried, the best tree visited, and the seed."""

    draws: TreeDraws
    tried: npt.NDArray[np.float64]  # (proposed and accepted, chain, kind of move)
    best: tuple[int, ...]
    seed: int


def draws_to_dict(saved: SavedDraws) -> dict[str, Any]:
    """Write draws as plain lists and numbers."""
    trees = saved.draws.trees()
    content = {
        "trees": [np.frombuffer(key, dtype=np.int32).tolist() for key in trees.keys],
        "log_prior": trees.log_prior,
        "log_data": trees.log_data,
        "which": saved.draws.which.tolist(),
        "proposed": _moves_to_dict(saved.tried[0]),
        "accepted": _moves_to_dict(saved.tried[1]),
        "best": list(saved.best),
        "seed": saved.seed,
    }
    return content | {"fingerprint": digest(content)}


def draws_from_dict(
    data: Any, space: Engine, target: PosteriorTarget | RiskTarget, dirichlet: Any
) -> SavedDraws:
    """Read the draws of a file, and check them."""
    if not isinstance(data, dict) or set(data) - {"fingerprint"} != set(FIELDS):
        raise DataError(f"claims.draws is {clip(data)}; expected an object with {', '.join(FIELDS)}")
    found = DrawnTrees(log_prior=_numbers(data, "log_prior"), log_data=_numbers(data, "log_data"))
    if not isinstance(data["trees"], list) or not data["trees"]:
        raise DataError("claims.draws.trees must be a list with at least one tree")
    for k, key in enumerate(data["trees"]):
        n_leaves, depth, packed = _tree(key, f"trees[{k}]", space.n_tests)
        found.n_leaves.append(n_leaves)
        found.depth.append(depth)
        found.number.setdefault(packed, k)
        found.keys.append(packed)
    n_trees = len(found.keys)
    if len(found.number) < n_trees:
        raise DataError("claims.draws.trees holds a tree twice; expected different ones")
    for name, values in (("log_prior", found.log_prior), ("log_data", found.log_data)):
        if len(values) != n_trees:
            raise DataError(
                f"claims.draws.{name} has {len(values)} numbers; expected one for each of {n_trees} trees"
            )
    which = _whole_matrix(data, "which", n_trees)
    tried = [_moves(data, name) for name in ("proposed", "accepted")]
    if any(len(each) != which.shape[0] for each in tried) or not which.size:
        raise DataError(
            "claims.draws: expected at least one draw, and proposed and accepted moves, of every chain"
        )
    if len(np.unique(which)) < n_trees:
        raise DataError(
            "claims.draws.trees holds a tree that no draw is; expected only trees that which names"
        )
    _tree(data["best"], "best", space.n_tests)
    if isinstance(data["seed"], bool) or not isinstance(data["seed"], int) or not 0 <= data["seed"] < 2**63:
        raise DataError(f"claims.draws.seed is {clip(data['seed'])}; expected a whole number below 2^63")
    known = digest({name: data[name] for name in FIELDS})
    if data.get("fingerprint", known) != known:
        raise DataError(
            f"claims.draws.fingerprint is {clip(data['fingerprint'])}; the draws have {clip(known)}. They were changed "
            "by hand or damaged"
        )
    draws = TreeDraws(space, target, dirichlet, found, which.astype(np.uint32))
    return SavedDraws(draws, np.stack(tried).astype(float), tuple(data["best"]), data["seed"])


def _moves_to_dict(counts: npt.NDArray[np.float64]) -> dict[str, list[int]]:
    """Turn counts by (chain, kind of move) into lists by kind."""
    return {name: counts[:, k].astype(np.int64).tolist() for k, name in enumerate(TRIED)}


def _moves(data: dict[str, Any], name: str) -> npt.NDArray[np.int64]:
    """Read counts by (chain, kind of move), in the order of ``TRIED``; a kind that is not in the file counts 0."""
    given = data[name]
    if isinstance(given, list):
        by_kind = dict(zip(OLDER, _whole_matrix(data, name, 2**62, columns=len(OLDER)).T, strict=True))
    elif isinstance(given, dict) and given and set(given) <= set(TRIED):
        counts = _whole_matrix({name: list(given.values())}, name, 2**62)
        by_kind = dict(zip(given, counts, strict=True))
    else:
        raise DataError(
            f"claims.draws.{name} is {clip(given)}; expected an object of lists by kind of move, among "
            f"{', '.join(TRIED)}"
        )
    n_chains = len(next(iter(by_kind.values())))
    return np.stack([by_kind.get(kind, np.zeros(n_chains, dtype=np.int64)) for kind in TRIED], axis=1)


def _numbers(data: dict[str, Any], name: str) -> list[float]:
    values = data[name]
    if not isinstance(values, list):
        raise DataError(f"claims.draws.{name} is {clip(values)}; expected a list of numbers")
    return [float(checked_number(x, f"claims.draws.{name}[{k}]")) for k, x in enumerate(values)]


def _tree(key: Any, where: str, n_tests: int) -> tuple[int, int, bytes]:
    """Return the leaves, the depth and the packed key of a tree in a file."""
    fine = isinstance(key, list) and all(
        isinstance(test, int) and not isinstance(test, bool) and -1 <= test < n_tests for test in key
    )
    if not fine or not key:
        raise DataError(
            f"claims.draws.{where} is {clip(key)}; expected tests below {n_tests} in preorder, −1 for a leaf"
        )
    try:
        children = tree_routes.children_of_key(key).astype(np.int32)
    except DataError as error:
        raise DataError(f"claims.draws.{where}: {error}") from error
    return key.count(-1), int(tree_routes.depths(children).max()), np.array(key, dtype=np.int32).tobytes()


def _whole_matrix(
    data: dict[str, Any], name: str, below: int, columns: int | None = None
) -> npt.NDArray[np.int64]:
    rows = data[name]
    fine = isinstance(rows, list) and bool(rows) and all(isinstance(row, list) for row in rows)
    widths = {len(row) for row in rows} if fine else set()
    if len(widths) != 1 or (columns is not None and widths != {columns}):
        raise DataError(
            f"claims.draws.{name} is {clip(rows)}; expected lists of the same length, one for each chain"
        )
    for row in rows:
        for x in row:
            if isinstance(x, bool) or not isinstance(x, int) or not 0 <= x < below:
                raise DataError(
                    f"claims.draws.{name} holds {clip(x)}; expected whole numbers from 0 to {below - 1}"
                )
    return np.array(rows, dtype=np.int64)
