"""Queries for trees: what is wanted, in Python and in words; the plan that answers it; and why no tree fits."""
