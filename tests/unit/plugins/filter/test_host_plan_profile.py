"""Settings of a host that the configuration profile of its cluster may revert, in the plan of the host."""

from __future__ import annotations

import pytest

from unit.plugins.filter.test_host_plan import plan

REVERTED = {
    "msg": "Cluster gpu would revert atsSupport.",
    "failed": True,
    "failure": {"code": "settings_reverted"},
    "cluster": {"reverted": ["system/atsSupport"]},
}
IN_CLUSTER = {"cluster_moid": "domain-c8", "kernel": {"atsSupport": {"configured": "FALSE", "runtime": "FALSE"}}}
ATS = {"kernel_settings": {"atsSupport": True}}


@pytest.mark.parametrize(
    "host, managed, cluster, asked",
    [
        (IN_CLUSTER, {}, "domain-c8", False),
        (IN_CLUSTER, {"domain-c8": False, "domain-c9": True}, "domain-c8", False),
        (IN_CLUSTER, {"domain-c8": "unread"}, "domain-c8", False),
        (IN_CLUSTER, {"domain-c8": True}, "domain-c8", True),
        # The host has the setting, or no cluster.
        ({"cluster_moid": "domain-c8"}, {"domain-c8": True}, "", False),
        ({**IN_CLUSTER, "cluster_moid": None}, {"domain-c8": True}, "", False),
    ],
)
def test_the_profile_of_a_cluster_is_asked_where_it_may_revert_a_change(host, managed, cluster, asked):
    found = plan(ATS, host, done={"managed": managed})
    assert (found["profile"]["cluster"], found["asks"]["profile"]) == (cluster, asked)


def test_the_profile_gets_all_settings_that_it_may_revert():
    wanted = {**ATS, "vfs": 4, "nics": ["vmnic3"], "pvrdma": True, "vmknic": "vmk1"}
    assert plan(wanted, IN_CLUSTER)["profile"]["settings"] == {
        "kernel_settings": {"atsSupport": True},
        "module_options": {"nmlx5_core": {"max_vfs": "0,4"}},
        "advanced_options": {"Net.PVRDMAVmknic": "vmk1"},
    }


def test_settings_that_a_remediation_reverts_are_in_the_report():
    reported = plan(ATS, IN_CLUSTER, done={"managed": {"domain-c8": True}}, profile={"cluster": REVERTED["cluster"]})
    assert reported["story"][-1] == (
        "A configuration profile manages the cluster gpu. Its next remediation reverts these host settings: "
        "system/atsSupport."
    )
    unknown = plan(ATS, IN_CLUSTER, done={"managed": {"domain-c8": "unread"}})["story"][-1]
    assert "lacks VcIntegrity.ClusterConfiguration.View" in unknown


GRAPHICS = {"cluster_moid": "domain-c8", "graphics": {"default_type": "shared", "devices": []}}
SHARED_DIRECT = {"graphics_type": "shared_direct"}


@pytest.mark.parametrize(
    "version, managed, cluster, uncompared",
    [
        ("9.1.0", {"domain-c8": True}, "domain-c8", ["graphics.default_type"]),
        ("8.0.1", {"domain-c8": False}, "domain-c8", []),
        ("8.0.0", {"domain-c8": True}, "", []),
    ],
)
def test_settings_that_are_not_compared_with_the_document_are_named_first(version, managed, cluster, uncompared):
    found = plan(SHARED_DIRECT, {**GRAPHICS, "version": version}, done={"managed": managed})
    assert (found["profile"]["cluster"], found["profile"]["uncompared"]) == (cluster, uncompared)
    assert found["asks"]["profile"] is False
    named = [line for line in found["story"] if "which are not compared with its document: graphics" in line]
    assert len(named) == len(uncompared)


@pytest.mark.parametrize(
    "managed, given, says",
    [
        (
            True,
            "refuse",
            "these settings are not compared with its document: graphics.default_type. Nothing was changed.",
        ),
        ("unread", "refuse", "the user lacks VcIntegrity.ClusterConfiguration.View. Nothing was changed."),
        (False, "refuse", ""),
        (True, "report", ""),
    ],
)
def test_a_site_can_refuse_settings_that_are_not_compared(managed, given, says):
    requested = {**SHARED_DIRECT, "uncompared_settings": given}
    found = plan(requested, {**GRAPHICS, "version": "9.1.0"}, done={"managed": {"domain-c8": managed}})
    reported = found["refusals"]
    assert len(reported) == bool(says)
    assert says in "".join(reported)
    assert ("Set site.hosts.uncompared_settings" in "".join(reported)) is bool(says)
    assert [one["text"] for one in found["unkept"]] == reported
    # Preflight has the same words, apart from the sentence about the run.
    assert [f"{one['found']} Nothing was changed. {one['todo']}" for one in found["unkept"]] == reported


def test_the_firewall_of_pvrdma_is_not_compared_beside_its_option():
    requested = {"pvrdma": True, "vmknic": "vmk1"}
    host = {"cluster_moid": "domain-c8", "version": "9.0.0", "rulesets": {"pvrdma": False}, "options": {}}
    found = plan(requested, host, done={"managed": {"domain-c8": True}})
    assert (found["profile"]["uncompared"], found["asks"]["profile"]) == (["firewall.pvrdma"], True)


def test_reverted_settings_that_are_not_allowed_end_the_run():
    assert plan(profile=REVERTED)["refusals"] == ["Cluster gpu would revert atsSupport."]
    assert plan(profile={"cluster": REVERTED["cluster"]})["refusals"] == []


def test_a_document_that_lacks_settings_is_changed():
    found = plan(profile={"cluster": {"changed": True}})
    assert (found["due"]["profile"], found["acts"], found["undone"]) == (True, True, ["profile"])
