"""Hosts of clusters with a configuration profile: settings are kept by the profile, or named before they are lost."""

from __future__ import annotations

from wire.lab import NVAIE

from .hosts import factory, hosts_of

ENABLEMENT = "GET /api/esx/settings/clusters/{cluster}/enablement/configuration"
# ATS is the only setting, and the driver that is installed stays.
ATS = {"network": {"path": "tcp", "ats": "enabled"}, "driver": None}
LOST = "profile/esx/system/kernel_settings/atsSupport"


def _seed(count, sections=None):
    seed = factory(count, state="ready", driver=NVAIE | {"version": "550.54.16"}, bios={"vendor": "dell"})
    (cluster,) = seed["datacenters"][0]["clusters"]
    for host in cluster["hosts"]:
        host["gpus"][0]["graphics_type"] = "sharedDirect"
    if sections is not None:
        cluster.update(image="managed", configuration={"sections": sections})
        seed["release"] = "9.1.0"
    return seed


def _document(lab):
    (cluster,) = lab.twin.world.of_kind("ClusterComputeResource")
    return cluster.configuration.document["profile"]["esx"]["system"]


def _ats(lab):
    return [str(host.kernel.settings["atsSupport"].configured).upper() for host in hosts_of(lab)]


def test_settings_that_the_profile_reverts_stop_the_stage_unless_the_site_allows_them(host_lab):
    lab = host_lab(_seed(1, ["module_options"]))
    checked = lab.hosts("--check", site=ATS)
    assert checked.status == 0, checked.output
    assert "A run would end here" in checked.text
    assert LOST in checked.text
    stopped = lab.hosts(site=ATS)
    assert stopped.status != 0
    assert "would revert these host settings" in stopped.text
    assert "site.hosts.allow_reverted_settings: true" in stopped.text
    assert _ats(lab) == ["FALSE"]
    allowed = lab.hosts(site={**ATS, "hosts": {"allow_reverted_settings": True}})
    assert allowed.status == 0, allowed.output
    assert f"reverts these host settings: {LOST}." in allowed.text
    assert _ats(lab) == ["TRUE"]


def test_settings_that_the_schema_has_are_in_the_profile_and_on_the_hosts(host_lab):
    lab = host_lab(_seed(1, ["kernel_settings"]))
    run = lab.hosts(site=ATS)
    assert run.status == 0, run.output
    assert (_document(lab), _ats(lab)) == ({"kernel_settings": {"atsSupport": "TRUE"}}, ["TRUE"])


def test_a_cluster_without_a_profile_costs_one_request(host_lab):
    lab = host_lab(_seed(2))
    run = lab.hosts(site={**ATS, "hosts": {"serial": "2"}})
    assert run.status == 0, run.output
    assert _ats(lab) == ["TRUE", "TRUE"]
    assert lab.twin.requests[ENABLEMENT] == 1
