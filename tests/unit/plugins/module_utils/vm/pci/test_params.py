# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import params

LOGIN = {"hostname": "vcenter.example.com", "username": "user", "password": "secret"}


def problems(**options):
    """What is wrong by the specification, or else by the rules between the options."""
    result = ArgumentSpecValidator(params.ARGUMENTS.spec, **RELATIONS).validate({**LOGIN, **options})
    return result.error_messages or params.check_params(result.validated_parameters)


@pytest.mark.parametrize(
    "devices",
    [
        [{"kind": "static", "id": "3b:00.0"}],
        [{"kind": "dynamic", "allowed": ["10de:20f1", "0x10de:0x20b5"], "label": "near", "numa_node": 1}],
        [{"kind": "group", "group": "Nvidia:2@nvlink", "numa_node": -1}],
        [{"kind": "dynamic", "allowed": ["10de:20f1"]}] * 2,
        [{"kind": "dvx", "device_class": "com.example.gpu"}],
    ],
    ids=["static", "dynamic", "group", "two of a kind", "dvx"],
)
def test_each_way_of_asking_is_taken(devices):
    assert problems(name="a", devices=devices) == []


@pytest.mark.parametrize(
    "devices, says",
    [
        ([], "VM a: devices must name at least one device; use state=absent to remove all of them."),
        (None, "VM a: devices must name at least one device; use state=absent to remove all of them."),
        ([{"kind": "static"}], "kind is static but all of the following are missing: id found in devices"),
        ([{"kind": "dynamic"}], "kind is dynamic but all of the following are missing: allowed found in devices"),
        ([{"kind": "group"}], "kind is group but all of the following are missing: group found in devices"),
        (
            [{"kind": "static", "id": "vmnic3"}],
            "VM a: device 1: vmnic3 is not a PCI address; write it as 0000:3b:00.0.",
        ),
        (
            [{"kind": "static", "id": "3b:00.0", "label": "near"}],
            "VM a: device 1: label needs kind=dynamic, but this device has kind=static.",
        ),
        (
            [{"kind": "static", "id": "3b:00.0"}, {"kind": "static", "id": "0000:3B:00.0"}],
            "VM a: device 0000:3b:00.0 is listed 2 times; list it once.",
        ),
        ([{"kind": "dvx"}], "kind is dvx but all of the following are missing: device_class found in devices"),
        (
            [{"kind": "dvx", "device_class": " "}],
            "VM a: device 1: device_class is empty; set the name of a class that the host offers.",
        ),
        (
            [{"kind": "group", "group": "x", "device_class": "com.example.gpu"}],
            "VM a: device 1: device_class needs kind=dvx, but this device has kind=group.",
        ),
        (
            [{"kind": "dynamic", "allowed": []}],
            "VM a: device 1: allowed is empty; name at least one vendor and device, for example 10de:20f1.",
        ),
        (
            [{"kind": "dynamic", "allowed": ["A100"]}],
            "VM a: device 1: A100 is not a vendor and device; write them as 10de:20f1.",
        ),
        (
            [{"kind": "group", "group": " "}],
            "VM a: device 1: group is empty; set the name of a group that the host offers.",
        ),
        (
            [{"kind": "group", "group": "g", "numa_node": -2}],
            "VM a: device 1: numa_node is -2; use a node of the VM counted from 0, or -1 for none.",
        ),
    ],
)
def test_wrong_input_is_reported_before_anyone_is_asked(devices, says):
    assert problems(name="a", devices=devices) == [says]


def test_everything_that_is_wrong_is_reported_at_once():
    found = problems(vms=[{"name": "a", "devices": [{"kind": "static", "id": "x"}]}, {"name": "b"}], max_per_vm=0)
    assert found == [
        "VM a: device 1: x is not a PCI address; write it as 0000:3b:00.0.",
        "VM b: devices must name at least one device; use state=absent to remove all of them.",
        "max_per_vm is 0; it must be at least 1.",
    ]


def test_absent_needs_no_devices():
    assert problems(name="a", state="absent") == []
