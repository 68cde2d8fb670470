# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.params import RELATIONS, FleetArguments

ARGUMENTS = FleetArguments(
    settings=lambda options: {name: options[name] for name in ("kind", "size", "strict")},
    per_vm={"size": {"type": "int", "default": 4}, "kind": {"type": "str", "required": True}},
    task={"strict": {"type": "bool", "default": False}},
)


def requests(**params):
    answer = ArgumentSpecValidator(ARGUMENTS.spec, **RELATIONS).validate(params)
    assert answer.error_messages == []
    return ARGUMENTS.requests(answer.validated_parameters)


def test_an_entry_inherits_from_the_task_what_it_does_not_say():
    first, second = requests(kind="a", size=7, vms=[{"name": "x"}, {"name": "y", "kind": "b", "size": 1}], strict=True)
    assert (first.identity["name"], first.settings) == ("x", {"kind": "a", "size": 7, "strict": True})
    assert (second.identity["name"], second.settings) == ("y", {"kind": "b", "size": 1, "strict": True})


def test_an_entry_does_not_bring_a_default_that_hides_what_the_task_says():
    assert requests(kind="a", size=9, vms=[{"name": "x"}])[0].settings["size"] == 9


def test_what_an_entry_plans_is_its_own():
    first, second = requests(
        kind="a", planned={"host": "h1"}, vms=[{"name": "x"}, {"name": "y", "planned": {"host": "h2"}}]
    )
    assert (first.planned["host"], second.planned["host"]) == ("h1", "h2")


def test_problems_name_the_vm_that_they_are_about():
    params = ArgumentSpecValidator(ARGUMENTS.spec, **RELATIONS).validate(
        {
            "kind": "a",
            "vms": [{"name": "x"}, {"moid": "vm-2"}],
            "hostname": "v",
            "username": "u",
            "password": "p",
            "guest_shutdown_timeout_s": -1,
        }
    )
    assert ARGUMENTS.problems(params.validated_parameters, lambda settings: ["size is odd."]) == [
        "guest_shutdown_timeout_s is -1; it cannot be negative.",
        "VM x: size is odd.",
        "VM MoID vm-2: size is odd.",
    ]
