"""One word for each parameter, and other words that stand for it: scikit-learn's, and those of one method alone.

    OptimalTreeClassifier(min_samples_leaf=5)    the same as min_leaf=5, in ``set_params`` and grid searches too
    OptimalTreeClassifier(objective="gini")      the same as minimize=("gini", "size")

``get_params`` knows only our own words, so that copies, files and grids never hold one parameter under two names.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, NamedTuple, Self

from everytree.errors import QueryError

__all__ = ["MIN_BRANCH", "Meaning", "ParameterNames", "own_words"]


class Meaning(NamedTuple):
    """The parameter that another word stands for, and how its value is written there."""

    parameter: str
    value: Callable[[Any], Any] = lambda given: given


# Trees with more than two branches at a node have no least leaf: two branches of a split must hold so many examples.
MIN_BRANCH = dict.fromkeys(("min_leaf", "min_samples_leaf"), Meaning("min_branch"))


class ParameterNames:
    """The base of an estimator whose parameters may also be given under other names."""

    # Each word stands for a parameter of the constructor; words for parameters that a class does not have do nothing.
    MEANINGS: ClassVar[Mapping[str, Meaning]] = {"min_samples_leaf": Meaning("min_leaf")}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__init__" in vars(cls):
            cls.__init__ = _renaming(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of a nested estimator as ``estimator__name``.

        Parameters
        ----------
        **params : dict
            The new values. ``min_samples_leaf`` is understood as ``min_leaf``.

        Returns
        -------
        Self
            This estimator.
        """
        own = own_words(type(self), params, self.get_params(deep=False))  # type: ignore[attr-defined]
        super().set_params(**own)  # type: ignore[misc]
        return self

    @property
    def min_samples_leaf(self) -> Any:
        """The value of ``min_leaf``, under the name that scikit-learn's trees have for it."""
        return getattr(self, self.MEANINGS["min_samples_leaf"].parameter)

    @min_samples_leaf.setter
    def min_samples_leaf(self, value: Any) -> None:
        setattr(self, self.MEANINGS["min_samples_leaf"].parameter, value)


def _renaming(init: Callable[..., None]) -> Callable[..., None]:
    """Return the constructor with keywords renamed; its signature is that of ``init``, which scikit-learn reads."""
    signature = inspect.signature(init)
    places = list(signature.parameters)

    @functools.wraps(init)
    def renamed(self: Any, *args: Any, **params: Any) -> None:
        strange = [name for name in params if name not in places]
        if strange:
            positional = dict(zip(places[1:], args, strict=False))
            params = own_words(type(self), positional | params, places)
            params = {name: value for name, value in params.items() if name not in positional}
        init(self, *args, **params)

    return renamed


def own_words(made: type[ParameterNames], params: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the parameters under our own names; two different values of one parameter are refused."""
    own = dict(params)
    said: dict[str, str] = {}
    for name, given in params.items():
        meaning = made.MEANINGS.get(name)
        if name in known or meaning is None or meaning.parameter not in known:
            continue
        ours, value = meaning.parameter, meaning.value(own.pop(name))
        if ours in own and own[ours] != value:
            first = said.get(ours, ours)
            raise QueryError(
                f"{first}={params.get(first, own[ours])!r} and {name}={given!r} are two values of one parameter; "
                f"give {ours} alone",
                code="parameter",
                parameter=ours,
                value=own[ours],
            )
        own[ours], said[ours] = value, name
    return own
