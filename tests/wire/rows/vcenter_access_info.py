from __future__ import annotations

from ..contract import Look
from ..lab import lab
from ..observe import client

USER = "automation@vsphere.local"
SEED = {
    **lab({}, {}),
    "users": {USER: "secret", "administrator@vsphere.local": "VMware1!"},
    "roles": {"operators": ["Host.Config.Maintenance", "VirtualMachine.Interact.PowerOn"]},
    "permissions": [{"user": USER, "role": "operators", "object": "gpu"}],
}
ASKED = ("Host.Config.Maintenance", "Host.Config.Settings", "VirtualMachine.Interact.PowerOn")
OBJECTS = (("host", "esx-01"), ("cluster", None), ("folder", None), ("vm", "train-01"), ("vcenter", None))


def reports(twin):
    """The user's privileges as a plain client reads them with another method, and the versions."""
    with client(twin) as service:
        content = service.RetrieveContent()
        (datacenter,) = content.rootFolder.childEntity
        (cluster,) = datacenter.hostFolder.childEntity
        objects = {
            "host": cluster.host[0],
            "cluster": cluster,
            "folder": datacenter.vmFolder,
            "vm": next(one for one in datacenter.vmFolder.childEntity if one.name == "train-01"),
            "vcenter": content.rootFolder,
        }
        reported = content.authorizationManager.FetchUserPrivilegeOnEntities(
            entities=list(objects.values()), userName=USER
        )
        held = {one.entity: set(one.privileges) for one in reported}
        return {
            "version": content.about.version,
            "hosts": {host.name: host.config.product.build for host in cluster.host},
            "stores": {one.name: one.summary.freeSpace >> 30 for one in cluster.host[0].datastore},
            "missing": {kind: sorted(set(ASKED) - held[entity]) for kind, entity in objects.items()},
        }


def reported(answer):
    return {
        "version": answer["vcenter"]["version"],
        "hosts": {host["name"]: host["build"] for host in answer["hosts"]},
        "stores": {one["name"]: one["free_gb"] for one in answer["datastores"]},
        "missing": {one["kind"]: one["missing"] for one in answer["objects"]},
    }


LOOKS = [
    Look(
        "vcenter_access_info",
        "what is missing on each kind of object",
        {
            "hosts": ["esx-01"],
            "objects": [
                {"kind": kind, "privileges": list(ASKED), **({"name": name} if name else {})} for kind, name in OBJECTS
            ],
        },
        reports,
        reported,
        seed=SEED,
    ),
]

_EXAMPLE = lab({})
_EXAMPLE["datacenters"][0]["clusters"][0]["hosts"][0]["name"] = "esx-01.example.com"
_EXAMPLE["datacenters"][0]["vms"][0]["host"] = "esx-01.example.com"
# The data centre in which the examples of the documentation play.
EXAMPLES_SEED = _EXAMPLE
