"""ONNX: a graph with an input for each column that is asked about, and the outputs ``label`` and ``probabilities``.

    numbers, 0/1    float32 of shape (rows, 1), NaN where missing
    text            string of shape (rows, 1), ``missing_text`` (the empty text) where missing

All trees are in one ``TreeEnsembleRegressor``. Numbers are float32 there, so that the cut t of ``x <= t`` becomes the
largest float32 that is not above t: then every float32 x falls on the same side as before. Questions about text, and
about numbers that are codes, become columns of 0 and 1 before the trees.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from everytree.errors import QueryError
from everytree.export.blocks import plain_label
from everytree.export.form import Condition, Form, SumForm, TreeForm

__all__ = ["below32", "model_bytes"]

OPSET, ML_OPSET, IR = 17, 3, 8  # of 2022: readers of these are everywhere


def below32(value: float | int) -> float:
    """Return the largest float32 that is not above a number.

    >>> below32(0.1) < 0.1, below32(0.5)
    (True, 0.5)
    """
    with np.errstate(over="ignore"):
        found = np.float32(value)
    return float(np.nextafter(found, np.float32(-np.inf)) if float(found) > value else found)


def model_bytes(form: Form, missing_text: str = "") -> bytes:
    """Write the model as the bytes of an ONNX file."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError('to_onnx needs the library onnx: pip install "everytree[export]"') from error
    graph = _Graph(onnx, form, missing_text)
    trees = _Trees(graph)
    n = len(form.classes)
    if isinstance(form, TreeForm):
        trees.add_tree(form, n)
        scores = trees.end(n + 1, [0.0] * (n + 1))
        graph.node("Slice", [scores, graph.whole([0]), graph.whole([n]), graph.whole([1])], "probabilities")
        says = graph.node("Gather", [scores, graph.constant(np.array(n))], axis=1)
        index = graph.node("Cast", [graph.node("Round", [says])], to=onnx.TensorProto.INT64)
    else:
        assert isinstance(form, SumForm)
        for rule in form.rules:
            trees.add_rule(rule.items, rule.moves)
        if not form.rules:
            trees.add_rule((), [0.0] * n)
        _nearest(graph, trees.end(n, list(form.base)), form)
        index = graph.node("ArgMax", ["probabilities"], axis=1, keepdims=0)
    labels = [plain_label(label) for label in form.classes]
    whole = all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
    known = (
        np.array(labels, dtype=np.int64)
        if whole
        else np.array([str(label) for label in labels], dtype=object)
    )
    graph.node("Gather", [graph.constant(known), index], "label", axis=0)
    return graph.finished(whole)


class _Graph:
    """The graph so far: inputs, constants and nodes; names of ours differ from all names of columns."""

    def __init__(self, onnx: Any, form: Form, missing_text: str) -> None:
        self.onnx, self.form, self.missing_text = onnx, form, missing_text
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = {"probabilities", "label"}
        self._inputs: dict[int, str] = {}
        for k in form.used():
            name = form.fields[k].name or "column"
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            self._inputs[k] = name

    def _name(self) -> str:
        number = len(self._taken)
        while f"everytree_{number}" in self._taken:
            number += 1
        self._taken.add(f"everytree_{number}")
        return f"everytree_{number}"

    def input(self, field: int) -> str:
        """Return the name of the input of a column."""
        return self._inputs[field]

    def node(self, op: str, inputs: list[str], output: str = "", domain: str = "", **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        name = output or self._name()
        made = self.onnx.helper.make_node(
            op, inputs, [name], name=f"{op}_{name}", domain=domain, **attributes
        )
        self.nodes.append(made)
        return name

    def constant(self, value: Any) -> str:
        """Add a constant, and return its name."""
        array, name = np.asarray(value), self._name()
        if array.dtype.kind == "f":
            array = array.astype(np.float32)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def whole(self, values: list[int]) -> str:
        """Add a constant of whole numbers."""
        return self.constant(np.array(values, dtype=np.int64))

    def answered(self, condition: Condition) -> str:
        """Return a column of 0 and 1: whether a condition holds."""
        name = self.input(condition.field)
        if self.form.fields[condition.field].kind != "text":
            equal: str = self.node("Equal", [name, self.constant(np.float32(condition.value))])
            if condition.missing:
                equal = self.node("Or", [equal, self.node("IsNaN", [name])])
            return self.node("Cast", [equal], to=self.onnx.TensorProto.FLOAT)
        gone = condition.missing or condition.op == "missing"
        keys = [] if condition.op == "missing" else list(condition.spellings)
        if self.missing_text in keys:
            raise QueryError(
                f"column {self.form.fields[condition.field].name!r} holds the text {self.missing_text!r}, which means "
                "missing in the ONNX model; give another text as missing_text"
            )
        keys += [self.missing_text] if gone else []
        return self.node(
            "LabelEncoder",
            [name],
            domain="ai.onnx.ml",
            keys_strings=keys,
            values_floats=[1.0] * len(keys),
            default_float=0.0,
        )

    def finished(self, whole: bool) -> bytes:
        """Return the bytes of the model, after a look at it by the library's own checker."""
        proto, helper = self.onnx.TensorProto, self.onnx.helper
        inputs = [
            helper.make_tensor_value_info(
                name, proto.STRING if self.form.fields[k].kind == "text" else proto.FLOAT, ["rows", 1]
            )
            for k, name in self._inputs.items()
        ]
        outputs = [
            helper.make_tensor_value_info("label", proto.INT64 if whole else proto.STRING, ["rows"]),
            helper.make_tensor_value_info("probabilities", proto.FLOAT, ["rows", len(self.form.classes)]),
        ]
        graph = helper.make_graph(self.nodes, "everytree", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, producer_name="everytree", opset_imports=opsets, ir_version=IR)
        model.doc_string = "\n".join(self.form.notes)
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())


