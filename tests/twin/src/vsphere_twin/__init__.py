"""A digital twin of a data centre: a model with the rules of the real things, behind their real protocols."""

__version__ = "0.1.0"
