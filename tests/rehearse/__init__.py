"""Rehearsal of a whole site on a simulated data centre: `python -m rehearse`, or `make rehearse`."""

import mounted  # noqa: F401  (its modules import the collection)
