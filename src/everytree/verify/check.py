"""Checks of every claim of a model file against the raw data.

data          number of examples, fingerprint, class totals
tree          counts, probabilities and answer of every leaf; counts of the splits; error, size, leaves, depth
constraints   min_leaf, max_depth, max_size, …, leaf rules, required and forbidden tests
optimum       the objective, its lower bound, and "no allowed tree is better" by a search of the checker's own
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

from everytree.verify.asked import asked_facts
from everytree.verify.average import check_average
from everytree.verify.categories import class_facts
from everytree.verify.claims import bound_facts, chosen_facts, cost_facts, noted_facts
from everytree.verify.csv_file import CsvTable, read_table
from everytree.verify.cuts import code_facts, cut_facts
from everytree.verify.draws import check_draws
from everytree.verify.every import check_pool, read_pool
from everytree.verify.examples import MISSING, Examples, read_cells, read_examples
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact, Report
from everytree.verify.fills import fill_facts
from everytree.verify.held import other_report
from everytree.verify.model import Model, blanks_of, format_of, read_file, read_model
from everytree.verify.optimum import check_optimum
from everytree.verify.places import place_facts
from everytree.verify.posterior import check_probable
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import Space
from everytree.verify.query import Query, dirichlet_at, read_query
from everytree.verify.recipes import by_recipes, truth_facts
from everytree.verify.rules import check_rules
from everytree.verify.whole import Whole, check_whole, read_whole

__all__ = ["verify_model"]

Counts = tuple[Any, ...]  # ints, or Fractions where weights have fractions
PART = 1e-12  # what rounding may take from a number of parts of examples
CLOSE = 1e-9  # the relative slack of numbers that are sums of logarithms or of floats


def verify_model(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    *,
    target: str | None = None,
    weights: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    header: bool = True,
    missing: Collection[str] = MISSING,
    max_states: int = 200_000,
    time_limit: float = 60.0,
) -> Report:
    """Check a model file against the CSV file it was trained on, without the code that trained it; see docs/verify.md.

    Parameters
    ----------
    model : str or path
        The model file.
    data : str or path
        The CSV file with the training data.
    target : str, optional
        The column to predict; by default the one that the model file names.
    weights : str, optional
        The column with the weights of the rows; by default every row counts one.
    delimiter : str, optional
        The character between cells; by default it is found from the first lines.
    decimal : str, default "."
        The decimal mark of numbers.
    encoding : str, default "utf-8"
        The encoding of the CSV file.
    header : bool, default True
        Whether the first line names the columns.
    missing : collection of str
        The cells that mean "missing".
    max_states : int, default 200000
        The most states of the search that proves the tree optimal.
    time_limit : float, default 60.0
        The most seconds for that proof.

    Returns
    -------
    Report
        The facts: what the file claims, what the data say, and whether the two agree. ``report.ok`` is False if a claim
        is false, and ``report.proved`` True if every claim that can be checked is true.

    Raises
    ------
    InputError
        If the model or the data cannot be read.

    Examples
    --------
    >>> import everytree as et
    >>> from pathlib import Path
    >>> _ = Path("people.csv").write_text("age,ill\\n30,no\\n40,no\\n50,yes\\n60,yes\\n")
    >>> people = et.read_csv("people.csv", target="ill")
    >>> et.OptimalTreeClassifier(max_depth=1, leaf_penalty=1).fit(*people.split("ill")).save("model.json")
    >>> report = verify_model("model.json", "people.csv", target="ill")
    >>> report.ok, report["error"].found
    (True, 0)
    """
    files = os.fspath(model), os.fspath(data)
    content = read_file(model)
    with _naming(*files):
        kind = format_of(content)
        whole = read_whole(content) if kind == "everytree.column_tree" else None
    raw = read_table(data, delimiter, encoding, header, blanks_of(content))
    raw = _with_labels(raw, content, target, missing)
    ways = {"target": target, "weights": weights, "missing": missing, "decimal": decimal}
    with _naming(*files):
        table, read = raw, list[Fact]()
        if "recipes" in content:
            table, read = by_recipes(raw, content["recipes"], missing, decimal)
        told = {fact.name for fact in read}

        def check(table: CsvTable) -> Report:
            if whole is not None:
                report = _whole(whole, table, ways)
            elif kind == "everytree.every":
                report = _every(content, table, ways, max_states, time_limit)
            else:
                report = _tests(content, kind == "everytree.rules", table, ways, max_states, time_limit)
            own = (fact for fact in report.facts if fact.verdict != NOTED or fact.name not in told)
            return replace(report, facts=(*own, *read))

        report = check(table)
        if report.ok:
            return report
        numbers = _numbers(content, table)
        return other_report(table, numbers, missing, decimal, check, time_limit, whole is not None) or report


def _numbers(content: dict[str, Any], table: CsvTable) -> list[str]:
    """Return the columns of the table that the model knows as numbers; any may be where it takes them by position."""
    names = [each["name"] for each in content["columns"] if each.get("values") is None]
    found = [name if name in table.columns else name.strip() for name in names]
    return found if all(name in table.columns for name in found) else list(table.columns)


@contextmanager
def _naming(model: str, data: str) -> Iterator[None]:
    """Name the model's file in errors about what it holds; those about the data or an option of the call stay."""
    try:
        yield
    except InputError as error:
        if error.fields["code"] == "parameter" or str(error).startswith((f"{model}:", f"{data}:")):
            raise
        raise InputError(f"{model}: {error}", **error.fields) from error


