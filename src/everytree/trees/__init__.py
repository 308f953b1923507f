"""Trees as values: immutable, with their laws, their routes for rows, and their forms as text and JSON."""
