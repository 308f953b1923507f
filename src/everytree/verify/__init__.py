"""A checker apart from the solver: every claim of a model file recomputed from the raw data.

It shares no code with the rest of everytree: its own reader of CSV and of model files, its own routing, counting,
costs and search, all in plain Python with the standard library only. A mistake would have to be made twice, in two
languages, to go unnoticed.

    csv_file, model      what is in the two files
    examples, fills      cells → outcomes of tests → counted rows; what a missing value became
    query, chi2          what was asked for
    check, claims        each claim against the data, and against the others
    prove, optimum       is there a better tree?
    probable, posterior  is there a more probable one, and what is the evidence of all?
    average, draws       predictions of an average over every tree, or over drawn ones
    rules                rules that stand for an average, within their bound
    whole, flat          files of trees on whole columns: multiway (C4.5, CART), path_average, grown (option trees)
"""

from __future__ import annotations

from everytree.verify.check import verify_model
from everytree.verify.facts import Fact, Report
from everytree.verify.problem import InputError

__all__ = ["Fact", "InputError", "Report", "verify_model"]
