"""TreeSpace: every tree of a bounded space, and the questions to it."""
