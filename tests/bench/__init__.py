"""Measurements as ratios within one run; a timing is never asserted in a test."""

import mounted  # noqa: F401  (measurements import the collection)
