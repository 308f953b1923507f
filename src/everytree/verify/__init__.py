"""A checker apart from the solver: every claim of a model file recomputed from the raw data.

It shares no code with the rest of everytree: its own reader of CSV and of model files, its own routing, counting,
costs and search, all in plain Python with the standard library only. A mistake would have to be made twice, in two
languages, to go unnoticed.

    csv_file, model      what is in the two files
    examples             cells → outcomes of tests → counted rows
    query, chi2          what was asked for
    check                each claim against the data
    prove, optimum       is there a better tree?
    probable, posterior  is there a more probable one, and what is the evidence of all?
"""

from __future__ import annotations

from everytree.verify.check import verify_model
from everytree.verify.facts import Fact, Report
from everytree.verify.problem import InputError

__all__ = ["Fact", "InputError", "Report", "verify_model"]
