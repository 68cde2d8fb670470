"""Arista EOS: output of its show commands. A handler returns text, or f(as_json) -> text or a table."""

from __future__ import annotations

from .. import port_lines
from .eos_rules import Refusal


def ports(cli, names=None):
    """The ports that a command names, or all."""
    if any(name not in cli.switch.ports for name in names or ()):
        raise Refusal("% Invalid input")
    return names or list(cli.switch.ports)


def declare(grammar):
    """Add all of them to the commands of a session."""
    for patterns, handler in (
        (("show version",), _version),
        (("show hostname",), _hostname),
        (("show interfaces", "show interfaces <name:ports>"), _interfaces),
        (("show interfaces status", "show interfaces <name:ports> status"), _status),
        (("show interfaces <name:ports> counters queue drops",), _drops),
        (("show priority-flow-control [ status ]", "show priority-flow-control interfaces <name:ports>"), _pfc),
        (("show interfaces <name:ports> priority-flow-control",), _pfc),
        (("show priority-flow-control counters [ detail ]",), _pfc_counters),
        (("show priority-flow-control counters watchdog",), _watchdog),
        (("show qos interfaces [ what=trust|ecn ]", "show qos interfaces <name:ports> [ what=trust|ecn ]"), _qos),
        (("show qos maps",), _maps),
        (("show qos profile [ <wanted:WORD> ]",), _profiles),
        (("show lldp neighbors",), _neighbours),
        (("show lldp neighbors detail", "show lldp neighbors <name:ports> detail"), _neighbours_in_detail),
        (("show dcbx [ <name:ports> ]",), _dcbx),
        (("show privilege",), lambda cli: f"Current privilege level is {15 if cli.privileged else 1}\n"),
    ):
        grammar.on("exec", *patterns)(handler)
    grammar.on("enable", "dir [ place=all-filesystems|flash: ]")(_dir)


def _version(cli):
    switch = cli.switch
    facts = {
        "mfgName": "Arista",
        "modelName": switch.model,
        "hardwareRevision": "11.00",
        "serialNumber": switch.serial,
        "systemMacAddress": switch.chassis,
        "hwMacAddress": switch.chassis,
        "configMacAddress": "00:00:00:00:00:00",
        "version": switch.version,
        "architecture": "x86_64",
        "internalVersion": f"{switch.version}-30000000.{switch.version.replace('.', '')}",
        "bootupTimestamp": 1700000000.0,
        "uptime": 86400.0,
        "memTotal": 8099732,
        "memFree": 5100384,
    }
    mac = switch.chassis.replace(":", "")
    text = (
        f"Arista {switch.model}\nHardware version: 11.00\nSerial number: {switch.serial}\n"
        f"Hardware MAC address: {mac[:4]}.{mac[4:8]}.{mac[8:]}\n"
        f"System MAC address: {mac[:4]}.{mac[4:8]}.{mac[8:]}\n\n"
        f"Software image version: {switch.version}\nArchitecture: x86_64\n"
        f"Internal build version: {facts['internalVersion']}\n\nUptime: 1 day, 0 hours and 0 minutes\n"
        "Total memory: 8099732 kB\nFree memory: 5100384 kB\n\n"
    )
    return lambda as_json: facts if as_json else text


def _hostname(cli):
    name = cli.device.config.get("hostname", "localhost")
    return lambda as_json: {"hostname": name, "fqdn": name} if as_json else f"Hostname: {name}\nFQDN:     {name}\n"


def _interfaces(cli, name=None):
    wanted = ports(cli, name)

    def reported(as_json):
        rows = {one: _interface(cli, one) for one in wanted}
        if as_json:
            return {"interfaces": rows}
        return "".join(_interface_text(row) for row in rows.values())

    return reported


def _interface(cli, name):
    section, port = cli.device.config.find(("interface", name)), cli.switch.ports[name]
    down = "shutdown" in section.lines
    up = port.up and not down
    return {
        "name": name,
        "description": section.get("description", ""),
        "interfaceStatus": "disabled" if down else "connected" if up else "notconnect",
        "lineProtocolStatus": "up" if up else "down",
        "hardware": "ethernet",
        "forwardingModel": "routed" if cli.device.routed(name) else "bridged",
        "physicalAddress": cli.switch.chassis,
        "burnedInAddress": cli.switch.chassis,
        "mtu": cli.device.treatment(name).mtu,
        "bandwidth": port.speed_gbps * 10**9,
        "duplex": "duplexFull",
        "interfaceAddress": [],
        "interfaceCounters": _counted(port),
    }


def _counted(port):
    """A switch of the lab carries nothing but unicast packets."""
    ways = (("in", "rx"), ("out", "tx"))
    kinds = {"Octets": "bytes", "UcastPkts": "packets", "Discards": "drops", "TotalPkts": "packets"}
    reported = {f"{end}{kind}": port.total(f"{way}_{name}") for end, way in ways for kind, name in kinds.items()}
    rest = [f"{end}{kind}" for end, _way in ways for kind in ("MulticastPkts", "BroadcastPkts")]
    return {**reported, **dict.fromkeys([*rest, "totalInErrors", "totalOutErrors"], 0)}


