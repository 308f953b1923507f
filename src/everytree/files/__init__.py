"""Models as JSON files, and back: one envelope, one checker, nothing trusted."""
