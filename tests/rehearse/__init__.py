"""The whole way on a simulated data centre: `python -m rehearse`, or `make rehearse`."""
