"""Runs a command so that nothing of it is left, however it ends, and removes what a killed one left before.

Only the standard library: it runs before anything is installed.
"""
