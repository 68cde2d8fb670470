"""Cisco NX-OS: output of its show commands. A handler returns text, or f(as_json) -> text or a table."""

from __future__ import annotations

from .. import port_lines
from .nxos_rules import Refusal

LINE = "-" * 80


def declare(grammar):
    """Add all of them to the commands of a session."""
    for patterns, handler in (
        (("show version",), _version),
        (("show inventory",), _inventory),
        (("show hostname", "show switchname"), lambda cli: f"{cli.config.get('hostname')}\n"),
        (
            ("show privilege",),
            lambda cli: "User name: admin\nCurrent privilege level: 15\nFeature privilege: Disabled\n",
        ),
        (
            ("show user-account [ <name:WORD> ]",),
            lambda cli, name="admin": f"user:{name}\n        roles:network-admin\n",
        ),
        (("show license host-id",), lambda cli: f"License hostid: VDH={cli.switch.serial}\n"),
        (("show feature",), _features),
        (("show interface [ <names:ports> ]",), _interfaces),
        (("show interface brief", "show interface status"), _brief),
        (("show ipv6 interface vrf all", "show cdp neighbors detail"), lambda cli: ""),
        (("show interface [ <names:ports> ] priority-flow-control",), _pfc),
        (("show queuing pfc-queue [ interface [ <names:ports> ] ] [ detail ]",), _watchdog),
        (("show lldp neighbors",), _neighbours),
        (("show lldp neighbors detail", "show lldp neighbors interface <names:ports> detail"), _neighbours_in_detail),
        (("show lldp dcbx interface <names:ports>",), _dcbx),
        (("dir [ bootflash: ]",), _dir),
    ):
        grammar.on("exec", *patterns)(handler)


def _version(cli):
    switch, name = cli.switch, cli.config.get("hostname")
    image = f"bootflash:///nxos64-cs.{switch.version}.bin"
    text = (
        "Cisco Nexus Operating System (NX-OS) Software\n\nSoftware\n  BIOS: version 05.47\n"
        f"  NXOS: version {switch.version}\n  BIOS compile time:  04/28/2022\n  NXOS image file is: {image}\n\n"
        f"Hardware\n  cisco {switch.model} Chassis \n"
        "  Intel(R) Xeon(R) CPU D-1526 @ 1.80GHz with 24632252 kB of memory.\n"
        f"  Processor Board ID {switch.serial}\n  Device name: {name}\n  bootflash:  115343360 kB\n\n"
        "Kernel uptime is 1 day(s), 0 hour(s), 0 minute(s), 0 second(s)\n\n"
    )
    facts = {
        "header_str": "Cisco Nexus Operating System (NX-OS) Software\n",
        "bios_ver_str": "05.47",
        "kickstart_ver_str" if cli.release < (9, 0) else "nxos_ver_str": switch.version,
        "nxos_file_name": image,
        "chassis_id": f"{switch.model} Chassis",
        "cpu_name": "Intel(R) Xeon(R) CPU D-1526 @ 1.80GHz",
        "memory": 24632252,
        "mem_type": "kB",
        "proc_board_id": switch.serial,
        "host_name": name,
        "manufacturer": "Cisco Systems, Inc.",
    }
    return lambda as_json: facts if as_json else text


def _inventory(cli):
    pid = f"N9K-{cli.switch.model.split()[-1]}"
    head = f'NAME: "Chassis",  DESCR: "{cli.switch.model} Chassis"'
    return f"{head}\nPID: {pid}       ,  VID: V01 ,  SN: {cli.switch.serial}\n\n"


def _features(cli):
    has = {key[1] for key in cli.config.lines if key[0] == "feature"}
    rows = "".join(
        f"{name:<22} 1          {'enabled' if name in has else 'disabled'}\n"
        for name in ("bgp", "lacp", "lldp", "nxapi")
    )
    return f"Feature Name          Instance  State\n--------------------  --------  --------\n{rows}"


def _state(cli, name):
    section, port = cli.config.find(("interface", name)), cli.switch.ports[name]
    if "shutdown" in section.lines:
        return "down", "Administratively down"
    return ("up", "") if port.up else ("down", "Link not connected")


