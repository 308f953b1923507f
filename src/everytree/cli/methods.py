"""The methods by name: which classifier each one is, and how options become its parameters.

They are those that classifiers register, see ``estimators/registry.py``.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Sequence
from typing import Any

import everytree.estimators  # all classifiers: they register their methods  # noqa: F401
from everytree.bayes.moves import MOVES
from everytree.cli.options import Learning
from everytree.cli.show import console, print_json
from everytree.cli.words import CALLED
from everytree.common.arguments import refused
from everytree.common.json_text import parsed_json
from everytree.errors import Argument, DataError, QueryError, Wording
from everytree.estimators.registry import methods
from everytree.weights.constraints import LEAF_WORDS
from everytree.weights.cost_words import COSTS
from everytree.weights.priors import PRIORS

__all__ = [
    "EVERY",
    "ONE",
    "check_some_have",
    "classifier",
    "default_method",
    "known_methods",
    "number_or_word",
    "parameters_of",
    "show_methods",
]


EVERY, ONE = "every", "optimal"
# option → parameter of a classifier, where the names differ
PARAMETERS = {CALLED[name]: name for name in ("random_state", "n_jobs")}
UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}


def known_methods() -> list[str]:
    """Return the words of all methods."""
    return list(methods())


def classifier(method: str) -> Any:
    """Return the class of a method.

    >>> classifier("optimal").__name__
    'OptimalTreeClassifier'
    """
    known = methods()
    if method not in known:
        expected = f"one of {', '.join(known)}"
        raise refused(
            QueryError, "method", method, expected, says=f": there is no such method; expected {expected}"
        )
    return known[method].made


def parameters_of(
    method: str, learning: Learning, more: dict[str, Any] | None = None, *, lenient: bool = False
) -> dict[str, Any]:
    """Return the parameters that the options give to a method's classifier; ``more`` are some of the command's own.

    An option that the method does not have is an error that names the methods with it, or left out if ``lenient``.
    """
    made = classifier(method)
    has = _parameters(made)
    given = {PARAMETERS.get(name, name): value for name, value in _values(learning).items()} | (more or {})
    if "missing" in has:
        given.setdefault("missing", "category")
    found = {}
    for name, value in given.items():
        if name in _options(made):
            found[name] = value
        elif not lenient:
            raise _no_option(name, method)
    for setting in learning.settings or ():
        name, value = _setting(setting)
        if name in has:
            if name in found and name != "missing":
                raise refused(
                    QueryError,
                    "settings",
                    setting,
                    says=f": {name} is given by an option too; give one of them",
                )
            found[name] = value
        elif not lenient:
            close = ", ".join(sorted(has))
            says = f": {made.__name__} has no parameter {name!r}; expected one of {close}"
            raise refused(QueryError, "settings", setting, f"one of {close}", says=says)
    return found


def default_method(learning: Learning) -> str:
    """Return what learns where no method is named: every tree, but the best one under options of single trees."""
    asked = [PARAMETERS.get(name, name) for name in _values(learning)]
    asked += [_setting(text)[0] for text in learning.settings or ()]
    return EVERY if set(asked) <= _options(classifier(EVERY)) else ONE


def check_some_have(methods: Sequence[str], learning: Learning, besides: Sequence[str] = ()) -> None:
    """Refuse an option or setting that none of the methods has; ``besides`` are parameters that the command uses."""
    asked = [PARAMETERS.get(name, name) for name in _values(learning)]
    asked += [_setting(text)[0] for text in learning.settings or ()]
    has = set(besides).union(*(_options(classifier(method)) for method in methods))
    for name in asked:
        if name not in has:
            raise _no_option(name, ", ".join(methods))


def show_methods(as_json: bool) -> None:
    """Print what each method is, its parameters with their defaults, the words for priors, costs, leaves, moves."""
    found: dict[str, dict[str, Any]] = {}
    for name, method in methods().items():
        defaults = {each.name: each.default for each in inspect.signature(method.made).parameters.values()}
        found[name] = {"classifier": method.classifier, "about": method.about, "parameters": defaults}
    if as_json:
        print_json(found)
        return
    screen = console()
    for name, entry in found.items():
        screen.print(f"{name:<9} {entry['about']}")
        screen.print(
            "          " + ", ".join(f"{key}={_typed(value)}" for key, value in entry["parameters"].items())
        )
    lists = {
        "Priors, for --prior": {each.word: each.about for each in PRIORS.values()},
        "Costs, for --set minimize=… and queries": {each.name: each.about for each in COSTS.values()},
        "Constraints on leaves, for queries": {
            f"{each.word} {each.at}": each.about for each in LEAF_WORDS.values()
        },
        "Moves of chains, for --set moves=…": {each.name: each.about for each in MOVES.values()},
    }
    for title, words in lists.items():
        screen.print(f"\n{title}")
        for word, about in words.items():
            screen.print(f"{word:<14} {about}")


def _typed(value: Any) -> str:
    """Write a value as --set takes it.

    >>> _typed(None), _typed(("error", "size")), _typed("size")
    ('null', '["error", "size"]', 'size')
    """
    return value if isinstance(value, str) else json.dumps(value)


def _parameters(made: Any) -> set[str]:
    return set(inspect.signature(made).parameters)


def _options(made: Any) -> set[str]:
    """Return the parameters that options give; ``cuts`` of the method option is another thing, for --set alone."""
    cuts = inspect.signature(made).parameters.get("cuts")
    return _parameters(made) - (set() if cuts is None or cuts.default == "global" else {"cuts"})


def _values(learning: Learning) -> dict[str, Any]:
    """Return the options that were given, as the classifiers want them."""
    found = {
        "max_depth": _whole_or_none("max_depth", learning.max_depth),
        "min_leaf": learning.min_leaf,
        "prior": learning.prior,
        "alpha": learning.alpha,
        "beta": learning.beta,
        "dirichlet": number_or_word(learning.dirichlet),
        "bins": number_or_word(learning.bins),
        "cuts": learning.cuts,
        "missing": learning.missing,
        "seed": learning.seed,
        "time_limit": learning.time_limit,
        "memory_limit": _bytes(learning.memory_limit),
        "jobs": learning.jobs,
    }
    given = {name: value for name, value in found.items() if value is not None}
    if "max_depth" in given and given["max_depth"] < 0:
        given["max_depth"] = None
    return given


def _whole_or_none(name: str, text: str | None) -> int | None:
    """Read a whole number; −1 stands for "none"."""
    if text is None:
        return None
    if text.lower() == "none":
        return -1
    if not re.fullmatch(r"\d{1,9}", text):
        raise refused(QueryError, name, text, "a whole number of at least 0, or none for no limit")
    return int(text)


def number_or_word(text: str | None) -> Any:
    """Read a number, a list or a dict; any other text is a word.

    >>> number_or_word("4"), number_or_word("0.5"), number_or_word("all"), number_or_word("[1, 2]")
    (4, 0.5, 'all', [1, 2])
    """
    if text is None:
        return None
    try:
        value = parsed_json(text)
    except DataError:
        return text
    return value if isinstance(value, int | float | list | dict) and not isinstance(value, bool) else text


def _bytes(text: str | None) -> int | None:
    """Read a size with its unit as a number of bytes.

    >>> _bytes("2GiB"), _bytes("1.5 GB"), _bytes("1000")
    (2147483648, 1500000000, 1000)
    """
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?\s*", text, re.IGNORECASE)
    if match is None or match[2].lower() not in UNITS:
        expected = "a number of bytes, or one with a unit such as 2GiB"
        raise refused(QueryError, "memory_limit", text, expected)
    return int(float(match[1]) * UNITS[match[2].lower()])


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise refused(QueryError, "settings", text, "NAME=VALUE, such as --set minimize=gini")
    try:
        return name.strip(), parsed_json(value)
    except DataError:
        return name.strip(), value.strip()


def _no_option(name: str, method: str) -> QueryError:
    having = [each for each in known_methods() if name in _options(classifier(each))]
    who = f"; {', '.join(having)} have it" if len(having) > 1 else f"; {having[0]} has it" if having else ""
    plural = "s" if "," in method else ""
    verb = "have" if plural else "has"
    message = Wording(Argument(name), f": the method{plural} {method} {verb} no such parameter{who}")
    return QueryError(message, code="parameter", parameter=name)
