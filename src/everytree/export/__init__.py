"""Models that leave the house: one plain form, and a writer of it for each language."""
