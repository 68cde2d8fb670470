# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.find import Found
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.info import read, state
from ansible_collections.aiready.vsphere.plugins.modules import vm_guest_info as module
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import FakeInventory, opened
from unit.plugins.modules.described import LOGIN
from wire.drive import run

DEVICE = vim.vm.device
PASSTHROUGH = DEVICE.VirtualPCIPassthrough
FOUND = Found(None, "vm-1", "train-01", "/dc/vm/train-01")
NETWORKS = {"network-1": "VM Network"}
MAC, PORT_A, PORT_B = "00:50:56:01:02:03", "b8:ce:f6:00:00:0a", "b8:ce:f6:00:00:0b"
BRIDGE = "02:42:ac:11:00:01"


def card(kind=DEVICE.VirtualVmxnet3, key=4000, mac=MAC, network="network-1"):
    """An Ethernet card as vCenter reports it."""
    backing = DEVICE.VirtualEthernetCard.NetworkBackingInfo(deviceName="VM Network", network=vim.Network(network))
    return kind(
        key=key, macAddress=mac, backing=backing, deviceInfo=vim.Description(label=f"adapter {key}", summary="")
    )


def given(key, vendor, device="20f1"):
    """A device that was passed through, by its address."""
    backing = PASSTHROUGH.DeviceBackingInfo(id="0000:3b:00.0", deviceId=device, vendorId=vendor, systemId="BYPASS")
    return PASSTHROUGH(key=key, backing=backing)


def shared(key, profile):
    return PASSTHROUGH(key=key, backing=PASSTHROUGH.VmiopBackingInfo(vgpu=profile))


def nic(mac, *addresses, key=-1, network=None):
    """An adapter as the guest reports it; those that are no cards of the VM have no key."""
    return vim.vm.GuestInfo.NicInfo(
        macAddress=mac, ipAddress=list(addresses), deviceConfigId=key, connected=True, network=network
    )


def seen(devices=(), nics=(), power="poweredOn", tools="guestToolsRunning", networks=None, **properties):
    """The state of a VM with these devices, whose guest reports these adapters."""
    values = {
        "runtime.powerState": power,
        "guest.toolsRunningStatus": tools,
        "config.hardware.device": list(devices),
        "guest.net": list(nics),
        **{name.replace("__", "."): value for name, value in properties.items()},
    }
    return state.state_of(Row(vim.VirtualMachine("vm-1"), values, {}), NETWORKS if networks is None else networks)


def test_a_vm_of_which_nothing_can_be_read_has_the_documented_keys_all_the_same():
    contains = yaml.safe_load(module.RETURN)["vms"]["contains"]
    bare = state.project(seen(power=None, tools=None), FOUND, None)
    assert set(bare) == set(contains)
    json.dumps(bare)
    assert (bare["address"], bare["why_no_address"], bare["adapters"]) == (None, "The VM is off.", [])


def test_the_documented_result_has_the_documented_keys_at_every_depth():
    documented = yaml.safe_load(module.RETURN)["vms"]
    (sample,) = documented["sample"]
    assert set(sample) == set(documented["contains"])
    adapter = state.project(seen([card()]), FOUND, None)["adapters"][0]
    assert [set(one) for one in sample["adapters"]] == [set(adapter)] * 2


def test_gpus_are_counted_whether_they_are_shared_or_given_away():
    reported = seen([shared(13000, "grid_a100-20c"), shared(13001, "grid_a100-20c"), given(13002, 0x10DE)])
    assert (reported.profiles, reported.gpus) == (("grid_a100-20c", "grid_a100-20c"), 3)


@pytest.mark.parametrize(
    "vendor, gpus, adapters",
    [
        pytest.param(0x10DE, 1, [], id="GPU"),
        pytest.param(0x15B3, 0, ["passthrough"], id="port"),
        pytest.param(0x8086, 0, [], id="something else"),
        pytest.param(-32768 + 0x1000, 0, [], id="vendor that the API reports as a negative number"),
    ],
)
def test_what_was_passed_through_is_known_by_its_vendor(vendor, gpus, adapters):
    reported = seen([given(13000, vendor)])
    assert (reported.gpus, [one.kind for one in reported.adapters]) == (gpus, adapters)


