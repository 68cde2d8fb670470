# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.vgpu import params as vgpu_params

LOGIN = {"hostname": "vcenter.example.com", "username": "user", "password": "secret"}


def validated(**params):
    validator = ArgumentSpecValidator(vgpu_params.ARGUMENTS.spec, **RELATIONS)
    return validator.validate({**LOGIN, **params})


def problems(**params):
    result = validated(**params)
    assert result.error_messages == []
    return vgpu_params.check_params(result.validated_parameters)


@pytest.mark.parametrize(
    "params, words",
    [
        ({"profiles": ["a"]}, "one of the following is required: name, path, moid, instance_uuid, bios_uuid, vms"),
        ({"name": "a", "moid": "vm-1"}, "mutually exclusive"),
        ({"name": "a", "vms": [{"name": "b"}]}, "mutually exclusive"),
        ({"vms": [{"profiles": ["a"]}]}, "one of the following is required"),
        ({"vms": [{"name": "a", "moid": "vm-1"}]}, "mutually exclusive"),
        ({"name": "a", "power": "maybe"}, "refuse, cycle"),
        ({"vms": [{"name": "a", "profile": "b"}]}, "profile"),
    ],
    ids=["no VM", "two identities", "one and a fleet", "entry without VM", "entry with two", "choice", "unknown key"],
)
def test_the_spec_refuses_wrong_shapes_before_anything_is_asked(params, words):
    messages = " ".join([*validated(**params).error_messages, *map(str, validated(**params).unsupported_parameters)])
    assert words in messages


@pytest.mark.parametrize(
    "params",
    [
        {"name": "a", "profiles": ["x"]},
        {"name": "a", "state": "absent"},
        {"vms": [{"name": "a"}, {"name": "b", "profiles": ["y"]}], "profiles": ["x"]},
        {"vms": [{"name": "a"}, {"path": "/dc/vm/a"}], "state": "absent"},
        {"name": "a", "profiles": ["x"], "mmio_size_gb": 64},
    ],
    ids=["one VM", "absent needs no profiles", "common and own profiles", "fleet absent", "own window"],
)
def test_sound_parameters_have_no_problem(params):
    assert problems(**params) == []


@pytest.mark.parametrize(
    "params, sentence",
    [
        ({"name": "a"}, "VM a: profiles must name at least one profile; use state=absent to remove all vGPUs."),
        ({"name": "a", "profiles": [" "]}, "VM a: profiles has an empty entry; remove it."),
        ({"vms": []}, "vms is empty; list at least one VM."),
        ({"vms": [{"name": "a"}, {"name": "a"}], "state": "absent"}, "VM a is listed 2 times; list it once."),
        (
            {"name": "a", "profiles": ["x"], "mmio_size_gb": 100},
            "VM a: mmio_size_gb is 100; it must be a power of two, for example 128.",
        ),
        (
            {"name": "a", "profiles": ["x"], "mmio_size_gb": 64, "mmio": "ignore"},
            "VM a: mmio_size_gb is set, but mmio=ignore leaves the MMIO size unchanged; remove one of them.",
        ),
        ({"name": "a", "state": "absent", "max_per_vm": 0}, "max_per_vm is 0; it must be at least 1."),
        (
            {"name": "a", "state": "absent", "guest_shutdown_timeout_s": -1},
            "guest_shutdown_timeout_s is -1; it cannot be negative.",
        ),
        ({"name": "a", "state": "absent", "port": 0}, "port is 0; it must be between 1 and 65535."),
    ],
)
def test_a_rule_between_parameters_is_reported_in_a_sentence(params, sentence):
    assert problems(**params) == [sentence]


def test_all_problems_are_reported_at_once():
    found = problems(vms=[{"name": "a"}, {"name": "b", "mmio_size_gb": 3, "profiles": ["x"]}], max_per_vm=0)
    assert len(found) == 3


def test_what_an_entry_says_goes_before_what_the_task_says():
    result = validated(
        vms=[{"name": "a"}, {"moid": "vm-2", "profiles": ["y"], "mmio": "ignore", "unified_memory": "disabled"}],
        profiles=["x"],
        memory_reservation="ignore",
        power="cycle",
    )
    first, second = vgpu_params.ARGUMENTS.requests(result.validated_parameters)
    assert (first.identity["name"], second.identity["moid"]) == ("a", "vm-2")
    assert {one.power for one in (first, second)} == {"cycle"}
    one, other = first.settings, second.settings
    assert (one.profiles, one.mmio, one.unified_memory) == (["x"], "auto", "enabled")
    assert (other.profiles, other.mmio, other.unified_memory) == (["y"], "ignore", "disabled")
    assert {own.memory_reservation for own in (one, other)} == {"ignore"}
