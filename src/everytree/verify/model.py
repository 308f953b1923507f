"""The checker's own reading of a model file: what is claimed, checked for shape but not for truth.

Only the shape is checked here: that every field has the type that docs/verify.md gives it, and that the tree is a tree.
The rest of this package checks whether its numbers are right.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import IO, Any

from everytree.verify.problem import InputError, is_number, is_share, quote
from everytree.verify.query import base_rates

__all__ = [
    "Column",
    "Fine",
    "Leaf",
    "Model",
    "Node",
    "Test",
    "as_text",
    "blanks_of",
    "format_of",
    "labels_of",
    "read_file",
    "read_model",
    "target_of",
]

KINDS = {
    "numeric": ("threshold", "missing"),
    "nominal": ("equals", "missing"),
    "binary": ("identity", "missing"),
    "empty": ("missing",),
}
MOST_BYTES, PIECE = 2**30, 2**20
LONGEST_RULE = 20


@dataclass(frozen=True)
class Fine:
    """The codes of a numeric column whose cuts every node chooses: their least and greatest values, and the bins.

    ``bins`` is 0 where a node may cut everywhere; ``given`` says that the cut points were given.
    """

    low: tuple[Any, ...]
    high: tuple[Any, ...]
    bins: int
    given: bool


@dataclass(frozen=True)
class Column:
    """One column of the raw data: numeric, nominal (with its known values), binary or empty."""

    name: str
    kind: str
    values: tuple[Any, ...]
    fill: Any
    fine: Fine | None = None


@dataclass(frozen=True)
class Test:
    """One 0/1 test on a column: threshold, equals, identity or missing."""

    __test__ = False  # pytest must not collect it

    column: int
    kind: str
    value: Any


@dataclass(frozen=True)
class Node:
    """One node of the tree; ``test`` is −1 at a leaf, and ``above`` is its parent with the outcome that leads here.

    ``says`` is the index of the class it predicts; None in older files, where only the claims name it. ``upper`` is the
    position of its cut among those of its test and ``asks`` what it asks, in words, where nodes choose their own cuts.
    """

    test: int
    children: tuple[int, int]
    counts: tuple[Any, ...]
    proba: tuple[float, ...]
    above: tuple[int, int] | None
    depth: int
    says: int | None
    upper: int = 0
    asks: str = ""


@dataclass(frozen=True)
class Leaf:
    """The claims about one leaf."""

    node: int
    says: Any
    counts: tuple[Any, ...]


@dataclass(frozen=True)
class Model:
    """The content of a model file."""

    estimator: str
    params: dict[str, Any]
    target: str | None
    classes: tuple[Any, ...]
    missing: str
    unknown: str
    named_columns: bool
    columns: tuple[Column, ...]
    tests: tuple[Test, ...]
    test_names: tuple[str, ...] | None
    nodes: tuple[Node, ...]
    claims: dict[str, Any]
    leaves: tuple[Leaf, ...]
    written_by: str
    table: dict[int, tuple[int, ...]] | None = None  # outcomes, as bits, → class counts
    local: bool = False  # whether every node chooses its own cuts
    per_example: int = 1  # so many counts make one example, where weights have fractions

    @property
    def used_params(self) -> dict[str, Any]:
        """The parameters, with those that evidence or left-out examples chose where they were asked to."""
        chosen = {}
        for name in ("prior", "dirichlet", "power"):
            if self.was_chosen(name):
                chosen[name] = self.claims.get(name)
        return self.params | chosen

    def with_base_rates(self, class_totals: Sequence[int]) -> Model:
        """Return the model with base rates that its parameters ask for as numbers, from the data."""
        asked = base_rates(self.params.get("dirichlet"), class_totals)
        return (
            replace(self, params=self.params | {"dirichlet": asked}) if "dirichlet" in self.params else self
        )

    def said(self, node: int) -> int:
        """Return the class that a node predicts: by the tree, by the claims about leaves, or the most probable one."""
        says, proba = self.nodes[node].says, self.nodes[node].proba
        if says is not None:
            return says
        labels = [leaf.says for leaf in self.leaves if leaf.node == node]
        known = [c for c, label in enumerate(self.classes) if label in labels]
        return known[0] if known else proba.index(max(proba))

    def was_chosen(self, name: str) -> bool:
        """Return whether a hyper-parameter was chosen by evidence or left-out examples: it is only in the claims."""
        word = self.params.get(name)
        return isinstance(word, str) and word.partition("_")[0] in ("fit", "average", "loo")

    def test_name(self, test: int) -> str:
        """Write a test as a person reads it, from its column and value alone."""
        asked = self.tests[test]
        name = self.columns[asked.column].name
        if asked.kind == "identity":
            return name
        if asked.kind == "missing":
            return f"{name} is missing"
        return f"{name} {'<=' if asked.kind == 'threshold' else '=='} {as_text(asked.value)}"

    def rule(self, node: int) -> str:
        """Say the way to a node in words; of a very long one, the end."""
        items: list[str] = []
        above = self.nodes[node].above
        while above is not None and len(items) < LONGEST_RULE:
            test = self.nodes[above[0]].asks or self.test_name(self.nodes[above[0]].test)
            items.append(test if above[1] else f"not {test}")
            above = self.nodes[above[0]].above
        if above is not None:
            items.append("…")
        return " and ".join(reversed(items)) or "always"


def as_text(value: Any) -> str:
    """Write a number as a person does."""
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)
    return str(value)


def read_file(path: str | os.PathLike[str]) -> Any:
    """Read the JSON value of a model file."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = _content(file)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror or error})") from error
    try:
        if len(content) > MOST_BYTES:
            raise InputError(f"longer than {MOST_BYTES} bytes; no model is")
        return _parse(content)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _content(file: IO[bytes]) -> bytes:
    """Read a file piece by piece: asked for the most that a model may have, Python takes so many bytes for any file."""
    parts, size = [], 0
    while size <= MOST_BYTES and (part := file.read(PIECE)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _parse(content: bytes) -> Any:
    def refuse(text: str) -> Any:
        raise InputError(f"holds {text}; expected finite numbers only")

    def finite(text: str) -> float:
        value = float(text)
        return value if math.isfinite(value) else refuse(quote(text))

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise InputError(f"the key {quote(key)} occurs twice in one object")
            found[key] = value
        return found

    try:
        return json.loads(
            content.decode("utf-8-sig"), parse_constant=refuse, parse_float=finite, object_pairs_hook=once
        )
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error}); expected a model file as model.save(...) writes it") from error


