"""VirtualHardwareOption: options of virtual hardware of a version."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import assigned, catalogue, dvx, nics

from .shape import make

DEVICE = vim.vm.device
MAC_TYPES = ("manual", "generated", "assigned")
VMWARE_OUI = "00:50:56"
MOST_CPUS = {
    13: 128,
    14: 128,
    15: 256,
    17: 256,
    18: 768,
    19: 768,
    20: 768,
    21: 960,
    22: 960,
}  # configuration maximums [unsure]
MOST_MEMORY_MB = 6128 * 1024
MOST_VIRTUAL_NUMA_NODES = 64  # [unsure]


def hardware_options(number, release, profiles):
    """The options of a hardware version on hosts of a release that offer these vGPU types."""
    groups = number >= 20
    cpus = next((most for version, most in sorted(MOST_CPUS.items(), reverse=True) if number >= version), 64)
    return make(
        vim.vm.VirtualHardwareOption,
        hwVersion=number,
        virtualDeviceOption=[
            _controller(number),
            *_adapters(number, release),
            *_passthrough(number),
            *(_vgpu(name, release) for name in profiles),
        ],
        numCPU=list(range(1, cpus + 1)),
        numCoresPerSocket=_at_most(cpus, 1),
        memoryMB=make(vim.option.LongOption, min=4, max=MOST_MEMORY_MB, defaultValue=4096),
        numPCIControllers=_at_most(1, 1),
        numDeviceGroups=_at_most(assigned.most(number), 0) if groups else None,
        deviceGroupTypes=[vim.vm.VirtualDeviceGroups.VendorDeviceGroup] if groups else None,
        numNumaNodes=_at_most(MOST_VIRTUAL_NUMA_NODES, 0) if groups else None,
    )


def _controller(number):
    return make(
        DEVICE.VirtualPCIControllerOption,
        type=DEVICE.VirtualPCIController,
        devices=_at_most(assigned.most(number) + nics.MOST_ADAPTERS, 0),
        numSCSIControllers=_at_most(4, 0),
        numEthernetCards=_at_most(nics.MOST_ADAPTERS, 0),
        numVmxnet3EthernetCards=_at_most(nics.MOST_ADAPTERS, 0),
        numVmxnet3VrdmaEthernetCards=_at_most(nics.most_pvrdma(number), 0) if number >= nics.PVRDMA_HARDWARE else None,
        numPCIPassthroughDevices=_at_most(assigned.most(number), 0),
        numParaVirtualSCSIControllers=_at_most(4, 0),
        numSATAControllers=_at_most(4, 0),
        numNVMEControllers=_at_most(4, 0) if number >= 13 else None,
    )


def _adapters(number, release):
    yield _adapter(DEVICE.VirtualVmxnet3Option, DEVICE.VirtualVmxnet3, hot=True)
    yield _adapter(DEVICE.VirtualSriovEthernetCardOption, DEVICE.VirtualSriovEthernetCard, hot=False)
    if number >= nics.PVRDMA_HARDWARE:
        choice = _choice(nics.protocols(release)) if number in nics.PROTOCOL_HARDWARE else None
        yield _adapter(DEVICE.VirtualVmxnet3VrdmaOption, DEVICE.VirtualVmxnet3Vrdma, hot=False, deviceProtocol=choice)


def _adapter(option, device, hot, **more):
    return make(
        option,
        type=device,
        controllerType=DEVICE.VirtualPCIController,
        plugAndPlay=hot,
        hotRemoveSupported=hot,
        macType=_choice(MAC_TYPES),
        supportedOUI=_choice((VMWARE_OUI,)),
        **more,
    )


def _passthrough(number):
    kinds = [(DEVICE.VirtualPCIPassthroughOption.DeviceBackingOption, DEVICE.VirtualPCIPassthrough.DeviceBackingInfo)]
    if number >= assigned.DYNAMIC_HARDWARE:
        kinds.append(
            (DEVICE.VirtualPCIPassthroughOption.DynamicBackingOption, DEVICE.VirtualPCIPassthrough.DynamicBackingInfo)
        )
    if number >= dvx.HARDWARE:
        kinds.append((DEVICE.VirtualPCIPassthroughOption.DvxBackingOption, dvx.BACKING))
    return [
        make(
            DEVICE.VirtualPCIPassthroughOption,
            type=DEVICE.VirtualPCIPassthrough,
            controllerType=DEVICE.VirtualPCIController,
            backingOption=[make(option, type=backing) for option, backing in kinds],
        )
    ]


def _vgpu(name, release):
    profile, board = catalogue.profile(name)
    whole = not profile.mig and profile.fb_gb == board.memory_gb
    return make(
        DEVICE.VirtualPCIPassthroughOption,
        type=DEVICE.VirtualPCIPassthrough,
        backingOption=[
            make(
                DEVICE.VirtualPCIPassthroughOption.VmiopBackingOption,
                type=DEVICE.VirtualPCIPassthrough.VmiopBackingInfo,
                vgpu=make(vim.option.StringOption, validCharacters="", defaultValue=name),
                maxInstances=release.most_vgpus if whole or release.fractional_multi_vgpu else 1,
            )
        ],
    )


def _at_most(most, default):
    return make(vim.option.IntOption, min=0, max=most, defaultValue=default)


def _choice(names):
    return make(
        vim.option.ChoiceOption,
        choiceInfo=[make(vim.ElementDescription, label=name, summary=name, key=name) for name in names],
        defaultIndex=0,
    )
