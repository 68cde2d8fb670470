# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Reported values of Cumulus Linux have priority over preset values, on the ports themselves."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import offline
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of


def parsed(name, outputs):
    return offline.parsed(platform_of(name, None), outputs)


def multi(version):
    settings = {"interface": {"swp1": {}}, "qos": {"roce": {"mode": "lossy-multi-tc"}}}
    return json.dumps([{"header": {"version": f"Cumulus Linux {version}"}}, {"set": settings}])


@pytest.mark.parametrize("version, queue", [("5.14.0", None), ("5.15.0", 5), ("5.16.1", 5), ("6.0.0", 5)])
def test_the_preset_of_many_classes_maps_by_release(version, queue):
    port = parsed("cumulus", {"nv config show -o json": multi(version)})["ports"]["swp1"]
    assert (port["dscp_map"].get(48), port["dscp_map"][26]) == (queue, 4)


ROCE = """\
                    operational     applied
------------------  --------------  --------------
state                               enabled
mode                lossless        lossless
pfc
  pfc-priority      3
  rx-enabled        enabled
  tx-enabled        enabled
congestion-control
  congestion-mode   ECN
  enabled-tc        0,3
  min-threshold     146.48 KB
  max-threshold     1.43 MB
  probability       100
trust
  trust-mode        pcp,dscp

RoCE PCP/DSCP->SP mapping configurations
===========================================
       pcp  dscp      switch-prio
    -  ---  --------  -----------
    0  0    0,41-50             0
    3  3    24-31     3

RoCE SP->TC mapping and ETS configurations
=============================================
       switch-prio  traffic-class  scheduler-weight
    -  -----------  -------------  ----------------
    0  0            0              DWRR-50%
    3  3            3              DWRR-50%
    6  6            6              strict-priority
"""
ROCE_JSON = {
    "mode": "lossless",
    "pfc": {"pfc-priority": "3", "rx-enabled": "enabled", "tx-enabled": "enabled"},
    "trust": {"trust-mode": "pcp,dscp"},
    "prio-map": {"0": {"pcp": "0", "dscp": "0,41-50", "switch-prio": 0}, "3": {"dscp": "24-31", "switch-prio": 3}},
}


@pytest.mark.parametrize("shown", [ROCE, json.dumps(ROCE_JSON)], ids=["text", "JSON"])
def test_a_map_that_cumulus_shows_comes_before_that_of_the_preset_and_on_the_port(shown):
    reported = parsed("cumulus", {"nv show qos roce": shown, "nv config show -o json": multi("5.16.0")})
    assert list(reported["ports"]) == ["swp1"]
    port = reported["ports"]["swp1"]
    assert (port["dscp_map"][48], port["dscp_map"][26], port["dscp_map"][3]) == (0, 3, 2)
    assert (port["pfc"], port["running"]["pfc"], port["running"]["trust"]) == ([3], [3], "both")


def test_a_view_of_the_switch_leaves_ports_with_profiles_of_their_own_alone():
    settings = {"swp1": {}, "swp2": {"qos": {"mapping": {"profile": "mine"}, "pfc": {"profile": "mine"}}}}
    config = json.dumps([{"set": {"interface": settings, "qos": {"mapping": {"mine": {"trust": "l3"}}}}}])
    ports = parsed("cumulus", {"nv config show -o json": config, "nv show qos roce": ROCE})["ports"]
    assert {name: (port["trust"], port["pfc"], port["running"].get("pfc")) for name, port in ports.items()} == {
        "swp1": ("both", [3], [3]),
        "swp2": ("dscp", [], None),
    }


def test_a_view_of_the_switch_alone_fills_what_runs():
    port = parsed("cumulus", ROCE)["ports"]["*"]
    assert (port["pfc"], port["running"]["pfc"], port["running"]["pfc_sends"], sorted(port["running"]["ecn"])) == (
        [3],
        [3],
        True,
        [0, 3],
    )


def test_thresholds_that_a_unit_rounds_are_those_of_the_preset():
    config = json.dumps([{"set": {"interface": {"swp1": {}}, "qos": {"roce": {"mode": "lossless"}}}}])
    port = parsed("cumulus", {"nv config show -o json": config, "nv show qos roce": ROCE})["ports"]["swp1"]
    assert port["ecn"][3]["min_bytes"] == 150000


def test_what_is_only_applied_does_not_run():
    text = ROCE.replace("pcp,dscp", " " * 16 + "pcp,dscp")
    port = parsed("cumulus", text)["ports"]["*"]
    assert (port["trust"], port["running"]) == ("both", {})


def test_a_configuration_in_another_format_is_named():
    text = "- set:\n    interface:\n      swp1-4:\n        link:\n          mtu: 9216\n"
    assert parsed("cumulus", {"nv config show": text})["unread"] == [
        "Cannot read `nv config show`. Its output is not JSON. Give `nv config show -o json`."
    ]


def test_interfaces_of_early_releases_have_a_plus():
    text = (
        "Interface  MTU   Speed  State  Remote Host  Remote Port  Type  Summary\n"
        "---------  ----  -----  -----  -----------  -----------  ----  -----------------------\n"
        "+ eth0     1500  1G     up     tor          swp7         eth   IP Address: 192.0.2.1/24\n"
        "+ swp1     9216  400G   up     esx-01       vmnic4       swp\n"
        "  swp2     9216         down                             swp\n"
    )
    ports = parsed("cumulus", {"nv show interface": text})["ports"]
    found = {name: (port["running"]["up"], port["running"]["mtu"], port["speed"]) for name, port in ports.items()}
    assert found == {"swp1": (True, 9216, 400), "swp2": (False, 9216, None)}


def test_interfaces_of_cumulus_as_a_table():
    text = (
        "Interface  Admin Status  Oper Status  Speed  MTU   Type  Remote Host  Remote Port\n"
        "---------  ------------  -----------  -----  ----  ----  -----------  -----------\n"
        "eth0       up            up           1G     1500  eth   tor          swp7\n"
        "swp1       up            up           400G   9216  swp   esx-01       vmnic4\n"
        "swp2       up            down                9216  swp\n"
    )
    reported = parsed("cumulus", {"nv show interface": text})
    assert {
        name: (
            port["speed"],
            port["running"]["up"],
            port["running"]["mtu"],
            [peer["port"] for peer in port["neighbours"]],
        )
        for name, port in reported["ports"].items()
    } == {"swp1": (400, True, 9216, ["vmnic4"]), "swp2": (None, False, 9216, [])}


def test_a_configuration_without_lines_is_not_reported_as_another_format():
    assert platform_of("cumulus", None).parse({"nv config show -o json": "\n"}).unread == []
