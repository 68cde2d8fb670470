"""Show commands of OS10. Formats without a capture are close to the vendor's manuals; the README names them."""

from __future__ import annotations

from ..phrases import spelled
from .os10_config import CLASSES, DEFAULT_MTU, INTERFACE, MTU_OVERHEAD, POLICIES, SYSTEM


def _counted(link, way):
    packets, octets = link.total(f"{way}_packets"), link.total(f"{way}_bytes")
    return f"     {packets} packets, {octets} octets\n     0 Multicasts, 0 Broadcasts, {packets} Unicasts\n"


class Shows:
    """Texts of one switch."""

    def __init__(self, device):
        self.device, self.switch = device, device.switch

    @property
    def config(self):
        return self.device.config

    def version(self):
        major = ".".join(self.switch.version.split(".")[:2])
        return (
            "Dell SmartFabric OS10 Enterprise\n"
            "Copyright (c) 1999-2024 by Dell Inc. All Rights Reserved.\n"
            f"OS Version: {self.switch.version}\nBuild Version: {self.switch.version}.268\n"
            f"Build Time: 2024-03-19T22:11:00+0000\nSystem Type: {self.switch.model}\n"
            f"Architecture: x86_64\nUp Time: 6 days 00:33:35\n" + ("" if major >= "10.5" else "\n")
        )

    def interfaces(self, ports):
        return "\n".join(self._interface(port) for port in ports)

    def _interface(self, port):
        link, lines = self.switch.ports[port], self.config.find(INTERFACE, port)
        mtu = DEFAULT_MTU if "mtu" in self.switch.dead_features else lines.get("mtu", DEFAULT_MTU)
        state = "up" if link.up and not lines.get("shutdown") else "down"
        flow = {way: lines.get(("flow", way), "off") for way in ("receive", "transmit")}
        return (
            f"Ethernet {port.removeprefix('ethernet')} is {state}, line protocol is {state}\n"
            f"Hardware is Eth, address is {self.switch.chassis}\n    Current address is {self.switch.chassis}\n"
            f"Pluggable media present, QSFP28 type is QSFP28 100GBASE-CR4\nInterface index is {10 + _index(port)}\n"
            f"Internet address is not set\nMode of IPv4 Address Assignment: not set\n"
            f"MTU {mtu} bytes, IP MTU {mtu - MTU_OVERHEAD} bytes\n"
            f"LineSpeed {link.speed_gbps}G, Auto-Negotiation on\n"
            f"Flowcontrol rx {flow['receive']} tx {flow['transmit']}\nARP type: ARPA, ARP Timeout: 60\n"
            'Last clearing of "show interface" counters: never\n'
            f"Queuing strategy: fifo\nInput statistics:\n{_counted(link, 'rx')}"
            f"     0 runts, 0 giants, 0 throttles\n     0 CRC, 0 overrun, {link.total('rx_drops')} discarded\n"
            f"Output statistics:\n{_counted(link, 'tx')}"
            f"     0 throttles, {link.total('tx_drops')} discarded, 0 Collisions,  wred drops\n"
        )

    def status(self, ports):
        line = "-" * 98
        head = (
            f"{'Port':<16}{'Description':<16}{'Status':<9}{'Speed':<9}{'Duplex':<9}{'Mode':<5}{'Vlan':<5}Tagged-Vlans"
        )
        rows = ""
        for port in ports:
            link, lines = self.switch.ports[port], self.config.find(INTERFACE, port)
            state = "up" if link.up and not lines.get("shutdown") else "down"
            speed = f"{link.speed_gbps}G" if state == "up" else "0"
            name = f"Eth {port.removeprefix('ethernet')}"
            rows += f"{name:<16}{lines.get('description', ''):<16}{state:<9}{speed:<9}{'full':<9}{_vlans_of(lines)}\n"
        return f"{line}\n{head}\n{line}\n{rows}{line}\n"

    def pfc(self, ports):
        return "\n".join(self._pfc(port) for port in ports)

    def _pfc(self, port):
        counters = self.switch.ports[port].counters
        on = self.config.pfc_on(port)
        acting = sorted(self.device.treatment(port).pauses_heeded)
        sums = [sum(counters[f"{way}_{one}"] for one in range(8)) for way in ("rx_pause", "tx_pause")]
        text = f"{port}\n  Admin Mode : {'true' if on else 'false'}\n"
        text += f"  Operstatus: {'true' if acting else 'false'}\n  PFC Priorities: {','.join(map(str, acting))}\n"
        text += f"  Total Rx PFC Frames: {sums[0]}\n  Total Tx PFC Frames: {sums[1]}\n"
        text += f"  {'Cos':<8}{'Rx':<10}Tx\n  {'-' * 23}\n"
        for cos in range(8):
            text += f"  {cos:<8}{counters[f'rx_pause_{cos}']:<10}{counters[f'tx_pause_{cos}']}\n"
        return text

    def queues(self, port, only):
        counters = self.switch.ports[port].counters
        text = f"Interface {port}\n"
        text += f"{'Queue':<6}{'Packets':<25}{'Bytes':<25}{'Dropped-Packets':<25}{'Dropped-Bytes':<25}\n"
        for queue in range(8) if only is None else [only]:
            values = [counters[f"{what}_{queue}"] for what in ("tx_packets", "tx_bytes", "tx_drops", "tx_lost")]
            text += f"{queue:<6}" + "".join(f"{value:<25}" for value in values) + "\n"
        return text

    def qos_of(self, port):
        lines = self.config.find(INTERFACE, port)
        text = f"Ethernet {port.removeprefix('ethernet')}\n"
        text += "".join(
            f"  {kind}-storm-control : Disabled\n" for kind in ("unknown-unicast", "multicast", "broadcast")
        )
        for way, word in (("receive", "rx"), ("transmit", "tx")):
            on = lines.get(("flow", way), "off") == "on"
            text += f"  flow-control-{word}: {'Enabled' if on else 'Disabled'}\n"
        return text + self._bound(lines)

    def qos_system(self):
        return self._bound(self.config.find(SYSTEM, ""))

    @staticmethod
    def _bound(lines):
        entries = (
            ("ets mode", "on" if lines.get("ets") else "off"),
            ("Dot1p-tc-mapping", lines.get(("trust", "dot1p"))),
            ("Dscp-tc-mapping", lines.get(("trust", "dscp"))),
            ("Tc-queue-mapping", lines.get("qos-map")),
            ("Service-policy(Input)(network-qos)", lines.get(("policy", "network-qos"))),
            ("Service-policy(Output)(queuing)", lines.get(("policy", "queuing"))),
        )
        return "".join(f"  {title} : {value}\n" for title, value in entries if value is not None)

    def neighbours(self):
        text = f"{'Loc PortID':<20}{'Rem Host Name':<20}{'Rem Port Id':<24}Rem Chassis Id\n{'-' * 83}\n"
        for port, peer in self.switch.neighbours():
            text += f"{port.name:<20}{peer.system:<20}{peer.port:<24}{peer.chassis}\n"
        return text

    def neighbours_in_detail(self, ports):
        text = ""
        for port, peer in self.switch.neighbours():
            if port.name not in ports:
                continue
            text += (
                f"Remote Chassis ID Subtype: Mac address (4)\nRemote Chassis ID: {peer.chassis}\n"
                f"Remote Port Subtype: Interface name (5)\nRemote Port ID: {peer.port}\n"
                f"Remote Port Description: {peer.description}\nLocal Port ID: {port.name}\n"
                f"Locally assigned remote Neighbor Index: {_index(port.name)}\nRemote TTL: 120\n"
                f"Information valid for next 97 seconds\nRemote System Name: {peer.system}\n{'-' * 75}\n"
            )
        return text

    def dcbx(self, port):
        lines = self.config.find(INTERFACE, port)
        on = self.config.dcbx(port)
        mode = {"auto": "AUTO", "ieee": "IEEEv2.5", "cee": "CEE"}[lines.get("dcbx", "auto")]
        sent = ("E" if lines.get("ets") else "e") + "r" + ("P" if self.config.pfc_on(port) else "p") + "fi"
        text = (
            "E-ETS Configuration TLV enabled                e-ETS Configuration TLV disabled\n"
            "R-ETS Recommendation TLV enabled               r-ETS Recommendation TLV disabled\n"
            "P-PFC Configuration TLV enabled                p-PFC Configuration TLV disabled\n"
            "F-Application priority for FCOE enabled        f-Application Priority for FCOE disabled\n"
            "I-Application priority for iSCSI enabled       i-Application Priority for iSCSI disabled\n"
        )
        text += f"{'-' * 89}\n\nInterface {port}\n  Port Role is Manual\n"
        text += f"  DCBX Operational Status is {'Enabled' if on else 'Disabled'}\n  Is Configuration Source? FALSE\n"
        if on:
            text += f"  Local DCBX Compatibility mode is {'IEEEv2.5' if mode == 'AUTO' else mode}\n"
        return (
            text + f"  Local DCBX Configured mode is {mode}\n  Local DCBX TLVs Transmitted: {sent if on else 'erpfi'}\n"
        )

    def dcbx_pfc(self, port):
        paused = ",".join(str(one) for one in sorted(self.device.treatment(port).pauses_heeded))
        on = "Enabled" if self.config.pfc_on(port) else "Disabled"
        return (
            f"Interface {port}\n    Admin mode is {'on' if self.config.pfc_on(port) else 'off'}\n"
            f"    Admin is {on}, Priority list is {paused}\n    Local is {on}, Priority list is {paused}\n"
            f"    Oper status is {'init' if not paused else 'up'}\n    PFC DCBX Oper status is "
            f"{'Up' if paused and self.config.dcbx(port) else 'Down'}\n"
        )

    def classes(self, kind):
        found = ""
        for one, title in CLASSES.items():
            for name, lines in self.config.named(title).items():
                if kind in (None, one):
                    found += f"Class-map ({one}): {name} (match-any)\n"
                    found += "".join(f"   {line.capitalize()}\n" for line, _value in lines.lines.values())
        return found

    def policies(self, kind):
        found = ""
        for one, title in POLICIES.items():
            for name, lines in self.config.named(title).items():
                if kind in (None, one):
                    found += f"Service-policy ({one}) {'input' if one == 'network-qos' else 'output'}: {name}\n"
                    for (_class, title_of), (_header, inner) in lines.sections.items():
                        found += f"  Class-map ({one}): {title_of} (match-any)\n"
                        found += "".join(f"    {line}\n" for line, _value in inner.lines.values())
        return found


def _vlans_of(lines):
    """The columns of mode, untagged VLAN and tagged VLANs."""
    if lines.get("switchport") is False:
        return f"{'-':<5}{'-':<5}-"
    trunk = lines.get("mode") == "trunk"
    allowed = spelled(lines.get("allowed", ())) if trunk else ""
    return f"{'T' if trunk else 'A':<5}{lines.get('switchport'):<5}{allowed or '-'}"


def _index(port):
    return int(port.rsplit("/", 1)[1])
