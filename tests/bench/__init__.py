"""Measurements as ratios within one run; a timing is never asserted in a test."""

from twin.model.mount import mount

mount()
