# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The answers that the plays of playbook preflight leave in variables of the hosts."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight import questions
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.findings import answer
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.seen import seen

from .world import LIMITS, SITE

GROUPS = {"esxi_hosts": ["esx-01", "esx-02"], "switches": ["leaf-01", "leaf-02"], "training_guests": ["job-01"]}


def variables(own=None, **others):
    named = {"localhost": {"__preflight": questions.everything(SITE), **(own or {})}}
    return {**named, **{name: {} for names in GROUPS.values() for name in names}, **others}


def test_a_run_in_which_nothing_was_asked_has_empty_answers():
    found = seen({"localhost": {"__preflight": questions.everything({})}}, {}, LIMITS)
    assert found["hosts"] == found["switches"] == found["problems"] == found["guests"] == found["machines"] == {}
    assert (found["broken"], found["switch_problems"], found["controller"]) == ([], [], None)
    assert answer(found)["blocked"]


def test_answers_are_collected_by_the_names_of_hosts_and_switches():
    given = variables(
        {"__preflight_vcenter": {"strangers": ["esx-02"]}, "training_vm_preview": {"answers": 1}},
        **{
            "esx-01": {"esxi_host_preview": {"gaps": []}},
            "esx-02": {"__preflight_problems": ["wrong"]},
            "leaf-01": {"__switch_look": {"changed": True}},
        },
    )
    found = seen(given, GROUPS, LIMITS)
    # A host that vCenter does not show was not asked, and has a row of its own.
    assert found["hosts"] == {"esx-01": {"gaps": []}}
    assert found["problems"] == {"esx-01": [], "esx-02": ["wrong"]}
    assert found["switches"] == {"leaf-01": {"changed": True}, "leaf-02": {}}
    assert (found["machines"], found["limits"]) == ({"answers": 1}, LIMITS)
    assert found["secrets"] == found["questions"]["secrets"]


@pytest.mark.parametrize("known", [None, {}], ids=["not worked out", "empty"])
def test_guests_are_none_where_their_vms_were_not_looked_at(known):
    own = {} if known is None else {"__preflight_guests": known}
    assert seen(variables(own), GROUPS, LIMITS)["guests"] == {}
    looked = seen(variables({**own, "__preflight_vms": {"failed": True}}), GROUPS, LIMITS)["guests"]
    assert looked == {"look": {"failed": True}, "waiting": [], "problems": [], "answers": []}


def test_guests_with_an_address_are_reported_with_what_they_answered_or_without():
    known = {"waiting": ["job-03"], "problems": ["job-02: it has no address."], "reached": {"job-01": {}, "job-04": {}}}
    inside = {"__preflight_inside": {"time": 5}, "__preflight_before": 4, "__preflight_after": 6}
    given = variables({"__preflight_vms": {"vms": []}, "__preflight_guests": known}, **{"job-01": inside, "job-04": {}})
    found = seen(given, GROUPS, LIMITS)["guests"]
    assert found["answers"] == [["job-01", {"time": 5}, 4, 6], ["job-04", None, None, None]]
    assert (found["waiting"], found["problems"]) == (known["waiting"], known["problems"])


def test_a_site_that_cannot_be_worked_out_asks_for_nothing():
    found = questions.everything({})
    lists = ("stages", "objects", "privileges", "addresses", "asked_addresses", "registries", "paths", "secrets")
    assert [found[key] for key in lists] == [[]] * len(lists)


@pytest.mark.parametrize("address, asked", [("192.0.2.1", True), ("", False), (None, False)])
def test_passwords_of_bmcs_are_asked_for_where_a_host_has_a_bmc(address, asked):
    own = {} if address is None else {"bmc_address": address}
    found = questions.everything(SITE, {}, {}, {"esxi_hosts": ["esx-01"]}, {"esx-01": own})
    assert ("BMCs" in [where for where, *_rest in found["secrets"]]) is asked
    given = questions.everything(SITE, {}, {"bmcs": True})
    assert "BMCs" in [where for where, *_rest in given["secrets"]]


def test_addresses_are_asked_for_without_their_reason():
    site = {**SITE, "runtime": {"engine": "docker"}}
    found = questions.everything(site)
    assert [sorted(one) for one in found["asked_addresses"]] == [["expect", "url"]] * len(found["addresses"])
    assert found["addresses"]


def test_guests_and_hosts_in_quarantine_are_open_findings_with_the_fix():
    record = {
        "job-01": {"kind": "guest", "at": "2026-03-01T08:15:30Z", "why": "xid.hardware: one."},
        "esx-02": {"kind": "host", "at": "2026-03-01T08:15:30Z", "why": "vmnic2.up: down."},
    }
    reported = answer(seen(variables({"__preflight_quarantine": record}), GROUPS, LIMITS))["findings"]
    rows = {row["where"]: row for row in reported if row["what"] == "quarantine"}
    assert {name: (row["category"], row["state"]) for name, row in rows.items()} == {
        "job-01": ("guests", "open"),
        "esx-02": ("hosts", "open"),
    }
    assert "in quarantine since 2026-03-01T08:15:30Z" in rows["job-01"]["found"]
    assert "xid.hardware: one." in rows["job-01"]["found"]
    assert "playbook validate" in rows["esx-02"]["todo"]
