# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Hosts with devices, and VMs that have some of them, for tests of the rules."""

from __future__ import annotations

import ctypes

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import near, plan, rules
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.availability import Claim
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.offer import Offer
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.params import DeviceRequest, PciRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci.state import DirectState, state_of
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.place import Place
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from pyVmomi import vim

PCI = vim.vm.device.VirtualPCIPassthrough
HERE, FAR = "0000:36:02.0", "0000:b6:02.0"
GPU, GPU_FAR = "0000:39:00.0", "0000:b9:00.0"
PORT, PORT_2, ONBOARD = "0000:3a:00.0", "0000:3a:00.1", "0000:4a:00.0"
A100, T4, CX6 = "10de:20f1", "10de:1eb8", "15b3:101d"
ME = Claim("vm-1", "train-01")
OTHER = Claim("vm-2", "train-02")
FIT = Vm(hardware_version=21, memory_mb=16384, memory_locked=True)


def device(address, ids=CX6, parent=HERE, name="MT2892 Family [ConnectX-6 Dx]"):
    """A PCI function as the API has it, with signed numbers."""
    vendor, kind = (int(part, 16) for part in ids.split(":"))
    display = ids.startswith("10de")
    return vim.host.PciDevice(
        id=address,
        classId=0x0302 if display else 0x0604 if ids == "8086:347a" else 0x0200,
        bus=0,
        slot=0,
        function=0,
        vendorId=ctypes.c_int16(vendor).value,
        subVendorId=0,
        vendorName="",
        deviceId=ctypes.c_int16(kind).value,
        subDeviceId=0,
        parentBridge=parent,
        deviceName="A100 PCIe 40GB" if display else name,
    )


def bridge(address):
    return device(address, "8086:347a", parent=None, name="PCIe Root Port")


def given(address, active=True, configured=None, label="", capable=True):
    configured = active if configured is None else configured
    return vim.host.PciPassthruInfo(
        id=address,
        dependentDevice=address,
        passthruEnabled=configured,
        passthruCapable=capable,
        passthruActive=active,
        hardwareLabel=label or None,
    )


def graphics(address, active="direct", configured="shared", mode=None):
    return vim.host.GraphicsInfo(
        deviceName="NVIDIA A100-PCIE-40GB",
        vendorName="NVIDIA Corporation",
        pciId=address,
        graphicsType=active,
        memorySizeInKB=0,
        vm=[],
        vgpuMode=mode,
    ), configured


# A GPU and two ports of one root, the GPU of another root, and an onboard port of the host's own.
DEVICES = (
    bridge(HERE),
    bridge(FAR),
    device(GPU, A100),
    device(GPU_FAR, A100, parent=FAR),
    device(PORT),
    device(PORT_2),
    device(ONBOARD, "8086:1521", name="I350"),
)
GIVEN = (given(GPU), given(GPU_FAR), given(PORT, label="fabric"), given(PORT_2, label="fabric"), given(ONBOARD, False))


GRAPHICS = (graphics(GPU), graphics(GPU_FAR))


def host(devices=DEVICES, given=GIVEN, gpus=GRAPHICS, version="8.0.3", dvx=()):
    config = vim.host.GraphicsConfig(
        hostDefaultGraphicsType="shared",
        sharedPassthruAssignmentPolicy="performance",
        deviceType=[vim.host.GraphicsConfig.DeviceType(deviceId=one.pciId, graphicsType=kind) for one, kind in gpus],
    )
    values = {
        "name": "esx-01",
        "config.graphicsConfig": config,
        "config.graphicsInfo": [one for one, kind in gpus],
        "config.pciPassthruInfo": list(given),
        "config.product.version": version,
        "hardware.dvxClasses": list(dvx),
        "hardware.pciDevice": list(devices),
    }
    return near.host_devices(Row(vim.HostSystem("host-1"), values, {}))


# A host whose first GPU carries vGPUs, one with vSphere 7 and eight GPUs, and what offers a device group.
SHARED_DIRECT = host(
    given=[given(GPU, False), *GIVEN[1:]], gpus=[graphics(GPU, "sharedDirect", "sharedDirect"), graphics(GPU_FAR)]
)
EIGHT = [device(f"0000:{bus:02x}:00.0", A100, parent=None) for bus in range(0x50, 0x58)]
SEVEN = host(
    devices=EIGHT, given=[given(one.id) for one in EIGHT], gpus=[graphics(one.id) for one in EIGHT], version="7.0.3"
)
CLASS, ADAPTERS = "com.example.gpu", "com.example.nic"


