# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the running state of Cisco NX-OS from its tables and its JSON. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import lines
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import bits, cleaned, from_json, number, rows
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.text import PREDEFINED, marking
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.unread import again, headless, lacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.nxos.text import Config
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking

# Vethernet is the port of a VM, or of a server behind a fabric extender.
PORT = r"((?:Ethernet|Eth|port-channel|Po|Vethernet|Veth)[\d/.]+)"
# 'On (8)', 'On  (0x8)', 'Off': the bitmap is in brackets.
FLOW = re.compile(
    rf"^\s*{PORT}\s+(On|Off|Auto)\s+(On|Off|Yes|No)(?:\s*\(\s*(\w+)\s*\))?(?:\s+(\d+|-|N/A)\s+(\d+|-|N/A))?",
    re.IGNORECASE,
)


_FLOW = "show interface priority-flow-control"


def long(name: str) -> str:
    """Return the full name of a port."""
    found = re.fullmatch(r"(Eth|Po|Veth)(\d\S*)", name)
    return name if not found else _WHOLE[found.group(1)] + found.group(2)


def port_in(command: str) -> str | None:
    """Return the port in a command, if it has one."""
    found = lines.port_in(command, "ethernet|eth?|e|port-channel|po|vethernet|veth")
    if found is None:
        return None
    kind = found[0].lower()
    return _WHOLE["Veth" if kind.startswith("v") else "Po" if kind.startswith("po") else "Eth"] + found[1]


_WHOLE = {"Eth": "Ethernet", "Po": "port-channel", "Veth": "Vethernet"}


def flow_control(text: str, oper: dict[str, Oper], unread: list[str], expected: Iterable[int]) -> None:
    """Read `show interface priority-flow-control`, text or JSON, into {port: Oper}.

    expected: the configured priorities, to distinguish a decimal from a hexadecimal bitmap.
    """
    reported = from_json(text)
    if reported is not None:
        for entry in tables_of(reported, "ROW_pfc_interface"):
            _flow_row(entry, oper, unread, expected)
        return
    for line in cleaned(text):
        row = FLOW.match(line)
        if row:
            name, mode, state, mask, received, sent = row.groups()
            active, priorities = state.lower() in ("on", "yes"), _priorities(mask, expected)
            _acting(oper, name, active, priorities, received, sent)
            oper[long(name)].pfc_mode = mode.lower()
            if active and priorities is None:
                unread.append(lacks(_FLOW, f"the priorities of {long(name)}"))
            elif line[row.end() :].strip():
                unread.append(lacks(_FLOW, f"the counters of {long(name)}, {line[row.end() :].strip()!r}"))
        elif re.match(rf"^\s*{PORT}\s", line):
            unread.append(lacks(_FLOW, f"the row {' '.join(line.split())!r}"))


def _priorities(mask: str | None, expected: Iterable[int]) -> list[int] | None:
    """Return the priorities of a mask; None if it is missing or no number."""
    text = str(mask).lower()
    text = text[2:] if text.startswith("0x") else text
    if mask is None or not re.fullmatch(r"[0-9a-f]+", text):
        return None
    plain = bits(int(text)) if text.isdecimal() else None
    return plain if plain == sorted(expected) else bits(int(text, 16))


