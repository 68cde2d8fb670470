"""Playbooks against the twin, run as an operator runs them."""
