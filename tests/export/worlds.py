"""Other worlds: each runs what was written for it on rows of a frame, and returns probabilities and classes."""

from __future__ import annotations

import ctypes
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from everytree.export.form import Form
from everytree.export.methods import Portable

Answer = tuple[np.ndarray, list[Any]]


def records(form: Form, rows: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts of plain values, with None where missing."""
    names = [form.fields[k].name for k in form.used()]
    if not names:
        return [{} for _ in range(len(rows))]
    columns = [[None if x is None or x != x else x for x in rows[name].tolist()] for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def in_python(form: Form, rows: pd.DataFrame) -> Answer:
    space: dict[str, Any] = {}
    exec(compile(Portable(form).to_python(), "model.py", "exec"), space)
    asked = records(form, rows)
    return np.array([space["predict_proba"](row) for row in asked]), [space["predict"](row) for row in asked]


def in_node(form: Form, rows: pd.DataFrame, folder: Path) -> Answer:
    (folder / "model.js").write_text(Portable(form).to_javascript(), encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps(records(form, rows)), encoding="utf-8")
    program = (
        'const m = require("./model.js"); const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf8"));'
        "console.log(JSON.stringify(rows.map((row) => [m.predict_proba(row), m.predict(row)])));"
    )
    found = subprocess.run(["node", "-e", program], cwd=folder, capture_output=True, check=True, text=True)
    answers = json.loads(found.stdout)
    return np.array([p for p, _ in answers]), [label for _, label in answers]


def in_c(form: Form, rows: pd.DataFrame, folder: Path, compiler: str = "gcc", language: str = "c") -> Answer:
    (folder / "model.c").write_text(Portable(form).to_c("heart"), encoding="ascii")
    options = ["-std=c99"] if language == "c" else ["-x", "c++", "-std=c++11", "-Wno-unused"]
    subprocess.run(
        [
            compiler,
            *options,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-shared",
            "-fPIC",
            "model.c",
            "-o",
            "model.so",
            "-lm",
        ],
        cwd=folder,
        check=True,
    )
    library = ctypes.CDLL(str(folder / "model.so"))
    fields = [form.fields[k] for k in form.used()]
    kinds = [ctypes.c_char_p if field.kind == "text" else ctypes.c_double for field in fields]

    class Row(ctypes.Structure):
        _fields_ = [(f"m{k}", kind) for k, kind in enumerate(kinds)]

    n = len(form.classes)
    proba, says = np.empty((len(rows), n)), []
    out = (ctypes.c_double * n)()
    predict = library.heart_predict if language == "c" else library._Z13heart_predictPK9heart_rowPd
    names = (
        (ctypes.c_char_p * len(fields)).in_dll(library, "heart_columns") if fields and language == "c" else []
    )
    assert language != "c" or [name.decode() for name in names] == [field.name for field in fields]
    for i, record in enumerate(records(form, rows)):
        row = Row()
        for k, field in enumerate(fields):
            value = record[field.name]
            if field.kind == "text":
                setattr(row, f"m{k}", None if value is None else value.encode())
            else:
                setattr(row, f"m{k}", float("nan") if value is None else float(value))
        says.append(form.classes[predict(ctypes.byref(row), out)])
        proba[i] = out
    return proba, says


def _labels(form: Form, found: list[str]) -> list[Any]:
    """Labels that a language only has as text."""
    by_text = {str(label): label for label in form.classes}
    return [by_text[text] for text in found]


def in_sqlite(form: Form, rows: pd.DataFrame) -> Answer:
    names = list(rows.columns)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    values = [[None if x is None or x != x else x for x in row] for row in rows.itertuples(index=False)]
    with sqlite3.connect(":memory:") as base:
        base.execute(f"CREATE TABLE \"a 'table'\" (row INTEGER, {', '.join(quoted)})")
        marks = ", ".join("?" * (len(names) + 1))
        base.executemany(
            f"INSERT INTO \"a 'table'\" VALUES ({marks})", [[k, *v] for k, v in enumerate(values)]
        )
        found = base.execute(Portable(form).to_sql(table="a 'table'") + " ORDER BY row").fetchall()
    n = len(form.classes)
    return np.array([row[-n - 1 : -1] for row in found], dtype=float), _labels(
        form, [row[-1] for row in found]
    )


def in_duckdb(form: Form, rows: pd.DataFrame) -> Answer:
    import duckdb

    base = duckdb.connect()
    frame = rows.assign(row=np.arange(len(rows)))
    base.register("given", frame)
    base.execute("CREATE TABLE \"a 'table'\" AS SELECT * FROM given")
    found = base.execute(Portable(form).to_sql(table="a 'table'") + " ORDER BY row").fetchall()
    n = len(form.classes)
    return np.array([row[-n - 1 : -1] for row in found], dtype=float), _labels(
        form, [row[-1] for row in found]
    )


def in_onnx(form: Form, rows: pd.DataFrame, missing_text: str = "") -> Answer:
    import onnxruntime

    session = onnxruntime.InferenceSession(
        Portable(form).to_onnx(missing_text), providers=["CPUExecutionProvider"]
    )
    given = {}
    for k in form.used():
        field = form.fields[k]
        if field.kind == "text":
            values = [missing_text if x is None or x != x else x for x in rows[field.name].tolist()]
            given[field.name] = np.array(values, dtype=object)[:, None]
        else:
            given[field.name] = rows[field.name].to_numpy(dtype=np.float32)[:, None]
    labels, proba = session.run(["label", "probabilities"], given)
    found = list(labels)
    return proba, found if isinstance(form.classes[0], int) else _labels(form, found)


def in_libreoffice(form: Form, rows: pd.DataFrame, folder: Path) -> Answer:
    """Formulas that LibreOffice computes: a column for each class, and for a tree one for the class it says."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    names = [field.name for field in form.fields]
    used = [form.fields[k].name for k in form.used()]
    letter = {name: openpyxl.utils.get_column_letter(k + 1) for k, name in enumerate(names)}
    written, tree = Portable(form), hasattr(form, "nodes")
    for i, values in enumerate(rows[names].itertuples(index=False)):
        for k, value in enumerate(values):
            if value is not None and value == value:
                cell = sheet.cell(i + 2, k + 1)
                cell.value = value
                cell.data_type = "s" if isinstance(value, str) else "n"
        cells = {name: f"{letter[name]}{i + 2}" for name in used}
        for c, label in enumerate(form.classes):
            sheet.cell(i + 2, len(names) + c + 1).value = written.to_excel(label, cells=cells)
        if tree:
            sheet.cell(i + 2, len(names) + len(form.classes) + 1).value = written.to_excel(
                what="class", cells=cells
            )
    book.save(folder / "given.xlsx")
    subprocess.run(
        [shutil.which("soffice") or "soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile",
         "--convert-to", "fods", "--outdir", str(folder), str(folder / "given.xlsx")],
        check=True, capture_output=True, timeout=240,
    )  # fmt: skip
    return _of_fods(folder / "given.fods", len(names), form, len(rows), tree)


def _of_fods(path: Path, n_names: int, form: Form, n_rows: int, tree: bool) -> Answer:
    from xml.etree import ElementTree

    office, table = (
        "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}",
        "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}",
    )
    text = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
    found = []
    for line in ElementTree.parse(path).getroot().iter(f"{table}table-row"):
        cells: list[Any] = []
        for cell in line:
            said = "\n".join("".join(p.itertext()) for p in cell.iter(f"{text}p"))
            value = cell.get(f"{office}value", said)
            cells += [value] * int(cell.get(f"{table}number-columns-repeated", "1"))
        found.append(cells[n_names : n_names + len(form.classes) + 1])
    found = found[1 : n_rows + 1]
    n = len(form.classes)
    proba = np.array([[float(x) for x in row[:n]] for row in found])
    return proba, [row[n] for row in found] if tree else []


def in_sklearn(form: Form, rows: pd.DataFrame) -> Answer:
    made = Portable(form).to_sklearn()
    return made.predict_proba(rows), made.predict(rows).tolist()


def in_jpmml(form: Form, rows: pd.DataFrame, folder: Path) -> Answer:
    from jpmml_evaluator import make_evaluator
    from jpmml_evaluator.jpype import JPypeBackend

    (folder / "model.pmml").write_text(Portable(form).to_pmml(), encoding="utf-8")
    evaluator = make_evaluator(str(folder / "model.pmml"), JPypeBackend()).verify()
    found = evaluator.evaluateAll(rows[[form.fields[k].name for k in form.used()]])
    proba = found[[f"probability({label})" for label in form.classes]].to_numpy(dtype=float)
    return proba, _labels(form, found["class"].astype(str).tolist())
