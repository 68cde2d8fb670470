"""A run of a plan requires the site, the hosts and the switches that the plan was made from."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.run.inputs import OF_GROUPS, inputs, problem

from house.collection import ROOT

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
    "leaf-01": {"switch_host_ports": ["Ethernet1"], "switch_password": "hunter2", "switch_community": "hunter3"},
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
    assert not [key for key in digests if "password" in key or "other" in key or "community" in key]
    assert [text for text in digests.values() if not re.fullmatch(r"[0-9a-f]{16}", text)] == []


@pytest.mark.parametrize(
    "before, after",
    [
        ([{"user": "u", "password": "a"}], [{"user": "u", "password": "b"}]),
        ({"credentials": {"pin": 1}}, {"credentials": {"pin": 2}}),
        ({"deep": [{"list": [{"api_key": "a"}]}]}, {"deep": [{"list": [{"api_key": "b"}]}]}),
        ("https://u:a@h.example.org/x", "https://u:b@h.example.org/x"),
        (["nvapi-a"], ["nvapi-b"]),
    ],
)
def test_no_digest_depends_on_a_secret(before, after):
    assert found({"one": before}) == found({"one": after})
    assert found({"one": before}) != found({"one": ["other"]})


def test_a_list_with_keys_of_several_types_has_a_digest():
    assert found({"one": [{1: "a", "b": 2}]}) == found({"one": [{"b": 2, 1: "a"}]})


def test_a_site_of_too_many_anchors_ends_at_once():
    bomb = ["x"]
    for _level in range(9):
        bomb = [bomb] * 9
    loop = {}
    loop["a"] = loop
    for value in (bomb, loop):
        with pytest.raises(AnsibleFilterError, match="Cannot compute digests of site"):
            found({"one": value})


def test_all_inputs_of_the_role_switch_are_compared():
    spec = yaml.safe_load((ROOT / "roles/switch/meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    # The playbooks set these two.
    assert set(spec["options"]) - {"switch_site", "switch_restore"} <= set(OF_GROUPS["switches"])


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
        ({}, {}, {"leaf-01": {"site_switch": {"mtu": 1500}}}, ["switches.leaf-01.site_switch.mtu"]),
        ({}, {}, {"leaf-01": {"switch_state": "absent"}}, ["switches.leaf-01.switch_state"]),
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
    for nothing in (None, {}):
        assert "has no digests of its site. Make a new plan." in problem(plan(inputs=nothing), found())