def format_of(data: Any) -> str:
    """Return the format of a file; one that is not known, or of another version, is an error."""
    formats = ("everytree.model", "everytree.column_tree", "everytree.rules", "everytree.every")
    if not isinstance(data, dict) or data.get("format") not in formats:
        found = quote(data.get("format")) if isinstance(data, dict) else f"a {type(data).__name__}"
        raise InputError(f"format is {found}; expected {', '.join(map(repr, formats))}")
    newest = 5 if data["format"] == "everytree.every" else 1
    if data.get("version") not in range(1, newest + 1) or isinstance(data.get("version"), bool):
        raise InputError(f"version is {quote(data.get('version'))}; this checker reads version {newest}")
    return str(data["format"])


def blanks_of(data: dict[str, Any]) -> bool:
    """Return whether a label or a value has blanks around it, so that cells must be read with theirs."""
    columns = data.get("columns")
    held = (
        [each.get("values") for each in columns if isinstance(each, dict)]
        if isinstance(columns, list)
        else []
    )
    texts = [each for values in (data.get("classes"), *held) if isinstance(values, list) for each in values]
    return any(isinstance(text, str) and text != text.strip() for text in texts)


def labels_of(data: dict[str, Any]) -> tuple[Any, ...]:
    """Read the field ``classes``."""
    classes = _list(data, "classes")
    seen = set()
    for c, label in enumerate(classes):
        if not isinstance(label, bool | int | float | str) or label in seen:
            raise InputError(f"classes[{c}] is {quote(label)}; expected different texts, numbers or booleans")
        seen.add(label)
    return tuple(classes)


def target_of(data: dict[str, Any]) -> str | None:
    """Read the field ``target``."""
    target = data.get("target")
    if target is not None and not isinstance(target, str):
        raise InputError(f"target is {quote(target)}; expected the name of a column, or null")
    return target


