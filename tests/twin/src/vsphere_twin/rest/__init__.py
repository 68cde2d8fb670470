"""The vCenter's REST API: sessions, what clients list, and vSphere Lifecycle Manager's images."""

from . import clusters, deployment, depots, libraries, tagging, tasks  # noqa: F401  the routes register themselves
