"""The kernel's log, its clock and its counters."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation import (
    chrony,
    counters,
    xid,
)

from . import texts


@pytest.mark.parametrize(
    "text, codes",
    [
        (texts.KERNEL, []),
        (texts.KERNEL + texts.XID.format(79) + texts.XID.format(13), [(79, "hardware"), (13, "program")]),
        (texts.KERNEL + texts.XID.format(999), [(999, "unknown")]),
        ("Mar  1 08:15:30 job-01 kernel: NVRM: Xid (PCI:0000:03:00): 48, DBE\n", [(48, "hardware")]),
        ("2026-03-01T08:15:30+0000 job-01 kernel: eth0 up\n", []),
        (texts.KERNEL + "[   12.000000] systemd[1]: Failed to mount data.mount: Permission denied\n", []),
    ],
)
def test_xids_of_the_kernels_log(text, codes):
    found = xid.parse(text)
    assert [(one["code"], one["kind"]) for one in found["xids"]] == codes


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-- No entries --\n",
        "bash: dmesg: command not found\n",
        "dmesg: read kernel buffer failed: Operation not permitted",
    ],
)
def test_a_log_that_could_not_be_read_is_not_free_of_errors(text):
    assert xid.parse(text)["why"]


def test_xids_of_before_are_not_those_of_the_run():
    before = xid.parse(texts.KERNEL + texts.XID.format(13))["xids"]
    after = xid.parse(texts.KERNEL + texts.XID.format(13) + texts.XID.format(79))["xids"]
    assert [one["code"] for one in xid.since(before, after)] == [79]


@pytest.mark.parametrize(
    "reference, stratum, word, leap, expected",
    [
        ("C0A80101 (ntp.example.com)", 3, "slow", "Normal", (True, -0.000312, "ntp.example.com")),
        ("C0A80101 (ntp.example.com)", 3, "fast", "Normal", (True, 0.000312, "ntp.example.com")),
        ("00000000 ()", 0, "fast", "Not synchronised", (False, 0.000312, "00000000")),
        # Nothing was heard yet, and it says that all is normal.
        ("00000000 ()", 0, "fast", "Normal", (False, 0.000312, "00000000")),
    ],
)
def test_the_clock(reference, stratum, word, leap, expected):
    found = chrony.parse(texts.TRACKING.format(reference=reference, stratum=stratum, word=word, leap=leap))
    assert (found["synchronised"], found["offset_s"], found["source"]) == expected


@pytest.mark.parametrize("text", ["", "506 Cannot talk to daemon\n", "hello\n"])
def test_no_clock_is_no_good_clock(text):
    assert chrony.parse(text)["why"]


def test_counters_of_ethtool_and_what_changed():
    before, after = (counters.ethtool(texts.ETHTOOL.format(number))["counters"] for number in (1, 40))
    told = counters.delta(before, dict(after, rx_packets=3))
    assert told == {"changed": {"rx_discards_phy": 39}, "lost": ["rx_packets"]}
    assert counters.sorted_out(told["changed"]) == {"drops": {"rx_discards_phy": 39}}


@pytest.mark.parametrize(
    "text",
    [
        "link mlx5_0/1 rx_write_requests 5 out_of_sequence 2 np_cnp_sent 7\n",
        '[{"ifindex":0,"ifname":"mlx5_0","port":1,"rx_write_requests":5,"out_of_sequence":2,"np_cnp_sent":7}]',
    ],
)
def test_counters_of_rdma_as_lines_and_as_json(text):
    found = counters.rdma(text)["counters"]
    assert found == {"mlx5_0/1": {"rx_write_requests": 5, "out_of_sequence": 2, "np_cnp_sent": 7}}


@pytest.mark.parametrize(
    "name, kind",
    [
        ("rx_prio3_discards", "drops"),
        ("roce_drops", "drops"),
        ("port_xmit_discards", "drops"),
        ("out_of_sequence", "resent"),
        ("packet_seq_err", "resent"),
        ("req_transport_retries_exceeded", "resent"),
        ("Error packets received", "resent"),
        ("rx_prio3_pause", "pauses"),
        ("np_ecn_marked_roce_packets", "marks"),
        ("rp_cnp_handled", "marks"),
        ("link_downed", "errors"),
        ("Receive packets dropped", "perhaps"),
        # A stack drops what nobody wants, and TCP's packets.
        ("rx_dropped", None),
        ("tx_dropped", None),
        ("rx_prio3_pause_duration", None),
        ("rx_packets", None),
        # Every connection that ends makes some of these.
        ("resp_cqe_flush_error", None),
        ("resp_cqe_error", None),
    ],
)
def test_what_kind_of_thing_a_counter_counts(name, kind):
    assert counters.kind(name) == kind


def test_tables_by_priority_of_a_switch_become_names():
    told = {"pauses_received": {"3": 12}, "roce_drops": 4, "ecn_marked": 7}
    assert counters.of_switch(told) == {"rx_prio3_pause": 12, "roce_drops": 4, "ecn_marked": 7}
