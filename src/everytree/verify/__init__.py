"""A checker apart from the solver: it recomputes every claim of a model file from the raw data.

It shares no code with the rest of everytree: it has its own reader of CSV and of model files, and its own routing,
counting, costs and search, all in plain Python with the standard library only. A mistake would have to be made twice,
in two languages, to go unnoticed.

    csv_file, model      read the two files
    examples, fills      turn cells into outcomes of tests and counted rows, and check what replaced missing values
    asked, categories    check that tests, values and bins are those that the rows and the parameters give
    cuts, places         check which cuts nodes have, and where between two values cuts lie
    query, chi2          read what was asked for
    check, claims        compare each claim with the data, and with the others
    prove, optimum       look for a better tree
    probable, posterior  look for a more probable one, and compute the evidence of all
    average, draws       compute predictions of an average over every tree, or over drawn ones
    rules, expansion     check that compressed rules stay within their bound of an average
    whole, flat          check trees on whole columns: multiway (C4.5, CART), path_average, grown (option trees)
"""

from __future__ import annotations

from everytree.verify.check import verify_model
from everytree.verify.facts import Fact, Report
from everytree.verify.problem import InputError

__all__ = ["Fact", "InputError", "Report", "verify_model"]
