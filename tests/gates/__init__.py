"""What `make test` runs: every gate of the collection, side by side, with one summary."""
