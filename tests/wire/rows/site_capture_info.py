from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from .. import zips
from ..contract import Look
from ..lab import lab
from ..observe import client

KINDS = ("HostSystem", "VirtualMachine", "ClusterComputeResource")
DEST = zips.place()


def reports(twin):
    """What a plain client finds: the identifiers of the objects."""
    with client(twin) as service:
        content = service.RetrieveContent()
        (datacenter,) = content.rootFolder.childEntity
        (cluster,) = datacenter.hostFolder.childEntity
        vms = [vm._GetMoId() for host in cluster.host for vm in host.vm]
        hosts = [host._GetMoId() for host in cluster.host]
        return {"HostSystem": sorted(hosts), "VirtualMachine": sorted(vms), "version": content.about.version}


def reported(answer):
    capture = Capture(answer["dest"])
    files = [name.split("-", 2)[1:] for name in capture.files if name.startswith("vcenter/")]
    found = {kind: sorted(moid[:-4] for one, moid in files if one == kind) for kind in KINDS[:2]}
    return {**found, "version": capture.manifest["vcenter"]["version"]}


LOOKS = [Look("site_capture_info", "hosts and VMs of a lab", {"dest": DEST}, reports, reported, seed=lab({}, {}))]
EXAMPLES_SEED = lab({})
