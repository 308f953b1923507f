"""A query in one line of words, and back.

    query      = [ number ] wishes [ "trees" | "tree" ] [ "where" condition { "and" condition } ]
    wishes     = wish { then wish } | wish "alone"
    then       = "then" | "," | ", then"
    wish       = "most accurate" | "smallest" | "shallowest" | "least" cost
    cost       = "error" | "expected error" | "gini" | "entropy" | "cost"
    condition  = ( "leaf" | "margin" ) at-least whole            examples in a leaf; lead of its largest class
               | "chi2" at-least number | "p" at-most number     of every leaf against the rest
               | ( "size" | "leaves" | "depth" ) at-most whole
               | cost at-most number | "accuracy" ">=" share
               | ( "uses" | "avoids" ) name { "," name }
               | ( "leaf penalty" | "confidence" ) "=" number
    at-least   = ">=" | "≥" | ">"          at-most = "<=" | "≤" | "<"        strict ones for whole numbers only
    share      = a number from 0 to 1, or a percentage        name = a word, or any text in double quotes

One wish is enough: ties go to the smaller tree, and among trees of one size or depth to the one with fewer errors. With
"alone" they are not broken.
Further costs and constraints on leaves can be said where ``weights`` has them registered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, NoReturn

from everytree.common.arguments import MOST, whole
from everytree.errors import QueryError
from everytree.query.query import Query
from everytree.weights.constraints import (
    LEAF_WORDS,
    ComposedConstraint,
    LeafWord,
    in_a_line,
    leaf_constraints,
    listed_constraints,
)
from everytree.weights.cost_words import COSTS

__all__ = ["format_query", "parse_query"]

SYMBOLS = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<="}
TOKEN = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?(?![\w.]))
          |(?P<symbol>>=|<=|=>|=<|≥|≤|[<>=,])
          |(?P<quoted>"(?:[^"\\]|\\.)*")
          |(?P<word>[^\W\d][\w.\-]*))""",
    re.VERBOSE,
)
BARE = re.compile(r"[^\W\d][\w.\-]*")
WISHES = {"most accurate": "error", "smallest": "size", "shallowest": "depth"}
WHOLE = {"size": "max_size", "leaves": "max_leaves", "depth": "max_depth"}
FIXED = {
    "where", "and", "then", "tree", "trees", "most", "accurate", "smallest", "shallowest", "least", "leaf", "size",
    "leaves", "depth", "accuracy", "uses", "avoids", "penalty", "confidence", "alone",
}  # fmt: skip


_RATE = "a rate of one class is asked by `everytree query`, or query.rates.best_by_rate, which choose what leaves say"
_RANKING = (
    "it compares pairs of examples in different leaves, so it is no sum over leaves; `everytree fit` tells it"
)
ELSEWHERE = {
    "recall": _RATE,
    "precision": _RATE,
    "f1": _RATE,
    "auc": f"AUC cannot be bounded: {_RANKING}",
}


def keywords() -> set[str]:
    """Return the words of the language; a column with such a name must stand in quotes."""
    registered = [*LEAF_WORDS, *(cost.words for cost in COSTS.values())]
    return FIXED.union(*(words.split() for words in registered))


class Token(NamedTuple):
    """A word, number, symbol or quoted text, and where it stands."""

    kind: str
    text: str
    at: int


def parse_query(text: str) -> tuple[Query, int]:
    """Read a query that is written as a line of words, such as "most accurate where leaf >= 10".

    Parameters
    ----------
    text : str
        The line; the grammar stands at the top of ``everytree.query.text``.

    Returns
    -------
    tuple of (Query, int)
        The query, and how many trees it asks for.

    Raises
    ------
    QueryError
        If the line cannot be read; the message points at the place.

    Examples
    --------
    >>> parse_query("most accurate where leaf >= 10 and size <= 15")
    (Query(minimize=('error', 'size'), max_size=15, leaf=Support(10)), 1)
    >>> parse_query('3 smallest trees where accuracy >= 93% and avoids "patient id"')
    (Query(minimize=('size', 'error'), min_accuracy=0.93, forbid=('patient id',)), 3)
    >>> parse_query("most accurate where leaf over 10")
    Traceback (most recent call last):
        ...
    everytree.errors.QueryError: expected >= after "leaf", found "over"
      most accurate where leaf over 10
                               ^
    """
    if not isinstance(text, str):
        raise QueryError(f"a query is a line of text such as 'most accurate where leaf >= 10', not {text!r}")
    return _Parser(text).query()


