"""When playbook fabric_check asks ESXi hosts, and when it ends as failed: its own conditions, as Ansible takes them."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, which takes any text for a template
    trust_as_template = str

PLAYBOOK = pathlib.Path(__file__).resolve().parents[3] / "playbooks" / "fabric_check.yml"
ASK, FAIL = "Read the ports of the ESXi hosts", "Fail on mismatches"


def met(name, **variables):
    """What the conditions of a task come to."""
    (block,) = yaml.safe_load(PLAYBOOK.read_text())[-1]["tasks"]
    (task,) = (one for one in block["block"] if one["name"] == name)
    conditions = task["when"] if isinstance(task["when"], list) else [task["when"]]
    own = {key: trust_as_template(value) for key, value in task.get("vars", {}).items()}
    templar = Templar(loader=DataLoader(), variables={"ansible_check_mode": False, **own, **variables})
    found = [templar.template(trust_as_template(f"{{{{ ({one}) }}}}")) for one in conditions]
    assert {type(one) for one in found} == {bool}, found
    return all(found)


@pytest.mark.parametrize(
    "host, variables, asked",
    [
        pytest.param(None, {}, False, id="nobody names a vCenter"),
        pytest.param("", {}, False, id="an environment that names none"),
        pytest.param("vc.example.org", {}, True, id="the environment, as AWX"),
        pytest.param("vc.example.org", {"site": {"network": {}}}, True, id="the environment, beside a site"),
        pytest.param(None, {"site": {"vcenter": {"hostname": "vc"}}}, True, id="the site"),
        pytest.param(None, {"fabric_check_vcenter": {"hostname": "vc"}}, True, id="a variable"),
    ],
)
def test_hosts_are_asked_wherever_the_vcenter_is_named(monkeypatch, host, variables, asked):
    monkeypatch.delenv("VMWARE_HOST", raising=False)
    if host is not None:
        monkeypatch.setenv("VMWARE_HOST", host)
    assert met(ASK, **variables) is asked


@pytest.mark.parametrize(
    "variables, failing",
    [
        ({}, True),
        ({"fabric_check_fail": False}, False),
        # From -e fabric_check_fail=...
        ({"fabric_check_fail": "false"}, False),
        ({"fabric_check_fail": "true"}, True),
        ({"site": {"fabric": {"agreement": "warn"}}}, False),
        ({"site": {"fabric": {"agreement": "warn"}}, "fabric_check_fail": "yes"}, True),
        ({"fabric_check_fail": True, "ansible_check_mode": True}, False),
    ],
    ids=str,
)
def test_it_fails_unless_allowed(variables, failing):
    assert met(FAIL, **variables) is failing
