"""Mutation testing of the checker and of the core's bounds and folds: tables of mutants, and what runs them."""