@pytest.mark.parametrize(
    "nics, macs",
    [
        pytest.param([nic(PORT_A, "10.0.0.1")], [PORT_A], id="the one that is left"),
        pytest.param([nic(BRIDGE, "172.17.0.1"), nic(PORT_A, "10.0.0.1")], [PORT_A], id="beside a bridge of the guest"),
        pytest.param([nic(PORT_A), nic(PORT_B)], [None], id="two that it could be"),
        pytest.param([], [None], id="none that it could be"),
    ],
)
def test_a_port_that_was_passed_through_is_found_by_elimination(nics, macs):
    reported = seen([card(), given(13000, 0x15B3)], [nic(MAC, "192.0.2.1", key=4000), *nics])
    assert [one.mac for one in reported.adapters] == [MAC, *macs]
    assert state.address_of(reported)[0] == "192.0.2.1"


def test_addresses_are_ordered_and_those_that_nobody_can_reach_are_left_out():
    reported = seen([card()], [nic(MAC, "fe80::1", "2001:db8::1", "169.254.1.1", "192.0.2.9", "192.0.2.1", key=4000)])
    assert reported.adapters[0].addresses == ("192.0.2.1", "192.0.2.9", "2001:db8::1")


def test_a_guest_whose_only_adapter_is_for_training_is_reached_by_it():
    reported = seen([card(DEVICE.VirtualVmxnet3Vrdma)], [nic(MAC, "192.0.2.1", key=4000)])
    assert [one.kind for one in reported.adapters] == ["pvrdma"]
    assert state.address_of(reported) == ("192.0.2.1", "")


def test_what_a_guest_said_before_it_was_switched_off_is_not_reported():
    reported = seen([card()], [nic(MAC, "192.0.2.1", key=4000)], power="poweredOff", guest__hostName="train-01")
    assert (reported.adapters[0].addresses, reported.guest_name) == ((), None)
    assert state.address_of(reported) == (None, "The VM is off.")


def test_a_network_that_may_not_be_seen_is_reported_by_its_key():
    assert seen([card()], networks={}).adapters[0].network == "network-1"


DRIVER = {"Name": "NVD-AIE_ESXi_8.0.0_Driver", "Version": "550.54.16-1OEM.800.1.0.20613240"}


class Esxcli:
    """esxcli of a host, which lists these VIBs or fails with an error."""

    answer = [DRIVER]
    asked = []

    def __init__(self, vcenter, host):
        self.host = host

    def call(self, command):
        assert command == "software.vib.list"
        self.asked.append((self.host.name, self.host.ref._GetMoId()))
        if isinstance(self.answer, OperatorError):
            raise self.answer
        return self.answer


@pytest.fixture
def esxcli(monkeypatch):
    """The class by which hosts are asked, as this test sets it."""
    fake = type("OfThisTest", (Esxcli,), {"asked": []})
    monkeypatch.setattr(read, "Esxcli", fake)
    return fake


def a_vcenter(connection="connected", host_name="esx-01"):
    """A vCenter with a VM on one of two hosts."""
    vcenter, wire = opened()
    inventory = FakeInventory(wire)
    network = inventory.add(vim.Network, "network-1", name="VM Network")
    for number in (1, 2):
        name = host_name if number == 1 else "esx-02"
        inventory.add(vim.HostSystem, f"host-{number}", name=name, **{"runtime.connectionState": connection})
    inventory.add(
        vim.VirtualMachine,
        "vm-1",
        name="train-01",
        network=vim.Network.Array([network]),
        **{
            "runtime.powerState": "poweredOn",
            "runtime.host": vim.HostSystem("host-1"),
            "guest.toolsRunningStatus": "guestToolsRunning",
            "config.hardware.device": DEVICE.VirtualDevice.Array([card(), card(key=4001, mac=PORT_A)]),
            "guest.net": vim.vm.GuestInfo.NicInfo.Array(
                [nic(MAC, "192.0.2.1", key=4000), nic(PORT_A, "192.0.2.2", key=4001)]
            ),
        },
    )
    return vcenter


