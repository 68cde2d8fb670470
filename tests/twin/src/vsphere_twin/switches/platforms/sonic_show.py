"""SONiC's program `show`, as far as the fabric needs it. Output from CONFIG_DB shows the configuration alone."""

from __future__ import annotations

import json

from vsphere_twin.shell.interpreter import Output

from . import linux_text, sonic_chain
from .linux_text import natural, text
from .sonic_click import Command, Failed, Misused, find, parse
from .sonic_db import ordered


def run(device, argv):
    """Run one call of show."""
    try:
        command, path, words = find(_TREE, ["show"], argv[1:])
        arguments, given = parse(command, path, words)
        return Output(command.run(device, arguments, given))
    except Misused as problem:
        return Output("", 2, problem.usage)
    except Failed as problem:
        return Output(problem.stdout, problem.rc, problem.stderr)


def _config(device, table):
    return device.tables.get(table, {})


def _left(headers, rows):
    return linux_text.simple(headers, rows, pad=2)


def _right(headers, rows):
    return linux_text.simple(headers, rows, right=range(len(headers)), pad=2)


# -- pfc -----------------------------------------------------------------------------------------------------------


def _priority(device, arguments, given):
    entries = _config(device, "PORT_QOS_MAP")
    if arguments and arguments[0] not in entries:
        return f"Cannot find interface {arguments[0]}\n"
    ports = arguments or sorted(entries, key=natural)
    rows = [(port, entries[port].get("pfc_enable", "N/A")) for port in ports]
    return text(["", *_left(("Interface", "Lossless priorities"), rows), ""])


def _asymmetric(device, arguments, given):
    entries = _config(device, "PORT")
    ports = [port for port in arguments if port in entries] if arguments else sorted(entries, key=natural)
    rows = [(port, entries[port].get("pfc_asym", "N/A")) for port in ports]
    return text(["", *_left(("Interface", "Asymmetric"), rows), ""])


def _counters(device, arguments, given):
    if given.get("history"):
        return _history(device)
    lines = []
    for way in ("Rx", "Tx"):
        rows = [
            (port, *(f"{device.switch.ports[port].counters[f'{way.lower()}_pause_{number}']:,}" for number in range(8)))
            for port in device.ports()
        ]
        lines += [*_right((f"Port {way}", *(f"PFC{number}" for number in range(8))), rows), ""]
    return text(lines)


def _history(device):
    heads = ("Port", "Priority", "RX Pause Transitions", "Total RX Pause Time US", "Recent RX Pause Time US")
    heads += ("Recent RX Pause Timestamp",)
    table = []
    for port in device.ports():
        count = device.switch.ports[port].counters
        for number in range(8):
            paused = count[f"rx_pause_{number}"]
            when = "11/22/2026, 00:00:00" if paused else "N/A"
            time = f"{count[f'rx_pause_us_{number}']:,}"
            table.append((port, f"PFC{number}", f"{paused:,}", time, time, when))
    drawn = _right(heads, table)
    lines = drawn[:2]
    for start in range(2, len(drawn), 8):
        lines += [*drawn[start : start + 8], ""]
    return text(lines)


def _watchdog_config(device, arguments, given):
    entries = _config(device, "PFC_WD")
    ports = [port for port in arguments or device.ports() if port in entries]
    heads = ("PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY")
    if not ports:
        return text(_right(heads, []))
    rows = [
        (
            port,
            entries[port].get("action", "drop"),
            entries[port].get("detection_time", "N/A"),
            entries[port].get("restoration_time", "infinite"),
            entries[port].get("pfc_stat_history", "disable"),
        )
        for port in ports
    ]
    own = entries.get("GLOBAL", {})
    lines = [f"Changed polling interval to {own['POLL_INTERVAL']}ms"] if "POLL_INTERVAL" in own else []
    lines += [f"BIG_RED_SWITCH status is {own['BIG_RED_SWITCH']}"] if "BIG_RED_SWITCH" in own else []
    return text([*lines, *_right(heads, rows)])


def _watchdog_stats(device, arguments, given):
    heads = ("QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP")
    heads += ("TX LAST OK/DROP", "RX LAST OK/DROP")
    rows = []
    for port in device.ports():
        if "watchdog" in device.switch.dead_features:
            break
        for number in sorted(sonic_chain.watched(device.tables, port)):
            if not arguments or f"{port}:{number}" in arguments:
                storms = device.switch.ports[port].counters[f"storms_{number}"]
                if storms or given.get("empty"):
                    rows.append((f"{port}:{number}", "operational", f"{storms}/{storms}", *["0/0"] * 4))
    return text(_right(heads, rows))