def enhanced(checkpoint=True, version="8.0.3"):
    """A host with a class of GPUs and a class of network adapters."""
    rows = [(CLASS, checkpoint, False), (ADAPTERS, True, True)]
    return host(
        version=version,
        dvx=[
            vim.host.DvxClass(
                deviceClass=name, checkpointSupported=saves, swDMATracingSupported=False, sriovNic=adapters
            )
            for name, saves, adapters in rows
        ],
    )


GROUPS = {"groups": {"Nvidia:2@nvlink": None}}


def place(connected=True):
    row = Row(vim.HostSystem("host-1"), {"name": "esx-01"}, {})
    return Place("host-1", "esx-01", "gpu", connected, row)


def offer(around, **more):
    """What the host says of the devices that are active, with all of it free."""
    targets = {
        one.address: vim.vm.PciPassthroughInfo(
            name=one.address, pciDevice=device(one.address, f"{one.vendor:04x}:{one.device:04x}"), systemId="4c4c4544"
        )
        for one in around.active()
    }
    return Offer(**{"targets": targets, **more})


def static_device(key, address, **more):
    vendor, kind = (0x10DE, "20f1") if address in (GPU, GPU_FAR) else (0x15B3, "101d")
    backing = PCI.DeviceBackingInfo(deviceName="", id=address, deviceId=kind, systemId="4c4c4544", vendorId=vendor)
    return PCI(key=key, backing=backing, **more)


def dynamic_device(key, *ids, label=None, assigned=None, **more):
    allowed = [PCI.AllowedDevice(vendorId=int(one[:4], 16), deviceId=int(one[5:9], 16)) for one in ids]
    backing = PCI.DynamicBackingInfo(deviceName="", allowedDevice=allowed, customLabel=label, assignedId=assigned)
    return PCI(key=key, backing=backing, **more)


def vgpu(key, profile, **more):
    return PCI(key=key, backing=PCI.VmiopBackingInfo(vgpu=profile), **more)


def member(instance, sequence):
    """What makes a device part of a group."""
    return {
        "deviceGroupInfo": vim.vm.device.VirtualDevice.DeviceGroupInfo(groupInstanceKey=instance, sequenceId=sequence)
    }


def groups(**names):
    """The groups of a VM: g1='the name of group 1'."""
    group = vim.vm.VirtualDeviceGroups.VendorDeviceGroup
    return vim.vm.VirtualDeviceGroups(
        deviceGroup=[group(groupInstanceKey=int(key[1:]), deviceGroupName=name) for key, name in names.items()]
    )


def state(*devices, vm=FIT, around=None, device_groups=None, where=None) -> DirectState:
    row = Row(
        vim.VirtualMachine("vm-1"), {"config.hardware.device": list(devices), "config.deviceGroups": device_groups}, {}
    )
    return state_of(row, vm, where or place(), around or host())


def static(address, **more):
    return entry("static", id=address, **more)


def dynamic(*ids, **more):
    return entry("dynamic", allowed=list(ids), **more)


def group(name, **more):
    return entry("group", group=name, **more)


def dvx(name=CLASS, **more):
    return entry("dvx", device_class=name, **more)


def entry(kind, **more):
    empty = dict.fromkeys(("id", "allowed", "label", "group", "device_class", "numa_node"))
    return DeviceRequest(**{"kind": kind, **empty, **more})


def requested(*devices, **more):
    usual = {"state": "present", "mixed": "refuse", "max_per_vm": None}
    return PciRequest(**{"devices": list(devices), **usual, **more})


def refusal(now, *devices, offered=None, claims=None, **options):
    """([codes], message) of the refusal, or None."""
    requested_one = requested(*devices, **options)
    wanted = plan.want(now, requested_one)
    new = plan.added(now, wanted)
    if not new:
        return None
    asked = {}
    for one in wanted.devices:
        asked.setdefault(one.asked, []).append(ME)
    for one, rivals in (claims or {}).items():
        asked.setdefault(one, []).extend(rivals)
    offered = offered or (offer(now.host) if now.host else Offer())
    try:
        rules.refuse_impossible(ME, wanted, new, offered, asked, requested_one)
    except OperatorError as error:
        return [problem["code"] for problem in error.data["problems"]], error.message
    return None
