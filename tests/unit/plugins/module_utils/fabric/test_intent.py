# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import (
    Ecn,
    Intent,
    Thresholds,
    Watchdog,
    intent,
    path_mtu,
    problems,
)


def test_the_usual_values_are_those_of_the_presets_of_switches():
    usual = Intent()
    assert (usual.mode, usual.priority, usual.dscp, usual.cnp_priority, usual.cnp_dscp) == ("lossless", 3, 26, 6, 48)
    assert (usual.trust, usual.mtu, usual.bandwidth_percent, usual.watchdog.enabled) == ("dscp", 9216, 50, True)
    assert usual.ecn == Ecn(True, Thresholds(150, 1500, 100))


@pytest.mark.parametrize(
    "mode, mask, lossless, sends",
    [("lossless", 0x08, [3], True), ("semi_lossless", 0x08, [3], False), ("lossy", 0, [], False)],
)
def test_flow_control_follows_from_mode_and_priority(mode, mask, lossless, sends):
    requested = Intent(mode=mode)
    assert (requested.pfc_mask, requested.lossless, requested.sends_pauses) == (mask, lossless, sends)


@pytest.mark.parametrize(
    "dscp, ecn, traffic_class",
    [(26, True, 106), (26, False, 104), (24, True, 98), (46, True, 186)],
)
def test_the_traffic_class_is_dscp_and_the_mark_that_lets_switches_mark(dscp, ecn, traffic_class):
    assert Intent(dscp=dscp, ecn=Ecn(ecn)).traffic_class == traffic_class


@pytest.mark.parametrize(
    "requested, explicit",
    [
        (Intent(), False),
        (Intent(dscp=24), False),
        (Intent(dscp=34), True),
        (Intent(priority=4, dscp=34), False),
        (Intent(cnp_priority=7), True),
        (Intent(cnp_priority=7, cnp_dscp=56), False),
    ],
)
def test_a_map_is_needed_where_an_eighth_of_the_dscp_is_not_the_priority(requested, explicit):
    assert requested.needs_map is explicit


@pytest.mark.parametrize(
    "requested, is_one",
    [
        (Intent(), True),
        (Intent(mode="lossy", mtu=9000, watchdog=Watchdog(False), cable_length_m=40), True),
        (Intent(priority=4), False),
        (Intent(cnp_dscp=46), False),
        (Intent(bandwidth_percent=60), False),
        (Intent(ecn=Ecn(default=Thresholds(150, 1600))), False),
        (Intent(ecn=Ecn(False)), False),
    ],
)
def test_presets_of_switches_stand_for_exactly_one_set_of_values(requested, is_one):
    assert requested.is_preset is is_one


@pytest.mark.parametrize(
    "requested, core, dscp",
    [
        (Intent(), {"pfctx": "0x08", "pfcrx": "0x08", "trust_state": "2"}, "26"),
        (Intent(mode="lossy"), {"pfctx": "0x00", "pfcrx": "0x00", "trust_state": "2"}, "26"),
        (Intent(priority=5, dscp=40), {"pfctx": "0x20", "pfcrx": "0x20", "trust_state": "2"}, "40"),
    ],
)
def test_adapters_of_esxi_get_the_same_numbers(requested, core, dscp):
    assert requested.esxi_module_options() == {"nmlx5_core": core, "nmlx5_rdma": {"dscp_force": dscp}}


def test_guests_that_own_their_adapter_get_the_same_numbers():
    requested = Intent(priority=4, dscp=26)
    assert requested.mlnx_qos() == [
        ["--trust", "dscp"],
        ["--pfc", "0,0,0,0,1,0,0,0"],
        ["--dscp2prio", "set,26,4"],
        ["--dscp2prio", "set,48,6"],
    ]


def test_adapters_trust_the_dscp_where_a_switch_trusts_tags_too():
    assert Intent(trust="both").mlnx_qos() == [["--trust", "dscp"], ["--pfc", "0,0,0,1,0,0,0,0"]]


def test_what_options_leave_out_is_as_usual():
    assert intent({"mode": None, "priority": 3, "ecn": None, "watchdog": {}}) == Intent()


