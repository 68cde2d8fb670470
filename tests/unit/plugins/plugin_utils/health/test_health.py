# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Health checks: readings from the answers of modules, and their comparison with the last check."""

from __future__ import annotations

import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.health import judged, saved
from ansible_collections.aiready.vsphere.plugins.plugin_utils.health.readings import readings

AT = "2026-03-01T12:00:00Z"


def measured(check, status="done", why="", **values):
    return {"check": check, "status": status, "why": why, "readings": values}


def guest(*measurements):
    return readings({"guests": {"job-01": {"measurements": list(measurements)}}})


def ports(counters=None, **running):
    port = {"enabled": True, "running": {"counters": counters or {}, **running}}
    return readings({"switches": {"leaf-01": {"switch": {"ports": {"Ethernet1": port}}}}})


def twice(before, after, **given):
    first = judged.check(before, None, given, AT)
    return judged.check(after, first["saved"], given, AT)


def failing(reported):
    return [(row["object"], row["reading"], row["increase"]) for row in reported["rows"] if row["state"] == "failing"]


def xid(code, kind="hardware"):
    return {"code": code, "kind": kind, "pci": "0000:02:00", "time": "1", "says": ""}


def gpu(**ecc):
    return measured("guest.ecc", gpus=[{"address": "02:00.0", "name": "A100", "ecc": ecc}])


def nvlink(**errors):
    return measured("guest.ecc", gpus=[{"address": "02:00.0", "name": "A100", "ecc": {}, "nvlink": errors}])


def licence(**values):
    return measured("guest.licence", gpus=[{"address": "02:00.0", "name": "A100", "licence": "Licensed", **values}])


COUNTED = [
    (guest(measured("guest.xid", xids=[])), guest(measured("guest.xid", xids=[xid(79)])), ("xid.hardware", 1)),
    (
        guest(measured("guest.xid", xids=[])),
        guest(measured("guest.xid", xids=[xid(13, "program")] * 11)),
        ("xid.program", 11),
    ),
    (guest(gpu(uncorrected=1)), guest(gpu(uncorrected=3)), ("gpu.02:00.0.uncorrected", 2)),
    (guest(gpu(corrected=5)), guest(gpu(corrected=106)), ("gpu.02:00.0.corrected", 101)),
    (guest(gpu(replays=0)), guest(gpu(replays=11)), ("gpu.02:00.0.replays", 11)),
    (guest(nvlink(replays=5)), guest(nvlink(replays=6)), ("gpu.02:00.0.nvlink_replays", 1)),
    (guest(nvlink(recoveries=0)), guest(nvlink(recoveries=1)), ("gpu.02:00.0.nvlink_recoveries", 1)),
    (guest(nvlink(crc=0)), guest(nvlink(crc=101)), ("gpu.02:00.0.nvlink_crc", 101)),
    (
        guest(measured("guest.counters", counters={"link_down_events_phy": 1})),
        guest(measured("guest.counters", counters={"link_down_events_phy": 2})),
        ("adapter.link_down_events_phy", 1),
    ),
    (
        guest(measured("guest.counters", counters={"rx_prio3_discards": 0})),
        guest(measured("guest.counters", counters={"rx_prio3_discards": 4})),
        ("adapter.rx_prio3_discards", 4),
    ),
    (ports({"watchdog_events": 7}), ports({"watchdog_events": 8}), ("Ethernet1.watchdog_events", 1)),
    (ports({"roce_drops": 0}), ports({"roce_drops": 9}), ("Ethernet1.roce_drops", 9)),
    (ports({"discards_sent": 0}), ports({"discards_sent": 1001}), ("Ethernet1.discards_sent", 1001)),
]


@pytest.mark.parametrize("before, after, expected", COUNTED, ids=[expected[0] for _before, _after, expected in COUNTED])
def test_events_since_the_last_check_fail_above_the_threshold_of_their_kind(before, after, expected):
    reported = twice(before, after)
    assert [one[1:] for one in failing(reported)] == [expected]
    assert (reported["status"], reported["code"], reported["since"]) == ("failing", 30, AT)
    assert twice(before, before)["status"] == "healthy"
    assert twice(after, after)["status"] == "healthy"
    (kind,) = {row["kind"] for row in reported["rows"] if row["state"] == "failing"}
    assert twice(before, after, **{kind: expected[1]})["status"] == "healthy"


def test_first_check_has_nothing_to_compare_counters_with():
    reported = judged.check(ports({"watchdog_events": 70}), None, None, AT)
    assert (reported["status"], reported["since"]) == ("healthy", "")
    assert "nothing to compare" in reported["rows"][0]["why"]


def test_counter_that_was_reset_counts_as_a_whole():
    assert failing(twice(ports({"watchdog_events": 70}), ports({"watchdog_events": 2}))) == [
        ("leaf-01", "Ethernet1.watchdog_events", 2)
    ]
    assert failing(twice(ports({"watchdog_events": 70}), ports({"watchdog_events": 0}))) == []


