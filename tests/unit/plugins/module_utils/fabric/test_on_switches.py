# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Each intent on each platform, judged by what the hardware of the twin does and not by what the module says."""

from __future__ import annotations

import re

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import qos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import as_data

from unit import approved

from .on_switches import Bench

PLATFORMS = ("cumulus", "enterprise_sonic", "eos", "nxos", "onyx", "os10", "sonic")
INTENTS = {
    "default": {},
    "lossy": {"mode": "lossy", "ecn": {"min_kb": 300, "max_kb": 3000}},
    "semi-lossless": {"mode": "semi_lossless"},
    "other classes": {"priority": 4, "dscp": 34, "cnp_priority": 7, "cnp_dscp": 56},
    "other map": {"dscp": 10, "cnp_dscp": 46},
    "large share": {"bandwidth_percent": 70},
    "small share": {"bandwidth_percent": 25, "mtu": 9000},
    "no marking": {"ecn": {"state": "disabled"}},
    "some marking": {"ecn": {"min_kb": 200, "max_kb": 1000, "probability": 40}},
    "marking by speed": {"ecn": {"by_speed": [{"speed": 100, "min_kb": 500, "max_kb": 2000}]}},
    "no watchdog": {"watchdog": {"state": "disabled"}},
    "patient watchdog": {"watchdog": {"detection_ms": 400, "recovery_ms": 800, "action": "forward"}},
    "both trusted": {"trust": "both"},
    "DCBX": {"dcbx": "ieee"},
    "long cables": {"cable_length_m": 300},
}
# A platform sees that the switch does not do it, and restores what was there.
REFUSED = [
    ("enterprise_sonic", intent(INTENTS["both trusted"])),
    ("sonic", intent(INTENTS["both trusted"])),
    ("nxos", intent(INTENTS["long cables"])),
]
MORE = {"enterprise_sonic": {"allow": ["roce_enable_reboot"]}}
# What a switch shows of its configuration alone.
NOT_SHOWN = {
    "cumulus": {"watchdog"},
    "enterprise_sonic": {"ecn"},
    "eos": {"watchdog"},
    "nxos": set(),
    "onyx": {"watchdog"},
    "os10": {"trust", "ecn"},
    "sonic": {"ecn"},
}
# A kB is 1000 or 1024 bytes, and some platforms count in cells.
NEAR = 0.05


def platform(name):
    return platform_of(name, None, {})


def possible(name, requested):
    limits = platform(name).limits
    return requested.mode in limits.modes and requested.trust in limits.trusts and (name, requested) not in REFUSED


CASES = [
    pytest.param(name, config, id=f"{name}-{title}")
    for name in PLATFORMS
    for title, config in INTENTS.items()
    if possible(name, intent(config))
]


def expected(name, requested):
    """What the hardware has to do to packets of RoCE."""
    missing = platform(name).limits.missing
    limits = requested.ecn.at(100)
    return {
        "trusts": True,
        "classes": (requested.priority, requested.cnp_priority),
        "lossless": requested.lossless if requested.sends_pauses else [],
        "sends": requested.lossless if requested.sends_pauses else [],
        "obeys": requested.lossless,
        "marks": requested.ecn.enabled and (limits.min_kb, limits.max_kb),
        "probability": (100 if "probability" in missing else limits.probability) if requested.ecn.enabled else None,
        "share": requested.bandwidth_percent,
        "notifications first": True,
        "mtu": min(requested.mtu, platform(name).limits.largest_mtu),
        "watchdog": requested.watchdog.enabled and bool(requested.lossless) and "watchdog" not in missing,
        "pause": False,
    }


def seen(now, requested):
    """The same of a Treatment."""
    queue = now.queues[requested.priority]
    marking = now.marking.get(queue)
    marks = marking is not None and marking.mark
    limits = requested.ecn.at(100)

    def near(count, wanted):
        return wanted if abs(count / 1000 - wanted) <= NEAR * wanted else count

    return {
        "trusts": now.trust in ("dscp", "both"),
        "classes": (now.priorities[requested.dscp], now.priorities[requested.cnp_dscp]),
        "lossless": sorted(now.no_drop & (now.pauses_sent | now.pauses_heeded)),
        "sends": sorted(now.pauses_sent),
        "obeys": sorted(now.pauses_heeded),
        "marks": marks and (near(marking.min_bytes, limits.min_kb), near(marking.max_bytes, limits.max_kb)),
        "probability": marking.probability if marks else None,
        "share": now.shares.get(queue),
        "notifications first": now.queues[requested.cnp_priority] in now.strict,
        "mtu": now.mtu,
        "watchdog": now.watchdog,
        "pause": now.pause_sent or now.pause_heeded,
    }


def treatments(bench):
    return [bench.device.treatment(port) for port in bench.ports]


def done(bench, **params):
    answer = bench.set(**MORE.get(bench.platform, {}), **params)
    assert not answer.get("failed"), answer["msg"]
    return answer["switch"]


