from __future__ import annotations

import functools

from ..contract import Row
from ..lab import lab
from .esxi_maintenance import host_system

HOST = "esx-01"
NOTE = "aiready.vsphere.service.TSM-SSH"


def daemon(twin, name):
    """Whether SSH runs on a host, and what is noted about it, for a third-party client."""
    with host_system(twin, name) as host:
        (ssh,) = [entry for entry in host.configManager.serviceSystem.serviceInfo.service if entry.key == "TSM-SSH"]
        keys = {field.key: field.name for field in host.availableField}
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
EXAMPLES_UNDO = ("Stop SSH if this collection started it",)
