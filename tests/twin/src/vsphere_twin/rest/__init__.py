"""vCenter's REST API: sessions, lists for clients, and vSphere Lifecycle Manager's images."""

from . import (  # noqa: F401  the routes register themselves
    check_outs,
    cluster_modules,
    clusters,
    configurations,
    containers,
    deployment,
    depots,
    direct_path,
    inventory,
    libraries,
    library_contents,
    library_sessions,
    storage_policies,
    supervisor,
    tagging,
    tasks,
    vm_guest,
    vm_hardware,
    vms,
)
