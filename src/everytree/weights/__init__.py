"""What leaves and splits weigh: Dirichlet parameters, tree priors, costs of leaves, constraints on leaves."""