def _mac(cli):
    digits = cli.switch.chassis.replace(":", "")
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def _interfaces(cli, names=None):
    rows, text = [], ""
    for name in cli.ports(names):
        section, port = cli.config.find(("interface", name)), cli.switch.ports[name]
        state, reason = _state(cli, name)
        reported = section.get("description", "")
        mtu, bits = cli.device.treatment(name).mtu, port.speed_gbps * 10**6
        rows.append(
            {
                "interface": name,
                "state": state,
                "state_rsn_desc": reason,
                "admin_state": "down" if reason.startswith("Admin") else "up",
                "eth_hw_desc": f"{port.speed_gbps * 1000}/100000 Ethernet",
                "eth_hw_addr": _mac(cli),
                "eth_bia_addr": _mac(cli),
                **({"desc": reported} if reported else {}),
                "eth_mtu": str(mtu),
                "eth_bw": bits,
                "eth_mode": mode if (mode := port_lines.vlan_word(section)) in ("routed", "trunk") else "access",
                "eth_duplex": "full",
                "eth_speed": f"{port.speed_gbps} Gb/s",
                "eth_inpkts": port.total("rx_packets"),
                "eth_inbytes": port.total("rx_bytes"),
                "eth_inerr": "0",
                "eth_indiscard": str(port.total("rx_drops")),
                "eth_outpkts": port.total("tx_packets"),
                "eth_outbytes": port.total("tx_bytes"),
                "eth_outerr": "0",
                "eth_outdiscard": str(port.total("tx_drops")),
            }
        )
        text += (
            f"{name} is {state}{f' ({reason})' if reason else ''}\n"
            f"admin state is {rows[-1]['admin_state']}, Dedicated Interface\n"
        )
        text += f"  Hardware: {rows[-1]['eth_hw_desc']}, address: {_mac(cli)} (bia {_mac(cli)})\n"
        text += f"  Description: {reported}\n" if reported else ""
        text += f"  MTU {mtu} bytes, BW {bits} Kbit , DLY 10 usec\n  Port mode is {rows[-1]['eth_mode']}\n"
        text += f"  full-duplex, {port.speed_gbps} Gb/s, media type is {port.speed_gbps}G\n"
        flow = cli.device.treatment(name)
        text += (
            f"  Input flow-control is {'on' if flow.pause_heeded else 'off'}, "
            f"output flow-control is {'on' if flow.pause_sent else 'off'}\n\n"
        )
    return lambda as_json: {"TABLE_interface": {"ROW_interface": _rows(rows)}} if as_json else text


def _brief(cli):
    text, rows = f"{LINE}\nPort          Name               Status    Vlan      Duplex  Speed   Type\n{LINE}\n", []
    for name, port in cli.switch.ports.items():
        state, reason = _state(cli, name)
        word = "connected" if state == "up" else "disabled" if reason.startswith("Admin") else "notconnec"
        section = cli.config.find(("interface", name))
        reported, vlan = section.get("description", "--"), port_lines.vlan_word(section)
        text += (
            f"{_short(name):<13} {reported[:18]:<18} {word:<9} {vlan:<9} full    {port.speed_gbps}G    QSFP-100G-CR4\n"
        )
        rows.append({"interface": name, "state": word, "vlan": vlan, "duplex": "full", "speed": f"{port.speed_gbps}G"})
    return lambda as_json: {"TABLE_interface": {"ROW_interface": _rows(rows)}} if as_json else text


def _pfc(cli, names=None):
    row = "=" * 60
    text, rows = f"\n{row}\nPort               Mode Oper(VL bmap)  RxPPP      TxPPP     \n{row}\n\n", []
    for name in cli.ports(names):
        counters, active = cli.switch.ports[name].counters, cli.device.treatment(name).pauses_sent
        mode = cli.device.pfc_mode(name).split()[0].capitalize()
        # Without a class that pauses, or on a port that is down, On is configured without effect.
        bitmap = sum(1 << number for number in active)
        oper = f"On ({bitmap:x})" if active and cli.switch.ports[name].up else "Off"
        rx, tx = (sum(counters[f"{way}_pause_{n}"] for n in range(8)) for way in ("rx", "tx"))
        text += f"{name:<18} {mode:<4} {oper:<14} {rx:<10} {tx:<10}\n"
        rows.append(
            {
                "if_name_str": name,
                "admin": mode,
                "oper": oper.split()[0],
                "vl_bmap": f"{bitmap:x}",
                "rx-stats": str(rx),
                "tx-stats": str(tx),
            }
        )
    table = {"TABLE_module": {"ROW_module": {"module": "1", "TABLE_pfc_interface": {"ROW_pfc_interface": _rows(rows)}}}}
    return lambda as_json: table if as_json else text


