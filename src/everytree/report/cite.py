"""How to cite everytree, and the paper behind a method."""

from __future__ import annotations

from typing import Any

from everytree import __version__

__all__ = ["citation"]

TITLE = "everytree: exact optimal and exact Bayesian decision trees"

# PAPER of a classifier -> (key, authors, title, where, year)
PAPERS = {
    "dl8": (
        "nijssen2007dl8",
        "Siegfried Nijssen and Elisa Fromont",
        "Mining optimal decision trees from itemset lattices",
        "KDD",
        2007,
    ),
    "boc": (
        "nijssen2008bayes",
        "Siegfried Nijssen",
        "Bayes optimal classification for decision trees",
        "ICML",
        2008,
    ),
    "buntine": (
        "buntine1992",
        "Wray Buntine",
        "Learning classification trees",
        "Statistics and Computing",
        1992,
    ),
    "chipman": (
        "chipman1998",
        "Hugh A. Chipman, Edward I. George and Robert E. McCulloch",
        "Bayesian CART model search",
        "Journal of the American Statistical Association",
        1998,
    ),
    "c45": ("quinlan1993", "J. Ross Quinlan", "C4.5: Programs for machine learning", "Morgan Kaufmann", 1993),
}


def citation(model: Any = None) -> dict[str, str]:
    """Return a sentence and BibTeX entries that cite the software, and the paper behind the method of a classifier."""
    text = f"The everytree developers. {TITLE}. Version {__version__}."
    entries = [
        f"@software{{everytree,\n  author  = {{{{The everytree developers}}}},\n  title   = {{{TITLE}}},\n"
        f"  version = {{{__version__}}}\n}}"
    ]
    paper = None if model is None or model.PAPER is None else PAPERS[model.PAPER]
    if paper is not None:
        key, authors, title, where, year = paper
        text += f" The method: {authors.replace(' and ', ' & ')}. {title}. {where}, {year}."
        entries.append(
            f"@misc{{{key},\n  author = {{{authors.replace(', ', ' and ')}}},\n  title  = {{{title}}},\n"
            f"  howpublished = {{{where}}},\n  year   = {{{year}}}\n}}"
        )
    return {"text": text, "bibtex": "\n\n".join(entries)}