def format_query(query: Query, k: int = 1) -> str:
    """Write a query as the line of words that ``parse_query`` reads.

    Parameters
    ----------
    query : Query
        The query.
    k : int, default=1
        How many trees it asks for.

    Returns
    -------
    str
        The line.

    Raises
    ------
    QueryError
        If the query has a cost matrix, class weights or column numbers, which no line can say.

    Examples
    --------
    >>> from everytree.weights.constraints import Margin
    >>> format_query(Query(("size", "error"), min_accuracy=0.9, leaf=[5, Margin(2)]), k=2)
    '2 smallest then least error where leaf >= 5 and margin >= 2 and accuracy >= 0.9'
    """
    k = whole("k", k, 1)
    if query.cost_matrix is not None or query.class_weight is not None:
        raise QueryError("a query with a cost_matrix or a class_weight cannot be written in one line")
    wishes = " then ".join(
        {"size": "smallest", "depth": "shallowest"}.get(name) or f"least {COSTS[name].words}"
        for name in query.ranking
    )
    if len(query.ranking) == 1:
        wishes += " alone"
    conditions = list(_conditions(query))
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return f"{f'{k} ' if k != 1 else ''}{wishes}{where}"


def _conditions(query: Query) -> Iterator[str]:
    given = listed_constraints(query.leaf)
    composed = [each for each in given if isinstance(each, ComposedConstraint)]
    tightest = leaf_constraints([each for each in given if not isinstance(each, ComposedConstraint)])
    for record in LEAF_WORDS.values():
        those = composed if record.kind is None else [getattr(tightest, record.kind)]
        yield from (record.condition(each) for each in those if record.value(each) is not None)
    for word, name in WHOLE.items():
        if getattr(query, name) is not None:
            yield f"{word} <= {in_a_line(getattr(query, name))}"
    for cost, bound in query.error_bounds.items():
        yield f"{COSTS[cost].words} <= {in_a_line(bound)}"
    if query.min_accuracy is not None:
        yield f"accuracy >= {in_a_line(query.min_accuracy)}"
    for word, given in (("uses", query.require), ("avoids", query.forbid)):
        names = [] if given is None else [given] if isinstance(given, str) else list(given)
        if not all(isinstance(name, str) for name in names):
            raise QueryError(
                f"{given!r}: only names of columns or tests can be written in one line, not positions"
            )
        if names:
            yield f"{word} {', '.join(map(_name, names))}"
    if query.leaf_penalty:
        yield f"leaf penalty = {in_a_line(query.leaf_penalty)}"
    if query.confidence != 0.25:
        yield f"confidence = {in_a_line(query.confidence)}"


