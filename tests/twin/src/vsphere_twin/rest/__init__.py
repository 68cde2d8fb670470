"""vCenter's REST API: sessions, lists for clients, and vSphere Lifecycle Manager's images."""

from . import clusters, deployment, depots, libraries, tagging, tasks  # noqa: F401  the routes register themselves
