"""The pictures of docs/pictures: `python -m pictures`, or `make pictures`."""

import mounted  # noqa: F401  (its modules import the collection)
