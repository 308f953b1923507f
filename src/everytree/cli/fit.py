"""``everytree fit``: learn a classifier from a file, say what was found, write the model file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from everytree.cli.counted import is_many, learn_counted
from everytree.cli.data import Examples, in_options, read_examples
from everytree.cli.methods import classifier, parameters_of
from everytree.cli.picture import check_picture, write_picture
from everytree.cli.show import console, heard, note, print_json, text_of
from everytree.cli.watch import at_work
from everytree.errors import QueryError

if TYPE_CHECKING:
    from everytree.cli.options import Learning, Reading
    from everytree.query.query import Query

__all__ = ["learn", "run_fit", "shown_model", "where_parameters"]

MOST_LINES = 60  # of a tree that is printed
# facts worth printing, where a model has them
FACTS = {
    "objective_": "objective", "optimal_": "proved optimal", "lower_bound_": "lower bound", "gap_": "gap",
    "log_evidence_": "log evidence", "log_joint_": "log joint", "upper_bound_": "upper bound of the log joint",
    "prior_": "prior", "dirichlet_": "dirichlet", "depth_": "depth", "n_leaves_": "leaves", "n_nodes_": "nodes",
    "stop_reason_": "ended", "n_states_": "states",
}  # fmt: skip


def run_fit(
    path: Path,
    target: str | None,
    method: str,
    out: Path | None,
    where: str | None,
    weights: str | None,
    picture: Path | None,
    reading: Reading,
    learning: Learning,
    as_json: bool,
) -> None:
    """Fit, print, and write the model file if ``out`` is given."""
    check_picture(picture)
    made = classifier(method)  # a bad name is refused before the file is read
    params = parameters_of(method, learning, where_parameters(method, where, learning))
    if out is not None and not out.absolute().parent.is_dir():
        raise QueryError(f"--out {out}: there is no folder {out.absolute().parent}; make it first")
    if is_many(path):
        model, table, seconds, notes = learn_counted(path, target, made, params, reading, weights)
        target, n_columns, n_examples = str(table.target), int(model.n_features_in_), float(table.total)
        error = float(round((1 - model.score_table(table)) * table.total))
    else:
        examples = read_examples(path, target, reading, weights)
        model, seconds, warned = learn(made, params, examples)
        target, n_columns, notes = examples.target, len(examples.features.names), [*examples.notes, *warned]
        right = model.predict(examples.features) == examples.y
        counts = np.ones(examples.n_rows) if examples.weights is None else examples.weights
        n_examples, error = float(counts.sum()), float(counts[~right].sum())
    display = (
        None if picture is None else _drawn(model)
    )  # what cannot be drawn is told before a file is written
    if out is not None:
        model.save(out, target=target)
    if picture is not None:
        write_picture(picture, display)
    facts = {
        words: getattr(model, name) for name, words in FACTS.items() if getattr(model, name, None) is not None
    }
    summary: dict[str, Any] = {
        "method": method, "estimator": made.__name__, "target": target,
        "examples": int(n_examples), "columns": n_columns,
        "classes": model.classes_.tolist(), "training_errors": int(error),
        "training_accuracy": 1 - error / n_examples,
        "facts": {name.removesuffix("_"): getattr(model, name) for name in FACTS if hasattr(model, name)},
        "seconds": seconds, "notes": notes, "model": None if out is None else str(out),
    }  # fmt: skip
    if as_json:
        print_json(summary | {"tree": shown_model(model)})
        return
    for text in notes:
        note(text)
    screen = console()
    screen.print(
        f"{made.__name__} on {path}: {summary['examples']} examples, {summary['columns']} columns, "
        f"{len(model.classes_)} classes; {seconds:.2f} s"
    )
    lines = shown_model(model).splitlines()
    screen.print("\n".join(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        screen.print(f"… and {len(lines) - MOST_LINES} more lines")
    screen.print(f"\ntraining errors   {summary['training_errors']} of {summary['examples']}")
    for words, value in facts.items():
        screen.print(f"{words:<17} {_fact(value)}")
    if out is not None:
        screen.print(f"model file        {out}")
    elif not as_json:
        note("the model is not kept; --out model.json writes it")


def _drawn(model: Any) -> Any:
    from everytree.plot import OptionTreeDisplay, TreeDisplay
    from everytree.trees.option_tree import OptionTree, TreeMean

    options = isinstance(getattr(model, "tree_", None), OptionTree | TreeMean)
    return (OptionTreeDisplay if options else TreeDisplay).from_estimator(model)


def learn(made: Any, params: dict[str, Any], examples: Examples) -> tuple[Any, float, list[str]]:
    """A fitted classifier, the seconds it took, and what it warned of."""
    model = made(**params)
    start = time.perf_counter()
    with at_work(), heard() as warned:
        if examples.weights is None:
            model.fit(examples.features, examples.y)
        else:
            model.fit(examples.features, examples.y, examples.weights)
    return model, time.perf_counter() - start, [in_options(text) for text in warned]


def where_parameters(method: str, where: str | None, learning: Learning) -> dict[str, Any]:
    """The parameters of ``optimal`` that a line such as "leaf >= 10 and size <= 15" means."""
    if where is None:
        return {}
    if method != "optimal":
        raise QueryError(f"--where is for the method optimal; {method} takes no query")
    from everytree.cli.query import read_query

    query, k = read_query(where)
    if k != 1:
        raise QueryError(f"--where asks for {k} trees; a classifier is one. `everytree query` shows several")
    return query_parameters(query, learning.max_depth is not None)


def query_parameters(query: Query, depth_given: bool) -> dict[str, Any]:
    """A query as parameters of ``OptimalTreeClassifier``."""
    params: dict[str, Any] = {"rank": query.ranking}
    for name in ("max_size", "max_leaves", "max_error", "min_accuracy", "leaf", "require", "forbid"):
        if getattr(query, name) is not None:
            params[name] = getattr(query, name)
    if query.max_depth is not None:
        if depth_given:
            raise QueryError("the depth is bounded by --max-depth and by the query; give one of them")
        params["max_depth"] = query.max_depth
    params |= {"confidence": query.confidence, "leaf_penalty": query.leaf_penalty}
    return params


def shown_model(model: Any) -> str:
    """The model as text: its tree where it is one, else the most probable tree of the average, or what chains tell."""
    if hasattr(model, "draws_"):
        return f"{model.summary()}\n\nthe best tree that a chain has visited:\n{model.tree_.to_text()}"
    if hasattr(model, "to_text"):
        return str(model.to_text())
    tree = getattr(model, "tree_", None)
    if tree is not None:
        return str(tree.to_text())
    if hasattr(model, "top_trees") and hasattr(getattr(model, "posterior_", None), "top_trees"):
        best = model.top_trees(1)
        return f"the most probable of all trees has probability {best.share:.3g}:\n{best[0].to_text()}"
    return repr(model)


def _fact(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return text_of(float(value)) if isinstance(value, int | float | np.number) else str(value)
