from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import unknown_switch
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus.platform import (
    CONFIG,
    PORTS,
    Cumulus,
)

PLATFORM = Cumulus()
NAMES = ("swp1", "swp2")
WATCHED = {"interface": {"swp1-2": {"qos": {"pfc-watchdog": {"state": "enable"}}}}}
PRESET = {"qos": {"roce": {"enable": "on", "mode": "lossless"}}, **WATCHED}
# The values of the preset as explicit settings, in the ranges of release 5.15.
BY_HAND = {
    "qos": {
        "mapping": {"default-global": {"trust": "l3"}},
        "egress-queue-mapping": {
            "default-global": {
                "switch-priority": {
                    "0-2,4-5,7": {"traffic-class": 0},
                    "3": {"traffic-class": 3},
                    "6": {"traffic-class": 6},
                }
            }
        },
        "pfc": {"default-global": {"switch-priority": {"3": {}}, "tx": "enable", "rx": "enable"}},
        "traffic-pool": {"default-lossless": {"memory-percent": 50}, "default-lossy": {"memory-percent": 50}},
        "congestion-control": {
            "default-global": {
                "traffic-class": {
                    "0,3": {"ecn": "enable", "min-threshold": "150000", "max-threshold": 1500000, "probability": 100}
                }
            }
        },
        "egress-scheduler": {
            "default-global": {
                "traffic-class": {"0,3": {"mode": "dwrr", "bw-percent": 50}, "6": {"mode": "strict"}},
            }
        },
    },
    "interface": {"swp1,swp2": {"qos": {"pfc-watchdog": {"state": "enabled"}}}},
}
ON_FOUR = {
    "qos": {
        "roce": {"enable": "on", "mode": "lossless"},
        "mapping": {"default-global": {"trust": "both", "dscp": {"26": {"switch-priority": 4}}}},
        "pfc": {"default-global": {"switch-priority": {"4": {}}, "tx": "enable", "rx": "enable"}},
        "egress-queue-mapping": {
            "default-global": {"switch-priority": {"3": {"traffic-class": 0}, "4": {"traffic-class": 3}}}
        },
    },
    **WATCHED,
}


def switch(settings, version="5.14.0", ports=4):
    shown = [{"header": {"model": "MSN4600C", "version": f"Cumulus Linux {version}"}}, {"set": settings}]
    links = {f"swp{number}": {"link": {"mtu": 9216, "oper-status": "up"}} for number in range(1, ports + 1)}
    return PLATFORM.parse({CONFIG: json.dumps(shown), PORTS: json.dumps(links)})


def commands(settings, config, names=NAMES, exact=True, **place):
    there, requested = switch(settings, **place), intent(config)
    wanted = {name: compare.wanted(requested, PLATFORM) for name in names}
    now = {name: compare.effect(there.ports[name], requested) for name in names}
    if not compare.changes(now, wanted, exact):
        return []
    return PLATFORM.render(there, wanted, requested, exact).commands


WATCHDOG = "nv set interface swp1-2 qos pfc-watchdog state enable"