def _interface_text(row):
    state = {"disabled": "administratively down", "connected": "up", "notconnect": "down"}[row["interfaceStatus"]]
    mac = row["physicalAddress"].replace(":", "")
    head = f"{row['name']} is {state}, line protocol is {row['lineProtocolStatus']} ({row['interfaceStatus']})\n"
    reported = f"  Description: {row['description']}\n" if row["description"] else ""
    return (
        f"{head}  Hardware is Ethernet, address is {mac[:4]}.{mac[4:8]}.{mac[8:]}\n{reported}"
        f"  Ethernet MTU {row['mtu']} bytes, BW {row['bandwidth'] // 1000} kbit\n"
        f"  Full-duplex, {row['bandwidth'] // 10**9}Gb/s, auto negotiation: off, uni-link: n/a\n"
    )


def _status(cli, name=None):
    rows = {one: _interface(cli, one) for one in ports(cli, name)}

    def reported(as_json):
        if as_json:
            keys = {
                "linkStatus": "interfaceStatus",
                "description": "description",
                "bandwidth": "bandwidth",
                "duplex": "duplex",
            }
            return {
                "interfaceStatuses": {one: {new: row[old] for new, old in keys.items()} for one, row in rows.items()}
            }
        text = "Port       Name   Status       Vlan     Duplex Speed  Type            Flags Encapsulation\n"
        for one, row in rows.items():
            speed = f"{row['bandwidth'] // 10**9}G"
            vlan = port_lines.vlan_word(cli.device.config.section(("interface", one)))
            text += (
                f"{_short(one):<10} {row['description'][:6]:<6} "
                f"{row['interfaceStatus']:<12} {vlan:<8} full   {speed:<6} {speed}BASE-CR4\n"
            )
        return text

    return reported


def _drops(cli, name):
    text = "Port       Queue  Dropped Packets  Dropped Bytes\n"
    for one in ports(cli, name):
        counters = cli.switch.ports[one].counters
        text += "".join(
            f"{_short(one):<10} UC{n:<5} {counters[f'tx_drops_{n}']:<16} {counters[f'tx_drops_{n}'] * 1500}\n"
            for n in range(8)
        )
    return text


def _pfc(cli, name=None):
    text = "Port       Enabled  Priorities  Active  Note\n---------  -------  ----------  ------  -------------\n"
    for one in ports(cli, name):
        active = cli.device.treatment(one)
        on = bool(cli.device.setting(one, "pfc")) and not cli.device.config.get("all off")
        numbers = " ".join(str(number) for number in sorted(cli.device.lossless(one)))
        works = "Yes" if active.pauses_sent and cli.switch.ports[one].up else "No"
        note = "" if not on or active.dcbx else "DCBX disabled"
        text += f"{one:<9}  {'Yes' if on else 'No':<7}  {numbers:<10}  {works:<6}  {note}".rstrip() + "\n"
    return text


def _pfc_counters(cli):
    text = "Port                RxPfc           TxPfc\n"
    for one, port in cli.switch.ports.items():
        rx = sum(port.counters[f"rx_pause_{number}"] for number in range(8))
        tx = sum(port.counters[f"tx_pause_{number}"] for number in range(8))
        text += f"{_short(one):<12} {rx:>12} {tx:>15}\n"
    return text


def _watchdog(cli):
    found = {
        one: {"txQueues": {"3": {"stuckCount": port.counters["stuck"], "recoveryCount": port.counters["recovered"]}}}
        for one, port in cli.switch.ports.items()
        if port.counters["stuck"]
    }
    text = "Port      TxQ  Total times  Total times\n               stuck        recovered\n"
    for one, row in found.items():
        queue = row["txQueues"]["3"]
        text += f"{_short(one):<9} UC3  {queue['stuckCount']:<12} {queue['recoveryCount']}\n"
    return lambda as_json: {"interfaces": found} if as_json else text


def _qos(cli, name=None, what=None):
    text = ""
    for one in ports(cli, name):
        found = cli.device.treatment(one)
        trust = {"dscp": "DSCP", "pcp": "COS"}.get(found.trust, "UNTRUSTED")
        text += f"{one}:\n"
        if what != "ecn":
            text += f"   Trust Mode: {trust}\n"
        if what is None:
            text += f"   Default COS: {cli.device.setting(one, 'qos cos', 0)}\n"
            text += f"   Default DSCP: {cli.device.setting(one, 'qos dscp', 0)}\n\n   Port shaping rate: disabled\n\n"
            text += "  Tx     Bandwidth    Shape Rate   Priority   ECN/WRED\n Queue   (percent)      (units)\n"
            text += " -----------------------------------------------------\n"
            for number in range(7, -1, -1):
                share = found.shares.get(number)
                mark = found.marking.get(number)
                flag = "D" if mark is None else "L" if mark.mark else "W"
                order = "SP" if number in found.strict else "RR"
                text += (
                    f"   {number:<6} {'- / -' if share is None else f'{share} / {share}':<12} "
                    f"- / -        {order:<10} {flag}\n"
                )
        if what == "ecn":
            text += _ecn(cli, one, found)
        text += "\n"
    return text


