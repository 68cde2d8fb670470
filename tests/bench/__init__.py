"""Measurements as ratios within one run; a timing is never asserted in a test."""

from vsphere_twin.model.mount import mount

mount()
