"""Guests and parameters for tests between pairs."""

from __future__ import annotations

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import look
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs.params import (
    ARGUMENTS,
    CHECKS,
    RELATIONS,
    request_of,
)

from unit.plugins.module_utils.training import runs

TOOLS = {"ping": "20221126", "rping": "44.0", "ib_write_lat": "6.06", "ib_write_bw": "6.06", "iperf3": "3.12"}
TOOLS.update(timeout="", setsid="")
# What a client prints when all is well.
BANDWIDTH = """\
                    RDMA_Write BW Test
 Number of qps   : 1\t\tTransport type : IB
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    44000            0.00               92.31              0.011004
"""
_LATENCY = (
    "t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] 99% percentile[usec] 99.9% percentile[usec]"
)
LATENCY = f"""\
                    RDMA_Write Latency Test
 #bytes #iterations {_LATENCY}
 2       1000       2.10        7.10        2.25            2.30        0.10          3.01                 7.10
"""
RPING = "".join(f"ping data: rdma-ping-{number}: ABCDEFG\n" for number in range(5))
TCP = (
    '{"start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 1}}, "end": {"sum_sent": '
    '{"bits_per_second": 6.1e9, "retransmits": 3}, "sum_received": {"bits_per_second": 6e9, "seconds": 5.0}}}\n'
)
PINGED = """\
PING 10.0.112.12 (10.0.112.12) from 10.0.112.11 ens224: {payload}({packet}) bytes of data.

--- 10.0.112.12 ping statistics ---
5 packets transmitted, {received} received, {lost}% packet loss, time 812ms
{rtt}"""


def pinged(mtu, received=5):
    rtt = "rtt min/avg/max/mdev = 0.100/0.120/0.150/0.020 ms\n" if received else ""
    return PINGED.format(payload=mtu - 28, packet=mtu, received=received, lost=100 - 20 * received, rtt=rtt)


def params(many=2, **changes):
    """Parameters as the module gets them."""
    names = list(runs.ADDRESSES)[:many]
    given = {"guests": [{"name": name, "address": runs.ADDRESSES[name]} for name in names], "checks": list(CHECKS)}
    checked = ArgumentSpecValidator(ARGUMENTS, **RELATIONS).validate({**given, **changes})
    assert checked.error_messages == []
    return checked.validated_parameters


def request(many=2, **changes):
    """The request of a task."""
    return request_of(params(many, **changes))


def seen(name, tools=None, leftovers=(), **changes):
    """A guest with RDMA and all programs."""
    network = runs.rdma(name, **changes)
    return look.Look(network, dict(TOOLS if tools is None else tools), tuple(leftovers))


def ends(count=2, **changes):
    return [look.end_of(guest, seen(guest.name))[0] for guest in request(count, **changes).guests]
