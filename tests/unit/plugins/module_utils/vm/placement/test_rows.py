# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from types import SimpleNamespace as Answer

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode
from ansible_collections.aiready.vsphere.plugins.module_utils.host.network import Network, Port, Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.host.passthrough import Given
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement import gpus, rows
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.placement.model import (
    ANY,
    DIRECT,
    MIG,
    MIXED_SIZE,
    NONE,
    SAME_SIZE,
)
from pyVmomi import vim

PCI = vim.vm.device.VirtualPCIPassthrough
FIRST, SECOND = "0000:10:00.0", "0000:11:00.0"
SLICED, INSTANCES = ("grid_a100-40c", "grid_a100-20c"), ("grid_a100-3-20c",)


def machine(*devices, extra=(), **properties):
    paths = {
        "name": "a",
        "config.hardware.device": list(devices),
        "config.extraConfig": [vim.option.OptionValue(key=key, value=value) for key, value in extra],
        **{name.replace("__", "."): value for name, value in properties.items()},
    }
    return rows.machine_of(Row(vim.VirtualMachine("vm-1"), paths, {}))


def host_row(offered=None, infos=(), devices=(), **properties):
    paths = {
        "name": "esx",
        "config.sharedPassthruGpuTypes": SLICED if offered is None else offered,
        "config.graphicsInfo": list(infos),
        "hardware.pciDevice": list(devices),
        **{name.replace("__", "."): value for name, value in properties.items()},
    }
    return Row(vim.HostSystem("host-1"), paths, {})


def info(address=FIRST, kind="sharedDirect", mode="sameSize", vms=()):
    return vim.host.GraphicsInfo(
        deviceName="NVIDIA A100-PCIE-40GB",
        vendorName="NVIDIA Corporation",
        pciId=address,
        graphicsType=kind,
        vgpuMode=mode,
        memorySizeInKB=1,
        vm=[vim.VirtualMachine(moid) for moid in vms],
    )


def device(address=FIRST, device_id=0x20F1, vendor=0x10DE, kind=0x0302, name="NVIDIA A100"):
    return vim.host.PciDevice(
        id=address, vendorId=vendor, deviceId=device_id, classId=kind, deviceName=name, vendorName="", bus=1
    )


@pytest.mark.parametrize(
    "backing, profiles, devices",
    [
        (PCI.VmiopBackingInfo(vgpu="grid_a100-40c"), ("grid_a100-40c",), ()),
        (PCI.DeviceBackingInfo(id=FIRST, deviceId="20f1", systemId="x", vendorId=0x10DE), (), (FIRST,)),
        (PCI.DynamicBackingInfo(assignedId=FIRST), (), (FIRST,)),
        (PCI.DynamicBackingInfo(assignedId=None), (), ()),
    ],
)
def test_what_a_vm_has_of_its_host_is_reported_by_its_backings(backing, profiles, devices):
    found = machine(PCI(backing=backing))
    assert (found.profiles, found.devices) == (profiles, devices)


def test_the_port_of_a_virtual_function_is_a_device_of_its_vm_once_it_is_known():
    card = vim.vm.device.VirtualSriovEthernetCard
    port = card.SriovBackingInfo(
        physicalFunctionBacking=PCI.DeviceBackingInfo(id=FIRST, deviceId="101d", systemId="x", vendorId=0x15B3)
    )
    found = machine(card(sriovBacking=port), card())
    assert [function for function, where in found.functions] == [FIRST, ""]
    assert rows.present_of(found, "/dc/vm/a", None).devices == (FIRST,)


BOUND = (("vm-1", 13001, "0000:90:00.0"), ("vm-1", 13000, "0000:10:00.0"), ("vm-2", 13000, "0000:91:00.0"))


