"""The methods by which a model is written in other languages, for everything that has a ``Form``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everytree.export import c, excel, javascript, onnx_model, pmml, python, sklearn_tree, sql
from everytree.export.form import Form

__all__ = ["LANGUAGES", "Exports", "Portable"]

# The words of ``everytree export --to``, with how a file of each usually ends.
LANGUAGES = {
    "sql": ".sql",
    "python": ".py",
    "javascript": ".js",
    "c": ".c",
    "excel": ".txt",
    "pmml": ".pmml",
    "onnx": ".onnx",
}


class Exports:
    """Something that can be written in other languages; ``portable`` gives the form of it that is written.

    A missing value of a column is whatever the language has for it, and does what it does in ``predict_proba``. Names
    and values of the data are escaped, so that none of them can become code.
    """

    __slots__ = ()

    def portable(self) -> Form:
        """Return the plain form of the model that is written: columns, conditions and what follows.

        Returns
        -------
        Form
            A tree, or a sum of rules.
        """
        raise NotImplementedError

    def to_sql(self, label: Any = None, *, table: str | None = None, dialect: str = "standard") -> str:
        """Write SQL: an expression for the probability of one class, or a query with all of them.

        The expression of a sum of rules is the plain sum, which may leave the range from 0 to 1 a little; the query
        keeps two classes in their range.

        Parameters
        ----------
        label : object, optional
            The class of the expression; by default the last.
        table : str, optional
            The name of a table: the answer is then a query of its columns, the probability ``p_…`` of each class, and
            the class ``predicted``.
        dialect : {"standard", "mysql"}, default "standard"
            How names and texts are quoted. "standard" suits SQLite, DuckDB and PostgreSQL; "mysql" suits engines with
            backticks and backslashes, such as MySQL, Spark and BigQuery.

        Returns
        -------
        str
            The expression, or the query.
        """
        form = self.portable()
        return sql.expression(form, label, dialect) if table is None else sql.query(form, table, dialect)

    def to_python(self) -> str:
        """Write a Python module that needs no library, with ``predict_proba(row)`` and ``predict(row)`` for a dict.

        Returns
        -------
        str
            The text of the module.
        """
        return python.module(self.portable())

    def to_javascript(self) -> str:
        """Write a script for browsers and node: ``everytree.predict_proba(row)`` and ``everytree.predict(row)``.

        Returns
        -------
        str
            The text of the script, which is also a CommonJS module.
        """
        return javascript.script(self.portable())

    def to_c(self, prefix: str = "everytree") -> str:
        """Write C99 without dependencies: a struct for a row, and a function for its class and probabilities.

        Parameters
        ----------
        prefix : str, default "everytree"
            What all names in it begin with, so that one program can hold several models.

        Returns
        -------
        str
            The text of the file.
        """
        return c.source(self.portable(), prefix)

    def to_excel(
        self, label: Any = None, *, what: str = "probability", cells: Mapping[str, str] | None = None
    ) -> str:
        """Write one Excel formula for a row of cells, to be filled down.

        Parameters
        ----------
        label : object, optional
            The class whose probability is computed; by default the last.
        what : {"probability", "class"}, default "probability"
            What the formula computes; the class needs a tree.
        cells : dict of str to str, optional
            The cell of a column, such as ``{"age": "D2"}``. By default the columns of the data begin in A2.

        Returns
        -------
        str
            The formula, with its =.
        """
        return excel.formula(self.portable(), label, what, cells)

    def to_pmml(self, target: str = "class") -> str:
        """Write a tree as PMML 4.4, the XML that scoring engines read.

        Parameters
        ----------
        target : str, default "class"
            The name of what is predicted.

        Returns
        -------
        str
            The document.
        """
        return pmml.document(self.portable(), target)

    def to_onnx(self, missing_text: str = "") -> bytes:
        """Write an ONNX model, with an input for each column, and the outputs ``label`` and ``probabilities``.

        Numbers are float32 in it, and NaN where missing.

        Parameters
        ----------
        missing_text : str, default ""
            What stands for a missing text, as ONNX has none.

        Returns
        -------
        bytes
            The bytes of an .onnx file.

        Raises
        ------
        ImportError
            If the library onnx is not installed: ``pip install "everytree[export]"``.
        """
        return onnx_model.model_bytes(self.portable(), missing_text)

    def to_sklearn(self) -> Any:
        """Make a fitted ``DecisionTreeClassifier``, for ``export_text``, dtreeviz, SHAP and all that reads one.

        Returns
        -------
        DecisionTreeClassifier or Pipeline
            The tree over the columns of the data. Where text is asked about, a pipeline: its step "columns" makes
            numbers of the questions, and its step "tree" is the tree.
        """
        return sklearn_tree.classifier(self.portable())


class Portable(Exports):
    """A form with the methods that write it.

    Parameters
    ----------
    form : Form
        A tree, or a sum of rules.
    """

    def __init__(self, form: Form) -> None:
        self.form = form

    def portable(self) -> Form:
        return self.form
