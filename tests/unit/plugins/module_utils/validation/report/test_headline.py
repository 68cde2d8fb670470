# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The three numbers at the top of the report: measured, not measured, or not required by the site."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import headline, rows
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import pages

from browser import runs


def made(change=lambda reported: None, nodes=4):
    reported = runs.results(runs.perfect(nodes))
    change(reported)
    return document(reported, None)


def of(reported, check):
    return [row for row in reported["checks"] if row["check"] == check]


def leave_out(*checks):
    def change(reported):
        for check in checks:
            for row in of(reported, check):
                row.update(verdict="skipped", measured=None, why="The site leaves it out.")
        if "cluster.training" in checks:
            reported["trainings"] = []

    return change


def remove(*checks):
    def change(reported):
        reported["checks"] = [row for row in reported["checks"] if row["check"] not in checks]
        if "cluster.training" in checks:
            reported["trainings"] = []

    return change


def test_three_numbers_with_what_they_are_held_to():
    found = made()["numbers"]
    assert {key: one["state"] for key, one in found.items()} == dict.fromkeys(found, "measured")
    throughput, rdma, failed = found["throughput"], found["rdma"], found["failed"]
    assert (throughput["nodes"], throughput["relative_to"], throughput["expected"]) == (4, 1, "at least 90 %")
    assert (rdma["line"], rdma["expected"], rdma["pairs"], rdma["of_pairs"]) == (100, "at least 80 Gb/s", 12, 12)
    assert rdma["percent"] == pytest.approx(rdma["slowest"])
    assert (failed["checks"], failed["stages"]) == (0, 0)


def test_the_bandwidth_is_that_of_the_slowest_pair():
    def slow(reported):
        of(reported, "pair.write_bw")[3].update(measured=61.2)

    found = made(slow)["numbers"]["rdma"]
    assert (found["slowest"], found["on"]) == (61.2, "job-02 → job-01")


@pytest.mark.parametrize(
    "change,state", [(remove, "not measured"), (leave_out, "not required")], ids=["no row", "left out"]
)
def test_a_missing_number_says_why_it_is_missing(change, state):
    found = made(change("cluster.training", "pair.write_bw"))
    assert {found["numbers"][key]["state"] for key in ("throughput", "rdma")} == {state}
    assert pages.html(found, {}, "").count(f'<dd class="none">{state}</dd>') == 2
    lines = pages.markdown(found).splitlines()
    for title in ("Training throughput", "RDMA bandwidth"):
        assert f"| {title} | {state} | {state} |" in lines


@pytest.mark.parametrize(
    "change,state", [(remove, "not measured"), (leave_out, "not required")], ids=["no row", "left out"]
)
def test_one_node_has_no_efficiency(change, state):
    def alone(reported):
        change("cluster.efficiency")(reported)
        reported["trainings"] = [one for one in reported["trainings"] if one["nodes"] == 1]

    found = made(alone)
    assert found["numbers"]["throughput"]["efficiency_state"] == state
    assert f"Efficiency against one node: {state}" in pages.html(found, {}, "")
    assert f"efficiency against one node: {state}" in pages.markdown(found)


def test_without_checks_no_number_was_measured():
    found = document(None, {"stages": [{"name": "hosts", "state": "failed"}]})["numbers"]
    assert {key: one["state"] for key, one in found.items()} == dict.fromkeys(found, "not measured")
    assert found["failed"]["stages"] == 1


def test_the_line_is_that_of_the_adapters_of_the_vms():
    topology = {
        "hosts": [{"name": "esx-01", "nics": [{"name": "vmnic0", "speed_gb": 10}, {"name": "vmnic2", "speed_gb": 25}]}],
        "vms": [{"host": "esx-01", "nic": "vmnic2"}],
    }
    assert headline._line(topology) == 25
    assert headline._line({**topology, "vms": []}) == 10
    assert headline._line(None) is None


def test_a_bandwidth_without_a_known_line_says_so():
    def unknown(reported):
        del reported["topology"]

    found = made(unknown)
    assert (found["numbers"]["rdma"]["line"], found["numbers"]["rdma"]["percent"]) == (None, None)
    assert "Line rate: not recorded" in pages.html(found, {}, "")
    assert "line rate not recorded" in pages.markdown(found)


def test_expected_values_that_differ_are_not_reported_of_all():
    some = [{"id": str(low), "check": "c", "expected": {"text": f"at least {low}"}} for low in (1, 2)]
    assert headline._expected(rows.rows(some, []), "c") == ""


def test_a_check_that_is_not_required_is_nowhere_a_pass():
    def free(reported):
        for row in of(reported, "pair.iperf3"):
            row.update(verdict="not_required", expected={"text": "", "low": None, "high": None, "source": ""})

    found = made(free)
    counts = found["verdict"]["counts"]
    assert counts["not_required"] == 12
    assert found["verdict"]["summary"] == f"All {counts['pass']} required checks passed, 12 not required."
    assert "pass" not in {row["verdict"] for row in _rows(found, "pair.iperf3")}
    assert '<details class="check v-not_required">' in pages.html(found, {}, "")
    (line,) = [line for line in pages.markdown(found).splitlines() if "| TCP bandwidth |" in line]
    assert "pass" not in line
    assert line.endswith("| not required |")


def _rows(found, name):
    return [
        row for layer in found["ladder"] for check in layer["checks"] for row in check["rows"] if row["check"] == name
    ]


def test_problems_have_their_measured_and_their_expected_value():
    run, reported = runs.mixed()
    found = document(reported, None)
    (line,) = [line for line in pages.markdown(found).splitlines() if line.startswith("| fail")]
    assert "| 61.2 Gb/s | at least 80 Gb/s |" in line
    assert "Expected: at least 80 Gb/s." in pages.html(found, {}, "")
