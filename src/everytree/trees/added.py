"""The words for what is added to the counts of a leaf when its probabilities are computed.

    θ_c = (n_c + a_c) / Σ (n + a)

A probability beside the counts it comes from is only understood with what was added: with one more example for each of
24 classes, 54 of 58 examples make 0.67. So every text and picture that shows both also says what was added.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["added_words"]


def added_words(rows: Sequence[Sequence[float]]) -> str:
    """Say in words which Dirichlet parameters, by depth, were added to the counts.

    >>> added_words([[1.0] * 24])
    'plus 1 for each of the 24 classes'
    >>> added_words([[0.5, 2.0]])
    'plus 0.5 to 2 by class, 2.5 in all'
    >>> added_words([[0.9, 0.9], [0.81, 0.81]])
    'plus 0.9 (at the root) to 0.81 (at depth 1) for each of the 2 classes'
    """
    first, last = rows[0], rows[-1]
    if len(set(first)) > 1:
        return f"plus {min(first):.3g} to {max(first):.3g} by class, {sum(first):.3g} in all"
    each = f"for each of the {len(first)} classes"
    if first[0] == last[0]:
        return f"plus {first[0]:.3g} {each}"
    return f"plus {first[0]:.3g} (at the root) to {last[0]:.3g} (at depth {len(rows) - 1}) {each}"
