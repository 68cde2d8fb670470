# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, ids
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape import keys, params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Host, Node, Shape
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm
from ansible_collections.aiready.vsphere.plugins.modules import vm_shape

from unit.answers import Module

from .described import LOGIN, assert_as_documented, checked, plan

GUIDE = Path(vm_shape.__file__).parents[2] / "docs" / "machines.md"
HOST = Host("host-1", "esx-01", "8.0.3", 32, 64, 2600, 262144, (Node(0, 131072), Node(1, 131072)))
SMALL = Shape(cpus=4, memory_mb=16384, hardware_version=21, host=HOST)
ASKED = {
    "cpus": 16,
    "memory_gb": 64,
    "numa_nodes": [0],
    "gpus": ["grid_a100-40c"],
    "direct_nics": 1,
    "gpudirect": "enabled",
}


def answer(state, **options):
    """What the module says in check mode of a VM in this state."""
    wanted = checked({**LOGIN, "name": "train-01", **options}, params.ARGUMENTS.spec, RELATIONS)
    (one,) = params.ARGUMENTS.requests(wanted)
    known = {**ids(one.identity), "moid": "vm-42"}
    return plan(vm_shape.VmShapes(Module()), one, state, key="vms", ids=known)


def test_the_result_is_the_documented_one():
    assert_as_documented(vm_shape, answer(SMALL, **ASKED), key="vms")


def test_documentation_and_guide_name_every_key_that_is_taken():
    advanced = yaml.safe_load(vm_shape.DOCUMENTATION)["options"]["advanced"]["description"]
    named = set(re.findall(r"C\(((?:numa|sched|pciPassthru|ethernet)[^)]*)\)", " ".join(advanced)))
    assert named == {key.name for key in keys.KEYS if key.owner is None}
    rows = re.findall(r"^\| `([^`]+)` \|", GUIDE.read_text(), re.MULTILINE)
    assert {key.name for key in keys.KEYS} <= set(rows)


def test_a_running_vm_is_refused_with_what_would_change():
    running = dataclasses.replace(SMALL, vm=Vm(power="on"), memory_locked=True)
    refused = answer(running, cpus=8)
    assert refused["failure"]["code"] == "vm_running"
    assert "cpus: 4 -> 8" in refused["msg"]


def test_a_running_vm_takes_a_reservation_without_a_power_cycle():
    running = dataclasses.replace(SMALL, vm=Vm(power="on"))
    made = answer(running)
    assert [change["path"] for change in made["changes"]] == ["memory_reservation"]
    assert (made["failed"], made["after"]["power"]) == (False, "on")


def test_a_power_cycle_is_among_the_changes():
    running = dataclasses.replace(SMALL, vm=Vm(power="on"), memory_locked=True)
    made = answer(running, cpus=8, power="cycle")
    assert [change["path"] for change in made["changes"]] == ["cpus", "power_cycle"]


def test_what_cannot_be_stops_before_anything_is_planned():
    refused = answer(SMALL, numa_nodes=[5])
    assert (refused["failed"], refused["changed"], refused["changes"]) == (True, False, [])
    assert refused["failure"]["code"] == "numa_node_unknown"
    assert ("cannot be configured with numa_nodes=[5]. Host esx-01 has the NUMA nodes 0, 1, and 5 is not") in refused[
        "msg"
    ]


def test_wrong_parameters_of_all_vms_are_reported_at_once():
    wrong = checked(
        {**LOGIN, "vms": [{"name": "a", "cpus": 0}, {"name": "b", "advanced": {"sched.mem.pin": True}}]},
        params.ARGUMENTS.spec,
        RELATIONS,
    )
    first, second = params.check_params(wrong)
    assert first == "VM a: cpus is 0; it must be at least 1."
    assert second.startswith("VM b: advanced has sched.mem.pin")