def read_model(data: dict[str, Any], rules: bool = False) -> Model:
    """Read a model in the format everytree.model; an error says which field is not what it should be.

    With ``rules``, only the columns, tests and classes are read, which a file of compressed rules has too.
    """
    classes = labels_of(data)
    encoding = _object(data, "encoding")
    local = "cuts" in encoding and _choice(encoding, "cuts", ("local",)) == "local"
    columns = tuple(_column(each, f"columns[{j}]", local) for j, each in enumerate(_list(data, "columns")))
    if len({column.name for column in columns}) < len(columns):
        raise InputError("columns holds a name twice; expected different names")
    known = [frozenset(column.values) for column in columns]
    tests = tuple(
        _test(each, f"tests[{i}]", columns, known) for i, each in enumerate(_list(data, "tests", empty=True))
    )
    for j, column in enumerate(columns):
        cuts = 0 if column.fine is None else len(column.fine.low) - 1
        if column.fine is not None and cuts != sum(t.column == j and t.kind == "threshold" for t in tests):
            raise InputError(f"columns[{j}].fine has {cuts + 1} codes; expected one more than tests has cuts")
    target = target_of(data)
    claims = {} if rules else _object(data, "claims")
    held = None if data.get("table") is None else _object(data, "table")
    parts = (claims if held is None else held).get("per_example", 1)
    if not _is_whole(parts, 1):
        raise InputError(f"per_example is {quote(parts)}; expected a whole number of counts, 1 or more")
    nodes: tuple[Node, ...] = ()
    names = None
    if data.get("tree") is not None:
        tree = _object(data, "tree")
        nodes = _nodes(tree, len(tests), len(classes), parts)
        if local:
            nodes = _with_cuts(tree, nodes)
        names = _names(tree, len(tests))
        if tree.get("classes") is not None and tree["classes"] != list(classes):
            raise InputError(f"tree.classes is {quote(tree['classes'])}; expected the labels in classes")
    return Model(
        estimator="CompressedClassifier" if rules else _text(data, "estimator"),
        params=_weighed(data) if rules else _object(data, "params"),
        target=target,
        classes=tuple(classes),
        missing=_choice(encoding, "missing", ("error", "category", "impute")),
        unknown=_choice(encoding, "unknown", ("ignore", "error")),
        named_columns=encoding.get("named_columns") is not False,
        columns=columns,
        tests=tests,
        test_names=names,
        nodes=nodes,
        claims=claims,
        leaves=_leaves(claims, len(nodes), len(classes), parts) if nodes else (),
        written_by=_text(data, "everytree"),
        table=None if held is None else _table(held, len(tests), len(classes)),
        per_example=parts,
        local=local,
    )


def _weighed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an average that say what its examples and tests are, from a file of rules."""
    average = data.get("average")
    given = average if isinstance(average, dict) else {}
    weights = {} if given.get("class_weight") is None else {"class_weight": given["class_weight"]}
    return weights | {name: given[name] for name in ("bins", "cuts") if name in given}


def _table(table: dict[str, Any], n_tests: int, n_classes: int) -> dict[int, tuple[int, ...]]:
    rows, counts = _list(table, "rows", where="table."), _list(table, "counts", where="table.")
    if len(rows) != len(counts):
        raise InputError(f"table.rows has {len(rows)} entries and table.counts {len(counts)}")
    found: dict[int, tuple[int, ...]] = {}
    for i, (row, count) in enumerate(zip(rows, counts, strict=True)):
        if not isinstance(row, str) or len(row) != n_tests or set(row) - {"0", "1"}:
            raise InputError(f"table.rows[{i}] is {quote(row)}; expected {n_tests} characters 0 and 1")
        if not isinstance(count, list) or len(count) != n_classes or not all(_is_whole(n, 0) for n in count):
            raise InputError(f"table.counts[{i}] is {quote(count)}; expected {n_classes} counts")
        bits = int(row[::-1], 2) if row else 0
        found[bits] = tuple(a + b for a, b in zip(found.get(bits, (0,) * n_classes), count, strict=True))
    return found


def _with_cuts(tree: dict[str, Any], nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Add to nodes the codes above their cuts, and what they ask."""
    upper, asks = (_list(tree, key, where="tree.") for key in ("upper", "asks"))
    if len(upper) != len(nodes) or len(asks) != len(nodes):
        raise InputError(f"tree.upper and tree.asks must have {len(nodes)} entries, one per node")
    for k, (code, text) in enumerate(zip(upper, asks, strict=True)):
        if not _is_whole(code, 0) or not isinstance(text, str):
            raise InputError(
                f"tree.upper[{k}] is {quote(code)} and tree.asks[{k}] {quote(text)}; expected a code and a text"
            )
    return tuple(replace(node, upper=upper[k], asks=asks[k]) for k, node in enumerate(nodes))