def check_reading(bench):
    """What the module reads of the ports is what their hardware does."""
    switch = qos.read(platform(bench.platform), bench, bench.ports)
    assert sorted(switch.ports) == sorted(bench.ports)
    for port in bench.ports[:2]:
        reported, now = switch.ports[port], bench.device.treatment(port)
        assert reported.trust == now.trust or {reported.trust, now.trust} == {"dscp", "both"}
        assert all(now.priorities[dscp] == priority for dscp, priority in (reported.dscp_map or {}).items())
        assert reported.queues is None or reported.queues == dict(enumerate(now.queues))
        assert reported.groups is None or reported.groups == dict(enumerate(now.groups))
        sends = reported.pfc if reported.pfc_mode == "on" and reported.pfc_sends is not False else []
        assert sends == sorted(now.pauses_sent)
        assert reported.lossless == sorted(now.pauses_heeded)
        assert sorted(reported.ecn) == sorted(queue for queue, one in now.marking.items() if one.mark)
        for queue, marking in reported.ecn.items():
            assert marking.min_bytes == pytest.approx(now.marking[queue].min_bytes, rel=NEAR)
            assert marking.max_bytes == pytest.approx(now.marking[queue].max_bytes, rel=NEAR)
            assert marking.probability in (None, now.marking[queue].probability)
        assert reported.strict == sorted(now.strict)
        assert all(now.shares[queue] == share for queue, share in reported.shares.items())
        assert reported.mtu == now.mtu
        assert reported.watchdog in (None, now.watchdog)
        assert reported.pause in (None, now.pause_sent or now.pause_heeded)
        assert reported.speed == 100
        assert reported.enabled in (None, True)
        assert switch.oper[port].up in (None, True)


@pytest.mark.parametrize("name, config", CASES)
def test_the_hardware_does_what_the_intent_says(name, config):
    bench, requested = Bench(name), intent(config)
    announced = bench.set(check=True, config=config, **MORE.get(name, {}))["switch"]
    result = done(bench, config=config)
    assert (result["outcome"], result["saved"]) == ("new", True)
    unknown = {re.search(r"does not report the running (\w+)", one)[1] for one in result["not_verified"]}
    assert unknown <= NOT_SHOWN[name] | {"dcbx"}
    assert [announced[key] for key in ("changes", "commands", "after")] == [
        result[key] for key in ("changes", "commands", "after")
    ]
    for port in bench.ports[:2]:
        now = bench.device.treatment(port)
        assert seen(now, requested) == expected(name, requested)
    check_reading(bench)
    again = done(bench, config=config)
    assert (again["changed"], again["changes"], again["commands"]) == (False, [], [])
    before = treatments(bench)
    bench.device.reload()
    assert treatments(bench) == before


# Enterprise SONiC keeps the buffers of one priority until RoCE is removed.
@pytest.mark.parametrize("name, config", [one for one in CASES if one.id != "enterprise_sonic-other classes"])
def test_one_intent_replaces_another(name, config):
    bench, other = Bench(name), INTENTS["lossy"] if config == {} else {}
    done(bench, config=config)
    done(bench, config=other)
    for port in bench.ports[:2]:
        assert seen(bench.device.treatment(port), intent(other)) == expected(name, intent(other))
    again = done(bench, config=other)
    assert (again["changed"], again["commands"]) == (False, [])


@pytest.mark.parametrize("name, config", CASES)
def test_absent_leaves_nothing_of_roce(name, config):
    bench, fresh = Bench(name), Bench(name)
    done(bench, config=config)
    result = done(bench, state="absent")
    assert (result["changed"], result["outcome"], result["saved"]) == (True, "new", True)
    again = done(bench, state="absent")
    assert (again["changed"], again["commands"]) == (False, [])
    for now, before in list(zip(treatments(bench), treatments(fresh), strict=True))[:2]:
        assert now.pauses_sent <= before.pauses_sent
        assert set(now.marking) <= set(before.marking)
        assert now.watchdog is before.watchdog


COUNTED = {"tx_packets_3": 11, "rx_packets_3": 7, "tx_pause_3": 5, "rx_pause_3": 4, "ecn_marked_3": 3}


@pytest.mark.parametrize("name", PLATFORMS)
def test_all_that_is_read_of_a_switch(name):
    bench = Bench(name)
    for port in bench.ports[:2]:
        bench.switch.ports[port].counters.update(COUNTED)
    factory = as_data(qos.read(platform(name), bench, bench.ports), bench.ports[:1])
    approved.check(__file__, f"{name}: factory", {**factory, "config": ""})
    done(bench, save="never")
    reported = as_data(qos.read(platform(name), bench, bench.ports), bench.ports[:1])
    approved.check(__file__, f"{name}: RoCE", {**reported, "config": ""}, {**factory, "config": ""})


@pytest.mark.parametrize("name", [name for name in PLATFORMS if name != "enterprise_sonic"])
def test_merged_leaves_another_lossless_priority(name):
    bench = Bench(name)
    done(bench, config=INTENTS["other classes"])
    result = done(bench, state="merged")
    assert (result["changed"], result["outcome"]) == (True, "new")
    for port in bench.ports[:2]:
        now = bench.device.treatment(port)
        assert sorted(now.no_drop & now.pauses_sent & now.pauses_heeded) == [3, 4]
        assert {
            key: one for key, one in seen(now, intent({})).items() if key not in ("lossless", "sends", "obeys")
        } == {key: one for key, one in expected(name, intent({})).items() if key not in ("lossless", "sends", "obeys")}
    again = done(bench, state="merged")
    assert (again["changed"], again["commands"]) == (False, [])


@pytest.mark.parametrize("where", [0.0, 0.25, 0.5, 0.75])
@pytest.mark.parametrize("name", PLATFORMS)
def test_a_switch_that_refuses_a_line_is_as_it_was(name, where):
    bench, other = Bench(name), Bench(name)
    commands = done(other)["commands"]
    lines = [line for line in other.sent if line in commands] or [line for line in other.sent if "apply" in line]
    bench.refused = lines[round(where * (len(lines) - 1))]
    before = treatments(bench)
    answer = bench.set(**MORE.get(name, {}))
    assert (answer["failed"], answer["failure"]["code"]) == (True, "refused")
    assert answer["switch"]["outcome"] != "new"
    assert treatments(bench) == before
    bench.refused = None
    assert done(bench)["outcome"] == "new"
    assert treatments(bench) == treatments(other)
