"""C: one file without dependencies, for C99, C++ and microcontrollers; it allocates nothing.

    struct everytree_row   a member for each column that is asked about: double, NaN where missing; or const char *,
                           NULL where missing, UTF-8; blanks around it do not count
    int everytree_predict(const struct everytree_row *row, double *proba)   the class, and the probabilities of all

Names and texts of the data appear in string literals only, with everything but letters and digits as octal escapes. The
members are called after their columns as far as C allows; everytree_columns lists the true names in the same order.
"""

from __future__ import annotations

import re

from everytree.common.arguments import refused
from everytree.errors import QueryError
from everytree.export.blocks import comment, plain_label, rule_lines, tree_lines
from everytree.export.form import Condition, Form, SumForm, TreeForm, below, is_padded

__all__ = ["source"]

# Where the case of letters does not count, it is folded for those of ASCII; words with others are asked in their usual
# spellings.
IS = """static int everytree_is(const char *x, const char *word, int any_case) {
  size_t k, n = strlen(x);
  while (n && strchr(" \\t\\n\\v\\f\\r", *x)) ++x, --n;
  while (n && strchr(" \\t\\n\\v\\f\\r", x[n - 1])) --n;
  if (n != strlen(word)) return 0;
  for (k = 0; k < n; ++k) {
    char a = x[k], b = word[k];
    if (any_case && a >= 'A' && a <= 'Z') a = (char)(a + 32);
    if (any_case && b >= 'A' && b <= 'Z') b = (char)(b + 32);
    if (a != b) return 0;
  }
  return 1;
}"""

TREE = """
int everytree_predict(const struct everytree_row *row, double *proba) {
  const int leaf = everytree_leaf(row);
  int c;
  for (c = 0; c < EVERYTREE_CLASSES; ++c) proba[c] = everytree_proba[leaf][c];
  return everytree_says[leaf];
}
"""

SUM = """
int everytree_predict(const struct everytree_row *row, double *proba) {
  double sorted[EVERYTREE_CLASSES], free_ = 1.0, total = 0.0, lower = 0.0;
  int c, k, inside = 1, best = 0;
  for (c = 0; c < EVERYTREE_CLASSES; ++c) proba[c] = everytree_base[c];
  everytree_rules(row, proba);
  for (c = 0; c < EVERYTREE_CLASSES; ++c) {
    inside = inside && proba[c] >= everytree_floor[c];
    free_ -= everytree_floor[c];
  }
  if (!inside) {
    for (c = 0; c < EVERYTREE_CLASSES; ++c) { /* by insertion, the largest first */
      const double each = proba[c] - everytree_floor[c];
      for (k = c; k > 0 && sorted[k - 1] < each; --k) sorted[k] = sorted[k - 1];
      sorted[k] = each;
    }
    for (k = 0; k < EVERYTREE_CLASSES; ++k) {
      double level;
      total += sorted[k];
      level = (total - free_) / (k + 1);
      if (sorted[k] >= level) lower = level;
    }
    for (c = 0; c < EVERYTREE_CLASSES; ++c) {
      const double above = proba[c] - everytree_floor[c] - lower;
      proba[c] = everytree_floor[c] + (above > 0.0 ? above : 0.0);
    }
  }
  for (c = 1; c < EVERYTREE_CLASSES; ++c)
    if (proba[c] > proba[best]) best = c;
  return best;
}
"""


def source(form: Form, prefix: str = "everytree") -> str:
    """Write the file; ``prefix`` begins every name in it, so that one program can hold several models."""
    if not isinstance(prefix, str) or re.fullmatch("[A-Za-z][A-Za-z0-9]*", prefix) is None:
        raise refused(QueryError, "prefix", prefix, "letters and digits, such as 'heart'")
    written = _source(form)
    # No name or text of the data has an underscore in a literal: it is an escape there.
    return written.replace("everytree_", f"{prefix}_").replace("EVERYTREE_", f"{prefix.upper()}_")


