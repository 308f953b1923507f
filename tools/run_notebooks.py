"""Run the notebooks of the site and write their outputs: ``python tools/run_notebooks.py [--check]``.

A light runner, so that neither a kernel nor a browser is needed: the code cells of a notebook run in one namespace, in
order; what they print, and the value of a last expression, is their output. ``--check`` writes nothing and fails where
an output differs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["NOTEBOOKS", "differences", "run_notebook"]

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def run_notebook(path: Path) -> dict[str, Any]:
    """Return the notebook with the outputs of its cells, run in an empty folder."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    space: dict[str, Any] = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, cell in enumerate((each for each in book["cells"] if each["cell_type"] == "code"), 1):
                cell["execution_count"] = number
                cell["outputs"] = _outputs(
                    "".join(cell["source"]), space, number, f"{path.name}, cell {number}"
                )
        finally:
            os.chdir(before)
    return book


def _outputs(source: str, space: dict[str, Any], number: int, name: str) -> list[dict[str, Any]]:
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    made: list[dict[str, Any]] = []
    if printed.getvalue():
        made.append(
            {"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if value is not None:
        shown = {"text/plain": repr(value).splitlines(keepends=True)}
        made.append(
            {"data": shown, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return made


def differences(path: Path) -> list[str]:
    """Run a notebook, and return the cells whose output is not the stored one."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    return [
        f"{path.name}: {''.join(old['source'])}\n--- stored\n{_text(old)}\n--- now\n{_text(new)}"
        for old, new in zip(stored["cells"], run_notebook(path)["cells"], strict=True)
        if old["cell_type"] == "code" and _text(old) != _text(new)
    ]


def _text(cell: dict[str, Any]) -> str:
    return "".join(
        "".join(each.get("text", each.get("data", {}).get("text/plain", ""))) for each in cell["outputs"]
    )


def main() -> int:
    """Run all notebooks."""
    wrong = 0
    for path in NOTEBOOKS:
        if "--check" in sys.argv:
            for text in differences(path):
                print(text)
                wrong = 1
        else:
            text = json.dumps(run_notebook(path), indent=1, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
            print(path.name)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
