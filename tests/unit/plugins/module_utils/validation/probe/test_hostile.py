"""Whatever one guest sends, the validation comes to a result, and the guest decides nothing about the other one."""

from __future__ import annotations

import copy
import json

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.measured import measurement
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect

from .test_record import GUESTS, judged, looks

JUNK = (None, [], [[]], [{}], {}, {"a": 1}, "x", "\u00b2", -1, True, float("nan"), float("inf"), 1 << 4000)


def places_of(value, at=()):
    yield at
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        yield from places_of(below, (*at, key))


def replaced(value, at, junk):
    if not at:
        return junk
    made = copy.copy(value)
    made[at[0]] = replaced(value[at[0]], at[1:], junk)
    return made


INTENT = {"guests": GUESTS, "data_path": "sriov", "gpus": "all", "mtu": 9000, "speed_gb": 100}
IDS = [f"{number}-{type(junk).__name__}" for number, junk in enumerate(JUNK)]


@pytest.mark.parametrize("junk", JUNK, ids=IDS)
def test_nonsense_in_the_place_of_any_part_of_an_answer_is_collected(tmp_path, junk):
    good = {name: looks(tmp_path / name, name) for name in GUESTS}
    for one in good["job-01"]["after"]["measurements"]:
        one["readings"] = READINGS.get(one["check"], one["readings"])
    for at in places_of(good["job-01"]["after"]):
        sent = {**good["job-01"], "after": replaced(good["job-01"]["after"], at, junk)}
        found, files = collect.collect({"guests": {**good, "job-01": sent}})
        assert json.dumps([found, collect.versions(found)], allow_nan=False)
        assert all(isinstance(text, str) for text in files.values())


@pytest.mark.parametrize("junk", JUNK, ids=IDS)
def test_nonsense_in_the_readings_of_a_guest_is_judged(tmp_path, junk):
    sent = {name: looks(tmp_path / name, name) for name in GUESTS}
    for phase in ("before", "after"):
        for one in sent["job-01"][phase]["measurements"]:
            values = READINGS.get(one["check"], one["readings"])
            one.update(status="done", readings={key: spoilt(value, junk) for key, value in values.items()})
    made, _files, _kept = judged(tmp_path, guests=sent, intent=INTENT)
    assert json.dumps(made, allow_nan=False)


def spoilt(value, junk):
    """The value with nonsense in the place of all that is in it, but with its form."""
    if isinstance(value, dict):
        return {key: spoilt(one, junk) for key, one in value.items()}
    return [spoilt(one, junk) for one in value] if isinstance(value, list) else junk


READINGS = {
    "guest.rdma_device": {"devices": [{"name": "mlx5_0", "ports": [{"state": "active", "interfaces": ["ens224"]}]}]},
    "guest.topology": {"nearest": {"GPU0": {"class": "PHB", "nic": "mlx5_0"}}},
    "guest.xid": {"xids": [{"code": 79, "pci": "0000:02:00", "means": "x", "kind": "hardware"}]},
    "guest.counters": {"counters": {"port_xmit_data": 1, "out_of_sequence": 1}},
    "guest.gid": {"gid": {"index": 3, "address": "192.168.50.11"}, "roce_v2": [{"index": 3}], "types": ["roce_v2"]},
    "guest.driver": {"driver": "550", "gpus": [{"name": "A100", "address": "02:00.0", "recovery": "x"}]},
    "guest.licence": {"gpus": [{"licence": "Licensed"}]},
    "guest.ecc": {"gpus": [{"ecc": {"uncorrected": 0, "pending": True}}]},
}


def test_a_guest_reports_of_itself_alone_and_brings_no_evidence(tmp_path):
    good = {name: looks(tmp_path / name, name) for name in GUESTS}
    forged = [
        measurement("guest.kernel", {"guest": "job-02"}, readings={"kernel": "forged"}, evidence="../../secret"),
        measurement("fabric.settings", {"guests": GUESTS}, readings={"disagreements": []}, evidence="x"),
        measurement("pair.iperf3", {"from": "job-01", "to": "job-02"}, readings={"gbps": 99.0}, evidence="x"),
    ]
    good["job-01"]["after"] = {"measurements": forged, "outputs": {}}
    found, _files = collect.collect({"guests": good})
    kernels = [one for one in found if one["readings"].get("kernel") == "forged"]
    assert [(one["subject"], one["evidence"]) for one in kernels] == [({"guest": "job-01"}, "")]
    assert {one["check"].partition(".")[0] for one in found} == {"guest"}


def nested(levels):
    """Lists and dictionaries by turns, which a guest may send to any depth."""
    made = 1
    for level in range(levels):
        made = {"x": made} if level % 2 else [made]
    return made


def test_readings_of_any_depth_and_outputs_of_any_size_come_to_a_record(tmp_path):
    sent = {name: looks(tmp_path / name, name) for name in GUESTS}
    after = sent["job-01"]["after"]
    for one in after["measurements"]:
        one["readings"] = {key: nested(20_000) for key in (one["readings"] or {"a": 1})}
    after["measurements"] = [*after["measurements"], *([after["measurements"][0]] * 20_000)]
    after["outputs"] = dict.fromkeys(after["outputs"], "x" * (20 << 20))
    found, files = collect.collect({"guests": sent})
    assert json.dumps(found, allow_nan=False)
    assert len(found) < 2 * collect.MOST_MEASUREMENTS
    assert max(map(len, files.values())) < 2 * collect.MOST_OUTPUT


@pytest.mark.parametrize(
    "number, kept", [(2**64 - 1, 2**64 - 1), (2**64, None), (-(2**64), None), (float("nan"), None)]
)
def test_numbers_that_no_counter_holds_are_left_out(number, kept):
    assert collect._finite({"counters": [number]}) == {"counters": [kept]}
