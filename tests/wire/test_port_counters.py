"""What ports of switches counted, read over each platform's own connection: traffic and drops of all classes."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import collect

from .roce_lab import bench
from .rows.roce_qos import port

PLATFORMS = ("eos", "nxos", "onyx", "os10", "cumulus", "sonic")
BEFORE = {"rx_packets_3": 1000, "rx_bytes_3": 4_096_000, "tx_packets_3": 2000, "tx_bytes_3": 8_192_000}
AFTER = {"rx_packets_3": 500_000, "rx_bytes_3": 2_048_000_000, "tx_packets_3": 700_000, "tx_bytes_3": 2_867_200_000}


def looked(lab, counted):
    """The switch as roce_qos_info reads it, after its first port has counted this."""
    lab.switch.ports[port(lab.platform, 1)].counters.update(counted)
    return lab.module("roce_qos_info", {}, False)["switch"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_traffic_and_drops_of_a_port_are_read_with_their_evidence(platform):
    with bench(platform) as lab:
        # Cumulus counts RoCE where RoCE is on.
        lab.set()
        name = port(platform, 1)
        looks = {"before": [looked(lab, BEFORE)], "after": [looked(lab, AFTER)]}
        found, files = collect.collect({"switches": looks})
        (one,) = [one for one in found if one["subject"]["port"] == name]
        reported = one["readings"]
        assert counters.octets(reported["changed"]) > 10**9
        lost = [known for known in reported["known"] if counters.kind(known) in counters.LOSSES]
        assert lost != []
        assert [known for known in reported["changed"] if counters.kind(known) in counters.LOSSES] == []
        assert one["command"]
        raw = [text for file, text in files.items() if file.startswith(f"evidence/fabric.counters.{lab.switch.name}.")]
        assert all(text.startswith("### ") for text in raw)
        # What is dropped shows in one of them.
        dropped = looked(lab, {"tx_drops_3": 77, "rx_drops_3": 55})
        (one,) = [
            one
            for one in collect.collect({"switches": {"before": looks["after"], "after": [dropped]}})[0]
            if one["subject"]["port"] == name
        ]
        grown = {known: count for known, count in one["readings"]["changed"].items() if known in lost}
        assert sum(grown.values()) >= 77
