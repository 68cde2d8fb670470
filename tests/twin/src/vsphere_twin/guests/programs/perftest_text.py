"""Output formats of perftest: the header with both addresses, tables of bandwidth and latency, and its JSON."""

from __future__ import annotations

import json

LINE = "-" * 87 + "\n"
TITLES = {"write": "RDMA_Write", "read": "RDMA_Read", "send": "Send"}
STARS = "*" * 36
WAITING = f"\n{STARS}\n* Waiting for client to connect... *\n{STARS}\n"
NO_PEAK = " WARNING: BW peak won't be measured in this run.\n"
CPU_CHANGES = "Conflicting CPU frequency values detected: 1200.535000 != 1251.336000. CPU Frequency is not max.\n"
LATENCIES = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
    "99% percentile[usec]   99.9% percentile[usec] \n"
)
LATENCY_DURATION = " #bytes        #iterations       t_avg[usec]    tps average\n"


def title(options):
    """'RDMA_Write Bidirectional BW Test'."""
    kind = "Latency" if options.latency else "Bidirectional BW" if options.both else "BW"
    return f"{TITLES[options.verb]} {kind} Test"


def head(options, mine, theirs, server):
    """Return the text that is printed once both sides know each other."""
    depth = ("RX depth", "512") if server and options.verb == "send" else ("TX depth", str(options.depth))
    rows = [
        f" Dual-port       : OFF\t\tDevice         : {mine['device']}",
        f" Number of qps   : {options.pairs}\t\tTransport type : IB",
        f" Connection type : {options.connection}\t\tUsing SRQ      : OFF",
        " PCIe relax order: ON",
        f" ibv_wr* API     : {'OFF' if mine['pvrdma'] else 'ON'}",
    ]
    if not (server and options.verb == "write" and not options.latency):
        rows.append(f" {depth[0]:<16}: {depth[1]}")
    if not options.latency:
        rows.append(f" CQ Moderation   : {options.moderation}")
    rows += [
        f" Mtu             : {options.mtu}[B]",
        " Link type       : Ethernet",
        f" GID index       : {mine['index']}",
    ]
    if options.verb == "read":
        rows.append(f" Outstand reads  : {options.outstanding}")
    if not (server and options.verb == "write" and not options.latency) and options.verb != "read":
        rows.append(f" Max inline data : {options.inline}[B]")
    rows.append(f" rdma_cm QPs\t : {'ON' if options.cm else 'OFF'}")
    rows.append(f" Data ex. method : {'rdma_cm' if options.cm else 'Ethernet'}")
    text = f"{LINE}{' ' * 20}{title(options)}\n" + "".join(f"{one}\n" for one in rows) + LINE
    for side, who in (("local", mine), ("remote", theirs)):
        for number in range(options.pairs):
            text += f" {side} address: {_address(options, who, number)}\n GID: {_gid(who['gid'])}\n"
    return text + LINE


def table_head(options, latency):
    """The names of the columns."""
    if latency:
        return LATENCY_DURATION if options.duration else LATENCIES
    unit = "Gb/sec" if options.gbits else options.unit
    return f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n"


def bandwidth_row(size, iterations, peak, average, rate):
    """Small values get more digits."""
    digits = 6 if average < 0.1 else 2
    return (
        f" {size:<7}    {iterations:<10}       {f'{peak:.{digits}f}':<7}            {f'{average:.{digits}f}':<7}\t\t   "
        f"{rate:.6f}\n"
    )


def latency_row(size, iterations, times):
    """The seven columns of a distribution."""
    low, high, typical, mean, deviation, most, nearly_all = (f"{one:<7.2f}" for one in times)
    return (
        f" {size:<7} {iterations:<8}      {low}        {high}      {typical}  \t       {mean}     \t{deviation}\t\t"
        f"{most} \t\t{nearly_all}\n"
    )


def latency_duration_row(size, iterations, mean):
    """Return the row with -D, which contains only the mean."""
    return f" {size:<7}       {iterations:<10}       {mean:<7.2f}       {1e6 / (2 * mean):<7.2f}\n"


def as_json(options, mine, results):
    """Return one result; each size overwrites the file, so the last one stays."""
    info = {
        "test": title(options),
        "Dual_port": "OFF",
        "Device": mine["device"],
        "Number_of_qps": options.pairs,
        "Transport_type": "IB",
        "Connection_type": options.connection,
        "Using_SRQ": "OFF",
        "PCIe_relax_order": "ON",
        "ibv_wr_API": "OFF" if mine["pvrdma"] else "ON",
        "TX_depth": options.depth,
        "CQ_Moderation": options.moderation,
        "Mtu": options.mtu,
        "Link_type": "Ethernet",
        "GID_index": mine["index"],
        "Max_inline_data": options.inline,
        "rdma_cm_QPs": "ON" if options.cm else "OFF",
        "Data_ex_method": "rdma_cm" if options.cm else "Ethernet",
    }
    if options.latency:
        del info["CQ_Moderation"]
    return json.dumps({"test_info": info, "results": results}, indent=0) + "\n"


def _address(options, who, number):
    text = f"LID 0000 QPN 0x{who['qpn'] + number:04x} PSN 0x{who['psn'] + 4099 * number & 0xFFFFFF:x}"
    if options.verb == "read":
        text += f" OUT 0x{options.outstanding:02x}"
    if options.verb != "send":
        text += f" RKey 0x{who['rkey']:06x} VAddr 0x{who['address'] + 0x800000 * number:014x}"
    return text


def _gid(octets):
    return ":".join(f"{one:02d}" for one in bytes.fromhex(octets))
