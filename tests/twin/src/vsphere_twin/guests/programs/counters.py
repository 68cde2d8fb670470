"""rdma statistic and ethtool -S: counters of a guest's adapters. PVRDMA has no counters that the guest sees."""

from __future__ import annotations

import json

from vsphere_twin.model import ends, traffic

from . import dcb, devices, rdma_ends
from .calls import Answer, program
from .counted import HARDWARE


def statistic(world, vm, call, words, as_json):
    """`rdma statistic show [link DEV/PORT]`."""
    if words[:1] in (["show"], ["list"]):
        words = words[1:]
    if words and not "link".startswith(words[0]):
        return Answer(stderr=f"Unknown parameter '{words[0]}'.\n", status=234)
    found = devices.devices(world, vm, call.guest)
    if words[1:]:
        name = words[1].partition("/")[0]
        found = [one for one in found if one.name == name]
        if not found:
            return Answer(stderr="Wrong device name\n", status=237)
    rows = []
    for one in found:
        if not one.function.pvrdma:
            counted = traffic.of_device(vm, one.function.key)
            rows.append({"ifname": one.name, "port": 1, **{name: counted[name] for name in HARDWARE}})
    if as_json:
        return Answer(json.dumps(rows) + "\n")
    return Answer(
        "".join(
            f"link {row['ifname']}/1 " + " ".join(f"{name} {row[name]}" for name in HARDWARE) + " \n" for row in rows
        )
    )


@program("ethtool")
def ethtool(world, vm, call):
    """Statistics and pauses of interfaces that are functions of a ConnectX; all else is the real program's."""
    words = call.words
    if words[:1] and words[0] in ("-a", "--show-pause", "-A", "--pause"):
        return dcb.link_pause(world, vm, call)
    if words[:1] not in (["-S"], ["--statistics"]) or len(words) < 2:
        return Answer(pass_on=True)
    one = next((one for one in devices.devices(world, vm, call.guest) if one.netdev == words[1]), None)
    if one is None or one.function.pvrdma:
        return Answer(pass_on=True)
    counted = traffic.of_device(vm, one.function.key)
    rows = {
        "rx_vport_rdma_unicast_packets": counted["port_rcv_packets"],
        "rx_vport_rdma_unicast_bytes": counted["port_rcv_data"] * 4,
        "tx_vport_rdma_unicast_packets": counted["port_xmit_packets"],
        "tx_vport_rdma_unicast_bytes": counted["port_xmit_data"] * 4,
        "rx_out_of_buffer": counted["out_of_buffer"],
    }
    port = ends.port_of(world, rdma_ends.end(vm, one, ends.V2, 0))
    if port is not None and vm.host.claimed.get(port.pci) is not None and vm.host.claimed[port.pci].vm is vm:
        rows |= _whole_port(port)  # a virtual function does not show the counters of the port
    return Answer("NIC statistics:\n" + "".join(f"     {name}: {value}\n" for name, value in rows.items()))


def _whole_port(port):
    found = {"rx_discards_phy": port.counters["rx_discards"], "tx_discards_phy": port.counters["tx_discards"]}
    found |= {"rx_packets_phy": port.counters["rx_packets"], "tx_packets_phy": port.counters["tx_packets"]}
    for priority in range(8):
        found |= {f"{way}_prio{priority}_pause": port.counters[f"{way}_pause_{priority}"] for way in ("rx", "tx")}
        found[f"rx_prio{priority}_discards"] = port.counters[f"rx_discards_{priority}"]
    return found
