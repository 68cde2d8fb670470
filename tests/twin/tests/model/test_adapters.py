"""Network ports and the PCI tree: what a port becomes by its firmware, its driver and its switch."""

from __future__ import annotations

import pytest

from vsphere_twin.model import adapters, kernel, lifecycle, network, pci

GPU = {"board": "a100_pcie_40gb", "root": "0000:36:02.0"}
PORTS = [
    {"device": "vmnic0", "model": "i350", "uplink_of": "vSwitch0"},
    {"device": "vmnic2", "model": "cx6dx", "root": "0000:36:02.0", "numa_node": 0, "uplink_of": "dvs"},
    {"device": "vmnic3", "model": "cx6dx", "root": "0000:36:02.0", "numa_node": 0},
]
VFS = {"sriov": True, "num_vfs": 8}


@pytest.fixture
def here(lab):
    def build(options="", firmware=None, **host):
        nics = [{**nic, "firmware": firmware or {}} if nic["model"] == "cx6dx" else nic for nic in PORTS]
        modules = {"nmlx5_core": options} if options else {}
        return lab(hosts=[{"name": "esx-1", "gpus": [GPU], "nics": nics, "module_options": modules, **host}])

    return build


def port(host, name):
    return next(nic for nic in host.ports if nic.device == name)


def restart(here, cold=False):
    (lifecycle.power_cycle if cold else lifecycle.reset)(here.world, here.hosts[0])
    here.world.timeline.settle()


def ways_up(host, address):
    rows = {row.address: row for row in pci.devices(host)}
    while rows[address].parent:
        address = rows[address].parent
        yield address


def test_gpu_and_port_behind_one_switch_share_all_but_the_last_bridge(here):
    (host,) = here().hosts
    gpu, nic = list(ways_up(host, host.gpus[0].pci_id)), list(ways_up(host, port(host, "vmnic2").pci))
    assert gpu[0] != nic[0]
    assert gpu[1:] == nic[1:] == ["0000:37:00.0", "0000:36:02.0"]
    assert list(ways_up(host, port(host, "vmnic0").pci)) == ["0000:97:02.0"]


def test_two_ports_of_a_card_are_two_functions_of_one_device(here):
    (host,) = here().hosts
    first, second = port(host, "vmnic2"), port(host, "vmnic3")
    assert (first.pci[:-1], first.pci[-1], second.pci[-1]) == (second.pci[:-1], "0", "1")
    assert (first.mst_name, second.mst_name) == ("mt4125_pciconf0", "mt4125_pciconf0.1")
    assert port(host, "vmnic0").mst_name == ""


def test_firmware_takes_what_was_set_at_a_cold_start_and_not_before(here):
    lab = here()
    firmware = port(lab.hosts[0], "vmnic2").firmware
    firmware.next_ats = firmware.next_sriov = True
    seen = []
    for cold in (False, True):
        restart(lab, cold)
        seen.append((firmware.ats, firmware.sriov))
    assert seen == [(False, False), (True, True)]


# Options, firmware, BIOS; the virtual functions of vmnic2 and vmnic3.
SPLITS = {
    "one value per port": ("max_vfs=4,2", VFS, "ready", (4, 2)),
    "a value that is missing is none": ("max_vfs=4", VFS, "ready", (4, 0)),
    "never more than the firmware has": ("max_vfs=16,16", VFS, "ready", (8, 8)),
    "the firmware must allow it": ("max_vfs=4,4", {"sriov": False, "num_vfs": 8}, "ready", (0, 0)),
    "the BIOS must allow it": ("max_vfs=4,4", VFS, "factory", (0, 0)),
    "without the option there are none": ("", VFS, "ready", (0, 0)),
}


@pytest.mark.parametrize("options,firmware,state,there", SPLITS.values(), ids=SPLITS)
def test_virtual_functions_need_driver_firmware_and_bios(here, options, firmware, state, there):
    (host,) = here(options, firmware, state=state).hosts
    assert tuple(port(host, name).vfs for name in ("vmnic2", "vmnic3")) == there
    rows = [row for row in pci.devices(host) if row.is_vf and row.vendor_id == pci.MELLANOX]
    assert len(rows) == sum(there)
    assert len({row.address for row in pci.devices(host)}) == len(pci.devices(host))