def looked(vcenter, *moids, **options):
    """(VMs, labels of those that are not there, warnings)."""
    identities = ("name", "path", "instance_uuid", "bios_uuid")
    requests = [{**dict.fromkeys(identities), "moid": moid} for moid in moids]
    given = {"datacenter": None, "missing": "skip", "host_driver": True, "address_network": None, "data_network": None}
    warnings = []
    answer, missing = read.read(vcenter, {**given, "vms": requests, **options}, warnings.append)
    return answer, missing, warnings


def test_a_vm_comes_with_its_host_and_the_driver_of_it(esxcli):
    ((vm,), missing, warnings) = looked(a_vcenter(), "vm-1", "vm-9")
    assert (vm["name"], vm["moid"], vm["address"]) == ("train-01", "vm-1", "192.0.2.1")
    assert [adapter["network"] for adapter in vm["adapters"]] == ["VM Network", "VM Network"]
    assert vm["host"] == {
        "name": "esx-01",
        "moid": "host-1",
        "connection": "connected",
        "driver": {"family": "nvaie", "version": "550.54.16"},
    }
    assert esxcli.asked == [("esx-01", "host-1")]
    assert (missing, warnings) == (["MoID vm-9"], [])


@pytest.mark.parametrize(
    "host, options",
    [({}, {"host_driver": False}), ({"connection": "notResponding"}, {})],
    ids=["not asked for", "host that does not answer"],
)
def test_a_host_is_asked_for_its_driver_only_where_that_is_of_use(esxcli, host, options):
    ((vm,), _missing, warnings) = looked(a_vcenter(**host), "vm-1", **options)
    assert (vm["host"]["name"], vm["host"]["driver"], esxcli.asked, warnings) == ("esx-01", None, [], [])


def test_a_host_whose_name_may_not_be_seen_goes_by_its_key(esxcli):
    ((vm,), _missing, _warnings) = looked(a_vcenter(host_name=None), "vm-1")
    assert (vm["host"]["name"], esxcli.asked) == ("host-1", [("host-1", "host-1")])


def test_a_driver_that_the_host_does_not_name_is_a_warning(esxcli):
    esxcli.answer = OperatorError("Host esx-01", "its VIBs ", "It refused", "Look at it", "refused")
    ((vm,), _missing, (warning,)) = looked(a_vcenter(), "vm-1")
    assert vm["host"]["driver"] is None
    assert warning == f"Cannot read the driver of a host. {esxcli.answer.message}"


def test_the_address_is_that_on_the_network_of_the_task(esxcli):
    ((vm,), _missing, _warnings) = looked(a_vcenter(), "vm-1", address_network="other")
    assert vm["why_no_address"] == "The VM has no adapter on other; its networks are: VM Network."


def test_vms_that_are_not_there_are_errors_where_the_task_says_so(esxcli):
    with pytest.raises(OperatorError) as failed:
        looked(a_vcenter(), "vm-8", missing="fail")
    assert failed.value.code == "vm_not_found"
    with pytest.raises(OperatorError) as failed:
        looked(a_vcenter(), "vm-1", "vm-8", "vm-9", missing="fail")
    assert (failed.value.code, len(failed.value.data["vms"])) == ("some_not_found", 2)


@pytest.mark.parametrize("connected", [True, False])
def test_module_answers_with_and_without_a_session(monkeypatch, connected):
    class Session:
        closed = False

        def close(self):
            self.closed = True

    opened_session, refused = Session(), OperatorError("vCenter", "cannot log in", "No answer.", "Retry.", "no_answer")

    def connect(_params, _warn):
        if connected:
            return opened_session
        raise refused

    monkeypatch.setattr(module._pyvmomi, "require", lambda _module: None)
    monkeypatch.setattr(module.session, "connect", connect)
    monkeypatch.setattr(module.read, "read", lambda *_arguments: ([], []))
    answer = run("aiready.vsphere.vm_guest_info", {**LOGIN, "vms": [{"name": "train-01"}]})
    assert (answer["failed"], opened_session.closed) == (not connected, connected)
    assert answer.get("msg") == (None if connected else refused.message)
