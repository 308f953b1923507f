"""``everytree fit``: learn a classifier from a file, say what was found, write the model file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everytree.cli.counted import is_many, learn_counted
from everytree.cli.data import Examples, read_examples
from everytree.cli.held_out import checked_positive, judged, parsed_costs, show_figures, why_not
from everytree.cli.methods import ONE, classifier, default_method, parameters_of
from everytree.cli.options import Learning, Reading, Treating
from everytree.cli.picture import check_picture, write_picture
from everytree.cli.query import read_query
from everytree.cli.show import console, heard, note, print_json, text_of
from everytree.cli.training import TrainingErrors, count_errors
from everytree.cli.treated import show_treated, treated_rows
from everytree.cli.watch import Spent, at_work
from everytree.cli.words import in_options
from everytree.cli.written import check_folder
from everytree.common.drafts import write_whole
from everytree.common.text import many
from everytree.errors import LimitReached, QueryError
from everytree.estimators.protocol import Fact
from everytree.plot import OptionTreeDisplay, TreeDisplay
from everytree.query.query import Query
from everytree.report.facts import RENAMED
from everytree.report.page import page_html
from everytree.report.plain import leaf_words, prior_words
from everytree.weights.priors import Prior

__all__ = ["learn", "run_fit", "where_parameters"]

MOST_LINES = 60  # that are printed of a tree
# What the figures on held-out rows say already.
LEFT_OUT = ("loo_log_loss", "loo_log_loss_error", "loo_accuracy", "baseline_log_loss")


def run_fit(
    path: Path,
    target: str | None,
    method: str | None,
    out: Path | None,
    where: str | None,
    weights: str | None,
    picture: Path | None,
    page: Path | None,
    training_errors: bool | None,
    judging: tuple[bool | None, str | None, str | None],
    reading: Reading,
    treating: Treating,
    learning: Learning,
    as_json: bool,
) -> None:
    """Fit, write the model file if ``out`` is given, judge it on held-out rows, count the training errors, print.

    ``judging`` are the options --held-out, --positive and --costs.
    """
    spent = Spent(lean=learning.memory_limit is not None)
    check_picture(picture)
    wanted, positive, costs = judging[0], judging[1], parsed_costs(judging[2], judging[1])
    with spent.on("starting"):  # a bad name is refused before the file is read
        if method is None:
            method = ONE if where is not None or is_many(path) else default_method(learning)
        made = classifier(method)
        params = parameters_of(method, learning, where_parameters(method, where, learning))
    check_folder("out", out)
    check_folder("page", page)
    if page is not None and weights is not None:
        raise QueryError("--page shows rows that count one each; leave out --weights, or leave out --page")
    learned = _learned(path, target, made, params, reading, treating, weights, spent, positive)
    model = learned.model
    # A model that cannot be drawn is refused before a file is written.
    display = None if picture is None else _drawn(model)
    with spent.on("writing"):
        if out is not None:
            model.save(out, target=learned.target)
        if picture is not None:
            write_picture(picture, display)
    # From here on the model is safe: an interrupt leaves out only what is being computed.
    space = model.tree_space()
    if learning.memory_limit is not None and space is not None:
        space.forget_searches()  # parts that are held out have searches of their own, which may take as much
    with spent.on("held out"):
        figures = (
            why_not("the rows of many files are only counted")
            if learned.examples is None
            else judged(model, learned.examples, wanted, spent.parts["learning"], positive, costs)
        )
    with spent.on("training errors"):
        counted = count_errors(learned.count_errors, training_errors, spent.total)
    with spent.on("showing"):
        shown = _shown(model)
    notes = [*learned.notes]
    size = None
    if page is not None:
        with spent.on("page"):
            size = _write_page(page, learned)
    if counted.errors is None:
        notes.append(f"training errors are not counted: {counted.why}")
    accuracy = None if counted.errors is None else 1 - counted.errors / learned.n_examples
    summary: dict[str, Any] = {
        "method": method, "estimator": made.__name__, "target": learned.target,
        "examples": learned.n_examples, "columns": learned.n_columns, "classes": model.classes_.tolist(),
        "held_out": figures, "training_errors": counted.errors, "training_accuracy": accuracy,
        "facts": {fact.name: fact.value for fact in model.facts() if fact.short is not None},
        "seconds": spent.total, "spent": spent.parts, "notes": notes, "model": None if out is None else str(out),
        "page": None if page is None else str(page),
        "treated": treated_rows(() if learned.examples is None else learned.examples.features.treated),
    }  # fmt: skip
    if as_json:
        print_json(summary | {"tree": shown})
        return
    for text in learned.notes:
        note(text)
    treated = () if learned.examples is None else learned.examples.features.treated
    show_treated(treated, path.name)
    head = (
        f"{path} by the method {method}: {learned.n_examples} examples, "
        f"{many(learned.n_columns, 'column')}, {many(len(model.classes_), 'class', 'classes')}; {spent}"
    )
    _print(head, shown, model, counted, learned.n_examples, figures)
    if page is not None:
        console().print(
            f"page              {page}: {size:,} bytes; it opens in any browser, without a network"
        )
    if out is not None:
        console().print(f"model file        {out}")
    elif page is None:
        note("the model is not kept; --out model.json writes it")


class _Learned(NamedTuple):
    """A fitted classifier, what it learned from, and how its errors there are counted."""

    model: Any
    target: str
    n_examples: int
    n_columns: int
    notes: list[str]
    count_errors: Callable[[], float]
    examples: Examples | None = None  # None where rows were only counted


def _learned(
    path: Path,
    target: str | None,
    made: Any,
    params: dict[str, Any],
    reading: Reading,
    treating: Treating,
    weights: str | None,
    spent: Spent,
    positive: str | None = None,
) -> _Learned:
    if is_many(path):
        model, table, notes = learn_counted(path, target, made, params, reading, weights, spent)
        total = int(table.total)
        return _Learned(
            model, str(table.target), total, int(model.n_features_in_), notes,
            lambda: (1 - model.score_table(table)) * total,
        )  # fmt: skip
    with spent.on("reading"):
        examples = read_examples(path, target, reading, weights, treating)
    checked_positive(positive, examples)
    with spent.on("learning"):
        model, warned = learn(made, params, examples)
    counts = np.ones(examples.n_rows) if examples.weights is None else examples.weights
    return _Learned(
        model, examples.target, int(counts.sum()), len(examples.features.names), [*examples.notes, *warned],
        lambda: float(counts[model.predict(examples.features) != examples.y].sum()), examples,
    )  # fmt: skip


def _print(
    head: str, shown: str, model: Any, counted: TrainingErrors, n_examples: int, figures: dict[str, Any]
) -> None:
    screen, lines = console(), shown.splitlines()
    screen.print(head)
    show_figures(figures)
    screen.print()
    screen.print("\n".join(lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        screen.print(f"… and {len(lines) - MOST_LINES} more lines")
    added = model.added()
    if added is not None:
        screen.print(f"p counts the examples of a leaf, {added}")
    words = f"not counted: {counted.why}" if counted.errors is None else f"{counted.errors} of {n_examples}"
    screen.print(f"\ntraining errors   {words}")
    told = LEFT_OUT if figures["figures"] and model.display() == "text" else ()
    for fact in model.facts():
        if fact.short is not None and fact.value is not None and fact.name not in told:
            screen.print(f"{RENAMED.get(fact.name, fact.short):<17} {_fact(fact)}")


def _write_page(path: Path, learned: _Learned) -> int:
    """Write the page of a model with the rows that it has learned from, and return its size in bytes."""
    examples = learned.examples
    given = None if examples is None else (examples.features, examples.y)
    with at_work():  # Ctrl-C leaves out the part that is being made, and a note of the page says so
        made = page_html(learned.model, given, title=f"Predicting {learned.target}")
    write_whole(made, path)
    return len(made.encode("utf-8"))


def _drawn(model: Any) -> Any:
    return (OptionTreeDisplay if model.display() == "options" else TreeDisplay).from_estimator(model)


def learn(made: Any, params: dict[str, Any], examples: Examples) -> tuple[Any, list[str]]:
    """Fit a classifier, and return it with the warnings it gave."""
    model = made(**params)
    with at_work(), heard() as warned:
        if examples.weights is None:
            model.fit(examples.features, examples.y)
        else:
            model.fit(examples.features, examples.y, examples.weights)
    return model, warned


def where_parameters(method: str, where: str | None, learning: Learning) -> dict[str, Any]:
    """Return the parameters of ``optimal`` that a line such as "leaf >= 10 and size <= 15" means."""
    if where is None:
        return {}
    if method != "optimal":
        raise QueryError(f"--where is for the method optimal; {method} takes no query")

    query, k = read_query(where)
    if k != 1:
        raise QueryError(f"--where asks for {k} trees; a classifier is one. `everytree query` shows several")
    return query_parameters(query, learning.max_depth is not None)


def query_parameters(query: Query, depth_given: bool) -> dict[str, Any]:
    """Turn a query into parameters of ``OptimalTreeClassifier``."""
    params: dict[str, Any] = {"minimize": query.ranking}
    for name in ("max_size", "max_leaves", "max_error", "min_accuracy", "leaf", "require", "forbid"):
        if getattr(query, name) is not None:
            params[name] = getattr(query, name)
    if query.max_depth is not None:
        if depth_given:
            raise QueryError("the depth is bounded by --max-depth and by the query; give one of them")
        params["max_depth"] = query.max_depth
    params |= {"confidence": query.confidence, "leaf_penalty": query.leaf_penalty}
    return params


def _shown(model: Any) -> str:
    """Write the model as text; for an average, finding its most probable tree is a question of its own."""
    with at_work() as work:
        try:
            return str(model.as_text())
        except LimitReached as limit:
            why = "stopped" if limit.reason == "stopped" else in_options(limit.wording)
        except KeyboardInterrupt:
            if work.stopped:
                raise
            why = "stopped"
    return f"the most probable tree is not shown: {why}"


def _fact(fact: Fact) -> str:
    value = fact.value
    if fact.name == "dirichlet":
        return leaf_words(value)
    if isinstance(value, Prior):
        return prior_words(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return text_of(float(value)) if isinstance(value, int | float | np.number) else str(value)