@pytest.mark.parametrize(
    "settings, config, place, expected",
    [
        pytest.param(
            {}, {}, {}, ["nv set qos roce enable on", "nv set qos roce mode lossless", WATCHDOG], id="factory"
        ),
        pytest.param(
            {},
            {},
            {"version": "5.15.0"},
            ["nv set qos roce state enabled", "nv set qos roce mode lossless", WATCHDOG],
            id="the keyword that 5.15 renamed",
        ),
        pytest.param(PRESET, {}, {}, [], id="already so"),
        pytest.param({"qos": {"roce": {}}, **WATCHED}, {}, {}, [], id="a bare preset is lossless"),
        pytest.param(
            {"qos": {"roce": {"state": "enabled", "mode": "lossless-single-ipool"}}, **WATCHED},
            {},
            {},
            [],
            id="one pool for all is lossless too",
        ),
        pytest.param(BY_HAND, {}, {}, [], id="by hand and equal"),
        pytest.param(
            {"qos": {"roce": {"enable": "on", "mode": "lossy"}}},
            {},
            {},
            ["nv set qos roce mode lossless", WATCHDOG],
            id="lossy to lossless names the mode",
        ),
        pytest.param(
            PRESET,
            {"mode": "lossy"},
            {},
            ["nv set qos roce mode lossy", "nv unset interface swp1-2 qos pfc-watchdog"],
            id="lossless to lossy leaves no watchdog",
        ),
        pytest.param(
            ON_FOUR,
            {"mode": "lossy", "priority": 4},
            {},
            [
                "nv set qos roce mode lossy",
                "nv unset qos pfc default-global",
                "nv unset interface swp1-2 qos pfc-watchdog",
            ],
            id="lossless to lossy leaves no watchdog beside the preset either",
        ),
        pytest.param(
            {"qos": {"roce": {"enable": "on", "mode": "lossy-multi-tc"}}},
            {"mode": "lossy"},
            {},
            ["nv set qos roce mode lossy"],
            id="the mode with many classes maps otherwise",
        ),
        pytest.param(
            PRESET,
            {"mode": "semi_lossless"},
            {},
            [
                "nv set qos pfc default-global switch-priority 3",
                "nv set qos pfc default-global tx disable",
                "nv set qos pfc default-global rx enable",
            ],
            id="semi-lossless obeys and does not send",
        ),
        pytest.param(
            ON_FOUR,
            {},
            {},
            [
                "nv unset qos mapping default-global dscp 26",
                "nv unset qos egress-queue-mapping default-global switch-priority 3",
                "nv unset qos egress-queue-mapping default-global switch-priority 4",
                "nv unset qos pfc default-global",
            ],
            id="back to the preset's priority",
        ),
        pytest.param(ON_FOUR, {"priority": 4}, {}, [], id="another priority with the same DSCP"),
        pytest.param(
            PRESET,
            {"ecn": {"min_kb": 200, "max_kb": 2000, "probability": 50}},
            {},
            [
                "nv set qos congestion-control default-global traffic-class 3 min-threshold 200000",
                "nv set qos congestion-control default-global traffic-class 3 max-threshold 2000000",
                "nv set qos congestion-control default-global traffic-class 3 probability 50",
                "nv set qos congestion-control default-global traffic-class 3 ecn enable",
            ],
            id="other thresholds",
        ),
        pytest.param(
            PRESET,
            {"ecn": {"state": "disabled"}},
            {},
            ["nv set qos congestion-control default-global traffic-class 3 ecn disable"],
            id="no marking",
        ),
        pytest.param(
            PRESET,
            {"mtu": 9000, "dcbx": "ieee", "watchdog": {"detection_ms": 600}},
            {"version": "5.15.0"},
            [
                "nv set qos pfc-watchdog polling-interval 200",
                "nv set interface swp1-2 link mtu 9000",
                "nv set interface swp1-2 lldp dcbx-pfc-tlv enabled",
                "nv set interface swp1-2 lldp dcbx-ets-config-tlv enabled",
                "nv set interface swp1-2 lldp dcbx-ets-recomm-tlv enabled",
            ],
            id="what ports have of their own",
        ),
    ],
)
def test_commands_are_what_differs_and_no_more(settings, config, place, expected):
    found = commands(settings, config, **place)
    assert [line for line in found if "robustness" not in line] == expected


def test_another_priority_is_built_beside_the_preset():
    found = commands(PRESET, {"priority": 5, "dscp": 26})
    assert "nv set qos mapping default-global dscp 26 switch-priority 5" in found
    assert "nv set qos mapping default-global trust both" in found
    assert "nv set qos egress-queue-mapping default-global switch-priority 5 traffic-class 3" in found
    assert "nv set qos egress-queue-mapping default-global switch-priority 3 traffic-class 0" in found
    assert "nv set qos pfc default-global switch-priority 5" in found


def test_a_stale_lossless_priority_goes_and_stays_only_where_merged():
    settings = json.loads(json.dumps(ON_FOUR))
    settings["qos"]["pfc"]["default-global"]["switch-priority"] = {"4-5": {}}
    assert commands(settings, {"priority": 4}) == ["nv unset qos pfc default-global switch-priority 5"]
    assert commands(settings, {"priority": 4}, exact=False) == []


