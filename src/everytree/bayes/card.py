"""A posterior in a notebook cell: the most probable tree, and the columns that the trees use, without a script.

Static HTML shows also in a notebook that is not trusted, or on a site that renders notebooks.
"""

from __future__ import annotations

from html import escape
from typing import Any

from everytree.draw.labels import shorten
from everytree.draw.svg import tree_to_html
from everytree.errors import LimitReached

__all__ = ["about_posterior", "posterior_html"]

SECONDS = 3.0  # a cell must not keep its reader waiting
LISTED = 8
BAR = "#0072b2"
WIDEST = 160  # the most letters of a name


def about_posterior(found: Any) -> str:
    """Describe the prior in words."""
    prior = repr(found.prior).replace(", attribute_fair=False", "").replace("attribute_fair=False", "")
    power = "" if found.power == 1 else f", power {found.power:g}"
    return f"Prior: {prior}, Dirichlet {found.dirichlet!r}{power}."


def posterior_html(posterior: Any) -> str:
    """Draw the most probable tree and the columns that the trees use, as HTML without a script."""
    space = posterior.space
    about = escape(shorten(about_posterior(posterior), WIDEST))
    lines = [
        f"<b>Posterior over every tree</b> of {escape(shorten(repr(space), WIDEST))}<br>{about} "
        f"Log evidence {posterior.log_evidence:.4f}."
    ]
    try:
        with space.within(SECONDS):
            tree = posterior.map_tree()
            chance = 100 * tree.info["probability"]
            lines.append(f"<br>The most probable tree has probability {chance:.3g} %.{tree_to_html(tree)}")
            used = sorted(posterior.attribute_inclusion().items(), key=lambda each: -each[1])
            lines.append(_bars(used))
    except LimitReached:
        lines.append(
            "<br>The rest takes longer than a cell should: ask for top_trees(k) or test_inclusion()."
        )
    return f"<div>{''.join(lines)}</div>"


def _bars(chances: list[tuple[str, float]]) -> str:
    """Draw a bar for each of the first columns: the probability that the tree uses it."""
    rows = "".join(
        f'<tr><td style="text-align: left;">{escape(shorten(name, WIDEST))}</td>'
        f'<td style="text-align: left; min-width: 14em;"><div style="width: {100 * p:.1f}%; height: .7em; '
        f'background: {BAR}; border-radius: .3em;"></div></td><td>{100 * p:.1f} %</td></tr>'
        for name, p in chances[:LISTED]
    )
    more = len(chances) - LISTED
    note = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<div>The tree uses</div><table><tbody>{rows}</tbody></table>{note}"