def _source(form: Form) -> str:
    used = form.used()
    members = {k: member(k, form.fields[k].name) for k in used}

    def asked(condition: Condition) -> str:
        x, text = f"row->{members[condition.field]}", form.fields[condition.field].kind == "text"
        gone = f"{x} == 0" if text else f"isnan({x})"
        if condition.op == "missing":
            return f"({gone})"
        if text:
            compared = f"strcmp({x}, {_literal(str(condition.value))}) == 0"
            if not is_padded(str(condition.value)):
                case = int(condition.any_case)
                words = [
                    each for each in condition.spellings if not (case and str(condition.value).isascii())
                ]
                words = words or [str(condition.value)]
                asked_words = [f"everytree_is({x}, {_literal(word)}, {case})" for word in words]
                compared = asked_words[0] if len(words) == 1 else f"({' || '.join(asked_words)})"
        else:
            value = float(condition.value) if condition.op == "==" else below(condition.value)
            compared = f"{x} {condition.op} {value!r}"
        return f"({gone} || {compared})" if condition.missing else f"(!({gone}) && {compared})"

    kinds = {"text": "const char *", "number": "double ", "flag": "double "}
    n = len(form.classes)
    head = [
        "/* A decision model, written by everytree: everytree_predict gives the class and all probabilities.",
        "   A missing number is NaN, a missing text is a null pointer; texts are UTF-8. */",
        *(f"/* {comment(note)} */" for note in form.notes),
        "#include <math.h>",
        "#include <string.h>",
        f"#define EVERYTREE_CLASSES {n}",
        "struct everytree_row {",
        *(f"  {kinds[form.fields[k].kind]}{members[k]};" for k in used),
        *([] if used else ["  int nothing; /* no column is asked about */"]),
        "};",
        _table(
            "const char *const everytree_columns[]", [_literal(form.fields[k].name) for k in used] or ["0"]
        ),
        _table(
            "const char *const everytree_classes[]", [_literal(str(plain_label(c))) for c in form.classes]
        ),
        *(
            [IS]
            if any(isinstance(c.value, str) and not is_padded(c.value) for c in form.conditions())
            else []
        ),
    ]
    if isinstance(form, TreeForm):
        form.check_depth("C")
        leaves = [node for node in form.nodes if node.condition is None]
        tables = [
            _table(f"static const double everytree_proba[][{n}]", [_numbers(node.proba) for node in leaves]),
            _table("static const int everytree_says[]", [str(node.says) for node in leaves]),
        ]
        start = ["static int everytree_leaf(const struct everytree_row *row) {", "  (void)row;"]
        body = list(tree_lines(form, asked, "if ({}) {{", "}", "return {};"))
        return "\n".join([*head, *tables, *start, *body, "}" + TREE])
    assert isinstance(form, SumForm)
    moves = [_numbers(rule.moves) for rule in form.rules] or [_numbers([0.0] * n)]
    tables = [
        _table("static const double everytree_base[]", [repr(float(x)) for x in form.base]),
        _table("static const double everytree_floor[]", [repr(float(x)) for x in form.floor]),
        _table(f"static const double everytree_moves[][{n}]", moves),
        "static void everytree_move(double *q, int rule) {",
        "  int c;",
        "  for (c = 0; c < EVERYTREE_CLASSES; ++c) q[c] += everytree_moves[rule][c];",
        "}",
    ]
    start = ["static void everytree_rules(const struct everytree_row *row, double *q) {", "  (void)row;"]
    if not form.rules:
        start.append("  everytree_move(q, 0); /* nothing moves */")
    body = list(rule_lines(form, asked, " && ", "!{}", "  if ({}) everytree_move(q, {});"))
    return "\n".join([*head, *tables, *start, *body, "}" + SUM])


def member(k: int, name: str) -> str:
    """Return the name of a member: no keyword and never twice, as it begins with x and the number of its column.

    >>> member(3, "blood pressure"), member(0, "int")
    ('x3_blood_pressure', 'x0_int')
    """
    return f"x{k}_{re.sub('[^A-Za-z0-9]+', '_', name)}".rstrip("_")[:31]


def _table(name: str, entries: list[str]) -> str:
    return f"{name} = {{{', '.join(entries)}}};"


def _numbers(values: object) -> str:
    return "{" + ", ".join(repr(float(value)) for value in values) + "}"  # type: ignore[attr-defined]


def _literal(text: str) -> str:
    """Write a string literal; everything but letters, digits and spaces is an octal escape of three digits."""
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 "
    raw = text.encode("utf-8", "surrogatepass")
    if b"\0" in raw:
        # A text in C ends there: nothing that C can hold is equal to it.
        raw = raw.replace(b"\0", b"\xff")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in raw) + '"'
