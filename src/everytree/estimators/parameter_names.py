"""One word for each parameter: scikit-learn's word for one of ours is understood, and a word that is gone is refused.

    OptimalTreeClassifier(min_samples_leaf=5)    the same as min_leaf=5, in ``set_params`` and grid searches too
    OptimalTreeClassifier(rank="size")           refused, with the word that replaced it

``get_params`` knows only our own words, so that copies, files and grids never hold one parameter under two names.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Self

from everytree.errors import QueryError

__all__ = ["ParameterNames", "own_words"]

# Each word of scikit-learn stands for one of ours.
ALIASES = {"min_samples_leaf": "min_leaf"}


class ParameterNames:
    """The base of an estimator whose parameters may also be given under scikit-learn's names."""

    # For each word that a parameter had once, the message says what to write now.
    GONE: ClassVar[Mapping[str, str]] = {}

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
        return self.min_leaf

    @min_samples_leaf.setter
    def min_samples_leaf(self, value: Any) -> None:
        self.min_leaf = value


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
    for name, value in params.items():
        if name in known:
            continue
        if name in made.GONE:
            raise QueryError(
                f"{made.__name__} has no parameter {name!r}; {made.GONE[name]}",
                code="parameter",
                parameter=name,
                value=value,
            )
        ours = ALIASES.get(name)
        if ours is None or ours not in known:
            continue
        del own[name]
        if ours in params and params[ours] != value:
            raise QueryError(
                f"{ours}={params[ours]!r} and {name}={value!r} are two values of one parameter; give {ours} alone",
                code="parameter",
                parameter=ours,
                value=params[ours],
            )
        own[ours] = value
    return own
