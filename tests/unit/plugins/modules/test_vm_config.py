# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config import noun
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.config.params import ARGUMENTS, check_params
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.shape.state import Direct, Shape

from unit.plugins.modules import described

ADAPTER = {"portgroup": "pg", "mac": "00:50:56:01:02:03"}


def asked(**options):
    return described.checked({**described.LOGIN, **options}, ARGUMENTS.spec, RELATIONS)


@pytest.mark.parametrize(
    "options, problem",
    [
        ({}, "VM a: Nothing is requested. Set at least one of shape, vgpu, passthrough, vmxnet3, pvrdma, sriov."),
        ({"shape": {"cpus": 0}}, "VM a: shape: cpus is 0; it must be at least 1."),
        (
            {"vgpu": {}},
            "VM a: vgpu: profiles must name at least one profile; use state=absent to remove all vGPUs.",
        ),
        ({"vgpu": {"state": "absent", "max_per_vm": 0}}, "VM a: vgpu: max_per_vm is 0; it must be at least 1."),
        (
            {"passthrough": {"devices": []}},
            "VM a: passthrough: devices must name at least one device; use state=absent to remove all of them.",
        ),
        (
            {"vmxnet3": {"state": "absent"}},
            "VM a: vmxnet3: adapters must name at least one adapter.",
        ),
        (
            {"pvrdma": {"adapters": [{**ADAPTER}]}, "sriov": {"adapters": [{**ADAPTER}]}},
            "The MAC address 00:50:56:01:02:03 is listed twice.",
        ),
    ],
)
def test_parameters_that_contradict_each_other_are_refused_part_by_part(options, problem):
    assert check_params(asked(name="a", **options)) == [problem]


def test_a_part_that_a_vm_does_not_name_is_that_of_the_task():
    given = asked(vms=[{"name": "a", "shape": {"cpus": 8}}, {"name": "b"}], shape={"memory_gb": 64, "mmio": "ignore"})
    first, second = (request.settings for request in ARGUMENTS.requests(given))
    assert first.managed == second.managed == ["shape"]
    one, other = first.parts["shape"], second.parts["shape"]
    assert (one.cpus, one.memory_gb, one.mmio) == (8, None, "auto")
    assert (other.cpus, other.memory_gb, other.mmio) == (None, 64, "ignore")


def test_reservation_and_window_belong_to_the_shape_alone():
    (one,) = ARGUMENTS.requests(asked(name="a", vgpu={"profiles": ["grid_a100-40c"]}))
    vgpu = one.settings.parts["vgpu"]
    assert (vgpu.memory_reservation, vgpu.mmio, vgpu.unified_memory) == ("ignore", "ignore", "enabled")


def test_what_speaks_against_several_parts_is_one_error():
    first = OperatorError("VM a", "x was wanted", "No x.", "Add x.", "no_x", problems=[{"code": "no_x"}])
    other = OperatorError("VM a", "y was wanted", "No y.", "Add y.", "no_y", problems=[{"code": "no_y"}])
    assert noun._joined([first]) is first
    error = noun._joined([first, other])
    assert error.message == "VM a: x was wanted; y was wanted. No x. No y. Add x. Add y."
    assert error.failure["code"] == "no_x"
    assert [problem["code"] for problem in error.failure["problems"]] == ["no_x", "no_y"]


def test_devices_that_get_other_keys_keep_the_nodes_that_are_wanted_for_their_like():
    wanted = Shape(direct=(Direct(13000, "vgpu", "a", node=1), Direct(13001, "vgpu", "b", node=0)))
    beside = Shape(direct=(Direct(-1, "vgpu", "a"), Direct(13001, "vgpu", "b"), Direct(-2, "pci", "c")))
    on_nodes = noun._on_nodes(beside, wanted)
    assert [(one.key, one.node) for one in on_nodes.direct] == [(-1, 1), (13001, 0), (-2, None)]