def _whole(whole: Whole, table: CsvTable, ways: dict[str, Any]) -> Report:
    """Check a tree on whole columns."""
    cells = read_cells(table, whole.model, **ways)
    facts = (*check_whole(whole, cells), *class_facts(whole.model, cells))
    return Report((*facts, *truth_facts(whole.model, table, cells, ways["missing"])), cells.notes)


def _tests(
    content: dict[str, Any],
    rules: bool,
    table: CsvTable,
    ways: dict[str, Any],
    max_states: int,
    time_limit: float,
) -> Report:
    """Check a tree or an average on 0/1 tests, or compressed rules."""
    claimed = read_model(content, rules)
    examples = read_examples(table, claimed, **ways)
    claimed = claimed.with_base_rates(examples.class_totals)
    cells = read_cells(table, claimed, **ways)
    filled = fill_facts(claimed, cells if claimed.missing == "impute" else None)
    placed = code_facts(claimed, cells) if claimed.local else place_facts(claimed, cells)
    placed += asked_facts(claimed, cells) + class_facts(claimed, cells)
    placed += truth_facts(claimed, table, cells, ways["missing"])
    if rules:
        facts = check_rules(content, claimed, examples, max_states, time_limit)
        return Report((*facts, *filled, *placed), examples.notes)
    facts, better = _facts(claimed, examples, max_states, time_limit)
    return Report((*facts, *filled, *placed, *noted_facts(claimed)), examples.notes, better)


def _with_labels(
    table: CsvTable, content: dict[str, Any], target: str | None, missing: Collection[str]
) -> CsvTable:
    """Leave out the rows without a label, as learning does before it looks at the columns; classes are labels."""
    label, classes = content.get("target") if target is None else target, content.get("classes")
    if not isinstance(label, str) or label not in table.columns or not isinstance(classes, list):
        return table
    return table.with_labels(label, frozenset(missing) - {str(each) for each in classes})


def _every(
    content: dict[str, Any], table: Any, ways: dict[str, Any], max_states: int, time_limit: float
) -> Report:
    """Check how rows become codes, then every average and how their evidence is added up."""
    pool = read_pool(content)
    examples = read_examples(table, pool.model, **ways)
    cells = read_cells(table, pool.model, **ways)
    facts = check_pool(content, pool, examples, max_states, time_limit)
    facts += fill_facts(pool.model, cells if pool.model.missing == "impute" else None)
    facts += code_facts(pool.model, cells) + class_facts(pool.model, cells)
    facts += truth_facts(pool.model, table, cells, ways["missing"])
    return Report(tuple(facts), examples.notes)


def _facts(
    claimed: Model, examples: Examples, max_states: int, time_limit: float
) -> tuple[list[Fact], tuple[str, ...]]:
    """Check a model on 0/1 tests; return the facts, and the lines of a better tree if there is one."""
    facts = _data_facts(claimed, examples)
    costs = cost_facts(claimed.params.get("cost_matrix"), len(claimed.classes))
    if claimed.estimator == "MCMCTreeClassifier":
        return facts + costs + check_draws(claimed, examples, time_limit), ()
    if not claimed.nodes:
        return facts + costs + check_average(claimed, examples, max_states, time_limit), ()
    counts = _route(claimed, examples)
    query = read_query(
        claimed.params,
        [claimed.test_name(i) for i in range(len(claimed.tests))],
        [claimed.columns[test.column].name for test in claimed.tests],
        claimed.classes,
        examples.class_totals,
    )
    facts += _tree_facts(claimed, counts, query)
    facts += _constraint_facts(claimed, counts, query)
    if claimed.local:
        facts += cut_facts(claimed, Space(examples, query, max_states, time_limit, claimed))
    facts += bound_facts(claimed)
    if claimed.estimator == "MAPTreeClassifier":
        return facts + chosen_facts(claimed) + check_probable(claimed, examples, max_states, time_limit), ()
    more, better = check_optimum(claimed, examples, counts, query, max_states, time_limit)
    return facts + more, better


