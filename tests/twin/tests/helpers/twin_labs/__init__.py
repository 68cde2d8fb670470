"""Data centres and guests for tests of the twin, and for tests of what talks to it."""