class _Trees:
    """The attributes of a ``TreeEnsembleRegressor``; each node asks ``feature <= value``, NaN goes where it is told."""

    def __init__(self, graph: _Graph) -> None:
        self.graph = graph
        self.features: list[str] = []
        self._place: dict[Any, int] = {}
        self.lists: dict[str, list[Any]] = defaultdict(list)
        self.n_trees = 0

    def _feature(self, key: Any, condition: Condition | None) -> int:
        if key not in self._place:
            self._place[key] = len(self.features)
            self.features.append(
                self.graph.input(key) if condition is None else self.graph.answered(condition)
            )
        return self._place[key]

    def _asked(self, condition: Condition) -> tuple[int, float, bool, bool]:
        """Return feature and value of ``<=``, whether that holding means no, and whether NaN counts as holding."""
        text = self.graph.form.fields[condition.field].kind == "text"
        if text or condition.op == "==":
            return self._feature(condition, condition), 0.5, True, False
        feature = self._feature(condition.field, None)
        if condition.op == "<=":
            return feature, below32(condition.value), False, condition.missing
        if condition.op == ">":
            return feature, below32(condition.value), True, not condition.missing
        return feature, float("inf"), True, False

    def _split(self, tree: int, node: int, condition: Condition, yes: int, no: int) -> None:
        feature, value, opposite, gone = self._asked(condition)
        self._node(
            tree, node, feature, "BRANCH_LEQ", value, *((no, yes) if opposite else (yes, no)), int(gone)
        )

    def _node(
        self, tree: int, node: int, feature: int, mode: str, value: float, true: int, false: int, gone: int
    ) -> None:
        names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
        for name, entry in zip(names, (tree, node, feature, mode, value, true, false), strict=True):
            self.lists[f"nodes_{name}"].append(entry)
        self.lists["nodes_missing_value_tracks_true"].append(gone)
        self.lists["nodes_hitrates"].append(1.0)

    def _leaf(self, tree: int, node: int, weights: list[float]) -> None:
        self._node(tree, node, 0, "LEAF", 0.0, 0, 0, 0)
        for target, weight in enumerate(weights):
            for name, entry in (
                ("treeids", tree),
                ("nodeids", node),
                ("ids", target),
                ("weights", float(weight)),
            ):
                self.lists[f"target_{name}"].append(entry)

    def add_tree(self, form: TreeForm, n_classes: int) -> None:
        """Add a tree: its targets are the probabilities, and the class that the leaf says."""
        for at, node in enumerate(form.nodes):
            if node.condition is None:
                self._leaf(0, at, [*node.proba, float(node.says)])
            else:
                self._split(0, at, node.condition, node.yes, node.no)
        self.n_trees = 1

    def add_rule(self, items: Any, moves: Any) -> None:
        """Add a rule as a tree: its conditions in a row, and at each of them a leaf where nothing moves."""
        tree, self.n_trees = self.n_trees, self.n_trees + 1
        for k, (condition, wanted) in enumerate(items):
            yes, no = (2 * k + 2, 2 * k + 1) if wanted else (2 * k + 1, 2 * k + 2)
            self._split(tree, 2 * k, condition, yes, no)
            self._leaf(tree, 2 * k + 1, [0.0] * len(moves))
        self._leaf(tree, 2 * len(items), list(moves))

    def end(self, n_targets: int, base: list[float]) -> str:
        """Add the node of all trees, and return the name of its output."""
        graph, more = self.graph, dict[str, Any](self.lists)
        if not self.features:  # A tree without questions still needs rows: one 0 for each of them.
            raise QueryError(
                "the model asks nothing: it gives every row the same probabilities, and needs no file"
            )
        rows = self.features[0] if len(self.features) == 1 else graph.node("Concat", self.features, axis=1)
        return graph.node(
            "TreeEnsembleRegressor",
            [rows],
            domain="ai.onnx.ml",
            n_targets=n_targets,
            base_values=base,
            aggregate_function="SUM",
            post_transform="NONE",
            **more,
        )


def _nearest(graph: _Graph, sums: str, form: SumForm) -> None:
    """Add the way from sums to the nearest probabilities: ``form.nearest`` for many rows."""
    n, floor = len(form.classes), graph.constant(np.array(form.floor))
    above = graph.node("Sub", [sums, floor])
    ordered, places = graph._name(), graph._name()
    graph.nodes.append(
        graph.onnx.helper.make_node(
            "TopK", [above, graph.whole([n])], [ordered, places], axis=1, name="TopK_sums"
        )
    )
    total = graph.node("CumSum", [ordered, graph.constant(np.array(1))])
    over = graph.node("Sub", [total, graph.constant(np.array([1.0 - sum(form.floor)]))])
    level = graph.node("Div", [over, graph.constant(np.arange(1.0, n + 1.0))])
    kept = graph.node(
        "Where", [graph.node("GreaterOrEqual", [ordered, level]), level, graph.constant(np.array(-9.0))]
    )
    lower = graph.node("ReduceMax", [kept], axes=[1], keepdims=1)
    graph.node("Add", [graph.node("Relu", [graph.node("Sub", [above, lower])]), floor], "probabilities")
