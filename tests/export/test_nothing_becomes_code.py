"""Names and values of the data stay names and values: none of them can end a string, a comment or a name."""

from __future__ import annotations

import ast
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import worlds

from everytree.errors import QueryError
from everytree.export.form import Condition, Field, Node, Rule, SumForm, TreeForm
from everytree.export.methods import Portable

HOSTILE = (
    "'; DROP TABLE t; --", '"; DROP TABLE t; --', "' OR '1'='1", "\\'; SELECT 1; --", "\\", "\\\\'", "''", '""',
    "`", "``",
    "*/ system(); /*", "//", "??/", "%s%n", "{0}", "{}", "${7*7}", "`${x}`", "</script>", "<!--", "-->", "]]>", "&lt;",
    "__proto__", "constructor", "toString", "hasOwnProperty", "a\nb", "a\r\nb", "\t", "\u2028", "\u2029", "\ufeff",
    "'''", '"""', "#", "=1+1", "+cmd|' /C calc'!A0", "@SUM(1)", "import os", "\x1b[31m", "\x7f", "é" * 40, "𝔘𝔫𝔦", "",
    " ", "0x1", "NULL", "None", "null", "NaN", "true", "\\u0022", "\\x27", "\\N{QUOTATION MARK}", "\\047", "?", "%",
    "everytree_q0", "everytree_leaf", "x0", "label", "probabilities", "predicted",
)  # fmt: skip


def chain(names: tuple[str, ...], values: tuple[str, ...]) -> TreeForm:
    """A tree that asks one column after the other for its value, with a leaf of its own for each."""
    nodes, n = [], len(names)
    for k, value in enumerate(values):
        nodes.append(Node(Condition(k, "==", value), 2 * k + 1, 2 * k + 2, (0.5, 0.5), 0, (1.0, 1.0)))
        nodes.append(Node(None, -1, -1, (k / n, 1 - k / n), 0 if 2 * k > n else 1, (1.0, 1.0)))
    nodes.append(Node(None, -1, -1, (1.0, 0.0), 0, (1.0, 1.0)))
    fields = tuple(Field(name, "text") for name in names)
    return TreeForm(fields, ("'; --\\", '"</script>*/'), tuple(nodes))


def sum_of(form: TreeForm) -> SumForm:
    """The same questions as a sum of rules."""
    rules = tuple(Rule(((condition, True),), (0.001, -0.001)) for condition in form.conditions())
    return SumForm(form.fields, form.classes, (0.5, 0.5), rules, (0.0, 0.0), 0.0)


def rows_for(form: TreeForm) -> pd.DataFrame:
    """A row for each value, in its column; in the others there are values of other columns, or none."""
    rng = random.Random(0)
    values = [condition.value for condition in form.conditions()]
    lines = []
    for k in range(len(values)):
        line = [rng.choice([None, "other", values[(j + 7) % len(values)]]) for j in range(len(values))]
        line[k] = values[k]
        lines.append(line)
    return pd.DataFrame(lines, columns=[field.name for field in form.fields], dtype=object)


@pytest.fixture(scope="module", params=["tree", "sum"])
def form(request: pytest.FixtureRequest) -> TreeForm | SumForm:
    made = chain(HOSTILE, HOSTILE[::-1])
    made = replace(made, notes=HOSTILE)  # the header of what is written has them
    return made if request.param == "tree" else replace(sum_of(made), notes=HOSTILE)


def expected(form: TreeForm | SumForm, rows: pd.DataFrame) -> np.ndarray:
    answers = [form.answer(list(row)) for row in rows.itertuples(index=False)]
    return np.array([a.proba if isinstance(form, TreeForm) else a for a in answers])


def asked_rows(form: TreeForm | SumForm) -> pd.DataFrame:
    tree = form if isinstance(form, TreeForm) else chain(HOSTILE, HOSTILE[::-1])
    return rows_for(tree)


def check(form: TreeForm | SumForm, rows: pd.DataFrame, found: np.ndarray) -> None:
    assert np.abs(found - expected(form, rows)).max() <= 1e-12


