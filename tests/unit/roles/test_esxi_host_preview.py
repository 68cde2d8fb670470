"""What a preview of an ESXi host records for the checks of preflight, as Ansible works it out."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import hosts

from unit.plugins.filter.test_host_plan_profile import GRAPHICS, SHARED_DIRECT, plan
from unit.roles.test_esxi_host_variables import SEEN
from unit.roles.test_esxi_host_variables import plan as plan_of_defaults
from unit.roles.variables import templates, value_of

TASKS = pathlib.Path(__file__).resolve().parents[3] / "roles" / "esxi_host" / "tasks" / "preview.yml"


@pytest.mark.parametrize(
    "pvrdma, named",
    [
        pytest.param(True, "vmk1", id="PVRDMA connects these adapters"),
        pytest.param(False, "", id="SR-IOV may have an adapter in another subnet on each host"),
    ],
)
def test_addresses_are_compared_only_where_pvrdma_connects_them(pvrdma, named):
    assert outlook("vmknic", esxi_host_vmknic="vmk1", esxi_host_pvrdma=pvrdma) == named


def outlook(key, **given):
    """The value of a key that the preview records."""
    (task,) = (one for one in yaml.safe_load(TASKS.read_text()) if one["name"] == "Record what the stage would do")
    there = {"esxi_host_name": "esx-01", "__esxi_host_seen": {"host": SEEN}, "__esxi_host_plan": plan_of_defaults()}
    there.update(templates(task["vars"]))
    return value_of("esxi_host", "__esxi_host_outlook", **{**there, **given})[key]


@pytest.mark.parametrize(
    "setting, managed, state, words",
    [
        ("report", True, "open", "may revert these host settings: graphics.default_type."),
        ("refuse", True, "blocks", "not compared with its document: graphics.default_type."),
        ("refuse", "unread", "blocks", "the user lacks VcIntegrity.ClusterConfiguration.View."),
    ],
)
def test_preflight_reports_settings_of_a_profile_as_the_stage_treats_them(setting, managed, state, words):
    requested = {**SHARED_DIRECT, "uncompared_settings": setting}
    found = plan(requested, {**GRAPHICS, "version": "9.1.0"}, done={"managed": {"domain-c8": managed}})
    assert bool(found["refusals"]) is (state == "blocks")
    preview = {
        "host": {"version": "9.1.0", "connection": "connected"},
        "answers": {},
        "restart": {"kind": "none", "reasons": [], "cold_reasons": [], "reboot": False},
        "allowed": {"bmc": True, "ssh": True},
        "unseen": [],
        **{key: outlook(key, __esxi_host_plan=found) for key in ("gaps", "blockers", "uncompared")},
    }
    (one,) = [one for one in hosts.hosts({"esx-01": preview}) if one.what == "configuration profile of the cluster"]
    assert (one.where, one.state) == ("esx-01", state)
    assert words in one.found
    assert ("Set site.hosts.uncompared_settings" in one.todo) is (state == "blocks")