def test_a_reading_that_failed_once_makes_no_events_of_the_past():
    kernel, whole = measured("guest.kernel", boot="a"), gpu(corrected=5000)
    clock = measured("guest.clock", synchronised=True, offset_s=0)
    failed = guest(kernel, clock, measured("guest.ecc", status="failed", why="timed out"))
    known = judged.check(guest(kernel, clock, whole), None, None, AT)["saved"]
    later = judged.check(failed, known, None, AT)["saved"]
    assert failing(judged.check(guest(kernel, clock, whole), later, None, AT)) == []
    more = judged.check(guest(kernel, clock, gpu(corrected=5101)), later, None, AT)
    assert failing(more) == [("job-01", "gpu.02:00.0.corrected", 101)]
    # Also if the first check of the guest could not read it.
    first = judged.check(failed, None, None, AT)["saved"]
    assert failing(judged.check(guest(kernel, clock, whole), first, None, AT)) == []


def test_all_events_after_a_restart_are_new():
    before = guest(measured("guest.kernel", boot="a"), measured("guest.xid", xids=[xid(79)]))
    after = guest(measured("guest.kernel", boot="b"), measured("guest.xid", xids=[xid(79)]))
    assert failing(twice(before, after)) == [("job-01", "xid.hardware", 1)]
    assert failing(twice(before, before)) == []


def test_new_counter_and_missing_counter():
    reported = twice(ports({"roce_drops": 0}), ports({"watchdog_events": 1}))
    assert failing(reported) == [("leaf-01", "Ethernet1.watchdog_events", 1)]
    assert [row["reading"] for row in reported["rows"] if row["state"] == "unknown"] == ["Ethernet1.roce_drops"]


STATES = [
    (guest(measured("guest.clock", synchronised=False, offset_s=0.0)), "not synchronised"),
    (guest(measured("guest.clock", synchronised=True, offset_s=-2.5)), "differs by 2.5 s"),
    (guest(licence(licensed=False, expiry=None)), "no licence"),
    (guest(licence(licensed=True, expiry="2026-03-01T13:00:00Z")), "expires in 1.0 hours"),
    (guest(licence(licensed=True, expiry="2026-03-01T11:00:00Z")), "expired at"),
    (guest(gpu(pending=True)), "wait for a reset"),
    (guest(gpu(remap_failed=True)), "could not be remapped"),
    (guest(gpu(unrepairable=True)), "cannot be repaired"),
    (guest(gpu(exceeded=True)), "SRAM"),
    (ports(storms=[3]), "blocks these queues"),
]


@pytest.mark.parametrize("now, why", STATES, ids=[why for _now, why in STATES])
def test_state_fails_in_the_first_check_already(now, why):
    reported = judged.check(now, None, None, AT)
    assert [why in row["why"] for row in reported["rows"] if row["state"] == "failing"] == [True]
    assert why in reported["text"]
    assert any(why in line for line in reported["table"])


@pytest.mark.parametrize(
    "now",
    [
        guest(measured("guest.clock", synchronised=True, offset_s=0.2)),
        guest(licence(licensed=True, expiry="2026-03-02T12:00:00Z")),
        guest(licence(licensed=True, expiry=None)),
        guest(gpu(pending=False, remap_failed=False)),
        guest(measured("guest.licence", gpus=[{"address": "02:00.0", "licence": None, "licensed": None}])),
        guest(measured("guest.ecc", "skipped")),
        ports(up=False),
    ],
)
def test_healthy_states(now):
    assert judged.check(now, None, None, AT)["status"] == "healthy"


def test_link_fails_if_it_was_up_at_the_last_check():
    assert failing(twice(ports(up=True), ports(up=False))) == [("leaf-01", "Ethernet1.up", None)]
    hosts = [
        readings({"hosts": {"hosts": [{"name": "esx-01", "ports": [{"name": "vmnic2", "up": up}]}]}}) for up in (1, 0)
    ]
    assert judged.check(hosts[1], None, None, AT)["status"] == "healthy"


@pytest.mark.parametrize(
    "answers, why",
    [
        ({"guests": {"job-01": {"unreachable": True, "msg": "No route."}}}, "No route."),
        ({"guests": {"job-01": {}}}, "It was not read. Correct this, and run health again."),
        ({"switches": {"leaf-01": {"failed": True, "msg": "Wrong password."}}}, "Wrong password."),
        ({"hosts": {"failed": True, "msg": "No login."}}, "No login."),
        (
            {"hosts": {"hosts": [{"name": "esx-01", "not_read": ["DCB was not read."], "ports": []}]}},
            "DCB was not read.",
        ),
        (
            {"guests": {"job-01": {"measurements": [measured("guest.xid", "failed", "access denied")]}}},
            "guest.xid: access denied",
        ),
        ({"guests": {"a": {"measurements": [licence(licensed=True, expiry="soon")]}}}, "not understood: soon"),
        ({"guests": {"a": {"measurements": [measured("guest.clock", synchronised=None)]}}}, "does not report it"),
    ],
)
def test_whatever_was_not_read_is_unknown(answers, why):
    reported = judged.check(readings(answers), None, None, AT)
    assert (reported["status"], reported["code"]) == ("unknown", 20)
    assert why in reported["text"]


