"""A validation of a site with simulated parts: each row, version and training is marked by what it rests on."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import measured
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.simulated import WORDS
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect

from .test_record import judged


@pytest.mark.parametrize(
    "declared, marked",
    [
        ([], set()),
        (["vcenter"], {"placement.hosts"}),
        (["network"], {"guest.address", "guest.mtu", "pair.ping_mtu", "pair.iperf3", "cluster.hostname"}),
        (["guests"], {"guest.kernel", "guest.clock", "guest.address", "guest.mtu", "cluster.hostname"}),
        (["switches", "rdma"], set()),
    ],
)
def test_each_row_of_a_rehearsal_is_marked_by_what_it_rests_on(tmp_path, declared, marked):
    made, _files, _kept = judged(tmp_path, simulated=declared)
    of_two = {"cluster.training 2:tcp", "cluster.efficiency 2:tcp"} if "network" in declared else set()
    rows = [row for row in made["checks"] if row["simulated"]]
    assert {row["check"] if row["check"] in marked else row["id"] for row in rows} == marked | of_two
    assert all(set(row["simulated_parts"]) <= set(declared) for row in rows)
    assert made["simulated_parts"] == [word for word in WORDS if word in declared]
    assert {one["nodes"]: one["simulated"] for one in made["trainings"]} == {1: False, 2: "network" in declared}


@pytest.mark.parametrize(
    "declared, marked",
    [([], set()), (["guests"], {"operating system", "kernel"}), (["network", "hosts", "vcenter", "switches"], set())],
)
def test_each_version_of_a_rehearsal_is_marked_by_what_it_rests_on(tmp_path, declared, marked):
    made, _files, _kept = judged(tmp_path, simulated=declared)
    assert {one["what"] for one in made["versions"] if one["simulated_parts"]} == marked


def test_firmware_driver_and_nccl_are_versions_of_simulated_devices():
    def version(check, **values):
        one = measured.measurement(check, {"guest": "job-01"}, readings=values, version="2.21", command=["x"])
        return collect.versions([one], declared=WORDS)

    found = [
        *version("guest.rdma_device", devices=[{"name": "vmw_pvrdma0", "firmware": "3.0"}]),
        *version("guest.driver", driver="550.54.15"),
        *version("cluster.nccl"),
        *version("pair.iperf3"),
        *version("pair.write_bw"),
    ]
    assert [one["simulated_parts"] for one in found] == [["rdma"], ["gpu"], ["gpu"], [], ["rdma"]]


RELAXED = {
    "setting": "site.validation.seconds",
    "value": "1",
    "strict": "5",
    "means": "A shorter bandwidth test may miss intermittent problems.",
    "checks": ["pair.iperf3", "cluster.training:2:tcp"],
    "stages": [],
}


def test_rows_name_the_relaxed_settings_that_concern_them(tmp_path):
    made, _files, _kept = judged(tmp_path, relaxed=[RELAXED])
    text = f"site.validation.seconds is 1 instead of 5. {RELAXED['means']}"
    reported = {row["id"]: row["relaxed"] for row in made["checks"] if row["relaxed"]}
    ways = ("pair.iperf3 job-01 > job-02", "pair.iperf3 job-02 > job-01")
    assert reported == dict.fromkeys((*ways, "cluster.training 2:tcp"), [text])
    assert made["relaxed"] == [RELAXED]


def test_rows_have_the_notes_of_their_check(tmp_path):
    made, _files, _kept = judged(tmp_path, notes={"pair.iperf3": "One machine."})
    assert {row["check"]: row["notes"] for row in made["checks"] if row["notes"]} == {"pair.iperf3": ["One machine."]}


def test_a_strict_run_records_that_nothing_is_relaxed(tmp_path):
    made, _files, _kept = judged(tmp_path)
    assert made["relaxed"] == []
    assert {len(row["relaxed"]) + len(row["notes"]) for row in made["checks"]} == {0}
