from __future__ import annotations

import base64
import json

from pyVmomi import vim

from ..contract import Row
from ..lab import NVAIE, datacenter, lab
from ..observe import client

# What a guest's identity and vCenter's own ids will be, nobody knows beforehand.
UNFORESEEN = ("moid", "instance_uuid")
TEMPLATE = {"name": "ubuntu-template", "template": True, "memory_gb": 8, "disk_gb": 40, "folder": "templates"}


def world(*vms, **more):
    """One cluster of two hosts with two datastores, a template, and folders."""
    seed = lab(*vms, {**TEMPLATE}, others=[{"name": "esx-02"}], folders=("templates", "training"), **more)
    center = seed["datacenters"][0]
    center["datastores"] = [
        {"name": "datastore-01", "capacity_gb": 1000},
        {"name": "datastore-02", "capacity_gb": 500},
    ]
    return seed


def machines(prefix):
    """VMs whose names begin so: where they are and what they bring along, reported by a plain client."""

    def observe(twin):
        found = {}
        with client(twin) as service:
            content = service.RetrieveContent()
            view = content.viewManager.CreateContainerView(content.rootFolder, [vim.VirtualMachine], True)
            for vm in view.view:
                if vm.name.startswith(prefix):
                    found[vm.name] = _seen(vm)
        return found

    return observe


def _seen(vm):
    guestinfo = {one.key: one.value for one in vm.config.extraConfig if one.key.startswith("guestinfo.")}
    return {
        "host": vm.runtime.host.name,
        "folder": vm.parent.name,
        "home": vm.config.files.vmPathName.partition("/")[0],
        "cpus and firmware": (vm.config.hardware.numCPU, vm.config.firmware),
        "power": vm.runtime.powerState,
        "userdata": base64.b64decode(guestinfo.get("guestinfo.userdata", "")).decode(),
        "metadata": json.loads(base64.b64decode(guestinfo.get("guestinfo.metadata", "") or "e30=")),
        "notes": vm.config.annotation,
    }


def vm_of(running, name):
    (found,) = [vm for vm in running.world.of_kind("VirtualMachine") if vm.name == name]
    return found


def machine(name, host="esx-01", store="datastore-01", folder="training", **more):
    return {
        "host": host,
        "folder": folder,
        "home": f"[{store}] {name}",
        "cpus and firmware": (2, "efi"),
        "power": "poweredOff",
        "userdata": "",
        "metadata": {},
        "notes": "",
        **more,
    }


BOTH = [{"name": "new-01", "host": "esx-01"}, {"name": "new-02", "host": "esx-02"}]
CALL = {"template": "ubuntu-template", "folder": "training", "vms": BOTH}
INIT = {"userdata": "#cloud-config\npackages: [rdma-core]\n"}


def initialised(name, host):
    metadata = {"instance-id": name, "local-hostname": f"{name}.example.com"}
    return machine(name, host, userdata=INIT["userdata"], metadata=metadata, notes="made for a test")


ROWS = [
    Row(
        module="vm_clone",
        name="a fleet with data for cloud-init, then one VM more, then none",
        seed=world(),
        create={
            **CALL,
            "cloud_init": INIT,
            "annotation": "made for a test",
            "vms": [{**vm, "cloud_init": {"metadata": {"local-hostname": f"{vm['name']}.example.com"}}} for vm in BOTH],
        },
        modify={**CALL, "vms": [*BOTH, {"name": "new-03", "host": "esx-02", "datastore": "datastore-02"}]},
        delete={"vms": [*BOTH, {"name": "new-03"}], "state": "absent"},
        observe=machines("new-"),
        created={"new-01": initialised("new-01", "esx-01"), "new-02": initialised("new-02", "esx-02")},
        modified={
            "new-01": initialised("new-01", "esx-01"),
            "new-02": initialised("new-02", "esx-02"),
            "new-03": machine("new-03", "esx-02", "datastore-02"),
        },
        deleted={},
        unforeseen=UNFORESEEN,
    ),
    Row(
        module="vm_clone",
        name="places that nobody named, and a cold move to another host and datastore",
        seed=world(),
        create={"template": "/lab/vm/templates/ubuntu-template", "vms": [{"name": "new-01"}]},
        modify={
            "template": "/lab/vm/templates/ubuntu-template",
            "vms": [{"name": "new-01", "host": "esx-01", "datastore": "datastore-02"}],
            "move": "cold",
        },
        delete={"vms": [{"name": "new-01"}], "state": "absent"},
        observe=machines("new-"),
        # The emptier host: the lab's VM and its template are on the first one.
        created={"new-01": machine("new-01", "esx-02", folder="vm")},
        modified={"new-01": machine("new-01", "esx-01", "datastore-02", folder="vm")},
        deleted={},
        unforeseen=UNFORESEEN,
    ),
]

EXAMPLES_SEED = {
    **lab(),
    "datacenters": [
        datacenter(
            "dc1",
            [{"name": "esx-01", "driver": NVAIE}, {"name": "esx-02", "driver": NVAIE}],
            [{"name": "ubuntu-template", "template": True, "networks": ["VM Network"]}],
            ["training"],
        )
    ],
}
