"""The machine under a host: processors, memory, NUMA nodes, PCI devices."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import dvx

from ..registry import prop
from . import host_pci
from .shape import EPOCH, make

KIND = "HostSystem"


prop(KIND, "hardware.pciDevice")(lambda host, world: host_pci.pci_devices(host))
prop(KIND, "hardware.dvxClasses")(lambda host, world: _dvx_classes(host))


@prop(KIND, "hardware")
def hardware(host, world):
    machine = host.hardware
    return make(
        vim.host.HardwareInfo,
        systemInfo=make(
            vim.host.SystemInfo,
            vendor=machine.vendor,
            model=machine.model,
            uuid=host.uuid,
            serialNumber=machine.serial,
            otherIdentifyingInfo=identifying(host),
        ),
        cpuInfo=make(
            vim.host.CpuInfo,
            numCpuPackages=machine.sockets,
            numCpuCores=machine.cores,
            numCpuThreads=2 * machine.cores,
            hz=machine.mhz * 1_000_000,
        ),
        cpuPkg=[
            make(
                vim.host.CpuPackage,
                index=socket,
                vendor="intel" if "Intel" in machine.cpu_model else "amd",
                hz=machine.mhz * 1_000_000,
                busHz=100_000_000,
                description=machine.cpu_model,
                threadId=_threads(machine, socket),
            )
            for socket in range(machine.sockets)
        ],
        memorySize=machine.memory_bytes,
        dvxClasses=_dvx_classes(host),
        numaInfo=make(
            vim.host.NumaInfo,
            type="NUMA",
            numNodes=machine.sockets,
            numaNode=[
                make(
                    vim.host.NumaNode,
                    typeId=node,
                    cpuID=_threads(machine, node),
                    memorySize=machine.memory_bytes // machine.sockets,
                    memoryRangeBegin=node * machine.memory_bytes // machine.sockets,
                    memoryRangeLength=machine.memory_bytes // machine.sockets,
                    pciId=host_pci.node_devices(host, node),
                )
                for node in range(machine.sockets)
            ],
        ),
        smcPresent=False,
        pciDevice=host_pci.pci_devices(host),
        biosInfo=make(
            vim.host.BIOSInfo, biosVersion="1.12.1", releaseDate=EPOCH, vendor=machine.vendor, firmwareType="UEFI"
        ),
    )


def _dvx_classes(host):
    """dvxClasses (API 8.0.0.1 and later)."""
    return [
        make(
            vim.host.DvxClass,
            deviceClass=one.name,
            checkpointSupported=one.checkpoint,
            swDMATracingSupported=one.dma_tracing,
            sriovNic=one.sriov_nic,
        )
        for _name, one in sorted(dvx.registered(host).items())
    ]


def _threads(machine, socket):
    """The numbers of the logical processors of a socket, two for each core."""
    threads = 2 * machine.cores_per_socket
    return list(range(socket * threads, (socket + 1) * threads))


def identifying(host):
    """Return the service tag, where all clients read it."""
    return [
        make(
            vim.host.SystemIdentificationInfo,
            identifierValue=host.hardware.serial,
            identifierType=make(
                vim.ElementDescription,
                label="Service tag",
                summary="Service tag of the system",
                key="ServiceTag",
            ),
        )
    ]
