"""Processes that are killed at random moments while they work: none may abort, hang, or leave half a file."""
