"""Models as JSON files, and back; nothing in a file is trusted."""
