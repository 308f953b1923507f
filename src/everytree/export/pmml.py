"""PMML 4.4: a tree as XML, for scoring engines.

A node has a child for each condition of a chain, in order, and a last one that is always true. With the strategy
"none" a comparison with a missing value is false, so that it falls through to the next child; where a missing value is
to be true, the condition says so with ``isMissing``. Where the case of a text does not count, its usual spellings are
listed.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from everytree.errors import QueryError
from everytree.export.blocks import comment, plain_label
from everytree.export.form import Condition, Form, TreeForm

__all__ = ["document"]

OPERATORS = {"<=": "lessOrEqual", "==": "equal", ">": "greaterThan"}
NAMESPACE = "http://www.dmg.org/PMML-4_4"
# All that XML 1.0 cannot hold, in whatever form.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Element = ElementTree.Element


def document(form: Form, target: str = "class") -> str:
    """Write the document; ``target`` is the name of what is predicted."""
    if not isinstance(form, TreeForm):
        raise QueryError(
            "PMML has no sum of rules; write it with to_sql, to_python, to_javascript, to_c or to_onnx"
        )
    form.check_depth("PMML")
    used = form.used()
    names = [form.fields[k].name for k in used]
    while target in names:
        target += "_"
    labels = [str(plain_label(label)) for label in form.classes]
    root = Element("PMML", {"version": "4.4", "xmlns": NAMESPACE})
    header = ElementTree.SubElement(root, "Header")
    ElementTree.SubElement(header, "Application", {"name": "everytree"})
    for note in form.notes:
        ElementTree.SubElement(header, "Annotation").text = comment(note)
    dictionary = ElementTree.SubElement(root, "DataDictionary", {"numberOfFields": str(len(used) + 1)})
    for k in used:
        text = form.fields[k].kind == "text"
        kind = (
            {"optype": "categorical", "dataType": "string"}
            if text
            else {"optype": "continuous", "dataType": "double"}
        )
        ElementTree.SubElement(dictionary, "DataField", {"name": _text(form.fields[k].name)} | kind)
    said = {"name": _text(target), "optype": "categorical", "dataType": "string"}
    answer = ElementTree.SubElement(dictionary, "DataField", said)
    for label in labels:
        ElementTree.SubElement(answer, "Value", {"value": _text(label)})
    model = ElementTree.SubElement(
        root,
        "TreeModel",
        {
            "modelName": "everytree",
            "functionName": "classification",
            "missingValueStrategy": "none",
            "noTrueChildStrategy": "returnLastPrediction",
            "splitCharacteristic": "multiSplit",
        },
    )
    schema = ElementTree.SubElement(model, "MiningSchema")
    ElementTree.SubElement(schema, "MiningField", {"name": target, "usageType": "target"})
    for name in names:
        ElementTree.SubElement(schema, "MiningField", {"name": name, "invalidValueTreatment": "asIs"})
    output = ElementTree.SubElement(model, "Output")
    for label in labels:
        ElementTree.SubElement(
            output,
            "OutputField",
            {
                "name": f"probability({label})",
                "optype": "continuous",
                "dataType": "double",
                "feature": "probability",
                "value": label,
            },
        )
    _node(form, 0, model, ElementTree.Element("True"), labels)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _node(form: TreeForm, at: int, parent: Element, predicate: Element, labels: list[str]) -> None:
    node = form.nodes[at]
    facts = {"id": str(at), "score": labels[node.says], "recordCount": _number(float(sum(node.counts)))}
    made = ElementTree.SubElement(parent, "Node", facts)
    made.append(predicate)
    for label, count, p in zip(labels, node.counts, node.proba, strict=True):
        facts = {"value": label, "recordCount": _number(float(count)), "probability": _number(p)}
        ElementTree.SubElement(made, "ScoreDistribution", facts)
    asked, last = form.chain(at)
    for condition, yes in asked:
        _node(form, yes, made, _predicate(form, condition), labels)
    if asked:
        _node(form, last, made, ElementTree.Element("True"), labels)


def _predicate(form: TreeForm, condition: Condition) -> Element:
    field = _text(form.fields[condition.field].name)
    gone = Element("SimplePredicate", {"field": field, "operator": "isMissing"})
    if condition.op == "missing":
        return gone
    value = condition.value
    shown = _text(value) if isinstance(value, str) else _number(value)
    compared = Element(
        "SimplePredicate", {"field": field, "operator": OPERATORS[condition.op], "value": shown}
    )
    if condition.any_case:
        compared = Element("SimpleSetPredicate", {"field": field, "booleanOperator": "isIn"})
        words = [each.replace("\\", "\\\\").replace('"', '\\"') for each in condition.spellings]
        array = ElementTree.SubElement(compared, "Array", {"type": "string", "n": str(len(words))})
        array.text = " ".join(f'"{_text(word)}"' for word in words)
    if not condition.missing:
        return compared
    either = Element("CompoundPredicate", {"booleanOperator": "or"})
    either.append(gone)
    either.append(compared)
    return either


def _number(value: float | int) -> str:
    return str(int(value)) if isinstance(value, bool | int) else repr(float(value))


def _text(value: str) -> str:
    bad = FORBIDDEN.search(value)
    if bad:
        raise QueryError(
            f"{value!r} has the character {bad.group()!r}, which XML cannot hold; rename it, and fit again"
        )
    return value
