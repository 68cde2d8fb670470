"""What this machine lacks is named once, with the hosts that need it and the command that installs it."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleUndefinedVariable
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import around
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.controller_needs import needs

CLI = {"ansible_connection": "ansible.netcommon.network_cli", "ansible_network_os": "arista.eos.eos"}
EVERYTHING = (
    "pyVmomi",
    "matplotlib",
    "pylibsshext",
    "ansible_collections.ansible.netcommon",
    "ansible_collections.ansible.utils",
    "ansible_collections.arista.eos",
)


class Broken(dict):
    """Variables as hostvars gives them, where a value cannot be worked out."""

    def __getitem__(self, key):
        raise AnsibleUndefinedVariable("'site_switch_password' is undefined")


def missing(variables, *, without=(), here=None, environment=()):
    def find(name):
        if name.startswith("ansible_collections.nobody"):
            raise ModuleNotFoundError(name)
        return name if name in EVERYTHING and name not in without else None

    return needs(list(variables), variables, here, find, "/opt/ansible/bin/python", dict(environment))


@pytest.mark.parametrize(
    "without, what, command",
    [
        ("pyVmomi", "Python library pyVmomi", "/opt/ansible/bin/python -m pip install pyvmomi"),
        ("pylibsshext", "Python library ansible-pylibssh", "/opt/ansible/bin/python -m pip install ansible-pylibssh"),
        ("ansible_collections.arista.eos", "collection arista.eos", "ansible-galaxy collection install arista.eos"),
        (
            "ansible_collections.ansible.netcommon",
            "collection ansible.netcommon",
            "ansible-galaxy collection install ansible.netcommon",
        ),
        (
            "ansible_collections.ansible.utils",
            "collection ansible.utils",
            "ansible-galaxy collection install ansible.utils",
        ),
    ],
)
def test_missing_item_has_the_command_that_installs_it(without, what, command):
    (one,) = missing({"leaf-01": CLI}, without=[without])
    assert (one["what"], one["todo"], one["blocks"]) == (what, f"Run: {command}", True)


@pytest.mark.parametrize(
    "without, what",
    [("pyVmomi", "Python library pyVmomi"), ("ansible_collections.arista.eos", "collection arista.eos")],
)
def test_an_execution_environment_gets_what_a_job_lacks(without, what):
    environment = {"AWX_HOST": "https://awx.example.org", "JOB_ID": "7"}
    (one,) = missing({"leaf-01": CLI}, without=[without], environment=environment)
    assert (one["todo"], one["blocks"]) == (f"Add the {what} to the execution environment of the job.", True)


def test_nothing_is_missing():
    assert missing({"leaf-01": CLI, "leaf-02": {"ansible_connection": "ssh"}}) == []


def test_without_command_lines_no_collection_is_needed():
    assert missing({"leaf-01": {"ansible_connection": "ssh"}}, without=EVERYTHING[2:]) == []


def test_report_without_plots_blocks_nothing():
    (one,) = missing({}, without=["matplotlib"])
    assert (one["what"], one["blocks"]) == ("Python library matplotlib", False)
    states = [finding.state for finding in around.needs([one])]
    assert states == ["open", "ok"]


@pytest.mark.parametrize(
    "site, wanted",
    [
        (
            {"kubernetes": {"kubeconfig": "/srv/kubeconfig"}},
            ["collection kubernetes.core", "Python library kubernetes"],
        ),
        ({"vms": []}, []),
        (None, []),
    ],
)
def test_cluster_of_the_site_needs_its_client(site, wanted):
    found = missing({}, without=["kubernetes", "ansible_collections.kubernetes.core"], here={"site": site})
    assert [one["what"] for one in found] == wanted


@pytest.mark.parametrize("install, found, wanted", [(True, None, 1), (True, "/usr/bin/helm", 0), (False, None, 0)])
@pytest.mark.parametrize("operator", ["gpu_operator", "network_operator"])
def test_installation_of_an_operator_needs_helm(operator, install, found, wanted):
    here = {"site": {"kubernetes": {operator: {"chart": {"install": install}}}}}
    missing_parts = needs((), {}, here, find=lambda _name: True, program=lambda _name: found)
    assert [one["what"] for one in missing_parts] == ["program helm"] * wanted


def test_libraries_of_another_python_are_left_to_its_modules():
    assert missing({}, without=["pyVmomi"], here={"ansible_python_interpreter": "/usr/bin/python3.9"}) == []


def test_platform_whose_namespace_is_unknown_is_missing():
    (one,) = missing({"leaf-01": {"ansible_network_os": "nobody.eos.eos"}})
    assert (one["what"], one["found"]) == ("collection nobody.eos", "It is not installed. It is needed for leaf-01.")


@pytest.mark.parametrize(
    "variables",
    [{"ansible_password": "{{ site_switch_password }}"}, Broken(ansible_password=None)],
    ids=["left as a template", "refused"],
)
def test_undefined_variable_is_named_once_with_all_hosts(variables):
    (one,) = missing({"leaf-01": variables, "leaf-02": variables})
    assert one["what"] == "variable site_switch_password"
    assert one["found"] == "It is not defined. It is needed for ansible_password of leaf-01, leaf-02."
