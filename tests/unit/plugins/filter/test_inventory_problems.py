"""What a run is refused for before anything is asked: the site, single hosts, switches, names of groups."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.survey import answered
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import around, questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import OPEN
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import inventory_checks

inventory_problems = FilterModule().filters()["inventory_problems"]
SITE = {
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "network": {"path": "sriov", "nics": ["vmnic2"]},
    "vms": [{"name": "train-01"}],
    "fabric": {"cables": [{"switch": "leaf-01", "port": "Ethernet1", "host": "esx-01", "nic": "vmnic2"}]},
}
GROUPS = {"all": ["esx-01", "leaf-01"], "esxi_hosts": ["esx-01", "esx-02"], "switches": ["leaf-01"], "mine": []}


def test_a_sound_inventory_has_no_problems():
    assert inventory_problems(SITE, GROUPS, {"leaf-01": {"switch_host_ports": ["Ethernet2"]}}) == []


def test_all_hosts_and_the_site_are_reported_at_once():
    site = dict(SITE, gpu={"mode": "vgpu", "profile": "grid_a100-40c", "per_vm": 0})
    variables = {"esx-02": {"site_host": {"datacenter": "DC2", "network": {"nicz": ["vmnic4"]}}}}
    reported = inventory_problems(site, GROUPS, variables)
    assert [one.split(":")[:2] for one in reported] == [
        [
            "site.gpu.per_vm",
            " 0 is not a valid number of GPUs. Use at least 1, and remove VMs without GPUs from site.vms.",
        ],
        ["esx-02", " site_host.datacenter"],
        ["esx-02", " site.network.nicz"],
    ]


def test_a_switch_of_a_sound_site_is_compared_with_it():
    (reported,) = inventory_problems(SITE, GROUPS, {"leaf-01": {"site_switch": {"roce": {"dscp": 8}}}})
    assert reported.startswith("leaf-01: site_switch.roce.dscp: it cannot differ between switches.")


def test_a_cable_to_a_switch_that_is_not_there_is_reported():
    (reported,) = inventory_problems(
        SITE, dict(GROUPS, switches=["leaf-02"]), {"leaf-02": {"switch_host_ports": ["Ethernet2"]}}
    )
    assert reported.startswith("site.fabric.cables"), reported


@pytest.mark.parametrize(
    "name, wanted", [("esxi_host", "esxi_hosts"), ("training_guest", "training_guests"), ("Switches", "switches")]
)
def test_a_misspelled_group_is_reported(name, wanted):
    reported = inventory_problems(dict(SITE, fabric={}), {"all": [], name: ["one"]}, {})
    assert reported == [
        f"The inventory has a group {name} and none named {wanted}, which is probably meant. Rename it."
    ]


def test_groups_of_the_user_are_left_alone():
    assert inventory_problems(dict(SITE, fabric={}), {"all": [], "racks": ["one"], "esxi_hosts": []}, None) == []


@pytest.mark.parametrize(
    "host, name, wanted",
    [
        ("esx-01", "bmc_adress", "bmc_address"),
        ("leaf-01", "switch_fabric_port", "switch_fabric_ports"),
        ("localhost", "site_bmc_pasword", "site_bmc_password"),
    ],
)
def test_a_misspelled_variable_is_reported_unless_the_right_one_is_there_too(host, name, wanted):
    site, of = dict(SITE), "" if host == "localhost" else f" of {host}"
    assert inventory_problems(site, GROUPS, {host: {name: "x"}}) == [
        f"The inventory sets {name}{of} and not {wanted}, which is probably meant. Rename it."
    ]
    assert inventory_problems(site, GROUPS, {host: {name: "x", wanted: ["x"]}}) == []


def test_variables_of_the_user_are_left_alone():
    variables = {"esx-01": {"address": "x", "site_hosts": {}}, "localhost": {"site_password": "x"}}
    assert inventory_problems(SITE, GROUPS, variables) == []


UNREAD = "all:\n  children:\n    esxi_hosts:\n      hosts:\n        - esx-01\n"


@pytest.mark.parametrize(
    "groups",
    [{"all": []}, {"all": ["localhost"], "esxi_hosts": []}],
    ids=["nothing was read", "only what is before the mistake was read"],
)
@pytest.mark.parametrize("text", [UNREAD, "all: [esx-01\n", "- esx-01\n"], ids=["a list", "no YAML", "only a list"])
def test_an_inventory_that_ansible_could_not_read_is_reported_by_its_file(groups, text, tmp_path):
    (tmp_path / "hosts.yml").write_text(text)
    for source in (tmp_path, tmp_path / "hosts.yml"):
        variables = {"localhost": {"ansible_inventory_sources": [str(source), str(tmp_path / "not-there")]}}
        (reported,) = inventory_problems(dict(SITE, fabric={}), groups, variables)
        assert reported.startswith(f"Ansible could not read the inventory {tmp_path}/hosts.yml: ")
        assert inventory_problems(dict(SITE, fabric={}), {"all": ["esx-01"]}, variables) == []


def test_a_program_that_prints_the_inventory_is_no_broken_file(tmp_path):
    program = tmp_path / "hosts"
    program.write_text("#!/usr/bin/env python3\nprint('a: {}')\n")
    variables = {"localhost": {"ansible_inventory_sources": [str(tmp_path)]}}
    assert len(inventory_problems(dict(SITE, fabric={}), {"all": ["localhost"]}, variables)) == 1
    program.chmod(0o700)
    assert inventory_problems(dict(SITE, fabric={}), {"all": ["localhost"]}, variables) == []


@pytest.mark.parametrize(
    "text",
    [
        "all:\n  hosts:\n    localhost:\n  children:\n    training_guests:\n",
        "all:\n  vars: {a: 1}\n",
        "plugin: community.vmware.vmware_vm_inventory\n",
        "$ANSIBLE_VAULT;1.1;AES256\n3264\n",
    ],
    ids=["an empty group", "no hosts", "a plugin", "a vault"],
)
def test_an_inventory_without_hosts_that_ansible_reads_is_left_alone(text, tmp_path):
    (tmp_path / "hosts.yml").write_text(text)
    variables = {"localhost": {"ansible_inventory_sources": [str(tmp_path)]}}
    groups = {"all": ["localhost"], "training_guests": []}
    assert inventory_problems(dict(SITE, fabric={}), groups, variables) == []


TWICE = {
    "a host in two groups": (
        {"esxi_hosts": ["one", "two"], "switches": ["two"]},
        {},
        "The inventory has two in the groups esxi_hosts and switches. Remove it from the wrong group.",
    ),
    "a host in capitals too": (
        {"esxi_hosts": ["esx-01.lab", "ESX-01.lab"]},
        {},
        "The inventory has one host under the names esx-01.lab and ESX-01.lab in the group esxi_hosts.",
    ),
    "one BMC for two hosts": (
        {"esxi_hosts": ["one", "two", "three"]},
        {"one": {"bmc_address": "bmc-1"}, "two": {"bmc_address": "bmc-1"}, "three": {"bmc_address": "bmc-3"}},
        "The inventory sets bmc_address of one and two to bmc-1, so a restart would affect the wrong host.",
    ),
    "one switch under two names": (
        {"switches": ["one", "two", "three"]},
        {
            "one": {"ansible_host": "192.0.2.1", "switch_host_ports": ["p"]},
            "two": {"ansible_host": "192.0.2.1", "switch_host_ports": ["p"]},
            "three": {"ansible_host": "192.0.2.1", "ansible_port": 23, "switch_host_ports": ["p"]},
        },
        "The inventory sets ansible_host of one and two in the group switches to 192.0.2.1.",
    ),
}


@pytest.mark.parametrize("groups, variables, reported", TWICE.values(), ids=TWICE.keys())
def test_a_machine_that_is_there_twice_is_reported(groups, variables, reported):
    (one,) = inventory_checks.names({"all": ["x"], **groups}, variables)
    assert one.startswith(reported)


@pytest.mark.parametrize(
    "groups, key, value",
    [
        pytest.param("esxi_hosts", "bmc_address", "{{ lab_host.bmc }}", id="what cannot be worked out"),
        pytest.param("esxi_hosts", "bmc_address", "", id="no BMC"),
        pytest.param("switches", "ansible_host", "127.0.0.1", id="tunnels"),
    ],
)
def test_what_two_hosts_may_share_is_left_alone(groups, key, value):
    variables = {name: {key: value} for name in ("one", "two")}
    assert inventory_checks.names({"all": ["x"], groups: ["one", "two"]}, variables) == []


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_password_with_a_line_break_is_reported_and_not_shown(end):
    variables = {"localhost": {"site_vcenter_password": f"a-secret{end}", "site_bmc_password": " a-secret "}}
    (reported,) = inventory_checks.names({"all": ["x"]}, variables)
    assert reported.startswith("The inventory sets site_vcenter_password to a text with a line break")
    assert "a-secret" not in reported


def test_a_site_of_one_group_alone_is_reported_by_its_file(tmp_path):
    (tmp_path / "site.yml").write_text("site:\n  gpu: {}\n")
    groups = {"all": ["x"], "esxi_hosts": ["esx-01"]}
    for own, where in (
        (DataLoader().load_from_file(str(tmp_path / "site.yml")), f"({tmp_path}/site.yml, line "),
        ({"site": {}}, "(variables of esx-01)"),
    ):
        (reported,) = inventory_problems({}, groups, {"esx-01": own})
        assert reported.startswith("site: it is set only for hosts of the group esxi_hosts, and not for localhost.")
        assert where in reported
        (row,) = questions.everything({}, groups=groups, variables={"esx-01": own})["problems"]
        assert row == reported


@pytest.mark.parametrize(
    "message, reported",
    [
        (
            "Error: 'my_profile' is undefined",
            ", because the variable my_profile is not defined.",
        ),
        ("Recursive loop detected.", ". Recursive loop detected. Correct it in the inventory."),
    ],
)
def test_a_site_that_cannot_be_worked_out_is_reported_by_its_variable(message, reported):
    assert inventory_checks.unresolved(message).startswith(f"site: It cannot be evaluated{reported}")


@pytest.mark.parametrize(
    "site, answers",
    [(None, {}), ("prepared_other", {}), ({}, {"site_answer_x": "1"}), ({}, {"site_answer_gpu__per_vm": "x"})],
)
def test_a_wrong_answer_of_a_survey_is_reported_without_the_words_of_ansible(site, answers):
    with pytest.raises(AnsibleFilterError) as rejected:
        answered(site, answers)
    reported = str(rejected.value)
    # ansible-core before 2.19 repeats it.
    for said in (reported, f"{reported}. {reported}"):
        assert inventory_checks.unresolved(f"The filter plugin 'aiready.vsphere.awx_site' failed: {said}") == reported


@pytest.mark.parametrize(
    "text, line",
    [
        ("site_bmc_password: of-the-bmc\n", "1"),
        ('x: 1\nsite_vcenter_password: "quoted"  # secret\n', "2"),
        ("site_proxy_password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  3264\n", ""),
        ("site_vcenter_password: \"{{ lookup('ansible.builtin.env', 'P') }}\"\n", ""),
        ("site_vcenter_password: ''\n", ""),
        ("site_vcenter_password:  # in the environment\n", ""),
    ],
)
def test_a_password_in_plain_text_is_a_row_of_preflight_with_its_file(text, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vault.yml").write_text(text)
    variables = {"localhost": DataLoader().load_from_file("vault.yml")}
    found = questions.everything(SITE, groups=GROUPS, variables=variables)["plain"]
    rows = [(one.found, one.todo, one.state) for one in around.plain(found)]
    reported = f"It is in plain text in vault.yml, line {line}."
    assert rows == ([(reported, "Run: ansible-vault encrypt vault.yml", OPEN)] if line else [])


def test_a_password_in_a_vault_is_no_row(tmp_path):
    file = tmp_path / "vault.yml"
    file.write_text("site_bmc_password: of-the-bmc\n")
    vault = VaultLib([("default", VaultSecret(b"right"))])
    file.write_bytes(vault.encrypt(file.read_bytes()))
    loader = DataLoader()
    loader.set_vault_secrets(vault.secrets)
    variables = {"localhost": loader.load_from_file(str(file))}
    assert variables["localhost"]["site_bmc_password"] == "of-the-bmc"
    assert inventory_checks.plain(variables) == []