# -- ecn, queues, groups, buffers ----------------------------------------------------------------------------------


def _ecn(device, arguments, given):
    lines = []
    for name, profile in _config(device, "WRED_PROFILE").items():
        wide = max(len(field) for field in profile)
        values = max(len(value) for value in profile.values())
        numeric = all(value.isdigit() for value in profile.values())
        rule = f"{'-' * wide}  {'-' * values}"
        rows = [
            f"{field.ljust(wide)}  {value.rjust(values) if numeric else value}".rstrip()
            for field, value in profile.items()
        ]
        lines += [f"Profile: {name}", rule, *rows, rule, ""]
    return text(lines)


def _queue_counters(device, arguments, given):
    heads = ("Port", "TxQ", "Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes")
    lines = []
    for port in _chosen(device, arguments):
        count = device.switch.ports[port].counters
        rows = [
            (
                port,
                f"UC{queue}",
                f"{count[f'tx_packets_{queue}']:,}",
                f"{count[f'tx_bytes_{queue}']:,}",
                f"{count[f'tx_drops_{queue}']:,}",
                f"{count[f'tx_dropped_bytes_{queue}']:,}",
            )
            for queue in range(8)
        ]
        lines += [*_right(heads, rows), ""]
    return text(lines)


def _group_drops(device, arguments, given):
    rows = [
        (port, *(device.switch.ports[port].counters[f"rx_drops_{group}"] for group in range(8)))
        for port in device.ports()
    ]
    return text(["Ingress PG dropped packets:", *_right(("Port", *(f"PG{number}" for number in range(8))), rows)])


def _watermark(said, kind):
    def show(device, arguments, given):
        rows = [(port, *["0"] * 8) for port in device.ports()]
        return text([said, *_right(("Port", *(f"{kind}{number}" for number in range(8))), rows)])

    return show


def _headroom(device, arguments, given):
    """Groups without headroom have no figure."""
    rows = []
    for port in device.ports():
        own = set() if "pfc" in device.switch.dead_features else sonic_chain.lossless_groups(device.tables, port)
        rows.append((port, *("0" if group in own else "N/A" for group in range(8))))
    return text(["Ingress headroom per PG:", *_right(("Port", *(f"PG{number}" for number in range(8))), rows)])


def _pools(device, arguments, given):
    rows = [(name, "0") for name in sorted(_config(device, "BUFFER_POOL"))]
    return text(["Shared pool maximum occupancy:", *_right(("Pool", "Bytes"), rows)])


def _buffers(device, arguments, given):
    lines = []
    for title, table in (("Pool", "BUFFER_POOL"), ("Profile", "BUFFER_PROFILE")):
        for name, entry in sorted(_config(device, table).items()):
            wide = max(len(field) for field in entry)
            rule = f"{'-' * wide}  {'-' * max(len(value) for value in entry.values())}"
            lines += [f"{title}: {name}", rule, *(f"{field.ljust(wide)}  {entry[field]}" for field in entry), rule, ""]
    return text(lines)


# -- the switch ----------------------------------------------------------------------------------------------------


def _chosen(device, arguments):
    for port in arguments:
        if port not in device.switch.ports:
            raise Failed("", f"Port doesn't exist! {port}\n")
    return arguments or device.ports()


def _interfaces(device, arguments, given):
    heads = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")
    rows, switched = [], {key.partition("|")[2] for key in _config(device, "VLAN_MEMBER")}
    for port in _chosen(device, arguments):
        entry, one = _config(device, "PORT").get(port, {}), device.switch.ports[port]
        admin = entry.get("admin_status", "down")
        speed = f"{int(entry.get('speed', 0)) // 1000}G"
        row = (port, entry.get("lanes", "N/A"), speed, device.treatment(port).mtu, entry.get("fec", "N/A"))
        row += (
            entry.get("alias", "N/A"),
            "trunk" if port in switched else "routed",
            "up" if one.up and admin == "up" else "down",
            admin,
        )
        rows.append((*row, "QSFP28 or later", entry.get("pfc_asym", "N/A")))
    return text(_right(heads, rows))


