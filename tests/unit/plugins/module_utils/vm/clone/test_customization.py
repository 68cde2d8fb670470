# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Which customization specification each VM gets, and which are refused."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import customization, state
from pyVmomi import vim

from unit.plugins.module_utils.vcenter.fakes import opened

from . import requests

KIND = vim.vm.customization
TEMPLATE = state.Source(path="/dc1/vm/ubuntu-template", nics=2)
OVF = state.Source(path="images/ubuntu", item_id="item-1")


def kept(host_name, adapters=0):
    """A specification for Linux that vCenter keeps."""
    return KIND.Specification(
        identity=KIND.LinuxPrep(hostName=host_name, domain="lab"),
        globalIPSettings=KIND.GlobalIPSettings(),
        nicSettingMap=[KIND.AdapterMapping(adapter=KIND.IPSettings(ip=KIND.DhcpIpGenerator()))] * adapters,
    )


KEPT = {
    "of-the-vm": kept(KIND.VirtualMachineNameGenerator()),
    "one-adapter": kept(KIND.VirtualMachineNameGenerator(), 1),
    "two-adapters": kept(KIND.VirtualMachineNameGenerator(), 2),
    "fixed": kept(KIND.FixedName(name="train")),
    "asks": kept(KIND.UnknownNameGenerator()),
    "windows": KIND.Specification(identity=KIND.SysprepText(value=""), globalIPSettings=KIND.GlobalIPSettings()),
}


def vcenter():
    """A vCenter that keeps the specifications above."""
    found, wire = opened()
    manager = vim.CustomizationSpecManager("CustomizationSpecManager", found.content.searchIndex._GetStub())
    found.content.customizationSpecManager = manager

    def get(mo, name):
        if name == "secret":
            raise vim.fault.NoPermission(object=mo, privilegeId="VirtualMachine.Provisioning.ReadCustSpecs")
        if name not in KEPT:
            raise vim.fault.NotFound()
        return vim.CustomizationSpecItem(
            info=vim.CustomizationSpecInfo(name=name, description="", type="Linux"), spec=KEPT[name]
        )

    wire.handlers["GetCustomizationSpec"] = get
    return found, wire


def item(name, spec=None, networks=None):
    asked = requests.customization(domain="lab", spec=spec, networks=networks)
    return Item(name, requests.request(name, customization=asked), {})


def specifications(items, source=TEMPLATE):
    return customization.specifications(vcenter()[0], items, source)


def test_each_vm_gets_the_specification_that_it_names_or_describes():
    named, described, without = item("a", "two-adapters"), item("b"), Item("c", requests.request("c"))
    found = specifications([named, described, without])
    assert sorted(found) == sorted([id(named), id(described)])
    assert isinstance(found[id(named)].identity.hostName, KIND.VirtualMachineNameGenerator)
    assert found[id(described)].identity.hostName.name == "b"
    assert [len(found[id(one)].nicSettingMap) for one in (named, described)] == [2, 2]
    assert [one.error for one in (named, described, without)] == [None] * 3


def test_a_specification_of_many_vms_is_read_once():
    found, wire = vcenter()
    customization.specifications(found, [item("a", "of-the-vm"), item("b", "of-the-vm")], TEMPLATE)
    assert wire.requests["GetCustomizationSpec"] == 1


@pytest.mark.parametrize(
    "names, code",
    [
        (["none-of-this-name"], "customization_not_found"),
        (["windows"], "customization_unfit"),
        (["asks"], "customization_unfit"),
        (["fixed", "fixed"], "customization_unfit"),
        (["secret"], "no_permission"),
    ],
    ids=["not there", "not for Linux", "asks for the host name", "one host name for two VMs", "hidden"],
)
def test_a_specification_that_cannot_serve_is_refused(names, code):
    with pytest.raises(OperatorError) as refused:
        specifications([item(f"train-{number}", name) for number, name in enumerate(names)])
    assert refused.value.code == code
    assert refused.value.failure["subject"] == f"customization specification {names[0]}"


@pytest.mark.parametrize("names", [["fixed"], ["fixed", "of-the-vm"]])
def test_one_vm_may_have_a_fixed_host_name(names):
    items = [item(f"train-{number}", name) for number, name in enumerate(names)]
    assert len(specifications(items)) == len(names)
    assert [one.error for one in items] == [None] * len(names)


@pytest.mark.parametrize(
    "spec, networks, source, fits",
    [
        ("of-the-vm", None, TEMPLATE, True),
        ("one-adapter", None, TEMPLATE, False),
        ("two-adapters", None, TEMPLATE, True),
        (None, [{"type": "dhcp"}], TEMPLATE, False),
        (None, [{"type": "dhcp"}], OVF, True),
        ("of-the-vm", None, OVF, True),
        ("one-adapter", None, OVF, True),
        (None, None, OVF, False),
    ],
)
def test_a_specification_describes_each_adapter_of_the_source(spec, networks, source, fits):
    asked = item("train-01", spec, networks)
    specifications([asked], source)
    assert (asked.error and asked.error.code) == (None if fits else "customization_adapters")
