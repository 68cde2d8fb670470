"""A port that a guest has in whole: its interface, and the DSCP map and flow control that dcb shows and sets."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from twin_labs.guest_lab import Guest
from vsphere_twin.guests import paths
from vsphere_twin.model import guest as guest_model
from vsphere_twin.model import seed as seeds
from vsphere_twin.vcenter.projections import virtual_machine


@pytest.fixture
def guest():
    """A running VM of the seed `small`, with the port that its host gives away."""
    world = seeds.load("small")
    vm = next(one for one in world.of_kind("VirtualMachine") if one.name == "train-01")
    vm.power = "poweredOn"
    port = next(one for one in vm.host.ports if vm.host.passthru[one.pci].active)
    vm.host.claimed[port.pci] = SimpleNamespace(vm=vm, device_key=13000)
    made = Guest(world, vm)
    made.interface(len(vm.nics), port.mac, ["10.1.9.5/24"])
    made.state["modules_load"] = ["mlx5_ib"]
    return made.boot()


def test_the_port_is_the_last_adapter_of_the_guest(guest):
    (port,) = guest_model.ports(guest.vm)
    wires = paths.wires(guest.world, guest.vm)
    assert [one.mac for one in wires] == [*(nic.macAddress.lower() for nic in guest.vm.nics), port.mac.lower()]
    assert (wires[-1].network, wires[-1].mtu, wires[-1].connected, wires[-1].reaches) == (
        paths.UNTAGGED,
        9000,
        True,
        True,
    )


def test_vmware_tools_report_it_without_a_virtual_device(guest):
    (port,) = guest_model.ports(guest.vm)
    guest_model.report(guest.world, guest.vm, "train-01", {port.mac.lower(): "10.1.9.5/24"})
    reported = virtual_machine.guest(guest.vm, guest.world).net[-1]
    assert (reported.macAddress, reported.deviceConfigId, list(reported.ipAddress)) == (port.mac, -1, ["10.1.9.5"])
    guest.vm.tools_running = False
    assert virtual_machine.guest(guest.vm, guest.world).net == []


def dcb(guest, *words):
    status, text = guest.run("dcb", "-j", *words)
    assert status == 0
    return json.loads(text) if text else None


def test_dcb_sets_flow_control_and_the_map_until_the_next_boot(guest):
    name = f"ens{192 + 32 * len(guest.vm.nics)}"
    assert dcb(guest, "app", "show", "dev", name) == {}
    dcb(guest, "app", "replace", "dev", name, "dscp-prio", "26:3", "48:6")
    dcb(guest, "pfc", "set", "dev", name, "prio-pfc", "all:off", "3:on")
    assert dcb(guest, "app", "show", "dev", name) == {"dscp_prio": [[26, 3, " "], [48, 6, " "]]}
    assert [one for one, on in enumerate(dcb(guest, "pfc", "show", "dev", name)["prio_pfc"]) if on] == [3]
    assert dcb(guest, "dcbx", "show", "dev", name)["host"] is True
    assert "prio-pfc 0:off 1:off 2:off 3:on" in guest.run("dcb", "pfc", "show", "dev", name)[1]
    assert guest.run("dcb", "app", "show", "dev", name) == (0, "dscp-prio 26:3 48:6\n")
    guest.now += 100
    guest.boot()
    assert dcb(guest, "app", "show", "dev", name) == {}
    assert guest.run("dcb", "app", "show", "dev", name) == (0, "")


def pauses(guest, *words):
    status, text = guest.run("ethtool", *words)
    return status, [line.split()[1] for line in text.splitlines() if line[:2] in ("RX", "TX")]


def test_flow_control_of_the_link_and_of_priorities_exclude_each_other(guest):
    name = f"ens{192 + 32 * len(guest.vm.nics)}"
    assert pauses(guest, "-a", name) == (0, ["on", "on"])
    dcb(guest, "pfc", "set", "dev", name, "prio-pfc", "all:off", "3:on")
    assert pauses(guest, "-a", name) == (0, ["off", "off"])
    assert pauses(guest, "-A", name, "rx", "on") == (0, [])
    assert pauses(guest, "-a", name) == (0, ["on", "off"])
    assert not any(dcb(guest, "pfc", "show", "dev", name)["prio_pfc"])
    assert guest.run("ethtool", "-A", name, "autoneg", "on")[0] == 1
    guest.state["uid"] = 1000
    assert guest.run("ethtool", "-A", name, "rx", "off") == (1, "netlink error: Operation not permitted\n")
    assert guest.ask("ethtool", "-a", "ens192")["pass_on"] is True


def test_root_reads_the_notifications_in_debugfs_and_nobody_the_reaction_to_marks(guest):
    files = guest.ask("lab-hardware", "poll")["files"]
    found = {path: one for path, one in files.items() if path.startswith("/sys/kernel/debug/mlx5/0000:")}
    reported = {path.rpartition("/")[2]: (one["initial"], one["mode"]) for path, one in found.items()}
    assert reported["np_cnp_dscp"] == ("48\n", 0o600)
    assert not [name for name in reported if not name.startswith("np_")]
    uevent = guest.ask("lab-hardware", "poll")["trees"]["/sys/bus/pci/devices"]
    (address,) = {path.split("/")[5] for path in found}
    assert uevent[f"{address}/uevent"].splitlines()[0] == "DRIVER=mlx5_core"
    guest.state["loaded"] = [one for one in guest.state["loaded"] if one != "mlx5_ib"]
    assert guest.ask("lab-hardware", "poll")["files"]["/sys/kernel/debug/mlx5"] is None


@pytest.mark.parametrize("what, verb", [("ets", "show"), ("apptrust", "show"), ("dcbx", "set")])
def test_objects_that_the_model_does_not_have_are_not_supported(guest, what, verb):
    name = f"ens{192 + 32 * len(guest.vm.nics)}"
    status, text = guest.run("dcb", what, verb, "dev", name)
    assert (status, "Operation not supported" in text) == (1, True)


def test_other_adapters_are_those_of_the_real_program(guest):
    assert guest.ask("dcb", "pfc", "show", "dev", "ens192")["pass_on"] is True
    assert guest.ask("dcb", "pfc", "show")["pass_on"] is True
