from __future__ import annotations

import functools

from pyVmomi import vim

from ..contract import Row
from ..lab import lab
from ..observe import client

HOST = "esx-01"
NOTE = "aiready.vsphere.service.TSM-SSH"


def daemon(twin, name):
    """Whether SSH runs on a host, and what is noted about it, for a foreign client."""
    with client(twin) as connection:
        content = connection.RetrieveContent()
        view = content.viewManager.CreateContainerView(content.rootFolder, [vim.HostSystem], True)
        (host,) = [entry for entry in view.view if entry.name == name]
        (ssh,) = [entry for entry in host.configManager.serviceSystem.serviceInfo.service if entry.key == "TSM-SSH"]
        keys = {field.key: field.name for field in content.customFieldsManager.field or []}
        notes = {keys[entry.key]: entry.value for entry in host.customValue or []}
        return {"running": ssh.running, "policy": ssh.policy, "note": notes.get(NOTE, "")}


SSH = {"host": HOST, "service": "TSM-SSH"}
OFF = {"running": False, "policy": "off", "note": ""}
BORROWED = {"running": True, "policy": "off", "note": "was stopped"}

ROWS = [
    Row(
        module="esxi_service",
        name="SSH, borrowed and given back",
        seed=lab(ssh="stopped"),
        create={**SSH, "state": "started"},
        modify={**SSH, "state": "restored"},
        delete={**SSH, "state": "started"},
        observe=functools.partial(daemon, name=HOST),
        created=BORROWED,
        modified=OFF,
        deleted=BORROWED,
    ),
    Row(
        module="esxi_service",
        name="SSH, borrowed and stopped for good",
        seed=lab(ssh="stopped"),
        create={**SSH, "state": "started"},
        modify={**SSH, "state": "stopped"},
        delete={**SSH, "state": "started"},
        observe=functools.partial(daemon, name=HOST),
        created=BORROWED,
        modified=OFF,
        deleted=BORROWED,
    ),
]

EXAMPLES_SEED = lab(name="esx-01.example.com", ssh="stopped", others=({"name": "esx-02.example.com"},))
EXAMPLES_UNDO = ("Stop SSH where it was started",)
