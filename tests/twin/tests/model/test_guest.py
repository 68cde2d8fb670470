"""Guests: when tools and addresses come, and what customization and cloud-init make of the first boot."""

from __future__ import annotations

import base64
import gzip

import pytest
import yaml
from pyVmomi import vim, vmodl

from vsphere_twin.model import customization, guest

CUSTOM = vim.vm.customization


@pytest.fixture
def here(lab):
    return lab(vms=[{"name": "vm", "networks": ["VM Network", "train"]}, {"name": "other", "networks": ["train"]}])


def value(key, text):
    return vim.option.OptionValue(key=key, value=text)


def coded(data, packed=False):
    raw = (data if isinstance(data, str) else yaml.safe_dump(data)).encode()
    return base64.b64encode(gzip.compress(raw) if packed else raw).decode()


def boot(here, name="vm"):
    vm = here.vm(name)
    if vm.power == "poweredOn":
        here.power_off(name)
    assert here.power_on(name).state == "success"
    return vm


def test_every_connected_adapter_gets_an_address_of_its_network_that_stays(here):
    vm = boot(here)
    first = dict(vm.addresses)
    other = boot(here, "other").addresses
    assert len({*first.values(), *other.values()}) == 3
    on_train = [one for one in (*first.values(), *other.values()) if one.startswith("10.15")]
    assert len(on_train) == 2
    assert boot(here).addresses == first


def test_an_adapter_that_is_not_connected_has_no_address(here):
    vm = here.vm("vm")
    nic = vm.nics[0]
    edit = type(nic)(
        key=nic.key,
        connectable=vim.vm.device.VirtualDevice.ConnectInfo(
            startConnected=False, allowGuestControl=True, connected=False
        ),
    )
    here.reconfigure("vm", deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="edit", device=edit)])
    boot(here)
    assert list(vm.addresses) == [vm.nics[1].key]


def test_an_adapter_that_is_added_to_a_running_vm_asks_for_an_address(here):
    vm = boot(here, "other")
    nic = vim.vm.device.VirtualVmxnet3(
        key=-1, backing=vim.vm.device.VirtualEthernetCard.NetworkBackingInfo(deviceName="VM Network")
    )
    here.reconfigure("other", deviceChange=[vim.vm.device.VirtualDeviceSpec(operation="add", device=nic)])
    assert len(vm.addresses) == 2


def test_a_guest_boots_only_with_the_firmware_that_it_was_installed_with(here):
    assert here.reconfigure("vm", firmware="bios").state == "success"
    vm = boot(here)
    assert (vm.power, vm.tools_running, vm.addresses) == ("poweredOn", False, {})
    here.power_off("vm")
    here.reconfigure("vm", firmware="efi")
    assert boot(here).tools_running


def test_tools_and_addresses_stay_away_where_a_test_says_so(here):
    here.world.faults.guest_without_tools("vm")
    here.world.faults.guest_without_address("other")
    assert not boot(here).tools_running
    other = boot(here, "other")
    assert (other.tools_running, other.addresses) == (True, {})
    here.world.faults.clear()
    assert boot(here).addresses


def metadata(**more):
    return {"instance-id": "one", "local-hostname": "node-1", **more}


NETWORK = {
    "version": 2,
    "ethernets": {
        "mgmt": {"match": {"name": "ens192"}, "dhcp4": True},
        "ens224": {"addresses": ["172.20.0.11/22"]},
    },
}
READABLE = {
    "plain": (yaml.safe_dump(metadata(network=NETWORK)), None),
    "base64": (coded(metadata(network=NETWORK)), "base64"),
    "packed": (coded(metadata(network=NETWORK), packed=True), "gzip+base64"),
    "a network that is coded itself": (
        coded(metadata(network=coded({"network": NETWORK}), **{"network.encoding": "base64"})),
        "b64",
    ),
}


