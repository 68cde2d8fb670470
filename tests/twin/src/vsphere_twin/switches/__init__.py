"""Physical switches of the twin: their cables, their command lines, and their treatment of packets."""
