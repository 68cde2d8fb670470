"""The VMs of a site start in the order of its entries and stop in the opposite one; power is cut only by its word."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

site_fleet = FilterModule().filters()["site_fleet"]
HEAD, JOBS = [{"path": "/dc1/vm/head"}], [{"name": "job-01"}, {"name": "job-02"}]


def site(**changes):
    gpu = {"mode": "vgpu", "profile": "grid_a100-20c"}
    return {"gpu": gpu, "vms": [{"path": "/dc1/vm/head"}, {"prefix": "job-", "count": 2}], **changes}


def test_entries_start_from_the_first_to_the_last_and_are_waited_for():
    reported = site_fleet(site(machine={"wait_for": "tools", "wait_timeout_s": 60}), "start")
    assert reported["waves"] == [HEAD, JOBS]
    assert (reported["state"], reported["wait_for"], reported["wait_timeout_s"], reported["force"]) == (
        "on",
        "tools",
        60,
        False,
    )


@pytest.mark.parametrize("power, force", [("refuse", False), ("cycle", True)])
def test_entries_stop_from_the_last_to_the_first_and_power_is_cut_only_where_the_site_allows_it(power, force):
    reported = site_fleet(site(power=power), "stop")
    assert reported["waves"] == [JOBS, HEAD]
    assert (reported["state"], reported["wait_for"], reported["force"]) == ("off", "none", force)


@pytest.mark.parametrize("words, datacenter", [({}, ""), ({"datacenter": "dc1"}, "dc1")])
def test_vms_are_looked_for_in_the_datacenter_of_the_site(words, datacenter):
    assert site_fleet(site(**words), "stop")["datacenter"] == datacenter


def test_starting_never_cuts_power():
    assert site_fleet(site(power="cycle"), "start")["force"] is False


def test_a_site_that_is_wrong_is_refused():
    with pytest.raises(AnsibleFilterError, match="The site is not valid"):
        site_fleet({"vms": 3}, "start")
