"""Studies of classifiers: the protocol of the papers, and what is measured by it."""
