"""The collection against the twin over the real protocol."""
