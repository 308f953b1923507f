"""Markov chains over whole trees: what they aim at, how they are run, their draws, and how far to trust these."""
