"""Data: from files and data frames to 0/1 tests and count tables."""
