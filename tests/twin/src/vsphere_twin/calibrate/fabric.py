"""Switches: LLDP of hosts, factory settings, words and shapes of outputs."""

from __future__ import annotations

import re

from vsphere_twin.switches.platforms import cumulus_qos, eos, onyx_config, os10_config

from .registry import rule
from .verdict import either, lacks, refutes

ADVERTISES = ("advertise", "both")
EOS_MTU, NXOS_MTU = 9214, 1500
PFC_PRIORITIES = "3,4"


@rule("switch-lldp")
def lldp(evidence):
    """A switch that hears a host by its name: the uplink's distributed switch must advertise by LLDP."""
    switches = {one.text("config.uuid"): one for one in evidence.objects("VmwareDistributedVirtualSwitch")}
    heard = "\n".join(
        text
        for switch in evidence.all_switches
        for command, text in switch.texts.items()
        if "lldp" in command and "neighbor" in command or "lldp" in command and "-o json" in command
    )
    for host in evidence.hosts:
        words = re.findall(
            rf"{re.escape(host.name)}\b(?:(?!systemName|host-\d).){{0,600}}?(vmnic\d+)", heard, re.DOTALL
        )
        for proxy in host.all("config.network.proxySwitch"):
            switch = switches.get(proxy.text("dvsUuid"))
            for key in proxy.texts("pnic"):
                port = key.rpartition("-")[2]
                if switch is None or port not in words:
                    continue
                protocol = switch.text("config.linkDiscoveryProtocolConfig.protocol")
                operation = switch.text("config.linkDiscoveryProtocolConfig.operation")
                values = f"a switch hears {port}, {switch.name} has {protocol} {operation}"
                yield either(protocol == "lldp" and operation in ADVERTISES, host.name, values)


def _sections(text, head):
    """The sections of a running configuration by what follows the head line."""
    found, name = {}, None
    for line in (text or "").splitlines():
        if line.startswith(head):
            name = line.removeprefix(head).strip()
            found[name] = []
        elif name is not None and line[:1].isspace():
            found[name].append(line.strip())
        elif line.strip() and line.strip() != "!":
            name = None
    return found


@rule("eos-defaults")
def eos_defaults(evidence):
    for switch in evidence.switches("eos"):
        config = switch.text("show running-config |")
        ports = (switch.data("show interfaces | json") or {}).get("interfaces") or {}
        for name, lines in _sections(config, "interface ").items():
            port = ports.get(name) or {}
            bridged = port.get("forwardingModel") == "bridged" and name.startswith("Ethernet")
            if bridged and isinstance(port.get("mtu"), int) and not any(line.startswith("mtu ") for line in lines):
                yield either(port["mtu"] == EOS_MTU, switch.name, f"{name} without an MTU line carries {port['mtu']}")
        words = set(re.findall(r"^\s+(uc-tx-queue|tx-queue) \d", config or "", re.MULTILINE))
        model = switch.about.get("model") or ""
        for word in words if model else ():
            expected = "uc-tx-queue" if model in eos.UNICAST_ONLY else "tx-queue"
            yield either(word == expected, switch.name, f"{model} has {word}, the twin {expected}")


@rule("nxos-network-qos-mtu")
def nxos(evidence):
    for switch in evidence.switches("nxos"):
        policy = switch.text("show running-config ipqos") or ""
        large = [int(one) for one in re.findall(r"^\s+mtu (\d+)", policy, re.MULTILINE) if int(one) > NXOS_MTU]
        attached = "service-policy type network-qos" in policy
        rows = ((switch.data("show interface | json") or {}).get("TABLE_interface") or {}).get("ROW_interface") or []
        mtus = {one.get("interface"): one.get("eth_mtu") for one in rows}
        if not large or not attached:
            continue
        for name, lines in _sections(switch.text("show running-config interface"), "interface ").items():
            found = str(mtus.get(name) or "")
            if name.startswith("Ethernet") and found.isdigit() and not any(line.startswith("mtu ") for line in lines):
                values = f"{name} without an MTU line has {found}, network-qos has {max(large)}"
                yield either(int(found) == NXOS_MTU, switch.name, values)


