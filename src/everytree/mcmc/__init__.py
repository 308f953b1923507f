"""Markov chains over whole trees: what they draw from, how they run, their draws, and how far to trust these."""