def tables_of(reported: object, key: str | tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the rows of a table at any depth, because modules and VDCs wrap it."""
    if isinstance(reported, list):
        return [row for entry in reported for row in tables_of(entry, key)]
    if not isinstance(reported, dict):
        return []
    keys = (key,) if isinstance(key, str) else key
    found = [row for one in keys for row in rows(reported.get(one)) if isinstance(row, dict)]
    return found + [row for name, entry in reported.items() if name not in keys for row in tables_of(entry, keys)]


def _flow_row(row: Mapping[str, object], oper: dict[str, Oper], unread: list[str], expected: Iterable[int]) -> None:
    """Read a row of JSON with keys that differ by release: the state is the value with On or Off beside the mode."""
    name = next((str(row[key]) for key in ("if_name_str", "interface", "if_name", "port") if key in row), None)
    if name is None:
        return
    state = next((str(value) for key, value in row.items() if "oper" in key), "")
    beside = str(next((value for key, value in row.items() if "bmap" in key or "vl" in key), ""))
    mask = re.search(r"\((\w+)\)", state) or re.search(r"((?:0x)?[0-9a-f]+)\)?$", beside)
    received = next((value for key, value in row.items() if "rx" in key), None)
    sent = next((value for key, value in row.items() if "tx" in key), None)
    priorities = _priorities(mask.group(1), expected) if mask else None
    word = cast("re.Match[str]", re.match(r"[a-z]*", state.lower())).group(0)
    active = {"on": True, "off": False}.get(word)
    _acting(oper, name, active, priorities, received, sent)
    if active is None or (active and priorities is None):
        unread.append(lacks(_FLOW, f"the state of {long(name)}, {state!r}"))
    modes = [str(value).lower() for key, value in row.items() if "mode" in key]
    oper[long(name)].pfc_mode = next((mode for mode in modes if mode in ("on", "off", "auto")), None)


def _acting(
    oper: dict[str, Oper], name: str, active: bool | None, priorities: list[int] | None, received: object, sent: object
) -> None:
    running = oper.setdefault(long(name), Oper())
    # The effective priorities are unknown with another state word, or without a bitmap.
    if active is not None:
        running.pfc = priorities if active else []
        running.pfc_sends = None if running.pfc is None else bool(running.pfc)
    counted = {"pauses_received": number(received), "pauses_sent": number(sent)}
    running.counters.update((key, count) for key, count in counted.items() if count is not None)


def _running(oper: dict[str, Oper], name: str) -> Oper | None:
    """Return the Oper of a port; None if it is no host port, such as a link inside the chassis."""
    return oper.setdefault(long(name), Oper()) if re.fullmatch(PORT, name) else None


def queuing(text: str, oper: dict[str, Oper], unread: list[str]) -> None:
    """Read the counters of queues and PFC, by port, from `show queuing interface`."""
    running: Oper | None
    group: int | None
    known: str | None
    seen: set[str]
    running, group, known, seen, classes = None, None, None, set(), False
    for line in cleaned(text):
        head = re.search(r"(?:Egress|Ingress) Queuing for (\S+)", line)
        block = re.search(r"(CONTROL |SPAN )?QOS GROUP ?(\d)?", line)
        # One column each for unicast, multicast, ... Newer releases have other names.
        drops = re.search(r"(?:Dropped|Tail Drop) Pkts\s*\|((?:\s*\d+\s*\|?)+)", line)
        # The counter of packets that were dropped instead of marked is on the same line.
        marked = None if "Drop" in line else re.search(r"\bECN\b\D*(\d+)", line)
        # Newer releases omit the buffer of a class.
        table = re.match(
            r"\s*(\d)\s+(\d|-)\s+(?:(?:\d|-)\s+)?(Active|Inactive)\s+(\d+)\s+(Active|Inactive)\s+(\d+)", line
        )
        sums = re.search(r"TxPPP:\s*(\d+),\s*RxPPP:\s*(\d+)", line)
        classes = (classes and not head) or re.search(r"\bCOS\s+QOS[ _]Group", line, re.IGNORECASE) is not None
        key = table.group(1) if table else " ".join(block.group(0).split()) if block else "sums" if sums else None
        if head:
            running, group, known, seen = _running(oper, head.group(1)), None, head.group(1), set()
        elif running is None:
            if known is None and key is not None:
                unread.append(headless("show queuing interface", None))
                known = ""  # One sentence is enough, up to the first heading.
        elif key is not None and again(seen, key):
            unread.append(headless("show queuing interface", known))
            running = None
        elif block:
            group = int(block.group(2)) if block.group(2) and not block.group(1) else None
        elif drops and group:
            dropped = running.counters.setdefault("drops", {})
            # The rows of different causes overlap.
            dropped[group] = max(dropped.get(group, 0), sum(map(int, re.findall(r"\d+", drops.group(1)))))
        elif marked:
            running.counters["ecn_marked"] = running.counters.get("ecn_marked", 0) + int(marked.group(1))
        elif sums:
            running.counters.update(pauses_sent=int(sums.group(1)), pauses_received=int(sums.group(2)))
        elif table:
            _by_class(running, table.groups())
        elif classes and re.match(r"\s*\d\s", line):
            unread.append(lacks("show queuing interface", f"the row {' '.join(line.split())!r} of {known}"))


def _by_class(running: Oper, row: Sequence[str]) -> None:
    """Read one row of the table by CoS; a group '-' means that nothing is mapped to it."""
    cos, group, sends, sent, waits, received = row
    acts = "Active" in (sends, waits) and group != "-"
    if acts:
        # A row without pauses can also mean that there was nothing to pause.
        running.pfc = sorted({*(running.pfc or []), int(cos)})
        running.pfc_sends = bool(running.pfc_sends) or sends == "Active"
    for key, value in (("pauses_sent", sent), ("pauses_received", received)):
        there = running.counters.get(key)
        counts = there if isinstance(there, dict) else {}
        running.counters[key] = {**counts, int(cos): int(value)}


def policies(text: str, oper: dict[str, Oper], unread: list[str], config: Config | None) -> None:
    """Read the classification and the ECN marking of queues, by port, from `show policy-map interface`.

    config: supplies the match lines for releases that show only the names of classes. A port without its own policy has
    the policy of the switch, which the command may omit. The state of such a port is unknown without config.
    """
    matches, system = (config.matches, config.system) if config else ({}, {"qos": "", "queuing": ""})
    running = kind = queue = known = None
    seen: set[object] = set()
    for line in cleaned(text):
        head = re.match(r"^\s*([A-Za-z][\w-]*\d[\d/.]*)\s*$", line)
        policy = re.match(r"^\s*Service-policy \((\S+)\)\s+(\w+)", line)
        entry = re.match(r"^\s*Class-map \((\S+)\):\s+(\S+)", line)
        match = re.match(r"^\s*Match:\s+(dscp|cos|ip dscp)\b", line, re.IGNORECASE)
        if head:
            running, kind, queue, known, seen = _running(oper, head.group(1)), None, None, head.group(1), set()
            if running is not None:
                running.trust = None if "qos" in system else "none"
                running.ecn = None if "queuing" in system else {}
        elif running is None:
            if known is None and policy:
                unread.append(headless("show policy-map interface", None))
                known = ""  # One sentence is enough, up to the first heading.
        elif policy and again(seen, policy.groups()):
            unread.append(headless("show policy-map interface", known))
            running = None
        elif policy:
            kind = policy.groups()
            if kind == ("qos", "input"):
                running.trust = running.trust or "none"
            elif kind == ("queuing", "output"):
                running.ecn = running.ecn or {}
        elif entry:
            found = PREDEFINED.fullmatch(entry.group(2))
            queue = int(found.group(1)) if found else None
            codes, priorities, _every = matches.get(entry.group(2), ((), (), False))
            if kind == ("qos", "input"):
                running.trust = _trusts(running.trust or "none", codes, priorities)
        elif match and kind == ("qos", "input"):
            cos = match.group(1).lower() == "cos"
            running.trust = _trusts(running.trust or "none", not cos, cos)
        elif kind == ("queuing", "output") and queue is not None and line.strip().startswith("random-detect"):
            marks = marking(line.strip())
            cast("dict[int, Marking]", running.ecn).update({queue: marks} if marks else {})
            if marks is None:
                unread.append(lacks("show policy-map interface", f"{line.strip()!r} of {known}"))


def _trusts(known: str, codes: object, priorities: object) -> str:
    """Return the trust of a port after one more class that matches code points or priorities."""
    seen = {"dscp"} if codes else set()
    seen |= {"pcp"} if priorities else set()
    seen |= {"dscp", "pcp"} if known == "both" else {known} - {"none"}
    return "both" if len(seen) > 1 else next(iter(seen), "none")


def guards(text: str, oper: dict[str, Oper], unread: list[str]) -> None:
    """Read the state, the event count and the blocked queues of the watchdog from `show queuing pfc-queue`."""
    running = queue = known = None
    seen: set[str]
    shut, seen = 0, set()
    for line in cleaned(text):
        head = re.search(r"(?:^|[\s|])(\S+)\s+Interface PFC watchdog:\s*\[(\w+)\]", line)
        head = head or re.match(r"^[\s|]*([A-Za-z]\S*\d)[\s|]+(Enabled|Disabled)\b", line, re.IGNORECASE)
        group = re.search(r"QOS GROUP (\d)\s*\[(\w+)\]", line)
        bitten = re.search(r"Shutdown\s*\|\s*(\d+)", line)
        given_back = re.search(r"Restored\s*\|\s*(\d+)", line)
        if head:
            running, queue, known, seen = _running(oper, head.group(1)), None, head.group(1), set()
            if running is not None:
                running.watchdog = {"enabled": True, "disabled": False}.get(head.group(2).lower())
                if running.watchdog is None:
                    unread.append(lacks("show queuing pfc-queue", f"the watchdog of {known}, {head.group(2)!r}"))
        elif running is None:
            if known is None and group:
                unread.append(headless("show queuing pfc-queue", None))
                known = ""  # One sentence is enough, up to the first heading.
        elif group and again(seen, group.group(1)):
            unread.append(headless("show queuing pfc-queue", known))
            running = None
        elif group and group.group(2).lower() not in _STUCK:
            queue = int(group.group(1))
            unread.append(lacks("show queuing pfc-queue", f"the state of queue {queue} of {known}, {group.group(2)!r}"))
        elif group:
            queue = int(group.group(1))
            _storm(running, queue, _STUCK[group.group(2).lower()])
        elif bitten:
            shut = int(bitten.group(1))
            running.counters["watchdog_events"] = running.counters.get("watchdog_events", 0) + shut
        elif given_back and queue is not None:
            _storm(running, queue, shut > int(given_back.group(1)))


_STUCK = {"active": False, **dict.fromkeys(("shutdown", "shut", "stuck"), True)}


def _storm(running: Oper, queue: int, now: bool) -> None:
    running.storms = sorted({*(running.storms or ()), *([queue] if now else [])})


def identity(text: str) -> tuple[str | None, str | None, str | None]:
    """Return (hostname, version, model) of `show version`, as JSON or as text."""
    reported = from_json(text)
    if reported is not None:
        version = str(reported.get("nxos_ver_str") or reported.get("kickstart_ver_str") or "").split()[:1]
        return reported.get("host_name"), "".join(version) or None, reported.get("chassis_id")
    patterns = (r"Device name:\s*(\S+)", r"(?:NXOS|system|kickstart):\s+version (\S+)", r"cisco (Nexus.*?) [Cc]hassis")
    found = (re.search(rf"(?m)^\s*{pattern}", text) for pattern in patterns)
    return cast("tuple[str | None, str | None, str | None]", tuple(one and one.group(1) for one in found))


# Counters of `show interface | json`, for all traffic classes together.
COUNTED = {
    "bytes_received": "eth_inbytes",
    "bytes_sent": "eth_outbytes",
    "discards_received": "eth_indiscard",
    "discards_sent": "eth_outdiscard",
}


def links(text: str, unread: list[str]) -> dict[str, dict[str, object]]:
    """Return {port: row of its JSON} of `show interface`, as JSON or as text."""
    reported = from_json(text)
    found = tables_of(reported, "ROW_interface") if reported is not None else _links_text(text, unread)
    named = {long(str(row.get("interface", ""))): row for row in found}
    for row in named.values():
        speed = _SPEED.fullmatch(str(row.get("speed", "")).strip())
        if speed and "eth_bw" not in row:
            row["eth_bw"] = int(speed.group(1)) * (10**6 if speed.group(2) else 1000)
    return {name: row for name, row in named.items() if re.fullmatch(PORT, name)}


# Link states by word, which tables cut after nine letters. Another word is unknown and does not mean down.
_DOWN = re.compile(
    r"down|notconnec|disabled|(?:xcvr|sfp)(?:absen|inval|mismat)|nooperme|channeldo|suspend|suspnd|inactive|err-?dis|"
    r"errdis|linkflap|faulty|hwfailure|admincfgd|admindown",
    re.IGNORECASE,
)


def linked(word: object) -> bool | None:
    """Return whether a link is up, by its word; None for an unknown word."""
    if str(word).lower() in ("up", "connected"):
        return True
    return False if word and _DOWN.match(str(word)) else None


def counted(row: Mapping[str, object]) -> dict[str, int]:
    """Return the counters of a port from its row of `show interface`; numbers are texts in some releases."""
    counts = {name: number(row.get(key)) for name, key in COUNTED.items()}
    return {name: count for name, count in counts.items() if count is not None}


# Eth1/1  to a host  connected  trunk  full  100G  QSFP-100G-CR4; speeds without a letter are in Mbit/s.
_STATUS = re.compile(
    rf"^\s*{PORT}\s(?:.*\s)?(\S+)\s+(?:trunk|routed|f-path|fabric|pvlan|tap-agg|--|\d+)\s+(?:full|half|auto)\s+(\S+)(?:\s|$)"
)
_SPEED = re.compile(r"(?:a-)?(\d+)(G)?")


def _links_text(text: str, unread: list[str]) -> list[dict[str, object]]:
    found, row, known = [], None, None
    for line in cleaned(text):
        status = _STATUS.match(line)
        if status:
            found.append({"interface": status.group(1), "state": status.group(2), "speed": status.group(3)})
            continue
        head = re.match(r"\s*(\S+\d) is (?:administratively )?(up|down)\b", line)
        size = re.match(r"\s*MTU (\d+) bytes(?:,\s+BW (\d+) Kbit)?", line)
        if head:
            known, row = head.group(1), {"interface": head.group(1), "state": head.group(2)}
            found.append(row)
        elif re.match(rf"\s*{PORT}\s", line):
            known, row = line.split()[0], {}  # in another form, so the state is unknown
        elif size and (row is None or "eth_mtu" in row):
            # One sentence is enough until the next heading.
            unread += [headless("show interface", known)] if row is None or known else []
            row, known = {"eth_mtu": None}, None
        elif size and row is not None:
            row.update(eth_mtu=size.group(1), eth_bw=size.group(2))
    return found
