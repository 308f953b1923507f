"""Studies of classifiers: the experiments of the papers, run again by their protocol, and what is measured in them."""