def test_python(form: TreeForm | SumForm) -> None:
    rows = asked_rows(form)
    check(form, rows, worlds.in_python(form, rows)[0])
    tree = ast.parse(Portable(form).to_python())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "os" not in names
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))


def test_sqlite(form: TreeForm | SumForm) -> None:
    # Names that differ in their case alone are the same name for SQLite.
    names = tuple(name for name in HOSTILE if name and name != "NULL")
    some = chain(names, names[::-1])
    form = replace(some if isinstance(form, TreeForm) else sum_of(some), notes=HOSTILE)
    rows = rows_for(some)
    check(form, rows, worlds.in_sqlite(form, rows)[0])


def test_duckdb(form: TreeForm | SumForm) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    names = tuple(name for name in HOSTILE if name and name.lower() not in ("null", "none", "nan", "true"))
    some = chain(names, names[::-1])
    form = replace(some if isinstance(form, TreeForm) else sum_of(some), notes=HOSTILE)
    rows = rows_for(some)
    check(form, rows, worlds.in_duckdb(form, rows)[0])


def test_other_quotes() -> None:
    """With backticks, and backslashes that escape: what is between the quotes is what was meant."""
    form = chain(HOSTILE, HOSTILE[::-1])
    text = Portable(form).to_sql(dialect="mysql")
    token = re.compile(r"`((?:[^`]|``)*)`|'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
    found = token.findall(text)
    values = [b.replace("''", "'").replace("\\\\", "\\") for a, b in found[1::2]]
    assert [a.replace("``", "`") for a, b in found[::2]] == list(HOSTILE)
    assert values == list(HOSTILE[::-1])
    rest = token.sub("", text).replace("TRIM()", "")
    assert re.fullmatch(r"[CASEWHNTLD =0-9.e\n-]*", rest), rest


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node(form: TreeForm | SumForm, tmp_path: Path) -> None:
    rows = asked_rows(form)
    check(form, rows, worlds.in_node(form, rows, tmp_path)[0])
    text = Portable(form).to_javascript()
    assert "</script" not in text
    assert "<!--" not in text
    assert text.isascii()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c(form: TreeForm | SumForm, tmp_path: Path) -> None:
    rows = asked_rows(form)
    check(form, rows, worlds.in_c(form, rows, tmp_path)[0])


def test_onnx(form: TreeForm | SumForm) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    names = tuple(name for name in HOSTILE if name and name not in ("label", "probabilities"))
    some = chain(names, names[::-1])
    form = replace(some if isinstance(form, TreeForm) else sum_of(some), notes=HOSTILE)
    rows = rows_for(some)
    found = worlds.in_onnx(form, rows)[0]
    assert np.abs(found - expected(form, rows)).max() <= 1e-6


def test_pmml() -> None:
    names = tuple(name for name in HOSTILE if name and "\x1b" not in name)
    root = ElementTree.fromstring(Portable(replace(chain(names, names[::-1]), notes=HOSTILE)).to_pmml())
    found = [each.get("field") for each in root.iter("{http://www.dmg.org/PMML-4_4}SimplePredicate")]
    assert found == list(names)
    with pytest.raises(QueryError, match="XML cannot hold"):
        Portable(chain(("a\x1bb",), ("c",))).to_pmml()


def test_nul() -> None:
    form = chain(("a\0b",), ("c",))
    with pytest.raises(QueryError, match="NUL"):
        Portable(form).to_sql()
    with pytest.raises(QueryError, match="XML"):
        Portable(form).to_pmml()


@pytest.mark.parametrize("prefix", ["", "1a", "a b", "a;b", "a_b"])
def test_a_prefix_is_a_name(prefix: str) -> None:
    with pytest.raises(QueryError, match="prefix"):
        Portable(chain(("a",), ("b",))).to_c(prefix)


def test_cells_are_cells() -> None:
    with pytest.raises(QueryError, match="cell"):
        Portable(chain(("a",), ("b",))).to_excel(cells={"a": "A1)+cmd("})