def _fine(data: Any, path: str) -> Fine:
    if not isinstance(data, dict):
        raise InputError(f"{path} is {quote(data)}; expected an object with low, high, bins and given")
    low, high, bins, given = (data.get(key) for key in ("low", "high", "bins", "given"))
    for key, values in (("low", low), ("high", high)):
        if not isinstance(values, list) or not values or not all(map(is_number, values)):
            raise InputError(f"{path}.{key} is {quote(values)}; expected a list of numbers")
    if not _is_whole(bins, 0) or not isinstance(given, bool) or len(low or ()) != len(high or ()):
        raise InputError(
            f"{path} is {quote(data)}; expected as many low as high, a number of bins, and given"
        )
    return Fine(tuple(low or ()), tuple(high or ()), int(bins or 0), given)


def _column(data: Any, path: str, local: bool = False) -> Column:
    if not isinstance(data, dict):
        raise InputError(f"{path} is {quote(data)}; expected an object")
    name, kind, values, fill = (data.get(key) for key in ("name", "kind", "values", "fill"))
    if not isinstance(name, str):
        raise InputError(f"{path}.name is {quote(name)}; expected a text")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"{path}.kind is {quote(kind)}; expected one of {', '.join(KINDS)}")
    if kind == "nominal":
        if not isinstance(values, list) or not all(isinstance(v, bool | int | float | str) for v in values):
            raise InputError(f"{path}.values is {quote(values)}; expected a list of values")
    elif values is not None:
        raise InputError(f"{path}.values is {quote(values)}; expected null for a {kind} column")
    elif fill is not None and not is_number(fill):
        raise InputError(f"{path}.fill is {quote(fill)}; expected a number or null")
    fine = _fine(data.get("fine"), f"{path}.fine") if local and kind == "numeric" else None
    return Column(name, kind, tuple(values or ()), fill, fine)


def _test(data: Any, path: str, columns: tuple[Column, ...], known: list[frozenset[Any]]) -> Test:
    if not isinstance(data, dict):
        raise InputError(f"{path} is {quote(data)}; expected an object")
    column, kind, value = (data.get(key) for key in ("column", "kind", "value"))
    if isinstance(column, bool) or not isinstance(column, int) or not 0 <= column < len(columns):
        raise InputError(
            f"{path}.column is {quote(column)}; expected the index of one of {len(columns)} columns"
        )
    of = columns[column]
    if kind not in KINDS[of.kind]:
        raise InputError(f"{path}.kind is {quote(kind)}; column {of.name!r} is {of.kind}")
    if kind == "threshold" and not is_number(value):
        raise InputError(f"{path}.value is {quote(value)}; expected a finite number")
    if kind == "equals" and (isinstance(value, list | dict) or value not in known[column]):
        raise InputError(f"{path}.value is {quote(value)}; expected one of the values of column {of.name!r}")
    return Test(column, kind, value)