def _name(name: str) -> str:
    if BARE.fullmatch(name) and name.lower() not in keywords():
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Parser:
    """A parser with one method for each line of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._split())
        self.next = 0
        self.given: dict[str, Any] = {}
        self.leaf: dict[str, Any] = {}
        self.bounds: dict[str, float] = {}

    def _split(self) -> Iterator[Token]:
        at, end = 0, len(self.text.rstrip())
        while at < end:
            match = TOKEN.match(self.text, at)
            if match is None or match.lastgroup is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                unclosed = self.text[at] == '"'
                self.fail("this text has no closing quote" if unclosed else "this cannot be read", at)
            kind = match.lastgroup
            yield Token(kind, match[kind], match.start(kind))
            at = match.end()
        yield Token("end", "", end)

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        at = self.tokens[self.next].at if at is None else at
        line, place = self.text.expandtabs(1).replace("\n", " "), at
        if len(line) > 120:  # a window around the place
            begin = max(0, min(at - 60, len(line) - 120))
            line, place = line[begin : begin + 120], at - begin
        raise QueryError(
            f"{message}\n  {line}\n  {' ' * place}^", code="query-text", parameter="text", value=self.text
        )

    # --- tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.next]

    def found(self) -> str:
        return "nothing more" if self.token.kind == "end" else f'found "{_short(self.token.text)}"'

    def word(self, *words: str) -> bool:
        """Step over these words if they come next, in any case of letters."""
        for k, word in enumerate(words):
            token = self.tokens[min(self.next + k, len(self.tokens) - 1)]
            if token.kind not in ("word", "symbol") or token.text.lower() != word:
                return False
        self.next += len(words)
        return True

    def number(self, after: str) -> float:
        if self.token.kind != "number":
            self.fail(f'expected a number after "{after}", {self.found()}')
        text = self.token.text
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
        if text.endswith("%") and after != "accuracy >=":
            self.fail("a percentage makes sense for the accuracy only")
        if not math.isfinite(value):
            self.fail(f"{_short(text)} is too large")
        self.next += 1
        return value

    def bound(self, word: str, wanted: str, *, whole: bool = True) -> float:
        """Read the number of ``word >= number`` or ``word <= number``; a strict whole one becomes the next."""
        symbol = SYMBOLS.get(self.token.text, self.token.text)
        strict = symbol == wanted[0]
        if self.token.kind != "symbol" or symbol not in (wanted, wanted[0]):
            self.fail(f'expected {wanted} after "{word}", {self.found()}')
        if strict and not whole:
            self.fail(f'write {wanted}: a bound on "{word}" includes its number')
        self.next += 1
        place = self.token.at
        value = self.number(f"{word} {symbol}")
        if not whole:
            return value
        if value != math.floor(value):
            self.fail(f'"{word}" is a whole number', place)
        return int(value) + (0 if not strict else 1 if wanted == ">=" else -1)

    def once(self, store: dict[str, Any], name: str, value: Any, place: int) -> None:
        if name in store:
            self.fail("this is said twice", place)
        store[name] = value

    # --- the grammar

    def query(self) -> tuple[Query, int]:
        k = 1
        if self.token.kind == "number":
            place = self.token.at
            many = self.number("")
            if many != math.floor(many) or many < 1:
                self.fail("how many trees is a whole number of at least 1", place)
            k = int(many)
            if k > MOST:
                self.fail(f"there are at most {MOST} trees in an answer", place)
        minimize = [self.wish()]
        while self.word(",", "then") or self.word(",") or self.word("then"):
            minimize.append(self.wish())
        alone = len(minimize) == 1 and minimize[0] in COSTS and self.word("alone")
        if not self.word("trees"):
            self.word("tree")
        if self.word("where"):
            self.condition()
            while self.word("and"):
                self.condition()
        if self.token.kind != "end":
            expected = '"where" or "then"' if not (self.given or self.leaf or self.bounds) else '"and"'
            self.fail(f"expected {expected}, {self.found()}")
        if len(minimize) == 1 and not alone:
            minimize.append("size" if minimize[0] in COSTS else "error")
        return self.made(tuple(minimize)), k

    def made(self, minimize: tuple[str, ...]) -> Query:
        leaves = list(self.leaf.values())
        if leaves:
            self.given["leaf"] = leaves[0] if len(leaves) == 1 else leaves
        if self.bounds:
            self.given["max_error"] = self.bounds
        return Query(minimize, **self.given)

    def wish(self) -> str:
        for words, criterion in WISHES.items():
            if self.word(*words.split()):
                return criterion
        if self.word("least"):
            cost = self.cost()
            if cost is None:
                self.fail(
                    f"expected one of {', '.join(cost.words for cost in COSTS.values())}, {self.found()}"
                )
            return cost
        return self.fail(f'expected "most accurate", "smallest", "shallowest" or "least …", {self.found()}')

    def cost(self) -> str | None:
        for cost in sorted(COSTS.values(), key=lambda each: -len(each.words)):  # the longest that fits
            if self.word(*cost.words.split()):
                return cost.name
        return None

    def condition(self) -> None:
        place = self.token.at
        if self.token.text.lower() in ELSEWHERE:
            self.fail(ELSEWHERE[self.token.text.lower()])
        if self.word("leaf", "penalty"):
            self.once(self.given, "leaf_penalty", self.equals("leaf penalty"), place)
        elif self.word("confidence"):
            self.once(self.given, "confidence", self.equals("confidence"), place)
        elif self.word("accuracy"):
            self.once(self.given, "min_accuracy", self.bound("accuracy", ">=", whole=False), place)
        elif self.word("uses"):
            self.once(self.given, "require", self.names("uses"), place)
        elif self.word("avoids"):
            self.once(self.given, "forbid", self.names("avoids"), place)
        elif not self.leaf_condition(place):
            self.limit(place)

    def leaf_condition(self, place: int) -> bool:
        for record in sorted(LEAF_WORDS.values(), key=lambda each: -len(each.word)):
            if self.word(*record.word.split()):
                value = self.bound(record.word, record.at, whole=record.whole)
                made = partial(_made, record)
                self.once(self.leaf, record.word, self.checked(made, value, place), place)
                return True
        return False

    def limit(self, place: int) -> None:
        for word, name in WHOLE.items():
            if self.word(word):
                self.once(self.given, name, self.bound(word, "<="), place)
                return
        cost = self.cost()
        if cost is None:
            self.fail(
                "expected a condition such as leaf >= 10, size <= 15, depth <= 4, accuracy >= 0.9, error <= 20, "
                f"uses age or avoids id, {self.found()}"
            )
        self.once(self.bounds, cost, self.bound(COSTS[cost].words, "<=", whole=False), place)

    def checked(self, make: Any, value: float, place: int) -> Any:
        try:
            return make(value)
        except QueryError as error:
            self.fail(str(error), place)

    def equals(self, word: str) -> float:
        if not self.word("="):
            self.fail(f'expected = after "{word}", {self.found()}')
        return self.number(f"{word} =")

    def names(self, after: str) -> tuple[str, ...]:
        names = [self.name(after)]
        while self.word(","):
            names.append(self.name(after))
        return tuple(names)

    def name(self, after: str) -> str:
        token = self.token
        if token.kind not in ("word", "quoted"):
            self.fail(f'expected the name of a column after "{after}", {self.found()}')
        if token.kind == "word" and token.text.lower() in keywords():
            self.fail(f'a name that is a word of the language stands in quotes: "{token.text}"')
        self.next += 1
        return (
            token.text if token.kind == "word" else re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        )


def _made(record: LeafWord, value: float) -> Any:
    return record.made(**{record.field: value})


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