def test_readings_of_an_object_that_is_away_are_kept_for_the_next_check():
    first = judged.check(ports({"roce_drops": 1}), None, None, AT)
    away = judged.check(readings({"switches": {"leaf-01": {}}}), first["saved"], None, AT)
    assert away["saved"]["objects"] == first["saved"]["objects"]
    assert failing(judged.check(ports({"roce_drops": 3}), away["saved"], None, AT)) == [
        ("leaf-01", "Ethernet1.roce_drops", 2)
    ]


def test_unknown_threshold_is_rejected():
    with pytest.raises(ValueError, match="There are no thresholds ecc"):
        judged.check({}, None, {"ecc": 1}, AT)


@pytest.mark.parametrize(
    "value", ["many", None, "nan", "inf", "-1", "1e3", "", float("nan"), float("inf"), -1, True, []]
)
def test_threshold_that_is_not_a_number_of_at_least_0_is_rejected(value):
    with pytest.raises(ValueError, match=r"Cannot use the threshold drops\. .* Set a number, such as 0, in"):
        judged.check({}, None, {"drops": value}, AT)


@pytest.mark.parametrize("value", ["5", "5.0", 5, 5.5])
def test_threshold_of_a_template_is_a_number_in_a_text(value):
    assert twice(ports({"roce_drops": 0}), ports({"roce_drops": 5}), drops=value)["status"] == "healthy"
    assert twice(ports({"roce_drops": 0}), ports({"roce_drops": 6}), drops=value)["status"] == "failing"


def test_thresholds_that_are_no_dictionary_are_rejected():
    with pytest.raises(ValueError, match="Cannot use health_thresholds"):
        judged.check({}, None, ["drops"], AT)
    with pytest.raises(ValueError, match="5, drop"):
        judged.check({}, None, {5: 1, "drop": 2}, AT)


@pytest.mark.parametrize(
    "content", [None, "{", "[]", '{"format": 2, "objects": {}}', '{"format": 1, "objects": {"a": 1}}']
)
def test_missing_or_damaged_file_is_no_last_check(tmp_path, content):
    file = tmp_path / "counters.json"
    if content is not None:
        file.write_text(content)
    assert saved.last(str(file)) == {}
    file.write_text(json.dumps(judged.check(ports({"roce_drops": 1}), None, None, AT)["saved"]))
    assert saved.last(str(file))["objects"]["leaf-01"]["counters"] == {"Ethernet1.roce_drops": 1}


def drops(number, before, site):
    return judged.check(ports({"roce_drops": number}), before, None, AT, site)


def test_sites_that_share_a_file_compare_with_their_own_readings(tmp_path):
    file = tmp_path / "counters.json"
    for site, number in (("gpu@one", 5), ("gpu@two", 900), ("gpu@one", 6)):
        shown = drops(number, saved.last(str(file), site), site)
        saved.updated(str(file), shown["saved"])
    assert failing(shown) == [("leaf-01", "Ethernet1.roce_drops", 1)]
    assert json.loads(file.read_text())["site"] == "gpu@one"
    assert failing(drops(901, saved.last(str(file), "gpu@two"), "gpu@two")) == [("leaf-01", "Ethernet1.roce_drops", 1)]
    assert saved.last(str(file), "gpu@three")["objects"] == {}


def test_readings_without_a_site_belong_to_the_site_that_reads_them_first(tmp_path):
    file = tmp_path / "counters.json"
    old = drops(5, None, "")["saved"]
    file.write_text(json.dumps({key: old[key] for key in ("format", "at", "objects")}))
    shown = drops(7, saved.last(str(file), "gpu@one"), "gpu@one")
    assert failing(shown) == [("leaf-01", "Ethernet1.roce_drops", 2)]
    saved.updated(str(file), shown["saved"])
    assert saved.last(str(file), "gpu@two")["objects"] == {}


@pytest.mark.parametrize("others", [[], {"gpu@two": []}, {"gpu@two": {"objects": {"leaf-01": 1}}}])
def test_damaged_readings_of_another_site_are_left_out(tmp_path, others):
    file = tmp_path / "counters.json"
    file.write_text(json.dumps({**drops(5, None, "gpu@one")["saved"], "others": others}))
    assert saved.last(str(file), "gpu@two")["objects"] == {}
    assert list(saved.last(str(file), "gpu@one")["objects"]) == ["leaf-01"]
