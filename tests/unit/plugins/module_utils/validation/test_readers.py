"""Every reader: a third-party text is never a figure, and neither is none."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import (
    chrony,
    counters,
    dcgm,
    gds,
    hostnames,
    iperf3,
    modules,
    nccl_log,
    nccl_tests,
    osu,
    perftest,
    ping,
    rping,
    smi,
    topology,
    xid,
)

from . import stack_texts, texts

READERS = {
    "perftest": (perftest.parse, texts.perftest([" 65536 5000 92.42 92.40 0.17"], texts.BW_GB)),
    "iperf3": (iperf3.parse, texts.iperf3()),
    "nccl-tests": (nccl_tests.parse, texts.nccl_tests([texts.nccl_row(512 * texts.MIB, 10.6)])),
    "nccl": (nccl_log.parse, "job-01:1:1 [0] NCCL INFO Using network IB\n"),
    "osu": (osu.parse, "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n0 1.61\n"),
    "rping": (rping.parse, texts.pings(3)),
    "ping": (ping.parse, texts.PING.format(lines="", received=5, loss=0)),
    "hostnames": (hostnames.parse, "job-01\njob-02\n"),
    "topology": (topology.parse, texts.TOPO),
    "xid": (xid.parse, texts.KERNEL),
    "chrony": (chrony.parse, texts.TRACKING.format(reference="C0 (a)", stratum=3, word="slow", leap="Normal")),
    "ethtool": (counters.ethtool, texts.ETHTOOL.format(1)),
    "smi": (smi.parse, texts.SMI.format(licence="Licensed", volatile=0, pending="No")),
    "dcgm diag": (dcgm.diag, stack_texts.HEALTHY_DIAG),
    "dcgm health": (dcgm.health, stack_texts.HEALTH),
    "gdscheck": (gds.check, stack_texts.GDS_OK),
    "gdsio": (gds.read, stack_texts.GDSIO.format(transfer="GPUD")),
    "modules": (modules.parse, "nvidia 39059456 115 nvidia_uvm\n"),
}
# A document of one tool that holds lines of another is no mistake of the reader.
BOTH = {("xid", "osu")}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_its_own_text_and_no_other(name):
    read, own = READERS[name]
    assert read(own)["why"] == ""
    good = [other for other, (_read, text) in READERS.items() if other != name and not read(text)["why"]]
    assert [other for other in good if (name, other) not in BOTH] == []


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", ["", "\n\n", "Segmentation fault (core dumped)\n", "\x00\x01\x02"])
def test_nothing_is_never_a_figure(name, text):
    found = READERS[name][0](text)
    assert found["understood"] is False
    assert found["why"]