def _equal(name: str, claimed: Any, found: Any, note: str = "") -> Fact:
    same = claimed == found or (
        isinstance(found, Fraction) and is_number(claimed) and math.isclose(claimed, found, rel_tol=PART)
    )
    return Fact(name, claimed, found, TRUE if same else FALSE, "" if same else note)


def _data_facts(model: Model, examples: Examples) -> list[Fact]:
    facts = []
    if "n_examples" in model.claims:
        facts.append(_equal("examples", model.claims["n_examples"], sum(examples.class_totals)))
    if "fingerprint" in model.claims:
        note = "other data than the model was trained on, or other tests"
        facts.append(_equal("fingerprint", model.claims["fingerprint"], examples.fingerprint(), note))
    if model.nodes:
        facts.append(_equal("class totals", list(model.nodes[0].counts), list(examples.class_totals)))
    return facts


def _route(model: Model, examples: Examples) -> list[Counts]:
    """Count the classes of every node, by sending every example down the tree."""
    sums: list[list[Any]] = [[0] * examples.n_classes for _ in model.nodes]
    for bits, counts in examples.counts.items():
        node = 0
        while True:
            for c, n in enumerate(counts):
                sums[node][c] += examples.of(n)
            test = model.nodes[node].test
            if test < 0:
                break
            node = model.nodes[node].children[bits >> test & 1]
    return [tuple(each) for each in sums]


# --- the tree


def _tree_facts(model: Model, counts: list[Counts], query: Query) -> list[Fact]:
    leaves = [k for k, node in enumerate(model.nodes) if node.test < 0]
    splits = [k for k, node in enumerate(model.nodes) if node.test >= 0]
    names = [model.test_name(i) for i in range(len(model.tests))]
    facts = []
    if model.test_names is not None:
        wrong = next((i for i, name in enumerate(names) if model.test_names[i] != name), None)
        if wrong is not None:
            facts.append(_equal(f"name of test {wrong}", model.test_names[wrong], names[wrong]))
        else:
            facts.append(Fact("names of tests", len(names), len(names), TRUE))
    wrong = next((k for k in splits if model.nodes[k].counts != counts[k]), None)
    if wrong is not None:
        facts.append(_equal(f"counts of node {wrong}", list(model.nodes[wrong].counts), list(counts[wrong])))
    elif splits:
        facts.append(Fact("counts of splits", len(splits), len(splits), TRUE))
    facts += _leaf_facts(model, counts, leaves)
    facts += _answer_facts(model, counts, leaves, query)
    error = sum(sum(counts[k]) - counts[k][model.said(k)] for k in leaves)
    depth = max(model.nodes[k].depth for k in leaves)
    found = {"error": error, "n_leaves": len(leaves), "size": len(model.nodes), "depth": depth}
    facts += [
        _equal(name, model.claims[name], value) for name, value in found.items() if name in model.claims
    ]
    return facts


def _leaf_facts(model: Model, counts: list[Counts], leaves: list[int]) -> list[Fact]:
    facts = []
    claimed = {leaf.node: leaf for leaf in model.leaves}
    if sorted(claimed) != leaves or len(claimed) < len(model.leaves):
        facts.append(_equal("leaves", sorted(leaf.node for leaf in model.leaves), leaves))
    for k in leaves:
        said = list(model.nodes[k].counts)
        if k in claimed and list(claimed[k].counts) != said:
            said = list(claimed[k].counts) if said == list(counts[k]) else said
        note = "" if said == list(counts[k]) else f"where {model.rule(k)}"
        facts.append(_equal(f"leaf {k}", said, list(counts[k]), note))
    return facts