@pytest.mark.parametrize("reported, found", [(True, ("0000:10:00.0", "0000:90:00.0")), (False, ())])
def test_the_host_reports_the_devices_of_a_vm_by_enhanced_directpath(reported, found):
    """A vGPU of the VM is on a GPU of the host too, but does not hold it."""
    vm = machine(
        *(PCI(key=key, backing=PCI.DvxBackingInfo(deviceClass="c")) for key in (13000, 13001)),
        PCI(key=13002, backing=PCI.VmiopBackingInfo(vgpu="grid_a100-40c")),
    )
    bindings = [
        vim.host.AssignableHardwareBinding(
            instanceId="i", vm=vim.VirtualMachine(moid), pciId=address if reported else None, deviceKey=key
        )
        for moid, key, address in (*BOUND, ("vm-1", 13002, "0000:11:00.0"))
    ]
    there = rows.bound({"vm-1": vm}, [host_row(config__assignableHardwareBinding=bindings), host_row()])
    assert there["vm-1"].devices == found


def test_a_port_of_enhanced_directpath_is_listed_and_not_given_to_other_plans():
    tree = _tree(device("0000:90:00.0", 0x101D, 0x15B3, 0x0200, "MT2892 Family [ConnectX-6 Dx]"))
    mode = device_mode.Mode(device_mode.ENHANCED, ())
    (found,) = rows._nics(Network(), tree, {"0000:90:00.0": Given("0000:90:00.0", True, False, False, mode=mode)}, [])
    assert (found.given, found.enhanced) == (False, True)


@pytest.mark.parametrize(
    "memory_mb, cpus, overhead_mb", [(0, 8, 0), (4000, 0, 151), (4000, 4, 199), (65536, 16, 128 + 192 + 384)]
)
def test_running_a_vm_takes_memory_beside_its_own(memory_mb, cpus, overhead_mb):
    assert rows.overhead_mb(memory_mb, cpus) == overhead_mb


@pytest.mark.parametrize(
    "locked, reservation, reserved", [(True, 0, 65536), (False, 1024, 1024), (None, None, 0), (True, None, 65536)]
)
def test_memory_that_is_locked_is_reserved_whatever_the_number_says(locked, reservation, reserved):
    found = machine(
        config__hardware__memoryMB=65536,
        config__memoryReservationLockedToMax=locked,
        config__memoryAllocation__reservation=reservation,
    )
    assert found.reserved_mb == reserved


@pytest.mark.parametrize("text, nodes", [("0", (0,)), ("0, 1", (0, 1)), ("", ()), ("x", ())])
def test_an_affinity_is_read_whatever_its_key_is_written_like(text, nodes):
    assert machine(extra=[("NUMA.nodeAffinity", text)]).nodes == nodes


@pytest.mark.parametrize(
    "offered, kind, mode, expected",
    [
        (SLICED, "sharedDirect", "sameSize", SAME_SIZE),
        (SLICED, "sharedDirect", "mixedSize", MIXED_SIZE),
        (INSTANCES, "sharedDirect", "multiInstanceGpu", MIG),
        (SLICED, "sharedDirect", None, SAME_SIZE),
        (INSTANCES, "sharedDirect", None, MIG),
        (SLICED + INSTANCES, "sharedDirect", None, ANY),
        (SLICED, "shared", "none", NONE),
        (SLICED, "basic", None, NONE),
    ],
)
def test_the_mode_of_a_gpu_where_the_release_reports_it_and_where_it_does_not(offered, kind, mode, expected):
    (found,) = gpus.gpus_of(host_row(offered, [info(kind=kind, mode=mode)]), _tree(device()), {}, [])
    assert found.mode == expected


def test_a_gpu_is_reported_with_the_ids_of_its_device():
    (found,) = gpus.gpus_of(host_row(SLICED, [info()]), _tree(device()), {}, [])
    assert (found.vendor_id, found.device_id, found.board) == ("10de", "20f1", "grid_a100")
    (unknown,) = gpus.gpus_of(host_row(SLICED, [info()]), _tree(), {}, [])
    assert (unknown.vendor_id, unknown.device_id) == ("", "")


def _tree(*devices):
    return rows.pci.tree_of(devices, None)


def test_a_gpu_that_is_given_away_counts_though_graphics_no_longer_report_of_it():
    given = {FIRST: Given(FIRST, True, True, True, label="train", dependent=FIRST)}
    (found,) = gpus.gpus_of(host_row([]), _tree(device()), given, [])
    assert (found.id, found.mode, found.label, found.device_id) == (FIRST, DIRECT, "train", "20f1")


