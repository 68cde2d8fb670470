"""Show commands of Enterprise SONiC; formats come from its public design documents and modules."""

from __future__ import annotations

from .enterprise_sonic_config import INTERFACE, MAPS, SCHEDULER, WRED

_RULE = "-" * 51
_TITLES = {
    "dscp-tc": ("DSCP-TC-MAP", "DSCP", "TC"),
    "dot1p-tc": ("DOT1P-TC-MAP", "DOT1P", "TC"),
    "tc-queue": ("TC-Q-MAP", "TC", "Q"),
    "tc-pg": ("TC-PG-MAP", "TC", "PG"),
    "tc-dscp": ("TC-DSCP-MAP", "TC", "DSCP"),
    "tc-dot1p": ("TC-DOT1P-MAP", "TC", "DOT1P"),
    "pfc-priority-queue": ("PFC-PRIORITY-Q-MAP", "PRIORITY", "Q"),
    "pfc-priority-pg": ("PFC-PRIORITY-PG-MAP", "PRIORITY", "PG"),
}


class Shows:
    """Texts of one switch."""

    def __init__(self, device):
        self.device, self.switch = device, device.switch

    @property
    def config(self):
        return self.device.config

    def version(self):
        entries = {
            "Software Version": f"{self.switch.version}-Enterprise_Premium",
            "Product": "Enterprise SONiC Distribution by Dell Technologies",
            "Distribution": "11.8",
            "Kernel": "5.10.0-21-amd64",
            "Config DB Version": "version_" + self.switch.version.replace(".", "_"),
            "Build Commit": "7f5d3c1",
            "Build Date": "Thu Mar 21 05:12:44 UTC 2024",
            "Built By": "sonicbld@twin",
            "Platform": "x86_64-dellemc_z9332f_d1508-r0",
            "HwSKU": self.switch.model,
            "ASIC": "broadcom",
            "Hardware Version": "A01",
            "Serial Number": self.switch.serial,
            "Mfg": "Dell EMC",
        }
        return "".join(f"{key:<18}: {value}\n" for key, value in entries.items())

    def _state(self, port):
        shut = self.config.find(INTERFACE, port).get("shutdown")
        if self.switch.ports[port].up and not shut:
            return "up", "oper-up"
        return "down", "admin-down" if shut else "phy-link-down"

    def mtu(self, port):
        return 1500 if "mtu" in self.switch.dead_features else self.config.find(INTERFACE, port).get("mtu")

    def status(self):
        line = "-" * 90
        head = f"{'Name':<10}{'Description':<20}{'Oper':<8}{'Reason':<16}{'AutoNeg':<10}{'Speed':<10}MTU"
        rows = ""
        for port, link in self.switch.ports.items():
            state, reason = self._state(port)
            about = self.config.find(INTERFACE, port).get("description", "-")
            rows += (
                f"{port:<10}{about:<20}{state:<8}{reason:<16}{'off':<10}{link.speed_gbps * 1000:<10}{self.mtu(port)}\n"
            )
        return f"{line}\n{head}\n{line}\n{rows}"

    def interface(self, port):
        state, reason = self._state(port)
        return (
            f"{port} is {state}, line protocol is {state}, reason {reason}\nHardware is Eth\n"
            "Mode of IPV4 address assignment: not-set\nMode of IPV6 address assignment: not-set\n"
            f"IP MTU {self.mtu(port)} bytes\nLineSpeed {self.switch.ports[port].speed_gbps}GB, Auto-negotiation off\n"
            "FEC: RS\n"
        )

    def qos(self, port):
        lines = self.config.find(INTERFACE, port)
        running = self.device.treatment(port)
        entries = {"scheduler policy": lines.get("scheduler")}
        entries.update({f"{kind}-map": lines.get(("map", kind)) for kind in MAPS})
        entries["pfc-asymmetric"] = "on" if lines.get("asymmetric") else "off"
        heeded = sorted(running.pauses_heeded & self.config.pfc_priorities(port))
        entries["pfc-priority"] = ",".join(str(one) for one in heeded) or None
        entries["cable-length"] = lines.get("cable", "40m")
        if running.watchdog:
            entries["watchdog-action"] = lines.get("wd-action", "drop")
            entries["watchdog-detect-time"] = f"{lines.get('wd-on')} ms"
            entries["watchdog-restore-time"] = f"{lines.get('wd-restore', 0)} ms"
        body = "".join(f"        {key}: {value}\n" for key, value in entries.items() if value is not None)
        return f"{port}\n{body}"

    def queue(self, port, queue):
        name = self.config.find(INTERFACE, port).keyed("queue").get(queue)
        if name is None or "ecn" in self.switch.dead_features:
            return ""
        return f"{port}\n        interface queue {queue} config:\n            WRED profile: {name}\n"

    def maps(self, kind, only):
        title, left, right = _TITLES[kind]
        line, text = "-" * 28, ""
        for name, lines in self.config.named(f"qos map {kind}").items():
            if only not in (None, name):
                continue
            pairs = {value: target for target, values in lines.keyed("entry").items() for value in values}
            text += f"{title}: {name}\n{line}\n    {left:<8} {right}\n{line}\n"
            text += "".join(f"    {value:<8} {pairs[value]}\n" for value in sorted(pairs)) + f"{line}\n"
        return text

    def wred(self, only):
        text = ""
        for name, lines in self.config.named(WRED).items():
            if only in (None, name):
                text += f"{_RULE}\nPolicy                 : {name}\n{_RULE}\n"
                if lines.get("ecn"):
                    text += f"ecn                    : ecn_{lines.get('ecn')}\n"
                if lines.get("green"):
                    low, high, probability = lines.get("green")
                    text += f"green-min-threshold    : {low:<12}KBytes\ngreen-max-threshold    : {high:<12}KBytes\n"
                    text += f"green-drop-probability : {probability}\n"
        return text

    def scheduler(self, only):
        text = ""
        for name, lines in self.config.named(SCHEDULER).items():
            if only in (None, name):
                text += f"Scheduler Policy: {name}\n"
                for (_word, queue), (_header, inner) in sorted(lines.sections.items()):
                    text += f"  Queue: {queue}\n" + f"             type: {inner.get('type', 'dwrr')}\n"
                    if inner.get("weight"):
                        text += f"             weight: {inner.get('weight')}\n"
        return text

    def watchdog(self):
        text = "\nWatchdog Summary\n----------------\nPolling Interval:   : 100\nFlex Counters:      : enabled\n\n"
        line = "-" * 62
        text += f"{line}\n{'Interface':<14}{'Action':<12}{'Detection Time':<18}Restoration Time\n{line}\n"
        for port in self.switch.ports:
            lines = self.config.find(INTERFACE, port)
            if self.device.treatment(port).watchdog:
                times = f"{lines.get('wd-on'):<18}{lines.get('wd-restore', 'infinite')}"
                text += f"{port:<14}{lines.get('wd-action', 'drop'):<12}{times}\n"
        return text

    def pfc(self, ports):
        text = ""
        for way, key in (("Rx", "rx_pause"), ("Tx", "tx_pause")):
            line = "-" * 90
            heads = "".join(f"{f'PFC{one}':<10}" for one in range(8))
            text += f"{line}\n{f'Port {way}':<10}{heads}\n{line}\n"
            for port in ports:
                counters = self.switch.ports[port].counters
                text += f"{port:<10}" + "".join(f"{counters[f'{key}_{one}']:<10}" for one in range(8)) + "\n"
        return text

    def counters(self, ports):
        line, text = "-" * 67, ""
        for port in ports:
            counters = self.switch.ports[port].counters
            heads = f"{'TxQ':<5}{'Counter/pkts':<15}{'Counter/bytes':<15}{'Drop/pkts':<12}Drop/bytes"
            text += f"{port}\n{line}\n{heads}\n{line}\n"
            for queue in range(8):
                packets, size = counters[f"tx_packets_{queue}"], counters[f"tx_bytes_{queue}"]
                drops, lost = counters[f"tx_drops_{queue}"], counters[f"tx_lost_{queue}"]
                text += f"{f'UC{queue}':<5}{packets:<15}{size:<15}{drops:<12}{lost}\n"
        return text

    def groups(self, ports):
        text = f"{'Interface':<12}{'Priority-group':<19}Profile\n"
        for port in ports:
            speed, length = (
                self.switch.ports[port].speed_gbps * 1000,
                self.config.find(INTERFACE, port).get("cable", "40m"),
            )
            for group in range(8):
                lossless = group in self.config.lossless_groups and "pfc" not in self.switch.dead_features
                if lossless or group == 7:
                    profile = f"pg_lossless_{speed}_{length}_profile" if lossless else "ingress_lossy_profile"
                    text += f"{port:<12}{group:<19}{profile}\n"
        return text

    def lldp_table(self):
        line = "-" * 80
        head = f"{'LocalPort':<14}{'RemoteDevice':<22}{'RemotePortID':<18}{'Capability':<12}RemotePortDescr"
        text = f"{line}\n{head}\n{line}\n"
        for port, peer in self.switch.neighbours():
            text += f"{port.name:<14}{peer.system:<22}{peer.port:<18}{'B':<12}{peer.description}\n"
        return text

    def lldp(self, ports):
        line, text = "-" * 59, f"{'-' * 59}\nLLDP Neighbors\n"
        for port, peer in self.switch.neighbours():
            if port.name in ports:
                text += (
                    f"{line}\nInterface:   {port.name},via: LLDP\n  Chassis:\n    ChassisID:    {peer.chassis}\n"
                    f"    SysName:      {peer.system}\n    SysDescr:     {peer.description}\n"
                    f"  Port\n    PortID:       {peer.port}\n    PortDescr:    {peer.description}\n"
                )
        return text + f"{line}\n"
