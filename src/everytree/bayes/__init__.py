"""Bayes optimal classification beyond the average itself: depth, bounds, uncertainty, explanation."""
