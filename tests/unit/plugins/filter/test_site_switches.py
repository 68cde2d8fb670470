"""What the stage for switches gets out of a site fits the role and the module, and comes from one intent."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import args, params
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent, intent
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.hosts import hosts

filtered = FilterModule().filters()["site_switches"]

SMALL = {"gpu": {"mode": "vgpu", "profile": "grid_a100-40c"}, "vms": [{"name": "train-01"}]}
CABLES = [
    {"host": "esx-01", "nic": "vmnic2", "switch": "leaf-01", "port": "swp1"},
    {"host": "esx-02", "nic": "vmnic2", "switch": "leaf-01", "port": "swp2"},
    {"switch": "leaf-01", "port": "swp31", "peer": "spine-01", "peer_port": "swp7"},
    {"switch": "spine-01", "port": "swp8", "peer": "leaf-02", "peer_port": "swp31"},
]
CONFIG = args.ROCE_INTENT["config"]["options"]
ROLES = pathlib.Path(__file__).parents[4] / "roles"


def site_switches(site, name, override=None, host_ports=(), fabric_ports=()):
    own = {"switch_host_ports": list(host_ports), "switch_fabric_ports": list(fabric_ports)}
    return filtered(site, [name], {name: {**own, **({"site_switch": override} if override else {})}})[name]


def spec(role):
    text = (ROLES / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["argument_specs"]["main"]["options"]


def test_site_that_says_nothing_of_roce_means_the_usual_intent():
    wanted = site_switches(SMALL, "leaf-01", {}, ["swp1-4"], ["swp31-32"])
    assert intent(wanted["config"]) == Intent()
    assert (wanted["host_ports"], wanted["fabric_ports"]) == (["swp1-4"], ["swp31-32"])
    assert (wanted["host_mtu"], wanted["backup_file"], wanted["save"]) == (0, "", "when_verified")


@pytest.mark.parametrize(
    "name, to_hosts, between",
    [
        pytest.param("leaf-01", ["swp1", "swp2"], ["swp31"], id="leaf"),
        pytest.param("leaf-02", [], ["swp31"], id="leaf at the far end of a cable"),
        pytest.param("spine-01", [], ["swp8", "swp7"], id="spine"),
    ],
)
def test_ports_follow_from_the_cables(name, to_hosts, between):
    wanted = site_switches({**SMALL, "fabric": {"cables": CABLES}}, name)
    assert (wanted["host_ports"], wanted["fabric_ports"]) == (to_hosts, between)


def test_ports_of_inventory_and_cables_are_taken_once():
    wanted = site_switches({**SMALL, "fabric": {"cables": CABLES}}, "leaf-01", {}, ["swp5", "swp1"], ["swp31"])
    assert (wanted["host_ports"], wanted["fabric_ports"]) == (["swp5", "swp1", "swp2"], ["swp31"])


def test_hosts_and_switches_get_priority_and_dscp_from_one_place():
    site = {
        **SMALL,
        "network": {"path": "pvrdma", "nics": ["vmnic2"], "vmknic": "vmk1", "mtu": 4200},
        "roce": {"priority": 4, "dscp": 34},
    }
    wanted = site_switches(site, "leaf-01")
    assert (wanted["config"]["priority"], wanted["config"]["dscp"], wanted["host_mtu"]) == (4, 34, 4200)
    core, rdma = (hosts(site)["module_options"][name] for name in ("nmlx5_core", "nmlx5_rdma"))
    assert (core["pfctx"], core["pfcrx"], rdma["dscp_force"]) == ("0x10", "0x10", "34")


def test_one_switch_may_differ_and_its_backup_has_its_name():
    site = {**SMALL, "fabric": {"backup_dir": "/srv/backups"}, "roce": {"ecn": {"min_kb": 200}}}
    wanted = site_switches(site, "leaf-07", {"roce": {"cable_length_m": 300}})
    assert (wanted["config"]["cable_length_m"], wanted["config"]["ecn"]["min_kb"]) == (300, 200)
    assert wanted["backup_file"] == "/srv/backups/leaf-07.cfg"


def test_all_switches_are_worked_out_at_once_each_with_what_is_its_own():
    variables = {"a": {"switch_host_ports": ["swp1"]}, "b": {"site_switch": {"roce": {"mtu": 9000}}}, "c": {}}
    found = filtered(SMALL, ["a", "b"], variables)
    assert sorted(found) == ["a", "b"]
    assert (found["a"]["host_ports"], found["b"]["host_ports"]) == (["swp1"], [])
    assert (found["a"]["config"]["mtu"], found["b"]["config"]["mtu"]) == (9216, 9000)


def test_site_that_is_not_valid_is_refused_by_name():
    with pytest.raises(AnsibleFilterError, match=r"site.fabric.serail: the key is unknown. Did you mean serial\?"):
        site_switches({**SMALL, "fabric": {"serail": "2"}}, "leaf-01")


@pytest.mark.parametrize("roce", [{}, {"mode": "lossy"}, {"ecn": {"by_speed": [{"speed": 400, "min_kb": 300}]}}])
def test_role_and_module_take_what_follows_from_a_site(roce):
    wanted = site_switches({**SMALL, "roce": roce, "fabric": {"cables": CABLES}}, "leaf-01")
    inputs = {f"switch_{name}": value for name, value in wanted.items() if f"switch_{name}" in spec("switch")}
    assert ArgumentSpecValidator(spec("switch")).validate(inputs).error_messages == []
    config = ArgumentSpecValidator(CONFIG).validate(wanted["config"])
    assert config.error_messages == []
    assert intent(config.validated_parameters) == intent(wanted["config"])


def leaves(options, place=""):
    for name, option in options.items():
        yield f"{place}{name}", option
        yield from leaves(option.get("options", {}), f"{place}{name}.")


SITE_ROCE = dict(leaves(spec("site")["site"]["options"]["roce"]["options"]))
MODULE_ROCE = dict(leaves(CONFIG))


def test_site_and_module_know_the_same_settings_of_roce():
    assert set(SITE_ROCE) == set(MODULE_ROCE)


@pytest.mark.parametrize("name", sorted(SITE_ROCE))
def test_setting_of_roce_has_the_type_and_the_choices_of_the_module(name):
    of_site, of_module = SITE_ROCE[name], MODULE_ROCE[name]
    assert (of_site["type"], of_site.get("choices")) == (of_module["type"], of_module.get("choices"))


INPUTS = {
    name: option
    for name, option in spec("switch").items()
    if name.removeprefix("switch_") in set(params.ARGUMENTS) - {"config"}
}


# Of states that read, compute or restore.
OTHERS = {"outputs", "version", "settings", "settings_platform", "killed"}


def test_role_takes_every_option_of_the_module_that_changes_a_switch():
    # The others are for texts without a switch; the role has a transaction where the switch has one.
    assert {f"switch_{name}" for name in set(params.ARGUMENTS) - {"config", *OTHERS}} <= set(INPUTS)


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_input_of_the_role_has_type_and_default_of_the_option(name):
    option, argument = INPUTS[name], params.ARGUMENTS[name.removeprefix("switch_")]
    assert option["type"] == argument["type"]
    # The role changes switches, and does nothing else.
    expected = list(params.CHANGING) if name == "switch_state" else argument.get("choices")
    # An option without a default is left out by the role when its input is 0 or empty.
    assert {*(option.get("choices") or [])} - {""} == {*(expected or [])}
    assert (option.get("default") or None) == (argument.get("default") or None)
