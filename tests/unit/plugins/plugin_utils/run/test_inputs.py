"""A run of a plan requires the site, the hosts and the switches that the plan was made from."""

from __future__ import annotations

import json
import re

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.inputs import inputs, problem

SITE = {
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "vms": [{"name": "job-01"}],
    "vcenter": {"saml_token_file": "/a"},
    "fabric": {},
}
GROUPS = {"all": ["localhost", "esx-01", "leaf-01", "job-01"], "esxi_hosts": ["esx-01"], "switches": ["leaf-01"]}
OF_HOSTS = {
    "localhost": {},
    "esx-01": {"bmc_address": "192.0.2.1", "ansible_password": "hunter2", "other": 1},
    "leaf-01": {"switch_host_ports": ["Ethernet1"], "switch_password": "hunter2"},
}


def found(site=(), groups=(), **hosts):
    variables = {name: {**OF_HOSTS.get(name, {}), **hosts.get(name, {})} for name in {*OF_HOSTS, *hosts}}
    return inputs({**SITE, **dict(site)}, {**GROUPS, **dict(groups)}, variables)


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.delenv("VMWARE_HOST", raising=False)

    def write(**changes):
        record = {"format": 1, "stages": [{"name": "hosts", "check_mode": True}], "inputs": found(), **changes}
        (tmp_path / "stages.json").write_text(json.dumps(record))
        return str(tmp_path)

    return write


def test_the_record_has_digests_and_no_value():
    digests = found()
    assert {"site.gpu.profile", "site.vms", "site.vcenter.saml_token_file", "site.fabric"} <= set(digests)
    assert {"esxi_hosts.esx-01", "esxi_hosts.esx-01.bmc_address", "switches.leaf-01.switch_host_ports"} <= set(digests)
    assert not [key for key in digests if "password" in key or "other" in key]
    assert [text for text in digests.values() if not re.fullmatch(r"[0-9a-f]{16}", text)] == []


@pytest.mark.parametrize(
    "site, groups, hosts, changed",
    [
        ({"gpu": {"mode": "vgpu", "profile": "grid_a100-20c"}}, {}, {}, ["site.gpu.profile"]),
        ({"vms": [{"name": "job-01"}, {"name": "job-02"}]}, {}, {}, ["site.vms"]),
        ({"prune": True}, {}, {}, ["site.prune"]),
        # An empty section becomes one with a key.
        ({"fabric": {"serial": 1}}, {}, {}, ["site.fabric", "site.fabric.serial"]),
        ({}, {"esxi_hosts": ["esx-01", "esx-02"]}, {"esx-02": {}}, ["esxi_hosts.esx-02"]),
        ({}, {"switches": []}, {}, ["switches.leaf-01", "switches.leaf-01.switch_host_ports"]),
        ({}, {}, {"esx-01": {"bmc_address": "192.0.2.2"}}, ["esxi_hosts.esx-01.bmc_address"]),
        ({}, {}, {"esx-01": {"site_host": {"reboot": "never"}}}, ["esxi_hosts.esx-01.site_host.reboot"]),
    ],
)
def test_a_change_since_the_plan_is_named_and_its_value_is_not(plan, site, groups, hosts, changed):
    folder = plan()
    assert problem(folder, found()) == ""
    text = problem(folder, found(site, groups, **hosts))
    named = text.partition("since the plan: ")[2].partition(". Make a new plan")[0]
    assert named.split(", ") == changed


def test_another_vcenter_of_a_credential_is_a_change_and_a_new_password_is_none(plan, monkeypatch):
    folder = plan()
    assert problem(folder, found({}, {}, **{"leaf-01": {"switch_password": "new"}})) == ""
    monkeypatch.setenv("VMWARE_HOST", "vc2.example.org")
    assert "since the plan: VMWARE_HOST. " in problem(folder, found())


def test_many_changes_are_counted(plan):
    text = problem(plan(), found({f"key_{number:02}": 1 for number in range(13)}))
    assert "site.key_09 and 3 more. " in text


def test_a_folder_without_a_plan_or_its_digests_has_a_fix(plan, tmp_path):
    assert "has no record of a run in check mode" in problem(str(tmp_path / "nowhere"), found())
    assert "has no record of a run in check mode" in problem(plan(stages=[{"name": "hosts"}]), found())
    assert "has no digests of its site. Make a new plan." in problem(plan(inputs=None), found())
