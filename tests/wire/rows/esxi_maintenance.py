from __future__ import annotations

import contextlib
import functools

from pyVmomi import vim

from ..contract import Row
from ..lab import lab
from ..observe import client

HOST = "esx-01"
NOTE = "aiready.vsphere.maintenance"


@contextlib.contextmanager
def host_system(twin, name):
    """A host, for a third-party client."""
    with client(twin) as connection:
        content = connection.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.HostSystem], True)
        (host,) = [entry for entry in view.view if entry.name == name]
        yield host


def service(twin, name):
    """Whether a host is in service, and what is noted about it."""
    with host_system(twin, name) as host:
        keys = {field.key: field.name for field in host.availableField}
        notes = {keys[entry.key]: entry.value for entry in host.customValue or []}
        return {"in maintenance": host.runtime.inMaintenanceMode, "note": notes.get(NOTE, "")}


def in_service(name=HOST):
    return functools.partial(service, name=name)


ROWS = [
    Row(
        module="esxi_maintenance",
        name="out of service, for another reason, and back",
        seed=lab(),
        create={"host": HOST},
        modify={"host": HOST, "reason": "new host driver"},
        delete={"host": HOST, "state": "left"},
        observe=in_service(),
        created={"in maintenance": True, "note": "aiready.vsphere"},
        modified={"in maintenance": True, "note": "new host driver"},
        deleted={"in maintenance": False, "note": ""},
    ),
]

EXAMPLES_SEED = lab(name="esx-01.example.com", others=({"name": "esx-02.example.com"},))
EXAMPLES_UNDO = ("End maintenance mode of the hosts",)