def test_thresholds_by_speed_take_the_rest_from_the_common_ones():
    requested = intent({"ecn": {"min_kb": 200, "by_speed": [{"speed": 400, "max_kb": 4000}]}})
    assert requested.ecn.at(400) == Thresholds(200, 4000, 100)
    assert requested.ecn.at(100) == requested.ecn.at(None) == Thresholds(200, 1500, 100)


def test_the_watchdog_is_on_unless_said_otherwise():
    assert intent({"watchdog": {"action": "drop"}}).watchdog == Watchdog(True, action="drop")
    assert intent({"watchdog": {"state": "disabled"}}).watchdog.enabled is False


@pytest.mark.parametrize(
    "ethernet, path", [(9216, 4096), (9000, 4096), (4200, 4096), (4199, 2048), (1500, 1024), (300, 0)]
)
def test_the_path_mtu_is_the_largest_that_fits(ethernet, path):
    assert path_mtu(ethernet) == path


@pytest.mark.parametrize(
    "requested",
    [
        Intent(),
        Intent(mode="lossy"),
        Intent(ecn=Ecn(False)),
        Intent(priority=0, mode="lossy"),
        Intent(trust="both"),
        Intent(mtu=9000),
        Intent(mtu=10240),
        Intent(bandwidth_percent=1, cable_length_m=1, watchdog=Watchdog(detection_ms=1)),
        Intent(bandwidth_percent=99, ecn=Ecn(default=Thresholds(150, 150, 1))),
        Intent(priority=7, dscp=63, cnp_priority=0, cnp_dscp=0),
    ],
)
def test_sensible_requests_are_not_refused(requested):
    assert problems(requested, host_mtu=9000) == []


@pytest.mark.parametrize(
    "requested, says",
    [
        (Intent(cnp_priority=3), "cnp_priority: 3 is the priority of RoCE itself"),
        (Intent(cnp_dscp=26), "cnp_dscp: 26 is the DSCP of RoCE itself"),
        (Intent(priority=8), "priority: 8 is out of range"),
        (Intent(dscp=64), "dscp: 64 is out of range"),
        (Intent(priority=0), "priority: 0 carries all unmarked traffic"),
        (Intent(trust="pcp"), "trust: pcp maps packets without a VLAN tag to priority 0"),
        (Intent(trust="none"), "trust: none is not a valid trust mode"),
        (Intent(mode="lossyless"), "mode: lossyless is not a valid mode"),
        (Intent(mode="lossy", ecn=Ecn(False)), "ecn: it is disabled, and the mode lossy has no PFC"),
        (Intent(mtu=1500), "mtu: 1500 is too small. RoCE packets with 4096 bytes of payload need 4200"),
        (Intent(mtu=65535), "mtu: 65535 is too large"),
        (Intent(mtu=8000), "mtu: 8000 is less than the 9000 of the adapters"),
        (Intent(bandwidth_percent=100), "bandwidth_percent: 100 is out of range"),
        (Intent(cable_length_m=0), "cable_length_m: 0 is not a valid length"),
        (Intent(bandwidth_percent=0), "bandwidth_percent: 0 is out of range"),
        (Intent(watchdog=Watchdog(detection_ms=0)), "watchdog.detection_ms: 0 is not a valid time"),
        (Intent(watchdog=Watchdog(recovery_ms=-1)), "watchdog.recovery_ms: -1 is not a valid time"),
        (Intent(mtu=4199), "mtu: 4199 is too small"),
        (Intent(mtu=10241), "mtu: 10241 is too large"),
        (Intent(ecn=Ecn(default=Thresholds(probability=0))), "ecn: a probability of 0 % is out of range"),
        (Intent(ecn=Ecn(default=Thresholds(2000, 1500))), "ecn: min_kb 2000 and max_kb 1500 are not a valid range"),
        (Intent(ecn=Ecn(default=Thresholds(probability=101))), "ecn: a probability of 101 % is out of range"),
        (
            Intent(ecn=Ecn(by_speed={25: Thresholds(0, 9)})),
            "ecn at 25 Gbit/s: min_kb 0 and max_kb 9 are not a valid range",
        ),
    ],
)
def test_contradictory_requests_are_refused_with_the_reason(requested, says):
    (problem,) = problems(requested, host_mtu=9000 if requested.mtu == 8000 else None)
    assert problem.startswith(says)
