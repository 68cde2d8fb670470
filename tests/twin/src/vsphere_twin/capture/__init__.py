"""Captures of real data centres: what is read from them, and the seed that they become."""
