"""``everytree export``: a model file in another language.

A single tree is written as it is. An average over every tree becomes a short sum of rules (``--epsilon``), and a model
of ``EveryTreeClassifier`` the one tree that decides most like it; a remark says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everytree.cli.show import console, note, print_json
from everytree.cli.watch import at_work
from everytree.cli.written import check_folder
from everytree.common.arguments import refused
from everytree.common.drafts import draft_of
from everytree.errors import QueryError
from everytree.estimators.load import load_model
from everytree.export.methods import LANGUAGES, Exports

__all__ = ["run_export"]

TAKES = {"sql": ("label", "table", "dialect"), "excel": ("label",), "c": ("prefix",)}


def run_export(
    path: Path,
    to: str,
    out: Path | None,
    label: str | None,
    table: str | None,
    dialect: str,
    prefix: str,
    epsilon: float,
    as_json: bool,
) -> None:
    """Write a model file in another language, on stdout or to a file."""
    if to not in LANGUAGES:
        raise refused(QueryError, "to", to, ", ".join(LANGUAGES))
    check_folder("out", out)
    if to == "onnx" and out is None:
        raise refused(QueryError, "out", out, "a file, as an ONNX model is no text")
    for option, given in (("label", label), ("table", table)):
        if given is not None and option not in TAKES.get(to, ()):
            words = ", ".join(language for language, taken in TAKES.items() if option in taken)
            raise QueryError(f"--{option} plays no part in {to}; it belongs to {words}", parameter=option)
    with at_work():
        model = load_model(path)
        exported = _exported(model, epsilon)
    for told in exported.portable().notes:
        note(f"the {to} wants {told}")
    options: dict[str, Any] = {
        "label": _label(exported, label),
        "table": table,
        "dialect": dialect,
        "prefix": prefix,
    }
    taken = {name: options[name] for name in TAKES.get(to, ())}
    written = getattr(exported, f"to_{to}")(**taken)
    if out is None:
        print(written)
        return
    raw = written if isinstance(written, bytes) else written.encode("utf-8")
    with draft_of(out) as draft:
        Path(draft).write_bytes(raw)
    if as_json:
        print_json({"out": str(out), "to": to, "bytes": len(raw)})
    else:
        console().print(f"{out}: {len(raw):,} bytes of {to}")


def _exported(model: Any, epsilon: float) -> Exports:
    if isinstance(model, Exports):
        return model
    if hasattr(model, "nearest_tree"):
        found: Exports = model.nearest_tree()
        note(
            "the average is too large for other languages; this is the single tree that decides most like it"
        )
        return found
    if hasattr(model, "compress"):
        rules: Any = model.compress(epsilon)
        note(
            f"the average as {rules.n_rules_} rules; no probability is further than {rules.bound_:.2g} from it"
        )
        return rules  # type: ignore[no-any-return]
    raise QueryError(
        f"a model of {type(model).__name__} cannot be written in another language; single trees (optimal, map, cart, "
        "path), averages (bayes) and every-tree models can"
    )


def _label(exported: Exports, label: str | None) -> Any:
    """Return the class that a text means: the one that prints like it."""
    if label is None:
        return None
    classes = exported.portable().classes
    found = [each for each in classes if str(each) == label]
    if not found:
        raise refused(QueryError, "label", label, f"one of {', '.join(map(str, classes))}")
    return found[0]
