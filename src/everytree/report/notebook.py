"""Pictures for a notebook: small static ones that show anywhere, and the whole page where one asks for it.

A cell that ends with a tree, a posterior or a fitted classifier shows HTML without any script, so that it also shows in
a notebook that is not trusted, or on a site that renders notebooks. ``show(model)`` is the page of ``write_report`` in
a frame of its own, which shares nothing with the notebook around it.
"""

from __future__ import annotations

from html import escape
from typing import Any

from everytree.draw.svg import tree_to_html
from everytree.errors import EverytreeError, LimitReached
from everytree.report.words import shown

__all__ = ["Shown", "estimator_html", "posterior_html", "show"]

SECONDS = 3.0  # a cell must not keep its reader waiting
LISTED = 8
BAR = "#0072b2"


class Shown:
    """A page in a frame; a notebook shows it."""

    def __init__(self, html: str, height: int) -> None:
        self.html, self.height = html, height

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts" title="everytree" width="100%" height="{self.height}" '
            f'style="border: 1px solid #8a8a8a; border-radius: 8px;" srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<the page of a model, {len(self.html):,} letters; a notebook shows it>"


def show(model: Any, data: Any = None, *, height: int = 720, **options: Any) -> Shown:
    """The page of a fitted classifier for a notebook cell; the options are those of ``write_report``."""
    from everytree.common.arguments import whole
    from everytree.report.page import page_html

    return Shown(page_html(model, data, **options), whole("height", height, 100))


def posterior_html(posterior: Any) -> str:
    """The most probable tree, and the columns that the trees use, without a script."""
    from everytree.report.sections import about_posterior, limited

    space = posterior.space
    about = escape(shown(about_posterior(posterior)))
    lines = [
        f"<b>Posterior over every tree</b> of {escape(shown(repr(space)))}<br>{about} "
        f"Log evidence {posterior.log_evidence:.4f}."
    ]
    try:
        with limited(space, SECONDS):
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
    """The probability that the tree uses each of the first columns."""
    rows = "".join(
        f'<tr><td style="text-align: left;">{escape(shown(name))}</td>'
        f'<td style="text-align: left; min-width: 14em;"><div style="width: {100 * p:.1f}%; height: .7em; '
        f'background: {BAR}; border-radius: .3em;"></div></td><td>{100 * p:.1f} %</td></tr>'
        for name, p in chances[:LISTED]
    )
    more = len(chances) - LISTED
    note = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<div>The tree uses</div><table><tbody>{rows}</tbody></table>{note}"


def estimator_html(model: Any) -> str:
    """What a fitted classifier adds to the box that scikit-learn draws of it; nothing before it is fitted."""
    from everytree.bayes.posterior import Posterior
    from everytree.trees.tree import Tree

    tree: Any = getattr(model, "tree_", None)
    posterior = getattr(model, "posterior_", None)
    posterior = getattr(posterior, "best", posterior)  # of a mixture the part of most weight
    try:
        if isinstance(tree, Tree):
            return tree_to_html(tree)
        if isinstance(posterior, Posterior):
            return posterior_html(posterior)
        rules: Any = getattr(model, "rules_", None)
        text = tree.to_text() if hasattr(tree, "to_text") else "" if rules is None else str(rules)
    except EverytreeError as error:  # a picture must not hide the model
        text = f"no picture: {error}"
    lines = text.splitlines()
    if not lines:
        return ""
    rest = f"\n… {len(lines) - 40} more lines" if len(lines) > 40 else ""
    return f'<pre style="overflow-x: auto;">{escape(chr(10).join(lines[:40]) + rest)}</pre>'