@rule("sonic-stock-qos")
def sonic(evidence):
    for switch in evidence.switches("sonic"):
        tables = switch.data("cat /etc/sonic/config_db.json") or switch.data("sonic-cfggen -d")
        if not isinstance(tables, dict) or not tables.get("PORT"):
            continue
        maps, ports = tables.get("PORT_QOS_MAP") or {}, tables["PORT"]
        without = sorted(set(ports) - {name for name in maps if name in ports})
        stock = (tables.get("DSCP_TO_TC_MAP") or {}).get("AZURE")
        if without and not maps:
            yield refutes(switch.name, f"no port of {len(ports)} has QoS maps")
        elif without:
            yield refutes(switch.name, f"{len(without)} of {len(ports)} ports without QoS maps, such as {without[0]}")
        elif stock is None:
            yield lacks("a SONiC switch with the map AZURE")
        else:
            lossless = sorted(code for code, tc in stock.items() if str(tc) in PFC_PRIORITIES)
            yield either(lossless == ["3", "4"], switch.name, f"DSCPs {lossless} in the lossless classes of AZURE")


@rule("os10-mtu")
def os10(evidence):
    for switch in evidence.switches("os10"):
        config = _sections(switch.text("show running-configuration"), "interface ")
        text = switch.text("show interface") or ""
        for name, mtu, ip_mtu in re.findall(
            r"^Ethernet (\S+) is .*?^MTU (\d+) bytes, IP MTU (\d+) bytes", text, re.M | re.S
        ):
            lines = config.get(f"ethernet{name}")
            overhead = int(mtu) - int(ip_mtu)
            right = overhead == os10_config.MTU_OVERHEAD
            values = f"ethernet{name}: MTU {mtu}, IP MTU {ip_mtu}"
            if lines is not None and not any(line.startswith("mtu ") for line in lines):
                right = right and int(mtu) == os10_config.DEFAULT_MTU
                values += " without an MTU line"
            yield either(right, switch.name, values)


@rule("onyx-weights-and-roce-line")
def onyx(evidence):
    for switch in evidence.switches("onyx"):
        config, state = switch.text("show running-config"), switch.text("show roce")
        mode = re.search(r"RoCE mode\s*:\s*(\S+)", state or "")
        if config is None or mode is None:
            continue
        line = re.search(r"^\s*roce ?(\S*)", config, re.MULTILINE)
        shown = mode[1].lower()
        if shown not in ("n/a", "disabled", "none"):
            right = line is not None and (line[1].lower() or "lossless") == shown
            yield either(
                right, switch.name, f"show roce: {shown}, running configuration: {line[0].strip() if line else None}"
            )
            continue
        if line is not None:
            yield refutes(switch.name, f"show roce: {shown}, running configuration: {line[0].strip()}")
        if re.search(r"traffic-class|bandwidth|ets", config):
            continue
        text = switch.text("show qos interface ethernet") or ""
        weights = re.findall(r'"(?:Weight|ETS BW|weight)[^"]*": "?(\d+)', text)
        if weights:
            right = set(map(int, weights)) <= set(onyx_config.FACTORY_WEIGHTS.values())
            yield either(right, switch.name, f"weights {', '.join(weights[:8])} without a line that sets them")


@rule("cumulus-operational-roce")
def cumulus(evidence):
    for switch in evidence.switches("cumulus"):
        operational = switch.data("nv show qos roce -o json")
        if isinstance(operational, dict) and operational:
            yield either(
                "enable" not in operational, switch.name, f"nv show qos roce has {', '.join(sorted(operational))}"
            )
        step = cumulus_qos.STEP_BYTES.get(switch.about.get("model") or "")
        status = switch.data("nv show interface qos-roce-status -o json")
        for number in _thresholds(status) if step else ():
            yield either(number % step == 0, switch.name, f"threshold {number} bytes, the twin's step is {step}")


def _thresholds(data):
    """The thresholds in bytes anywhere in an answer."""
    if isinstance(data, list):
        data = dict(enumerate(data))
    if not isinstance(data, dict):
        return
    for key, one in data.items():
        if "threshold" in str(key) and isinstance(one, int):
            yield one
        else:
            yield from _thresholds(one)