def test_the_virtual_functions_of_a_gpu_are_no_gpus():
    function = "0000:10:00.4"
    given = {function: Given(function, True, True, True, dependent=FIRST)}
    assert gpus.gpus_of(host_row([]), _tree(device(function)), given, []) == ()


@pytest.mark.parametrize(
    "device_id, offered, board",
    [
        (0x20F1, ["grid_a100-40c"], "grid_a100"),
        # The A2 and the A16 share an id; what the host offers distinguishes them.
        (0x25B6, ["nvidia_a2-16c"], "nvidia_a2"),
        (0x25B6, ["nvidia_a16-16c"], "nvidia_a16"),
        (0xFFFF, ["nvidia_x999-24c"], "nvidia_x999"),
        (0xFFFF, [], ""),
    ],
)
def test_the_board_is_reported_by_its_id_and_by_what_the_host_offers(device_id, offered, board):
    signed = device_id - 0x10000 if device_id > 0x7FFF else device_id
    (found,) = gpus.gpus_of(host_row(offered, [info()]), _tree(device(device_id=signed)), {}, [])
    assert found.board == board


def running(moid, *profiles, **more):
    return Answer(
        **{"moid": moid, "name": moid, "profiles": profiles, "devices": (), "functions": (), "enhanced": (), **more}
    )


def test_vgpus_of_a_vm_on_several_gpus_are_dealt_so_that_each_gpu_can_carry_its_share():
    infos = [info(FIRST, vms=["vm-1", "vm-2"]), info(SECOND, vms=["vm-1"])]
    vms = [running("vm-2", "grid_a100-20c"), running("vm-1", "grid_a100-40c", "grid_a100-20c")]
    first, second = gpus.gpus_of(host_row(SLICED, infos), _tree(device(), device(SECOND)), {}, vms)
    assert first.carries == ("grid_a100-20c", "grid_a100-20c")
    assert second.carries == ("grid_a100-40c",)


@pytest.mark.parametrize(
    "power, on_host, used", [("on", True, ((FIRST, "grid_a100-40c"),)), ("off", True, ()), ("on", False, ())]
)
def test_a_vm_of_the_request_has_its_gpu_only_while_it_runs(power, on_host, used):
    state = {value: name for name, value in rows.POWER.items()}[power]
    found = machine(PCI(backing=PCI.VmiopBackingInfo(vgpu="grid_a100-40c")), runtime__powerState=state)
    where = host_row(SLICED, [info(FIRST, vms=["vm-1"]), info(SECOND)]) if on_host else None
    assert rows.present_of(found, "/dc/vm/a", where).gpus == used


def test_a_gpu_whose_vm_has_no_vgpu_is_held_as_a_whole():
    (found,) = gpus.gpus_of(host_row(SLICED, [info(vms=["vm-1"])]), _tree(device()), {}, [running("vm-1")])
    assert (found.held_by, found.carries) == ("vm-1", ())


NETWORK = Network(
    ports=(
        Port("vmnic1", "0000:80:00.0", "nmlx5_core", 9000, 100000, "dvs-a"),
        Port("vmnic2", "0000:81:00.0", "nmlx5_core", 9000, 100000, "dvs-b"),
    ),
    switches=(Switch("dvs-a", True, 9000, ("vmnic1",), "uuid-a"), Switch("dvs-b", True, 9000, ("vmnic2",), "uuid-b")),
)


def _split(address, number):
    return Given(address, True, False, False, sriov_capable=True, vfs_configured=number, vfs_active=number)


SPLIT = {port.pci: _split(port.pci, 4) for port in NETWORK.ports}


@pytest.mark.parametrize(
    "functions, free",
    [
        ([("0000:81:00.0", "")], [4, 3]),
        ([("", "uuid-a"), ("", "uuid-a")], [2, 4]),
        ([("", ""), ("", "")], [3, 3]),
    ],
)
def test_functions_of_running_vms_count_for_the_port_that_they_name_or_that_their_switch_has(functions, free):
    tree = _tree(*(device(port.pci, 0x101D, 0x15B3, 0x0200, "ConnectX") for port in NETWORK.ports))
    vms = [running(f"vm-{at}", functions=(one,)) for at, one in enumerate(functions)]
    assert [nic.vfs_free for nic in rows._nics(NETWORK, tree, SPLIT, vms)] == free


