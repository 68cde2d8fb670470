"""esxcli network nic stats and rdma device stats: traffic through the ports of a host since it started."""

from __future__ import annotations

from vsphere_twin.model import adapters

from ..command import INT, Argument, Refused, Single, Structure, command

NIC_ROWS = {  # what is shown: the counter of the port, or nothing that the model counts
    "Packets received": "rx_packets",
    "Packets sent": "tx_packets",
    "Bytes received": "rx_bytes",
    "Bytes sent": "tx_bytes",
    "Receive packets dropped": "rx_discards",
    "Transmit packets dropped": "tx_discards",
    "Multicast packets received": "",
    "Broadcast packets received": "",
    "Multicast packets sent": "",
    "Broadcast packets sent": "",
    "Total receive errors": "",
    "Receive length errors": "",
    "Receive over errors": "",
    "Receive CRC errors": "",
    "Receive frame errors": "",
    "Receive FIFO errors": "",
    "Receive missed errors": "rx_discards",
    "Total transmit errors": "",
    "Transmit aborted errors": "",
    "Transmit carrier errors": "",
    "Transmit FIFO errors": "",
    "Transmit heartbeat errors": "",
    "Transmit window errors": "",
}
RDMA_ROWS = {
    "Packets received": "rdma_rx_packets",
    "Packets sent": "rdma_tx_packets",
    "Bytes received": "rdma_rx_bytes",
    "Bytes sent": "rdma_tx_bytes",
    "Error packets received": "rdma_out_of_sequence",
    "Error packets sent": "",
    "Error length packets received": "",
    "Unicast packets received": "rdma_rx_packets",
    "Multicast packets received": "",
    "Unicast bytes received": "rdma_rx_bytes",
    "Multicast bytes received": "",
    "Unicast packets sent": "rdma_tx_packets",
    "Multicast packets sent": "",
    "Unicast bytes sent": "rdma_tx_bytes",
    "Multicast bytes sent": "",
}
NIC = Structure("NicStats", ("NIC", *NIC_ROWS), types=dict.fromkeys(NIC_ROWS, INT))
RDMA = Structure("RdmaDeviceStats", tuple(RDMA_ROWS), types=dict.fromkeys(RDMA_ROWS, INT))


@command("network.nic.stats.get", "Get NIC statistics for a given interface.", Argument("nic-name", "n", required=True))
def nic_stats(world, host, nicname):
    nic = next((one for one in host.nics if one.device == nicname), None)
    if nic is None:
        raise Refused(f"Unable to get NIC statistics: {nicname} was not found.")
    return Single(NIC, {"NIC": f"NIC statistics for {nicname}", **_values(nic, NIC_ROWS)})


@command(
    "rdma.device.stats.get", "Get statistics for the specified RDMA device.", Argument("device", "d", required=True)
)
def rdma_stats(world, host, device):
    nic = next((one for one in adapters.rdma_devices(host) if one.rdma.name == device), None)
    if nic is None:
        raise Refused(f"Unable to find RDMA device {device}.")
    return Single(RDMA, _values(nic, RDMA_ROWS))


def _values(nic, rows):
    return {shown: nic.counters[name] if name else 0 for shown, name in rows.items()}