def _nodes(tree: dict[str, Any], n_tests: int, n_classes: int, parts: int) -> tuple[Node, ...]:
    """Read the nodes of the tree in preorder, and check that they make a tree; their counts are not checked."""
    tests = _list(tree, "test", where="tree.")
    lists = {key: _list(tree, key, where="tree.") for key in ("children", "counts", "proba")}
    for key, values in lists.items():
        if len(values) != len(tests):
            raise InputError(f"tree.{key} has {len(values)} entries; expected {len(tests)}, one per node")
    if tree.get("n_tests") != n_tests:
        raise InputError(
            f"tree.n_tests is {quote(tree.get('n_tests'))}; expected {n_tests}, as many as tests"
        )
    says = _list(tree, "says", where="tree.") if "says" in tree else None
    if says is not None and (len(says) != len(tests) or None in says):
        raise InputError(f"tree.says is {quote(says)}; expected {len(tests)} classes, one per node")
    above: dict[int, tuple[int, int]] = {}
    depth = {0: 0}
    nodes = []
    waiting = [0]  # nodes in the order in which preorder must meet them, the next one last
    for k, test in enumerate(tests):
        if not waiting or waiting.pop() != k:
            raise InputError(f"tree.children: node {k} is not reached in preorder, child 0 first")
        if isinstance(test, bool) or not isinstance(test, int) or not -1 <= test < n_tests:
            raise InputError(
                f"tree.test[{k}] is {quote(test)}; expected −1 or the index of one of {n_tests} tests"
            )
        pair = lists["children"][k]
        if not isinstance(pair, list) or len(pair) != 2 or not all(_is_whole(child, -1) for child in pair):
            raise InputError(f"tree.children[{k}] is {quote(pair)}; expected two node numbers, or [-1, -1]")
        if (test == -1) != (pair == [-1, -1]) or (test >= 0 and not k < pair[0] < pair[1] < len(tests)):
            raise InputError(
                f"tree.children[{k}] is {quote(pair)}, which does not fit tree.test[{k}] = {test}"
            )
        if test >= 0:
            waiting += [pair[1], pair[0]]
            for outcome, child in enumerate(pair):
                above[child], depth[child] = (k, outcome), depth[k] + 1
        counts, proba = _counts(lists["counts"][k], n_classes, parts, f"tree.counts[{k}]"), lists["proba"][k]
        if not isinstance(proba, list) or len(proba) != n_classes or not all(map(is_share, proba)):
            raise InputError(f"tree.proba[{k}] is {quote(proba)}; expected {n_classes} probabilities")
        said = None if says is None else says[k]
        if said is not None and (not _is_whole(said, 0) or said >= n_classes):
            raise InputError(
                f"tree.says[{k}] is {quote(said)}; expected the index of one of {n_classes} classes"
            )
        place = (above.get(k), depth[k])
        nodes.append(Node(test, (pair[0], pair[1]), counts, tuple(map(float, proba)), *place, said))
    if waiting:
        raise InputError(f"tree.children names node {waiting[-1]}; the tree has {len(tests)} nodes")
    return tuple(nodes)


def _names(tree: dict[str, Any], n_tests: int) -> tuple[str, ...] | None:
    names = tree.get("test_names")
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != n_tests or not all(isinstance(n, str) for n in names):
        raise InputError(f"tree.test_names is {quote(names)}; expected {n_tests} names, or null")
    return tuple(names)


def _counts(given: Any, n_classes: int, parts: int, path: str) -> tuple[Any, ...]:
    """Read the examples of each class: whole numbers, or whole numbers of parts of an example."""
    fine = isinstance(given, list) and len(given) == n_classes
    if not fine or not all(_is_whole(n, 0) or (parts > 1 and is_number(n) and n >= 0) for n in given):
        raise InputError(f"{path} is {quote(given)}; expected {n_classes} counts")
    return tuple(given) if parts == 1 else tuple(Fraction(round(n * parts), parts) for n in given)


def _leaves(claims: dict[str, Any], n_nodes: int, n_classes: int, parts: int) -> tuple[Leaf, ...]:
    found = []
    for i, each in enumerate(_list(claims, "leaves", where="claims.")):
        path = f"claims.leaves[{i}]"
        if not isinstance(each, dict):
            raise InputError(f"{path} is {quote(each)}; expected an object")
        node: Any = each.get("node")
        says, counts = each.get("says"), _counts(each.get("counts"), n_classes, parts, f"{path}.counts")
        if not _is_whole(node, 0) or node >= n_nodes:
            raise InputError(f"{path}.node is {quote(node)}; expected a node below {n_nodes}")
        found.append(Leaf(node, says, counts))
    return tuple(found)


def _object(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise InputError(f"{key} is {quote(value)}; expected an object")
    return value


def _list(data: dict[str, Any], key: str, where: str = "", empty: bool = False) -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list) or not (value or empty):
        raise InputError(f"{where}{key} is {quote(value)}; expected a list with at least one entry")
    return value


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise InputError(f"{key} is {quote(value)}; expected a text")
    return value


def _choice(data: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = data.get(key)
    if value not in allowed:
        raise InputError(f"encoding.{key} is {quote(value)}; expected one of {', '.join(allowed)}")
    return str(value)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63
