"""Pictures of trees as text, DOT, SVG and matplotlib axes, from their shape alone."""