def test_a_gpu_brings_sixteen_functions_that_look_like_it(here):
    (host,) = here().hosts
    gpus = [row for row in pci.devices(host) if row.class_id == pci.DISPLAY_3D]
    assert [row.is_vf for row in gpus].count(True) == 16
    assert len({(row.vendor_id, row.device_id, row.device_name) for row in gpus}) == 1
    assert {row.physical_function for row in gpus if row.is_vf} == {host.gpus[0].pci_id}


@pytest.mark.parametrize("host", [{"state": "factory"}, {"driver": {"family": "none"}}], ids=["BIOS", "driver"])
def test_without_driver_or_sriov_a_gpu_has_no_functions(here, host):
    (found,) = here(**host).hosts
    assert not any(row.is_vf for row in pci.devices(found))


PRIORITIES = {
    "both directions": ("pfctx=0x08 pfcrx=0x08", 0x08),
    "decimal": ("pfctx=8 pfcrx=8", 0x08),
    "one direction alone is no lossless priority": ("pfctx=0x08", 0),
    "not set": ("", 0),
    "a name with a slip does nothing": ("pfctxx=0x08 pfcrx=0x08", 0),
}


@pytest.mark.parametrize("options,mask", PRIORITIES.values(), ids=PRIORITIES)
def test_flow_control_is_what_the_driver_was_loaded_with(here, options, mask):
    lab = here()
    (host,) = lab.hosts
    kernel.set_options(lab.world, host, "nmlx5_core", options, check=False)
    assert adapters.dcb(host, port(host, "vmnic2"))[1] == 0
    restart(lab)
    assert adapters.dcb(host, port(host, "vmnic2"))[1] == mask


def test_global_pause_and_flow_control_exclude_each_other(here):
    lab = here("pfctx=0x08 pfcrx=0x08")
    (host,) = lab.hosts
    with pytest.raises(kernel.Refused):
        adapters.set_pauseparams(lab.world, host, port(host, "vmnic2"), True, True)
    adapters.set_pauseparams(lab.world, host, port(host, "vmnic0"), True, False)
    assert (port(host, "vmnic0").pause_tx, port(host, "vmnic0").pause_rx) == (True, False)


def test_setting_options_replaces_those_that_were_there(here):
    lab = here("pfctx=0x08 pfcrx=0x08")
    (host,) = lab.hosts
    kernel.set_options(lab.world, host, "nmlx5_core", "max_vfs=4,4")
    restart(lab)
    assert adapters.dcb(host, port(host, "vmnic2"))[1] == 0


@pytest.mark.parametrize(
    "change,says",
    [
        (lambda world, host: kernel.set_options(world, host, "nmlx5_core", "pfctxx=1 pfctx=8"), "invalid: pfctxx"),
        (lambda world, host: kernel.set_options(world, host, "none", ""), "none"),
        (lambda world, host: kernel.set_setting(world, host, "atsSuport", "TRUE"), "atsSuport"),
        (lambda world, host: kernel.set_setting(world, host, "atsSupport", "perhaps"), "perhaps"),
    ],
)
def test_what_the_kernel_does_not_know_it_refuses(here, change, says):
    lab = here()
    with pytest.raises(kernel.Refused, match=says):
        change(lab.world, lab.hosts[0])


def test_rdma_devices_need_their_module_and_follow_the_ports_mtu(here):
    lab = here()
    (host,) = lab.hosts
    assert [(nic.device, nic.rdma.name) for nic in adapters.rdma_devices(host)] == [
        ("vmnic2", "vmrdma0"),
        ("vmnic3", "vmrdma1"),
    ]
    assert adapters.rdma_mtu(port(host, "vmnic2")) == 1024
    network.set_switch_mtu(lab.world, port(host, "vmnic2").switch, 9000)
    assert adapters.rdma_mtu(port(host, "vmnic2")) == 4096
    kernel.set_enabled(lab.world, host, "nmlx5_rdma", False)
    restart(lab)
    assert adapters.rdma_devices(host) == []


def test_options_that_are_set_wipe_those_that_are_not_named_again(here):
    lab = here("pfctx=0x08 pfcrx=0x08")
    kernel.set_options(lab.world, lab.hosts[0], "nmlx5_core", "max_vfs=4,4")
    assert lab.hosts[0].kernel.modules["nmlx5_core"].options == "max_vfs=4,4"
