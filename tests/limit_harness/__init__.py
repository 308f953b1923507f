"""One harness for every public call: tiny limits, Ctrl-C at random moments, and axes of scale."""
