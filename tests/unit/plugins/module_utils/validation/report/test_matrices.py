# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report import matrices, rows


def pair(source, target, measured, check="pair.write_bw", unit="Gb/s", verdict="pass", **more):
    return {
        "id": f"{check} {source} > {target}", "check": check, "title": check, "layer": "pair", "unit": unit,
        "subject": {"from": source, "to": target}, "measured": measured, "verdict": verdict, **more,
    }  # fmt: skip


def made(*recorded):
    return matrices.matrices(rows.rows(list(recorded), []))


def test_a_matrix_has_the_sender_down_and_the_receiver_across():
    (found,) = made(pair("job-10", "job-2", 5.0), pair("job-2", "job-10", 7.0))
    assert found["nodes"] == ["job-2", "job-10"]
    assert found["values"] == [[None, 7.0], [5.0, None]]
    assert (found["low"], found["median"], found["high"], found["pairs"]) == (5.0, 6.0, 7.0, 2)


def test_the_worst_pair_of_a_bandwidth_is_the_lowest_and_of_a_latency_the_highest():
    bandwidth, latency = made(
        pair("a", "b", 90.0), pair("b", "a", 60.0, verdict="fail"),
        pair("a", "b", 2.0, "pair.write_lat", "us"), pair("b", "a", 9.0, "pair.write_lat", "us"),
    )  # fmt: skip
    assert [(one["from"], one["measured"]) for one in bandwidth["worst"]] == [("b", 60.0), ("a", 90.0)]
    assert [(one["from"], one["measured"]) for one in latency["worst"]] == [("b", 9.0), ("a", 2.0)]
    assert (bandwidth["better"], latency["better"]) == ("higher", "lower")


def test_a_node_is_reported_apart_by_what_it_sends_and_what_it_gets():
    (found,) = made(*(pair(a, b, 10.0 if a == "c" else 90.0) for a in "abc" for b in "abc" if a != b))
    assert [(one["node"], one["sends"], one["gets"]) for one in found["of_nodes"]] == [
        ("a", 90.0, 50.0),
        ("b", 90.0, 50.0),
        ("c", 10.0, 90.0),
    ]


def test_variants_have_matrices_of_their_own_and_what_is_right_or_wrong_has_none():
    found = made(
        pair("a", "b", 90.0, variant="cuda"), pair("a", "b", 95.0, variant="host"),
        pair("a", "b", 9000, "pair.ping_mtu", "bytes"), pair("a", "b", "answered", "pair.rping", ""),
        pair("a", "b", None, "pair.iperf3", verdict="not_run"),
    )  # fmt: skip
    assert [(one["check"], one["variant"]) for one in found] == [("pair.write_bw", "cuda"), ("pair.write_bw", "host")]


def test_one_simulated_pair_marks_the_matrix():
    (found,) = made(pair("a", "b", 90.0), pair("b", "a", 90.0, simulated=True))
    assert found["simulated"] is True


def test_a_node_that_was_not_measured_stays_in_the_matrix():
    (found,) = made(pair("a", "b", 90.0), pair("b", "c", None, verdict="not_run"))
    assert found["nodes"] == ["a", "b", "c"]
    assert found["values"] == [[None, 90.0, None], [None, None, None], [None, None, None]]
    assert found["verdicts"] == [[None, "pass", None], [None, None, "not_run"], [None, None, None]]
    assert (found["pairs"], found["missed"]) == (1, 1)