def test_of_ports_that_are_given_away_only_whole_ones_of_rdma_adapters_count():
    whole, function, other, unnamed = "0000:90:00.0", "0000:90:00.2", "0000:91:00.0", "0000:90:00.3"
    tree = _tree(
        device(whole, 0x101D, 0x15B3, 0x0200, "MT2892 Family [ConnectX-6 Dx]"),
        device(function, 0x101E, 0x15B3, 0x0200, "ConnectX Family mlx5Gen Virtual Function"),
        device(other, 0x1521, -32634, 0x0200, "I350 Gigabit"),
        device(unnamed, 0x101E, 0x15B3, 0x0200, "Mellanox device"),
    )
    given = {address: Given(address, True, True, True, label="rdma") for address in (whole, function, other)}
    given[unnamed] = Given(unnamed, True, True, True, dependent=whole)
    holder = running("vm-1", devices=(whole,))
    (found,) = rows._nics(Network(), tree, given, [holder])
    assert (found.pci, found.given, found.held_by, found.label) == (whole, True, "vm-1", "rdma")


def test_cores_of_a_node_are_right_whether_the_host_lists_cores_or_threads():
    cpu = vim.host.CpuInfo(numCpuPackages=2, numCpuCores=4, numCpuThreads=8, hz=1)
    for per_node in (2, 4):
        info_ = vim.host.NumaInfo(
            type="NUMA",
            numNodes=2,
            numaNode=[
                vim.host.NumaNode(
                    typeId=node,
                    cpuID=list(range(per_node)),
                    memorySize=1024**3,
                    memoryRangeBegin=0,
                    memoryRangeLength=0,
                )
                for node in range(2)
            ],
        )
        assert [node.cores for node in rows._nodes(info_, cpu)] == [2, 2]


@pytest.mark.parametrize("size, length", [(2 * 1024**3, 0), (None, 2 * 1024**3)], ids=["8.0", "7.0"])
def test_the_memory_of_a_node_is_known_in_every_release_and_its_number_is_the_hosts(size, length):
    nodes = [
        vim.host.NumaNode(typeId=number, memorySize=size, memoryRangeBegin=0, memoryRangeLength=length)
        for number in (1, 0)
    ]
    info_ = vim.host.NumaInfo(type="NUMA", numNodes=2, numaNode=nodes)
    assert [(node.number, node.memory_mb) for node in rows._nodes(info_, None)] == [(1, 2048), (0, 2048)]


@pytest.mark.parametrize("committed, size_gb", [(None, 0), (1, 1), (60 * 1024**3, 60), (60 * 1024**3 + 1, 61)])
def test_the_space_of_a_vm_is_rounded_up_and_its_datastores_are_known(committed, size_gb):
    found = machine(datastore=[vim.Datastore("datastore-7")], summary__storage__committed=committed)
    assert (found.datastores, found.disk_gb) == (("datastore-7",), size_gb)
    present = rows.present_of(found, "/dc/vm/a", None)
    assert (present.datastores, present.disk_gb) == (("datastore-7",), size_gb)


def test_the_memory_of_a_host_is_free_but_for_its_own_and_what_running_vms_reserve():
    size = {"memory_mb": 4096, "reserved_mb": 2048, "cpus": 4}
    others = [running("vm-1", power="on", **size), running("vm-2", power="off", **size)]
    cpu = vim.host.CpuInfo(numCpuPackages=2, numCpuCores=4, numCpuThreads=8, hz=1)
    row = host_row([], hardware__memorySize=64 * rows.GB, hardware__cpuInfo=cpu)
    found = rows.host_of(row, "gpu", others, 1024)
    overhead_mb = rows.overhead_mb(4096, 4)
    assert overhead_mb > 0
    assert (found.memory_free_mb, found.running, found.vcpus) == (65536 - 1024 - 2048 - overhead_mb, 1, 4)
    assert found.threads == 8


def test_a_host_of_which_vcenter_knows_nothing_takes_no_vm_and_breaks_nothing():
    found = rows.host_of(host_row([], runtime__connectionState="notResponding"), "gpu", [], 1024)
    assert (found.out_of_use, found.gpus, found.nics, found.nodes) == ("it is not responding", (), (), ())
