"""Which stages a run skips, and on which hosts their plays run."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.run_state import NOBODY, hosts, state

REACHED = {"train-01": {"address": "192.0.2.11"}}


def variables(skipped=(), stages=None, guests=None):
    known = (
        {}
        if stages is None
        else {"guests": {"stages": list(stages), "look": {}, "reached": guests or {}, "guests": REACHED}}
    )
    return {"localhost": {"aiready_run": {"skipped": list(skipped), **known}}}


@pytest.mark.parametrize("given", [None, {}, {"esx-01": {}}, {"localhost": {}}], ids=str)
def test_without_an_earlier_play_nothing_is_skipped_or_known(given):
    found = state(given)
    assert (found["skipped"], found["known"], found["inside"]) == ([], False, [])
    assert found["guests"] == {"stages": [], "guests": {}, "reached": {}, "later": []}


def test_what_it_returns_can_be_kept_as_the_fact():
    found = state(variables(["hosts"], ["guests"], REACHED))
    assert state({"localhost": {"aiready_run": found}}) == found
    assert (found["skipped"], found["known"], found["inside"]) == (["hosts"], True, ["guests"])


def test_guests_are_known_where_the_site_has_none():
    assert state(variables(stages=[]))["known"]
    assert not state(variables(["hosts"]))["known"]


@pytest.mark.parametrize("fact", ["nightly", 7, ["hosts"], {"skipped": [], "owner": "ops"}], ids=str)
def test_a_variable_of_the_user_with_the_name_of_the_fact_is_refused(fact):
    with pytest.raises(AnsibleFilterError, match="Cannot read which stages run. The variable aiready_run is"):
        hosts("esxi_hosts", "hosts", {"localhost": {"aiready_run": fact}})


@pytest.mark.parametrize(
    "given, expected",
    [
        pytest.param(("esxi_hosts", "hosts", {}), "esxi_hosts", id="alone"),
        pytest.param(("", "hosts", {}), NOBODY, id="no pattern"),
        pytest.param(("esxi_hosts", "hosts", variables(["hosts"])), NOBODY, id="skipped"),
        pytest.param(("esxi_hosts", "hosts", variables(["fabric"])), "esxi_hosts", id="another skipped"),
        pytest.param(("localhost", ["hosts", "fabric"], variables(["hosts"])), "localhost", id="one of two"),
        pytest.param(("localhost", ["hosts", "fabric"], variables(["hosts", "fabric"])), NOBODY, id="none of two"),
        pytest.param(("aiready_guests", "guests", {}), NOBODY, id="guests unknown"),
        pytest.param(("aiready_guests", "guests", variables([], ["guests"], REACHED)), "aiready_guests", id="guests"),
        pytest.param(("aiready_guests", "runtime", variables([], ["guests"], REACHED)), NOBODY, id="no section"),
        pytest.param(
            ("aiready_guests", "guests", variables(["guests"], ["guests"], REACHED)), NOBODY, id="skipped too"
        ),
        pytest.param(
            ("aiready_guests", "guests", variables([], ["guests"], {})),
            NOBODY,
            id="no address",
        ),
    ],
)
def test_a_play_runs_on_the_hosts_of_a_stage_that_runs(given, expected):
    assert hosts(*given) == expected


def test_a_play_leaves_out_hosts_with_a_fact():
    given = {**variables(), "esx-01": {"esxi_host_settled": True}, "esx-02": {"esxi_host_settled": False}, "esx-03": {}}
    assert hosts("esxi_hosts", "hosts", given, "esxi_host_settled") == "esxi_hosts,!esx-01"
    assert hosts("esxi_hosts", "hosts", given) == "esxi_hosts"
    assert hosts("esxi_hosts", "hosts", {}, "esxi_host_settled") == "esxi_hosts"
    assert hosts("esxi_hosts", "hosts", {**given, **variables(["hosts"])}, "esxi_host_settled") == NOBODY


def test_a_training_leaves_out_the_guests_in_quarantine_and_a_validation_does_not():
    given = variables([], ["training", "validation"], REACHED)
    given["localhost"]["aiready_run"]["guests"]["quarantined"] = ["train-01"]
    assert hosts("aiready_guests", "training", given) == "aiready_guests:!aiready_quarantined"
    assert hosts("aiready_guests", "validation", given) == "aiready_guests"
    assert hosts("localhost", "training", given) == "localhost"