def _watchdog(cli, names=None):
    text, row = "slot  1\n=======\n\n", "+" + "-" * 52 + "+"
    for name in cli.ports(names):
        found, counters = cli.device.treatment(name), cli.switch.ports[name].counters
        text += f"{name} Interface PFC watchdog: [{'Enabled' if found.watchdog else 'Disabled'}]\n"
        text += "Disable-action                     : No\nPFC watch-dog interface-multiplier : 0\n"
        for number in sorted(found.pauses_sent):
            text += (
                f"{row}\n| QOS GROUP {number} [Active] PFC [YES] PFC-COS [{number}]\n{row}\n|{'Stats |':>52}\n{row}\n"
            )
            text += (
                f"|{'Shutdown':>31}|{counters['stuck']:>20}|\n|{'Restored':>31}|{counters['recovered']:>20}|\n{row}\n"
            )
        text += "\n"
    return text


def _lldp_runs(cli):
    if ("feature", "lldp") not in cli.config.lines:
        raise Refusal(None)


def _neighbours(cli):
    _lldp_runs(cli)
    text = "Capability codes:\n  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device\n"
    text += "  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other\n"
    text += "Device ID            Local Intf      Hold-time  Capability  Port ID  \n"
    rows = []
    for port, peer in cli.switch.neighbours():
        text += f"{peer.system:<20} {_short(port.name):<15} 120                    {peer.port}\n"
        rows.append(
            {
                "chassis_type": "7",
                "chassis_id": peer.system,
                "l_port_id": _short(port.name),
                "hold_time": "120",
                "port_type": "7",
                "port_id": peer.port,
            }
        )
    text += f"Total entries displayed: {len(rows)}\n"
    if not rows:
        return "ERROR: No neighbour information\n"
    return lambda as_json: {"TABLE_nbor": {"ROW_nbor": _rows(rows)}, "neigh_count": str(len(rows))} if as_json else text


def _neighbours_in_detail(cli, names=None):
    _lldp_runs(cli)
    text, rows = "", []
    for port, peer in cli.switch.neighbours():
        if names and port.name not in names:
            continue
        reported = peer.description or "null"
        text += (
            f"Chassis id: {peer.chassis}\nPort id: {peer.port}\n"
            f"Local Port id: {_short(port.name)}\nPort Description: {reported}\n"
        )
        text += f"System Name: {peer.system}\nSystem Description: {reported}\nTime remaining: 110 seconds\n\n"
        rows.append(
            {
                "chassis_type": "4",
                "chassis_id": peer.chassis,
                "port_type": "5",
                "port_id": peer.port,
                "l_port_id": _short(port.name),
                "port_desc": reported,
                "sys_name": peer.system,
                "sys_desc": reported,
            }
        )
    text += f"Total entries displayed: {len(rows)}\n"
    table = {"TABLE_nbor_detail": {"ROW_nbor_detail": _rows(rows)}, "neigh_count": str(len(rows))}
    return lambda as_json: table if as_json else text


def _dcbx(cli, names):
    _lldp_runs(cli)
    text = ""
    for name in cli.ports(names):
        reports = cli.device.treatment(name).dcbx
        mask = " ".join("1" if n in cli.device.pauses(name) else "0" for n in range(8))
        text += (
            "\nLocal DCBXP Control information:\nOperation version: 00  Max version: "
            "00  Seq no: 1  Ack no: 0\nType/\nSubtype    Version    En/Will/Adv Config\n"
        )
        text += (
            f"006/000    000        {'Y' if reports else 'N'}/N/Y       PFC {mask}\nInterface {name}: Detected: CIN\n"
        )
    return text


def _dir(cli):
    files = "".join(f"       9000    Jan 01 00:00:00 2024  {name}\n" for name in sorted(cli.device.stored))
    return (
        f"{files}\nUsage for bootflash://sup-local\n 2000000000 bytes used\n"
        f"{0 if cli.switch.full_flash else 100000000000} bytes free\n115000000000 bytes total\n"
    )


def _rows(rows):
    """Return one row without a list, as NX-OS does."""
    return rows[0] if len(rows) == 1 else rows


def _short(name):
    return name.replace("Ethernet", "Eth")
