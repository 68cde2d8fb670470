"""Guests are customized as asked, and a specification that cannot do it for every VM is refused."""

from __future__ import annotations

import pytest
from pyVmomi import vim

from .lab import result
from .rows.vm_clone import CALL, machines, vm_of, world

pytestmark = pytest.mark.usefixtures("brisk")
CUSTOM = vim.vm.customization
NAMES = ("new-01", "new-02")


def center(kept=(), adapters=1):
    """A template with network adapters, and specifications that vCenter keeps."""
    seed = {**world(), "customizations": list(kept)}
    (datacenter,) = seed["datacenters"]
    datacenter["networks"] = [{"name": "VM Network"}]
    (template,) = [vm for vm in datacenter["vms"] if vm["name"] == "ubuntu-template"]
    template["networks"] = ["VM Network"] * adapters
    return seed


def keep(running, name, host_name, identity=CUSTOM.LinuxPrep):
    """A specification of a kind that seeds do not have."""
    if identity is CUSTOM.LinuxPrep:
        reported = CUSTOM.LinuxPrep(hostName=host_name, domain="lab.example")
    else:
        reported = CUSTOM.SysprepText(value="")
    spec = CUSTOM.Specification(identity=reported, globalIPSettings=CUSTOM.GlobalIPSettings(), nicSettingMap=[])
    info = vim.CustomizationSpecInfo(name=name, description="", type="Linux")
    running.world.get("CustomizationSpecManager").specs.add(vim.CustomizationSpecItem(info=info, spec=spec))


def started(module):
    answer = module("vm_power", state="on", wait_for="address", vms=[{"name": name} for name in NAMES])
    assert not answer["failed"], answer["msg"]
    return answer


def test_a_kept_specification_gives_each_guest_the_name_of_its_vm(twin, drive):
    running = twin(seed=center([{"name": "linux", "domain": "lab.example"}]))
    module = drive(running)
    answer = module("vm_clone", customization={"spec": "linux"}, **CALL)
    assert not answer["failed"], answer["msg"]
    started(module)
    assert [vm_of(running, name).host_name for name in NAMES] == list(NAMES)


def test_inline_options_give_fixed_addresses_and_names(twin, drive):
    running = twin(seed=center())
    module = drive(running)
    fixed = {
        "domain": "lab.example",
        "networks": [{"type": "static", "ip": "192.0.2.7", "netmask": "255.255.255.0", "gateway": "192.0.2.1"}],
    }
    vms = [{**CALL["vms"][0], "customization": {**fixed, "hostname": "node-7"}}, CALL["vms"][1]]
    answer = module("vm_clone", customization={"domain": "lab.example"}, **{**CALL, "vms": vms})
    assert not answer["failed"], answer["msg"]
    reported = started(module)
    assert [vm_of(running, name).host_name for name in NAMES] == ["node-7", "new-02"]
    assert result(reported, "new-01")["after"]["address"] == "192.0.2.7"
    assert result(reported, "new-02")["after"]["address"].startswith("10.")


def test_a_specification_that_fixes_the_host_name_serves_one_vm_and_not_several(twin, drive):
    running = twin(seed=center([{"name": "one", "hostname": "node-1"}]))
    module = drive(running)
    answer = module("vm_clone", customization={"spec": "one"}, **CALL)
    says = (
        "It gives the host name node-1 to every VM, and 2 VMs of this task use it. Set its host name to the "
        "name of the VM"
    )
    assert says in answer["msg"]
    assert answer["failure"]["code"] == "customization_unfit"
    assert machines("new-")(running) == {}
    answer = module("vm_clone", customization={"spec": "one"}, **{**CALL, "vms": CALL["vms"][:1]})
    assert not answer["failed"], answer["msg"]


@pytest.mark.parametrize(
    "host_name, identity, says",
    [
        (CUSTOM.UnknownNameGenerator(), CUSTOM.LinuxPrep, "It prompts for the host name each time."),
        (None, CUSTOM.SysprepText, "It is not for Linux guests."),
    ],
    ids=["a name that somebody has to type", "for Windows"],
)
def test_a_specification_that_cannot_name_a_linux_guest_is_refused(twin, drive, host_name, identity, says):
    running = twin(seed=center())
    keep(running, "odd", host_name, identity)
    answer = drive(running)("vm_clone", customization={"spec": "odd"}, **CALL)
    assert f"customization specification odd: cannot be used for the guests. {says}" in answer["msg"]
    assert machines("new-")(running) == {}


def test_a_kept_specification_for_another_number_of_adapters_is_refused(twin, drive):
    running = twin(seed=center([{"name": "linux"}], adapters=2))
    answer = drive(running)("vm_clone", customization={"spec": "linux"}, **CALL)
    assert "cannot customize 1 network adapters. /lab/vm/templates/ubuntu-template has 2." in answer["msg"]
    assert machines("new-")(running) == {}