def test_a_port_with_a_profile_of_somebody_leaves_it_and_the_profile_stays():
    settings = json.loads(json.dumps(PRESET))
    settings["qos"]["pfc"] = {"theirs": {"switch-priority": {"0": {}}, "tx": "enable", "rx": "enable"}}
    settings["interface"] = {"swp1-2": {"qos": {"pfc": {"profile": "theirs"}, "pfc-watchdog": {"state": "enable"}}}}
    assert commands(settings, {}) == ["nv unset interface swp1-2 qos pfc"]


def test_thresholds_by_speed_become_a_profile_that_goes_when_it_is_not_used():
    requested = intent({"ecn": {"by_speed": [{"speed": 100, "min_kb": 300, "max_kb": 3000}]}})
    there = switch(PRESET)
    wanted = {
        "swp1": compare.wanted(requested, PLATFORM, speed=100),
        "swp2": compare.wanted(requested, PLATFORM, speed=25),
    }
    found = PLATFORM.render(there, wanted, requested).commands
    assert found[-1] == "nv set interface swp1 qos congestion-control profile aiready-ecn-300-3000-100"
    settings = json.loads(json.dumps(PRESET))
    settings["qos"]["congestion-control"] = {"aiready-ecn-300-3000-100": {"traffic-class": {"3": {"ecn": "enable"}}}}
    assert switch(settings).own == {"qos congestion-control aiready-ecn-300-3000-100": []}


def test_a_profile_of_ours_marks_the_class_of_roce_alone():
    name = "aiready-ecn-300-3000-100"
    marks = {"ecn": "enable", "min-threshold": 300000, "max-threshold": 3000000, "probability": 100}
    settings = json.loads(json.dumps(PRESET))
    settings["qos"]["congestion-control"] = {name: {"traffic-class": {"3": marks, "5": {"ecn": "enable"}}}}
    settings["interface"] = {"swp1": {"qos": {"congestion-control": {"profile": name}}}}
    there, requested = switch(settings), intent({})
    assert PLATFORM.strays(there, {}, requested) == {
        f"qos congestion-control {name}": ("traffic-class 3 and 5", "traffic-class 3")
    }
    assert PLATFORM.render(there, {}, requested).commands == [f"nv unset qos congestion-control {name} traffic-class 5"]
    assert PLATFORM.strays(switch(PRESET), {}, requested) == {}


def test_removal_takes_all_that_stands_for_roce_and_leaves_the_mtu():
    settings = json.loads(json.dumps(ON_FOUR))
    settings["interface"] = {"swp1-3": {"link": {"mtu": 9000}, "qos": {"pfc-watchdog": {"state": "enable"}}}}
    there = switch(settings)
    assert PLATFORM.render(there, {"swp1": {}}, None).commands == [
        "nv unset qos roce",
        "nv unset qos mapping default-global",
        "nv unset qos egress-queue-mapping default-global",
        "nv unset qos pfc default-global",
        "nv unset interface swp1-3 qos pfc-watchdog",
    ]


@pytest.mark.parametrize(
    "config",
    [{}, {"watchdog": {"state": "disabled"}, "priority": 4}],
    ids=["the watchdog", "another priority"],
)
def test_releases_without_profiles_refuse_what_the_preset_is_not(config):
    with pytest.raises(OperatorError, match=r"4\.4\.5 has only the RoCE preset"):
        commands({}, config, version="4.4.5")


def test_the_preset_works_on_old_releases():
    found = commands({}, {"watchdog": {"state": "disabled"}}, version="4.4.5")
    assert found == ["nv set qos roce enable on", "nv set qos roce mode lossless"]


def test_rendering_needs_no_switch():
    there, requested = unknown_switch(PLATFORM), intent({})
    there.ports = {name: PLATFORM.blank(there, name) for name in NAMES}
    wanted = {name: compare.wanted(requested, PLATFORM) for name in NAMES}
    assert PLATFORM.render(there, wanted, requested).commands[0] == "nv set qos roce state enabled"


def test_the_backup_has_no_secrets():
    reported = {"system": {"aaa": {"user": {"x": {"hashed-password": "hidden"}}}}, **PRESET}
    assert "hidden" not in switch(reported).config
    assert "lossless" in switch(reported).config
