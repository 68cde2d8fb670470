"""Gates of `make test`: every check of the collection, in parallel, with one summary."""
