"""Buntine, after Crawford: a tree follows new examples, and is restructured only where the evidence is clear.

Tables add, so a model of all examples is a model of the sum of their tables. At a node whose test is i,

    regrow the node   if   max_j Q(j) > Q(i) + log lead     (some other test is now better by this Bayes factor)
    keep the test     otherwise, and go on to its children

and a leaf is split as soon as ``grow`` would split it. Without the lead, the best test of a node changes back and
forth while its examples are few, and everything below it is lost each time.
"""

from __future__ import annotations

import math

from everytree.reference.bayes import Bayes
from everytree.reference.buntine import grow, quality
from everytree.reference.table import Cover
from everytree.reference.trees import Tree

__all__ = ["restructure"]


def restructure(
    model: Bayes,
    tree: Tree,
    lead: float = 10.0,
    plies: int = 1,
    factor: float = 1.0,
    beam: int | None = None,
) -> Tree:
    """Return the tree, grown on earlier examples, brought up to date with the examples of the model.

    ``plies``, ``factor`` and ``beam`` are those of ``grow``. A test that is not feasible any more (where other
    examples are asked than the tree was grown on) is regrown too.
    """
    if not lead >= 1:
        raise ValueError(
            f"lead={lead!r}; the required Bayes factor must be at least 1 (infinity keeps every test)"
        )

    def follow(part: Tree, cover: Cover, depth: int) -> Tree:
        tests = model.space.feasible(cover, depth)
        if part is None or part[0] not in tests:
            return grow(model, plies, factor, beam, cover=cover, depth=depth)
        found = {test: quality(model, cover, depth, test, plies, beam) for test in tests}
        if max(found.values()) > found[part[0]] + math.log(lead):
            return grow(model, plies, factor, beam, cover=cover, depth=depth)
        zero, one = model.table.children(cover, part[0])
        return (part[0], follow(part[1], zero, depth + 1), follow(part[2], one, depth + 1))

    return follow(tree, model.space.root, 0)