def _answer_facts(model: Model, counts: list[Counts], leaves: list[int], query: Query) -> list[Fact]:
    """Check the probabilities (n_c + a_c) / (n + Σa) and the class of each node: the cheapest, or the most probable."""
    facts = []
    n_classes = len(model.classes)
    answers: dict[int, list[Fraction]] = {}
    off: Fact | None = None
    readable = True
    for k, node in enumerate(model.nodes):
        added = dirichlet_at(model.used_params.get("dirichlet"), node.depth, n_classes)
        if added is None:
            readable = False
            break
        total = sum(counts[k]) + sum(added)
        answers[k] = [(n + a) / total for n, a in zip(counts[k], added, strict=True)]
        close = all(
            math.isclose(p, q, rel_tol=CLOSE, abs_tol=1e-12)
            for p, q in zip(node.proba, answers[k], strict=True)
        )
        if off is None and not close:
            found = [float(p) for p in answers[k]]
            off = Fact(f"probabilities of node {k}", list(node.proba), found, FALSE, f"where {model.rule(k)}")
    if not readable:
        note = f"dirichlet={quote(model.used_params.get('dirichlet'))} is not known to the checker"
        facts.append(Fact("probabilities", None, None, UNCHECKED, note, predicts=True))
    else:
        facts.append(off or Fact("probabilities", len(model.nodes), len(model.nodes), TRUE))
    unknown = [name for name in ("class_weight", "minimize") if name in query.unread]
    if unknown:
        note = f"{unknown[0]}={quote(model.params.get(unknown[0]))} is not known to the checker"
        return [*facts, Fact("answers of leaves", None, None, UNCHECKED, note, predicts=True)]
    claimed = {leaf.node: leaf.says for leaf in model.leaves}
    right = 0
    for k, node in enumerate(model.nodes):
        leaf = node.test < 0
        if not leaf and node.says is None:
            continue
        allowed = _answers(model, query, counts[k], answers.get(k, [Fraction(p) for p in node.proba]))
        said = model.said(k)
        found, told = model.classes[said if said in allowed else allowed[0]], model.classes[said]
        if leaf and k in claimed and not _same(claimed[k], found):
            told = claimed[k]
        if _same(told, found):
            right += leaf
        else:
            name = f"answer of {'leaf' if leaf else 'node'} {k}"
            facts.append(Fact(name, told, found, FALSE, f"where {model.rule(k)}"))
    if right == len(leaves):
        facts.append(Fact("answers of leaves", right, right, TRUE))
    return facts


def _answers(model: Model, query: Query, counts: Counts, proba: Sequence[Fraction]) -> list[int]:
    """Return the classes that a node may predict: those of least cost, and of these the most probable ones.

    Only the answer to a query counts costs; a tree of a posterior predicts what is most probable.
    """
    likely = list(range(len(counts)))
    if model.estimator == "OptimalTreeClassifier":
        prices = query.prices(query.first_cost, counts)
        likely = [c for c in likely if prices[c] == min(prices)]
    most = max(proba[c] for c in likely)
    near = [c for c in likely if most - proba[c] <= CLOSE * most]
    # Of classes that are alike in everything the first is taken; rounding may decide between others.
    return [
        c for c in near if not any(b < c and (counts[b], proba[b]) == (counts[c], proba[c]) for b in near)
    ]


def _same(a: Any, b: Any) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


# --- constraints


def _constraint_facts(model: Model, counts: list[Counts], query: Query) -> list[Fact]:
    leaves = [k for k, node in enumerate(model.nodes) if node.test < 0]
    cells = [counts[k] for k in leaves]
    facts: list[Fact] = []

    def bound(name: str, wanted: Any, found: Any, holds: bool, note: str = "") -> None:
        facts.append(Fact(name, wanted, found, TRUE if holds else FALSE, "" if holds else note))

    smallest = min(leaves, key=lambda k: sum(counts[k]))
    fewest = sum(counts[smallest])
    bound(
        "min_leaf", f"≥ {query.min_leaf}", fewest, fewest >= query.min_leaf, f"where {model.rule(smallest)}"
    )
    depth = max(model.nodes[k].depth for k in leaves)
    if query.max_depth is not None:
        bound("max_depth", f"≤ {query.max_depth}", depth, depth <= query.max_depth)
    if query.max_size is not None:
        bound("max_size", f"≤ {query.max_size}", len(model.nodes), len(model.nodes) <= query.max_size)
    if query.max_leaves is not None:
        bound("max_leaves", f"≤ {query.max_leaves}", len(leaves), len(leaves) <= query.max_leaves)
    for name, most in query.max_costs:
        cost = sum((query.cost(name, each) for each in cells), 0)
        bound("max_error", f"{name} ≤ {_plain(most)}", _plain(cost), query.within(name, cost))
    if query.min_accuracy is not None:
        n = sum(map(sum, cells))
        right = sum(max(each) for each in cells)
        wanted = query.min_accuracy
        bound("min_accuracy", f"≥ {_plain(wanted)}", right / n, right >= wanted * n)
    total = counts[0]
    for rule in query.leaf_rules:
        bad = next((k for k in leaves if not rule.holds(counts[k], total)), None)
        found = "every leaf" if bad is None else f"not leaf {bad}"
        bound("leaf rule", str(rule), found, bad is None, "" if bad is None else f"where {model.rule(bad)}")
    used = {node.test for node in model.nodes if node.test >= 0}
    if "forbid" in model.params and model.params["forbid"] is not None:
        names = sorted(model.test_name(test) for test in used & query.forbidden)
        bound("forbid", quote(model.params["forbid"]), names or "not used", not names)
    for name, group in zip(query.required_names, query.required, strict=True):
        bound("require", name, "used" if used & group else "not used", bool(used & group))
    facts += [
        Fact(f"parameter {name}", None, None, UNCHECKED, "the checker does not know this parameter")
        for name in query.unread
        if model.estimator == "OptimalTreeClassifier"
    ]
    return facts


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value
