# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.doc_fragments import (
    esxcli_transport,
    host_identity,
    task_waiting,
    vcenter,
    vm_identity,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import args


def described(fragment):
    return yaml.safe_load(fragment.ModuleDocFragment.DOCUMENTATION)["options"]


@pytest.mark.parametrize("name", [name for name, option in args.CONNECTION.items() if "fallback" in option])
def test_the_environment_variable_behind_an_option_is_documented(name):
    variables = args.CONNECTION[name]["fallback"][1]
    text = " ".join(described(vcenter)[name]["description"])
    assert [f"E({variable})" in text for variable in variables] == [True] * len(variables)


def test_the_identity_of_a_vm_is_documented_with_its_datacenter():
    assert (
        set(described(vm_identity))
        == set(args.VM_IDENTITY) | set(args.DATACENTER)
        == {
            *args.IDENTITY_KEYS,
            "datacenter",
        }
    )


@pytest.mark.parametrize(
    "fragment, spec", [(host_identity, args.HOST_IDENTITY), (esxcli_transport, args.ESXCLI_TRANSPORT)]
)
def test_how_a_host_is_named_and_reached_is_documented_as_it_is(fragment, spec):
    reported = described(fragment)
    keys = ("type", "choices", "default", "required")
    assert {name: [option.get(key) for key in keys] for name, option in reported.items()} == {
        name: [option.get(key) for key in keys] for name, option in spec.items()
    }


def test_every_number_of_the_specs_has_its_bounds_checked():
    specs = {**args.CONNECTION, **args.TASK_WAITING, **args.ESXCLI_TRANSPORT}
    for name in [name for name, option in specs.items() if option["type"] == "int"]:
        assert args.check_common({name: 0})
        assert args.check_common({name: 10**9})
        assert not args.check_common({name: specs[name]["default"]})


@pytest.mark.parametrize("blank", [None, "", "  "])
@pytest.mark.parametrize("name", ["hostname", "username", "password"])
def test_a_blank_login_is_refused_with_the_option_and_the_environment_variable_that_would_set_it(name, blank):
    login = {"hostname": "vcenter.example.com", "username": "operator", "password": "s3cret"}
    (problem,) = args.check_common({**login, name: blank})
    assert problem.startswith(f"{name} is not set")
    assert args.CONNECTION[name]["fallback"][1][0] in problem
    assert args.check_common(login) == []


@pytest.mark.parametrize("module", [vcenter, vm_identity, task_waiting, host_identity, esxcli_transport])
def test_descriptions_are_whole_sentences(module):
    for option in described(module).values():
        assert all(line.endswith(".") for line in option["description"])