def _passed(device, arguments, given):
    """portstat: rates are those of the moment, and no traffic passes during the command."""
    heads = [f"{way}_{what}" for way in ("RX", "TX") for what in ("OK", "BPS", "UTIL", "ERR", "DRP", "OVR")]
    rows = []
    for name, port in ((name, device.switch.ports[name]) for name in device.ports()):
        cells = [name, "U" if port.up else "X"]
        for passed, lost in ((port.total(f"{way}_packets"), port.total(f"{way}_drops")) for way in ("rx", "tx")):
            cells += [f"{passed:,}", "0.00 B/s", "0.00%", "0", f"{lost:,}", "0"]
        rows.append(tuple(cells))
    return text(_right(("IFACE", "STATE", *heads), rows))


def _lldp_table(device, arguments, given):
    found = sorted(device.switch.neighbours(), key=lambda one: natural(one[0].name))
    rows = [(near.name, peer.system, peer.port, "BR", peer.description) for near, peer in found]
    lines = ["Capability codes: (R) Router, (B) Bridge, (O) Other"]
    lines += _left(("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"), rows)
    return text([*lines, "-" * 50, f"Total entries displayed:  {len(rows)}"])


def _lldp_neighbours(device, arguments, given):
    rule = "-" * 79
    lines = [rule, "LLDP neighbors:", rule]
    for number, (near, peer) in enumerate(device.switch.neighbours(), 1):
        if arguments and near.name not in arguments:
            continue
        lines += [f"Interface:    {near.name}, via: LLDP, RID: {number}, Time: 0 day, 01:02:03", "  Chassis:"]
        lines += [f"    ChassisID:    mac {peer.chassis}", f"    SysName:      {peer.system}", "    TTL:          120"]
        lines += ["  Port:", f"    PortID:       ifname {peer.port}"]
        lines += [f"    PortDescr:    {peer.description}"] if peer.description else []
        lines.append(rule)
    return text(lines)


def _version(device, arguments, given):
    sku = device.sku
    return text(
        [
            "",
            f"SONiC Software Version: SONiC.{device.build}",
            "SONiC OS Version: 12",
            "Distribution: Debian 12.5",
            "Kernel: 6.1.0-22-2-amd64",
            "Build commit: a1b2c3d4e",
            "Build date: Thu Apr  2 10:11:12 UTC 2026",
            "Built by: twin@builder",
            "",
            f"Platform: {sku.platform}",
            f"HwSKU: {device.model}",
            f"ASIC: {sku.kind}",
            "ASIC Count: 1",
            f"Serial Number: {device.switch.serial}",
            f"Model Number: {device.model}",
            "Hardware Revision: A1",
            "Uptime: 00:11:22 up 1 day,  2:03,  1 user,  load average: 0.11, 0.22, 0.33",
        ]
    )


def _running(device, arguments, given):
    tables = dict(ordered(device.tables))
    return json.dumps({**tables, "bgpraw": ""}, indent=4) + "\n"


_ONE = {"--verbose": "verbose"}
_TREE = {
    "pfc": {
        "priority": Command(_priority, {}, _ONE, 0, 1),
        "asymmetric": Command(_asymmetric, {}, _ONE, 0, 1),
        "counters": Command(_counters, {}, {**_ONE, "--history": "history"}),
    },
    "pfcwd": {
        "config": Command(_watchdog_config, {}, _ONE, 0, 10**4),
        "stats": Command(_watchdog_stats, {}, {"-e": "empty", "--empty": "empty"}, 0, 10**4),
    },
    "ecn": Command(_ecn, {}, _ONE),
    "queue": {
        "counters": Command(_queue_counters, {}, _ONE, 0, 1),
        "watermark": {
            "unicast": Command(_watermark("Egress shared pool occupancy per unicast queue:", "UC"), {}, _ONE)
        },
    },
    "priority-group": {
        "watermark": {
            "headroom": Command(_headroom, {}, _ONE),
            "shared": Command(_watermark("Ingress shared pool occupancy per PG:", "PG"), {}, _ONE),
        },
        "drop": {"counters": Command(_group_drops, {}, _ONE)},
    },
    "buffer_pool": {"watermark": Command(_pools, {}, _ONE)},
    "buffer": {"configuration": Command(_buffers, {}, _ONE), "information": Command(_buffers, {}, _ONE)},
    "interfaces": {"status": Command(_interfaces, {}, _ONE, 0, 1), "counters": Command(_passed, {}, _ONE, 0, 0)},
    "lldp": {"table": Command(_lldp_table, {}, _ONE), "neighbors": Command(_lldp_neighbours, {}, _ONE, 0, 1)},
    "runningconfiguration": {"all": Command(_running, {}, _ONE)},
    "version": Command(_version, {}, {"--brief": "brief"}),
}
