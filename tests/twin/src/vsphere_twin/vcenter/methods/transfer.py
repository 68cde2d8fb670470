"""ExportVm: a lease, the URLs of a VM's disks under it, and the descriptor of the export."""

from __future__ import annotations

import hashlib
from xml.sax.saxutils import quoteattr

from pyVmomi import vim, vmodl

from vsphere_twin.model import devices
from vsphere_twin.model.world import Entity

from ..projections.shape import make
from ..registry import method, prop

LEASE_S = 300
SECTOR = 512


class Lease(Entity):
    """An export that goes on until its client completes or aborts it."""

    kind = "HttpNfcLease"

    def __init__(self, moid, vm, number):
        super().__init__(moid)
        self.version = None
        self.vm = vm
        self.number = number
        self.state = "ready"
        self.percent = 0
        self.fault = None

    @property
    def files(self):
        """{name under the lease: (device key, bytes)}."""
        return {
            f"disk-{number}.vmdk": (disk.key, image(disk.capacityInKB or 0))
            for number, disk in enumerate(self.vm.disks)
        }


def image(kilobytes):
    """Return a sparse VMDK without any data: its header contains its size (VMware Virtual Disk Format 5.0)."""
    header = b"KDMV" + (3).to_bytes(4, "little") + (0x30001).to_bytes(4, "little")
    header += (kilobytes * 2).to_bytes(8, "little") + (128).to_bytes(8, "little")
    return header.ljust(SECTOR, b"\0")


@method("VirtualMachine", "ExportVm")
def export_vm(call, this):
    if this.power != "poweredOff":
        raise devices.wrong_power(this)
    lease = Lease(call.session.new_moid(), this, call.world.next_export())
    call.world.exports[lease.number] = lease
    return call.session.add(lease)


@method("HttpNfcLease", "HttpNfcLeaseProgress")
def progress(call, this, percent):
    _require_ready(this)
    if not 0 <= percent <= 100:
        raise vmodl.fault.InvalidArgument(
            msg="A specified parameter was not correct: percent", invalidProperty="percent"
        )
    this.percent = percent


@method("HttpNfcLease", "HttpNfcLeaseComplete")
def complete(call, this):
    _require_ready(this)
    _end(call, this, "done")


@method("HttpNfcLease", "HttpNfcLeaseAbort")
def abort(call, this, fault=None):
    _require_ready(this)
    this.fault = fault
    _end(call, this, "error")


@method("HttpNfcLease", "HttpNfcLeaseGetManifest")
def manifest(call, this):
    _require_ready(this)
    return [
        make(
            vim.HttpNfcLease.ManifestEntry,
            key=f"/{this.vm.moid}/{key}",
            sha1=hashlib.sha1(data, usedforsecurity=False).hexdigest(),
            size=len(data),
            disk=True,
        )
        for key, data in this.files.values()
    ]


@prop("HttpNfcLease", "state")
def state(lease, world):
    return lease.state


@prop("HttpNfcLease", "initializeProgress")
def initialize_progress(lease, world):
    return 100


@prop("HttpNfcLease", "transferProgress")
def transfer_progress(lease, world):
    return lease.percent


@prop("HttpNfcLease", "mode")
def mode(lease, world):
    return "pushOrGet"


@prop("HttpNfcLease", "error")
def error(lease, world):
    return lease.fault


@prop("HttpNfcLease", "info")
def info(lease, world):
    if lease.state != "ready":
        return None
    return make(
        vim.HttpNfcLease.Info,
        lease=vim.HttpNfcLease(lease.moid),
        entity=lease.vm,
        totalDiskCapacityInKB=sum(disk.capacityInKB or 0 for disk in lease.vm.disks),
        leaseTimeout=LEASE_S,
        deviceUrl=[
            make(
                vim.HttpNfcLease.DeviceUrl,
                key=f"/{lease.vm.moid}/{key}",
                importKey="",
                # A host's address is * where clients go on with the server that they asked (GOVC).
                url=f"https://*/nfc/{lease.number}/{name}",
                sslThumbprint="",
                disk=True,
                targetId=name,
                fileSize=len(data),
            )
            for name, (key, data) in lease.files.items()
        ],
    )


@method("OvfManager", "CreateDescriptor")
def create_descriptor(call, this, obj, cdp):
    """Return an OVF 1.1 envelope with the content of the export: disks, processors and memory."""
    vm = call.resolve(obj)
    if vm.kind != "VirtualMachine":
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    files = "".join(
        f'<File ovf:href={quoteattr(one.path)} ovf:id="file{number}" ovf:size="{one.size}"/>'
        for number, one in enumerate(cdp.ovfFiles or [], start=1)
    )
    disks = "".join(
        f'<Disk ovf:capacity="{disk.capacityInBytes}" ovf:capacityAllocationUnits="byte" ovf:diskId="vmdisk{number}"'
        f' ovf:fileRef="file{number}"'
        ' ovf:format="http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"/>'
        for number, disk in enumerate(vm.disks, start=1)
    )
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1"'
        ' xmlns:rasd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData">'
        f"<References>{files}</References><DiskSection><Info>List of the virtual disks</Info>{disks}</DiskSection>"
        f"<VirtualSystem ovf:id={quoteattr(cdp.name or vm.name)}><Info>A Virtual system</Info>"
        "<VirtualHardwareSection><Info>Virtual hardware requirements</Info>"
        f"<Item><rasd:InstanceID>1</rasd:InstanceID><rasd:ResourceType>3</rasd:ResourceType>"
        f"<rasd:VirtualQuantity>{vm.cpus}</rasd:VirtualQuantity></Item>"
        "<Item><rasd:InstanceID>2</rasd:InstanceID><rasd:ResourceType>4</rasd:ResourceType>"
        f"<rasd:VirtualQuantity>{vm.memory_mb}</rasd:VirtualQuantity></Item>"
        "</VirtualHardwareSection></VirtualSystem></Envelope>\n"
    )
    return make(vim.OvfManager.CreateDescriptorResult, ovfDescriptor=text)


def _end(call, lease, state):
    lease.state = state
    call.world.exports.pop(lease.number, None)


def _require_ready(lease):
    if lease.state != "ready":
        raise vim.fault.InvalidState(msg="The operation is not allowed in the current state.")