@pytest.mark.parametrize("text,encoding", READABLE.values(), ids=READABLE)
def test_cloud_init_takes_name_and_addresses_from_metadata_that_is(here, text, encoding):
    options = [value("guestinfo.metadata", text)]
    options += [value("guestinfo.metadata.encoding", encoding)] if encoding else []
    here.reconfigure("vm", extraConfig=options)
    vm = boot(here)
    assert vm.host_name == "node-1"
    assert list(vm.addresses.values())[1] == "172.20.0.11"
    assert str(guest.interface(vm, vm.nics[1])) == "172.20.0.11/22"
    assert list(vm.addresses.values())[0].startswith("10.")


UNREADABLE = {
    "not base64": ("%%%", "base64"),
    "not packed": (coded(metadata()), "gzip+base64"),
    "an unknown encoding": (coded(metadata()), "rot13"),
    "not YAML": (coded("{[:"), "base64"),
    "a list": (coded("- 1"), "base64"),
}


@pytest.mark.parametrize("text,encoding", UNREADABLE.values(), ids=UNREADABLE)
def test_cloud_init_ignores_without_a_word_what_is(here, text, encoding):
    here.reconfigure(
        "vm", extraConfig=[value("guestinfo.metadata", text), value("guestinfo.metadata.encoding", encoding)]
    )
    vm = boot(here)
    assert (vm.host_name, vm.tools_running) == ("vm", True)


def test_cloud_init_acts_once_per_instance(here):
    here.reconfigure("vm", extraConfig=[value("guestinfo.metadata", yaml.safe_dump(metadata()))])
    boot(here)
    changed = {**metadata(), "local-hostname": "node-2"}
    here.reconfigure("vm", extraConfig=[value("guestinfo.metadata", yaml.safe_dump(changed))])
    assert boot(here).host_name == "node-1"
    changed["instance-id"] = "two"
    here.reconfigure("vm", extraConfig=[value("guestinfo.metadata", yaml.safe_dump(changed))])
    assert boot(here).host_name == "node-2"


def test_the_hostname_of_user_data_counts_more_than_that_of_metadata(here):
    here.reconfigure(
        "vm",
        extraConfig=[
            value("guestinfo.metadata", yaml.safe_dump(metadata())),
            value("guestinfo.userdata", "#cloud-config\nhostname: from-user\n"),
        ],
    )
    assert boot(here).host_name == "from-user"


def linux(name, *adapters):
    generated = {None: CUSTOM.VirtualMachineNameGenerator()}
    return CUSTOM.Specification(
        identity=CUSTOM.LinuxPrep(hostName=generated.get(name) or CUSTOM.FixedName(name=name), domain="lab.example"),
        globalIPSettings=CUSTOM.GlobalIPSettings(),
        nicSettingMap=[CUSTOM.AdapterMapping(adapter=one) for one in adapters],
    )


DHCP = CUSTOM.IPSettings(ip=CUSTOM.DhcpIpGenerator())
FIXED = CUSTOM.IPSettings(ip=CUSTOM.FixedIp(ipAddress="192.0.2.9"), subnetMask="255.255.255.0")


@pytest.mark.parametrize("name,host_name", [("node-9", "node-9"), (None, "vm")])
def test_customization_acts_at_the_next_boot_and_only_there(here, name, host_name):
    vm = here.vm("vm")
    customization.accept(vm, linux(name, DHCP, FIXED))
    assert vm.setting(customization.PACKAGE)
    boot(here)
    assert (vm.host_name, list(vm.addresses.values())[1]) == (host_name, "192.0.2.9")
    assert vm.setting(customization.PACKAGE) is None


def test_customization_is_refused_where_it_cannot_act(here):
    vm = here.vm("vm")
    with pytest.raises(vim.fault.NicSettingMismatch):
        customization.accept(vm, linux("node", DHCP))
    with pytest.raises(vmodl.fault.InvalidArgument, match="hostName"):
        customization.accept(vm, linux("no_host name", DHCP, DHCP))
    customization.accept(vm, linux("node", DHCP, DHCP))
    with pytest.raises(vim.fault.CustomizationPending):
        customization.accept(vm, linux("node", DHCP, DHCP))
    vm.customization, vm.tools_installed = None, False
    with pytest.raises(vim.fault.UncustomizableGuest, match="Tools is not installed"):
        customization.accept(vm, linux("node", DHCP, DHCP))
