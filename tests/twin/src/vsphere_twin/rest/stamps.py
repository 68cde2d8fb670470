"""Moments as the REST API writes them."""


def stamp(moment):
    """A moment in ISO 8601 with milliseconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