def _ecn(cli, name, found):
    text = (
        "  Tx     Minimum      Maximum      Unit    Max mark     Weight\n"
        " Queue   threshold    threshold            probability\n"
    )
    for number, mark in sorted(found.marking.items()):
        if mark.mark:
            low, high, unit, probability = cli.device.queue(name, number)["ecn"]
            text += f"   {number:<6} {low:<12} {high:<12} {unit:<7} {probability:<12} 0\n"
    return text


def _maps(cli):
    found = cli.device.treatment(next(iter(cli.switch.ports)))
    text = "   Number of Traffic Classes supported: 8\n\n   Dscp-tc map:\n      d1 :  d2 0  1  2  3  4  5  6  7  8  9\n"
    text += "      --------------------------------------\n"
    for tens in range(7):
        row = [str(found.priorities[tens * 10 + ones]) for ones in range(10) if tens * 10 + ones < 64]
        text += f"       {tens} :     {'  '.join(row)}\n"
    text += f"\n   {cli.device.queue_word} map:\n      tc:       0  1  2  3  4  5  6  7\n"
    return text + f"      queue:    {'  '.join(str(queue) for queue in found.queues)}\n"


def _profiles(cli, wanted=None):
    users = {}
    for name in cli.switch.ports:
        used = cli.device.config.find(("interface", name)).get("service-profile")
        users.setdefault(used, []).append(_short(name))
    text = ""
    for name in cli.device.config.kept("profile"):
        if wanted in (None, name, "summary"):
            text += f"qos profile {name}\n   Configured on: {','.join(users.get(name, []))}\n"
    return text


def _neighbours(cli):
    found = cli.switch.neighbours()
    rows = [
        {"port": port.name, "neighborDevice": peer.system, "neighborPort": peer.port, "ttl": 120}
        for port, peer in found
    ]
    text = f"Last table change time   : 0:10:00 ago\nNumber of table inserts  : {len(rows)}\n\n"
    text += "Port          Neighbor Device ID               Neighbor Port ID    TTL\n"
    text += "------------- -------------------------------- ------------------- ---\n"
    for row in rows:
        text += f"{_short(row['port']):<13} {row['neighborDevice']:<32} {row['neighborPort']:<19} 120\n"
    reported = {"tablesLastChangeTime": 1700000000.0, "tablesInserts": len(rows), "tablesDeletes": 0, "tablesDrops": 0}
    return lambda as_json: {**reported, "tablesAgeOuts": 0, "lldpNeighbors": rows} if as_json else text


def _neighbours_in_detail(cli, name=None):
    wanted = ports(cli, name)
    rows = {one: {"lldpNeighborInfo": []} for one in wanted}
    text = ""
    for port, peer in cli.switch.neighbours():
        if port.name not in rows:
            continue
        rows[port.name]["lldpNeighborInfo"].append(
            {
                "chassisIdType": "macAddress",
                "chassisId": peer.chassis,
                "systemName": peer.system,
                "systemDescription": peer.description,
                "ttl": 120,
                "neighborInterfaceInfo": {
                    "interfaceIdType": "interfaceName",
                    "interfaceId": f'"{peer.port}"',
                    "interfaceId_v2": peer.port,
                    "interfaceDescription": peer.description,
                },
            }
        )
        text += (
            f"Interface {port.name} detected 1 LLDP neighbors:\n\n"
            f"  Neighbor {peer.chassis}/{peer.port}, age 10 seconds\n"
            f"  - Chassis ID type: MAC address (4)\n    Chassis ID     : {peer.chassis}\n"
            f'  - Port ID type: Interface name (5)\n    Port ID     : "{peer.port}"\n'
            f'  - Port Description: "{peer.description}"\n  - System Name: "{peer.system}"\n\n'
        )
    return lambda as_json: {"lldpNeighbors": rows} if as_json else text


def _dcbx(cli, name=None):
    text = ""
    for one in ports(cli, name):
        mode = cli.device.config.find(("interface", one)).get("dcbx")
        reported = {"ieee": "IEEE", "cee": "CEE"}.get(mode)
        text += f"{one}:\n  {f'{reported} DCBX is enabled' if reported else 'DCBX is disabled'}\n"
        if reported and cli.switch.ports[one].up:
            text += "  Last LLDPDU received contained no priority flow control configuration\n"
    return text


def _dir(cli, place=None):
    return (
        f"Directory of flash:/\n\n       -rw-   908000000  Jan 1  2024  EOS-{cli.switch.version}.swi\n"
        "       -rw-        4000  Jan 1  2024  startup-config\n\n4000000000 bytes total (2000000000 bytes free)\n"
    )


def _short(name):
    return name.replace("Ethernet", "Et").replace("Management", "Ma")
