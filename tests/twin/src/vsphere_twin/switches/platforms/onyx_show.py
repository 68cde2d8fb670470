"""Show commands of Onyx: as text, and as JSON whose form changed with release 3.6.6000."""

from __future__ import annotations

import json

from .onyx_config import listed, number
from .onyx_roce import RoceShows, word

LISTS_SINCE = (3, 6, 6000)
_PFC_RULE = "-" * 49
_ETS_RULE = "-" * 77
_ETS_HEAD = f"{'TC':<5}{'S.Mode':<10}{'W':<10}{'W(%)':<10}{'BW Gr.(Mbps)':<16}BW Sh.(Mbps)"


class Shows(RoceShows):
    """Texts and JSON objects of one switch."""

    @property
    def lists(self):
        """Return whether JSON has lists where older releases have dictionaries."""
        return self.device.release >= LISTS_SINCE

    # Each of these is (text, output of json-print).

    def version(self):
        entries = {
            "Product name": "Onyx" if self.device.release >= (3, 6, 8000) else "MLNX-OS",
            "Product release": self.switch.version,
            "Build ID": "#1-dev",
            "Build date": "2025-01-10 18:14:32",
            "Target arch": "x86_64",
            "Target hw": "x86_64",
            "Built by": "jenkins@twin",
            "Version summary": f"X86_64 {self.switch.version} 2025-01-10 18:14:32 x86_64",
            "Product model": "x86onie",
            "Host ID": self.switch.chassis.replace(":", "").upper(),
            "System serial num": self.switch.serial,
            "System UUID": "0b19d6d0-5eca-11e6-8000-" + self.switch.chassis.replace(":", ""),
            "Uptime": "1d 16h 31m 43.856s",
            "CPU load averages": "0.06 / 0.12 / 0.13",
            "Number of CPUs": "4",
            "System memory": "2597 MB used / 5213 MB free / 7810 MB total",
            "Swap": "0 MB used / 0 MB free / 0 MB total",
        }
        breaks = ("Product model", "Uptime")
        text = "".join(("\n" if key in breaks else "") + f"{key + ':':<19}{value}\n" for key, value in entries.items())
        return text, entries

    def pfc(self, ports):
        enabled = self.device.pfc_running
        on = self.config.pfc_priorities
        off = frozenset(range(8)) - on
        states = {port: (self._admin(port), "Enabled" if self.device.pfc_on(port) else "Disabled") for port in ports}
        text = f"PFC: {enabled}\nPriority Enabled List: {listed(on)}\nPriority Disabled List: {listed(off)}\n"
        text += f"{_PFC_RULE}\n{'Interface':<17}{'PFC admin':<17}PFC oper\n{_PFC_RULE}\n"
        text += "".join(f"{port:<17}{admin:<17}{oper}\n" for port, (admin, oper) in states.items())
        head = {"PFC": enabled}
        priorities = {"Priority Enabled List": listed(on), "Priority Disabled List": listed(off)}
        table = {port: [{"PFC admin": admin, "PFC oper": oper}] for port, (admin, oper) in states.items()}
        return text, [head, priorities, table] if self.lists else {**head, **priorities, "Table 2": table}

    def _admin(self, port):
        mode = self.config.value(port, "pfc")
        return mode.capitalize() if self.lists or mode == "auto" else mode

    def ets(self, ports):
        texts, found = [], []
        for port in ports:
            classes = self.config.scheduling(port)
            rows = "".join(
                f"{tc:<5}{mode:<10}{weight:<10}{percent:<10}{'0':<16}N/A\n"
                for tc, (mode, weight, percent) in classes.items()
            )
            binding = "".join(f"{one:<17}{tc}\n" for one, tc in self.config.traffic_classes(port).items())
            texts.append(
                f"{port}:\n\nInterface Bandwidth Shape [Mbps]: N/A\nMulticast unaware mapping       : disabled\n\n"
                "Flags:\n  S.Mode: Scheduling Mode [Strict/WRR]\n  D     : -\n  W     : Weight\n"
                "  Bw.Sh : Bandwidth Shaper\n  Bw.Gr : Bandwidth Guaranteed\n\nETS per TC:\n"
                f"{_ETS_RULE}\n{_ETS_HEAD}\n{_ETS_RULE}\n"
                f"{rows}\n{'Switch Priority':<17}TC\n{binding}"
            )
            table = {
                str(tc): [
                    {"S.Mode": mode, "W": str(weight), "W(%)": str(share), "BW Gr.(Mbps)": "0", "BW Sh.(Mbps)": "N/A"}
                ]
                for tc, (mode, weight, share) in classes.items()
            }
            flags = {"S.Mode": "Scheduling Mode [Strict/WRR]", "D": "-", "W": "Weight"}
            flags.update({"Bw.Sh": "Bandwidth Shaper", "Bw.Gr": "Bandwidth Guaranteed"})
            head = {"Multicast unaware mapping": "disabled", "Interface Bandwidth Shape [Mbps]": "N/A"}
            found.append({port: [head, {"Flags": [flags]}, {"ETS per TC": [table]}]})
        return "\n".join(texts), found

    def congestion(self, ports):
        text, found = "", []
        for port in ports:
            marked = str(sum(self.switch.ports[port].counters[f"ecn_marked_{tc}"] for tc in range(8)))
            text += f"\nInterface ethernet: {number(port)}\n  ECN marked packets: {marked}\n"
            found.append({"Interface ethernet": number(port), "ECN marked packets": marked})
            for tc in range(8):
                entry = self._congestion_of(port, tc)
                text += "".join(
                    f"  {value}\n" if key == "header" else f"    {key}: {value}\n" for key, value in entry.items()
                )
                found.append(entry)
        return text, found

    def _congestion_of(self, port, tc):
        setting = self.config.marking(port, tc)
        if setting is None or ("ecn" in self.switch.dead_features):
            return {"header": f"TC-{tc}", "Mode": "none"}
        mode, measure, low, high = setting
        unit = " KB" if measure == "absolute" else "%"
        return {
            "header": f"TC-{tc}",
            "Mode": {"both": "RED and ECN"}.get(mode, mode.upper()),
            "Threshold mode": measure,
            "Minimum threshold": f"{low}{unit}",
            "Maximum threshold": f"{high}{unit}",
            "RED dropped packets": "0",
        }

    def qos(self, ports):
        text, found = "", []
        for port in ports:
            trust = "L2" if "trust" in self.switch.dead_features else self.config.value(port, "trust")
            head = {
                "Trust mode": trust,
                "Default switch-priority": "0",
                "Default PCP": "0",
                "Default DEI": "0",
                "PCP,DEI rewrite": "disabled",
                "IP PCP;DEI rewrite": "enable",
                "DSCP rewrite": "disabled",
            }
            by_priority = {one: [] for one in range(8)}
            for dscp in range(64):
                by_priority[self.config.value(port, ("dscp", dscp))].append(dscp)
            title = "PCP(DEI); DSCP to switch-priority mapping"
            table = {
                f"{one}(0) {one}(1)": [{"switch-priority": str(one), "DSCP": listed(dscps)}]
                for one, dscps in by_priority.items()
            }
            again = "PCP(DEI); DSCP rewrite mapping (switch-priority to PCP(DEI); DSCP; traffic-class)"
            classes = self.config.traffic_classes(port)
            rewrite = {
                str(one): [{"PCP(DEI)": f"{one}(0)", "DSCP": str(one << 3), "TC": str(tc)}]
                for one, tc in classes.items()
            }
            text += f"\n{port}:\n" + "".join(f"  {key:<24}: {value}\n" for key, value in head.items())
            text += f"\n  {title}:\n    {'PCP(DEI)':<13}{'DSCP':<30}switch-priority\n"
            text += "".join(
                f"    {f'{one}(0) {one}(1)':<13}{listed(dscps):<30}{one}\n" for one, dscps in by_priority.items()
            )
            text += f"\n  {again}:\n    Egress Interface: {port}\n"
            text += "".join(f"    {one:<17}{f'{one}(0)':<10}{one << 3:<6}{tc}\n" for one, tc in classes.items())
            found.append({port: [head, {title: [table]}, {again: [{"Egress Interface": port}, rewrite]}]})
        return text, found

    def lldp_interfaces(self):
        tlvs = "PD, SN, SD, SC, MA, PFC, AP, ETS-C, ETS-R"
        rows = {
            port: {
                "Receive": word(self.config.value(port, ("lldp-port", "receive"))).capitalize(),
                "Transmit": word(self.config.value(port, ("lldp-port", "transmit"))).capitalize(),
                "TLVs": tlvs,
            }
            for port in self.switch.ports
        }
        line = "-" * 76
        text = f"{line}\n{'Interface':<13}{'Receive':<12}{'Transmit':<12}TLVs\n{line}\n"
        text += "".join(f"{port:<13}{one['Receive']:<12}{one['Transmit']:<12}{tlvs}\n" for port, one in rows.items())
        table = {port: [one] for port, one in rows.items()}
        return text, [table] if self.lists else table

    def lldp_local(self):
        state = {"LLDP": word(self.config.lldp)}
        local = {
            "header": "Local global configuration",
            "Chassis sub type": "Mac Address",
            "Chassis id": self.switch.chassis,
            "System Name": self.switch.name,
            "System Description": f"Mellanox {self.switch.model},MLNX-OS,SWv{self.switch.version}",
            "Supported capabilities": "B,R",
            "Supported capabilities enabled": "B",
        }
        text = f"LLDP: {state['LLDP']}\n\n{local['header']}:\n"
        return text + "".join(f"  {key}: {value}\n" for key, value in local.items() if key != "header"), [state, local]

    def lldp_remote(self, ports):
        text, found = "", []
        for port, peer in self.switch.neighbours():
            if port.name not in ports:
                continue
            entry = {
                "Remote Index": "1",
                "Remote chassis id": f"{peer.chassis} ; chassis id subtype: Mac Address (4)",
                "Remote port-id": f"{peer.port} ; port id subtype: Interface Name (5)",
                "Remote port description": peer.description or "N\\A",
                "Remote system name": peer.system,
            }
            text += f"{port.name}\n" + "".join(f"{key:<25}: {value}\n" for key, value in entry.items()) + "\n"
            found.append({port.name: [entry]})
        if not found:
            return "\nNo lldp remote information.\n\n", {"Lines": ["", "No lldp remote information.", ""]}
        return text, found

    def lldp_table(self):
        line = "-" * 82
        rows = "".join(
            f"{port.name:<18}{peer.chassis:<22}{peer.port:<22}{peer.system}\n"
            for port, peer in self.switch.neighbours()
        )
        head = f"{'Local Interface':<18}{'Device ID':<22}{'Port ID':<22}System Name"
        return f"{line}\n{head}\n{line}\n{rows}", None

    def interfaces(self, ports):
        text, found = "", []
        for port in ports:
            link = self.switch.ports[port]
            mtu = 1500 if "mtu" in self.switch.dead_features else self.config.value(port, "mtu")
            flow = {way: "on" if self.config.value(port, ("flow", way)) else "off" for way in ("receive", "send")}
            down = self.config.value(port, "shutdown")
            entry = {
                "Admin state": "Disabled" if down else "Enabled",
                "Operational state": "Up" if link.up and not down else "Down",
                "Last change in operational status": "Never",
                "Description": "N\\A",
                "Mac address": self.switch.chassis,
                "MTU": f"{mtu} bytes(Maximum packet size {mtu + 22} bytes)",
                "Fec": "auto",
                "Flow-control": f"receive {flow['receive']} send {flow['send']}",
                "Actual speed": f"{link.speed_gbps} Gbps",
            }
            text += f"\n{port}:\n" + "".join(f"  {key:<42}: {value}\n" for key, value in entry.items())
            found.append({port: [entry]} if self.lists else {"header": port, **entry})
        return text, found

    def status(self, ports):
        line = "-" * 70
        text = f"{line}\n{'Port':<18}{'Operational state':<24}{'Speed':<14}Negotiation\n{line}\n"
        table = {}
        for port in ports:
            link = self.switch.ports[port]
            state = "Up" if link.up and not self.config.value(port, "shutdown") else "Down"
            text += f"{port:<18}{state:<24}{link.speed_gbps}G{'':<10}No-Negotiation\n"
            entry = {"Operational state": state, "Speed": f"{link.speed_gbps} Gbps", "Negotiation": "No-Negotiation"}
            table[port] = [entry]
        return text, [table] if self.lists else table


def printed(found):
    """Return the output of json-print for an object."""
    return json.dumps(found, indent=4) + "\n"
