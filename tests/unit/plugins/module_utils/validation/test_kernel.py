"""The kernel's log, its clock and its counters."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_fabric
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import chrony, counters, xid

from . import texts


@pytest.mark.parametrize(
    "text, codes",
    [
        (texts.KERNEL, []),
        (texts.KERNEL + texts.XID.format(79) + texts.XID.format(13), [(79, "hardware"), (13, "program")]),
        (texts.KERNEL + texts.XID.format(999), [(999, "unknown")]),
        # Forms that are not known: an error all the same.
        (texts.KERNEL + "[   12.000000] NVRM: Xid 79 of GPU 3\n", [(79, "unknown")]),
        (
            texts.KERNEL + "[   12.000000] NVRM: Xid (PCI:0000:03:00), what happened\n",
            [("of unknown number", "unknown")],
        ),
        ("Mar  1 08:15:30 job-01 kernel: NVRM: Xid (PCI:0000:03:00): 48, DBE\n", [(48, "hardware")]),
        ("2026-03-01T08:15:30+0000 job-01 kernel: eth0 up\n", []),
        (texts.KERNEL + "[   12.000000] systemd[1]: Failed to mount data.mount: Permission denied\n", []),
    ],
)
def test_xids_of_the_kernels_log(text, codes):
    found = xid.parse(text)
    assert [(one["code"], one["kind"]) for one in found["xids"]] == codes


@pytest.mark.parametrize(
    "line, expected",
    [
        # Very old drivers, a GPU instance, and the parts of NVLink since Blackwell.
        ("NVRM: Xid (0000:03:00): 31, Ch 00000003", (31, "0000:03:00", "program")),
        ("NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7, Contained", (94, "0000:01:00 GPU-I:05", "hardware")),
        ("NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0", (149, "0018:01:00", "hardware")),
        ("NVRM: Xid (PCI:0018:01:00): 145, pid=7, name=a, RLW_RXPIPE Nonfatal XC0", (145, "0018:01:00", "unknown")),
        # What has to be done with a GPU, and that nothing has to be done any more.
        (
            "NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
            (154, "0008:01:00", "hardware"),
        ),
        (
            "NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
            (154, "0008:01:00", "unknown"),
        ),
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 Fault", (20034, "0000:c1:00.0", "hardware")),
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 3", (12028, "0000:c1:00.0", "unknown")),
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Severity 0 Engine instance 3", None),
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Data {0x00140004, 0x00100000}", None),
        ("NVRM: GPU 0000:03:00.0: GPU has fallen off the bus.", (79, "0000:03:00", "hardware")),
        ("NVRM: fallen off the bus and is not responding to commands.", (79, "of unknown address", "hardware")),
        ("NVRM: GPU at PCI:0000:03:00: GPU-11111111", None),
    ],
)
def test_the_forms_of_errors_of_gpus_and_their_switches(line, expected):
    found = xid.parse(f"{texts.KERNEL}[   12.000000] {line}\n")["xids"]
    assert [(one["code"], one["pci"], one["kind"]) for one in found] == ([expected] if expected else [])


def test_an_error_of_a_switch_is_not_one_of_a_gpu():
    lines = "".join(
        f"[   12.000000] {line}\n"
        for line in (
            "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 Fault",
            "NVRM: Xid (PCI:0000:03:00): 79, gone",
        )
    )
    assert [one["of"] for one in xid.parse(lines)["xids"]] == ["switch", "GPU"]


def test_a_gpu_that_fell_off_the_bus_is_reported_once():
    lines = texts.XID.format(79) + "[ 3606.9] NVRM: GPU 0000:03:00.0: GPU has fallen off the bus.\n"
    assert len(xid.parse(lines)["xids"]) == 1


@pytest.mark.parametrize(
    "front, time",
    [
        ("[Sun Feb 23 16:24:18 2025] ", "[Sun Feb 23 16:24:18 2025]"),
        ("[So Okt  6 16:24:18 2024] ", "[So Okt  6 16:24:18 2024]"),
        ("kern  :warn  : 2025-01-21T04:41:44,283302+00:00 ", "2025-01-21T04:41:44,283302+00:00"),
        ("kern  :warn  : [ 3606.832215] ", "[ 3606.832215]"),
        ("<4>[ 3606.832215] ", "[ 3606.832215]"),
        ("Okt 06 17:59:27 job-01 kernel: ", "Okt 06 17:59:27"),
        ("", None),
    ],
)
def test_lines_of_the_kernel_with_any_time_in_front(front, time):
    (one,) = xid.parse(f"{front}NVRM: Xid (PCI:0000:03:00): 79, gone\n")["xids"]
    assert (one["code"], one["time"]) == (79, time)
    sound = xid.parse(f"{front}usb 1-1: new device\n")
    assert sound["understood"] is bool(front)


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


@pytest.mark.parametrize(
    "reference, stratum, word, leap, expected",
    [
        ("C0A80101 (ntp.example.com)", 3, "slow", "Normal", (True, -0.000312, "ntp.example.com")),
        ("C0A80101 (ntp.example.com)", 3, "fast", "Normal", (True, 0.000312, "ntp.example.com")),
        ("00000000 ()", 0, "fast", "Not synchronised", (False, 0.000312, "00000000")),
        # Nothing was heard yet, and it says that all is normal.
        ("00000000 ()", 0, "fast", "Normal", (False, 0.000312, "00000000")),
        # It follows its own clock, for want of a server.
        ("7F7F0101 ()", 10, "slow", "Normal", (False, -0.000312, "7F7F0101")),
        ("127.127.1.1 ()", 10, "slow", "Normal", (False, -0.000312, "127.127.1.1")),
        ("50484330 (PHC0)", 1, "fast", "Insert second", (True, 0.000312, "PHC0")),
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
    reported = counters.delta(before, dict(after, rx_packets=3))
    assert (reported["changed"], reported["lost"]) == ({"rx_discards_phy": 39}, ["rx_packets"])
    assert reported["known"] == ["rx_discards_phy", "rx_prio3_pause", "tx_prio3_pause_duration"]
    assert counters.sorted_out(reported["changed"]) == {"drops": {"rx_discards_phy": 39}}


def test_packets_that_an_adapter_discards_on_transmit_fail_a_lossless_network():
    intent = {"lossless": True, "priority": 3}
    about = About("guest.counters", {"guest": "job-01"}, "", intent, {})
    found = check_fabric.counted({"changed": {"tx_discards_phy": 7, "tx_vport_rdma_unicast_packets": 9000}}, about)
    (remark,) = found.remarks
    assert (found.verdict, remark.code, "tx_discards_phy +7" in remark.why) == ("fail", "drops", True)


@pytest.mark.parametrize(
    "text",
    [
        "link mlx5_0/1 rx_write_requests 5 out_of_sequence 2 np_cnp_sent 7\n",
        '[{"ifindex":0,"ifname":"mlx5_0","port":1,"rx_write_requests":5,"out_of_sequence":2,"np_cnp_sent":7}]',
        "link mlx5_0/1\n    rx_write_requests 5\n    out_of_sequence 2\n    np_cnp_sent 7\n",
        "link mlx5_0/1 rx_write_requests 5 out_of_sequence\n2 np_cnp_sent 7\n[root@job-01 ~]# uptime 3\n",
        '[root@job-01 ~]# rdma -j statistic\n[{"ifname":"mlx5_0","port":1,"rx_write_requests":5,"out_of_sequence":2,'
        '"np_cnp_sent":7}]\n',
    ],
)
def test_counters_of_rdma_as_lines_and_as_json(text):
    found = counters.rdma(text)["counters"]
    assert found == {"mlx5_0/1": {"rx_write_requests": 5, "out_of_sequence": 2, "np_cnp_sent": 7}}


@pytest.mark.parametrize(
    "name, kind",
    [
        ("rx_prio3_discards", "drops"),
        ("rx_prio3_buf_discard", "drops"),
        ("rx_prio3_cong_discard", "drops"),
        ("rx_roce_discards", "drops"),
        ("roce_drops", "drops"),
        ("port_xmit_discards", "drops"),
        ("out_of_sequence", "resent"),
        ("packet_seq_err", "resent"),
        ("local_ack_timeout_err", "resent"),
        ("oos_drop_count", "resent"),
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


def test_queues_that_have_the_same_names_are_added_up():
    queues = "".join(f"     Rx Queue#: {one}\n       pkts rx OOB: {one + 3}\n" for one in (0, 1))
    text = f"NIC statistics:\n{queues}     tx timeout count: 2\n"
    assert counters.ethtool(text)["counters"] == {"pkts rx OOB": 7, "tx timeout count": 2}
    # A second look in the same text is the one that counts.
    assert counters.ethtool(text * 2) == counters.ethtool(text)


@pytest.mark.parametrize(
    "name, kind",
    [
        ("[3]: rx_discards", "drops"),
        ("rx_total_discard_pkts", "drops"),
        ("tx_stat_discard", "drops"),
        ("rx_discard_packets_cos3", "drops"),
        ("ip4InDiscards", "drops"),
        ("rx_out_of_buffer", "perhaps"),
        ("rx_missed_errors.nic", "perhaps"),
        ("duplicate_request", "resent"),
        ("rx_dropped", None),
        ("port.rx_bytes", None),
    ],
)
def test_counters_of_other_drivers_by_their_names(name, kind):
    assert counters.kind(name) == kind


@pytest.mark.parametrize("shown", ["N/A", "-3", "0x10", "ERR!"])
def test_a_drop_counter_that_is_no_count_is_not_left_out(shown):
    text = "NIC statistics:\n     tx_discards_phy: 0\n     rx_discards_phy: {}\n     rx_bytes_other: {}\n"
    assert counters.ethtool(text.format(7, shown))["counters"]["rx_discards_phy"] == 7
    found = counters.ethtool(text.format(shown, 7))
    assert (found["understood"], "counters" in found) == (False, False)
    assert f"the value of rx_discards_phy is not a count: {shown}" in found["why"]
