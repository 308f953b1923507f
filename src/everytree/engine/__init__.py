"""The engine behind every question: the core's table and graph, limits, caches, and what a job would cost."""
