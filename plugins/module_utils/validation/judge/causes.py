# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Derive causes from several rows, and the narrowest location that the affected rows have in common. Pure.

A single row shows only that its figure is bad. The comparison of latency with bandwidth, of counters with figures, and
of one pair with the others shows the cause and the location.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import compare, spread, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    FAIL,
    NOT_REQUIRED,
    PASS,
    WARN,
    guests_of,
    mapping,
    number,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.entry import Entry

# Below this share of the expected figure, packets are lost; other causes cost less bandwidth.
LOST_SHARE = 0.75
# PVRDMA: this latency is that of TCP, and so is a bandwidth up to this share of the line.
TCP_US, TCP_SHARE = 15.0, 0.5
PVRDMA_LOOK = "the VMkernel adapter for PVRDMA (Net.PVRDMAVmknic), the firewall ruleset pvrdma, and the RDMA uplink"
IS_TCP = "Latency and bandwidth match TCP, not RDMA."
WAY = "check link, cable, VLAN and IP address"
LATE = "check CPU power management, idle states (C-states) and other load of the hosts"
FLOW = "PFC, the DSCP of the RoCE traffic class, or ECN"
# Codes of settings conflicts that concern the MTU.
OF_MTU = ("mtu", "mtu_tight")
# Codes that only warn, and explain lost packets, or a slow path without loss.
OF_LOSS, OF_SPEED = ("stamps_nothing",), ("slow_cable",)
# Causes that concern more than their own row: listed first.
NAMED = ("unlicensed", "shared_host", "nccl_sockets", "mtu_path", "mtu_local")


def name(
    entries: Sequence[Entry], intent: Mapping[str, Any], places: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Write causes into rows. Returns the causes: [{code, text, place, rows}]."""
    look = _Look(entries, intent, places)
    for check in suite.CHECKS:
        if check.startswith("pair."):
            look.pairs(check)
    look.fallback()
    look.bandwidth()
    look.latency()
    look.slow_guest()
    look.scaling()
    return look.reported()


def fallback(entries: Sequence[Entry], intent: Mapping[str, Any], places: Mapping[str, Mapping[str, Any]]) -> None:
    """Detect only the fallback of PVRDMA to TCP, for the dependent checks."""
    look = _Look(entries, intent, places)
    for check in ("pair.write_lat", "pair.write_bw"):
        look.pairs(check)
    look.fallback()


class _Look:
    """One analysis of all rows."""

    def __init__(
        self, entries: Sequence[Entry], intent: Mapping[str, Any], places: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.intent, self.places = intent, places
        self._entries = list(entries)
        self._by: dict[str, list[Entry]] = {}
        for entry in self._entries:
            self._by.setdefault(entry.check, []).append(entry)
        self._causes: dict[tuple[str, str], dict[str, Any]] = {}
        self._common: dict[str, dict[str, Any] | None] = {}

    def reported(self) -> list[dict[str, Any]]:
        """All causes, including those of a single row."""
        for entry in self._entries:
            for remark in entry.remarks:
                if remark.code in NAMED and entry.row["cause"]:
                    guests = guests_of(entry.subject)
                    self._add(remark.code, entry.row["cause"], {"name": guests[0] if len(guests) == 1 else ""}, entry)
        return [dict(one, rows=sorted(one["rows"])) for one in self._causes.values()]

    def pairs(self, check: str) -> None:
        """Find what the bad pairs of one check have in common."""
        tested = [entry for entry in self._by.get(check, ()) if _was_tested(entry)]
        bad = [entry for entry in tested if _is_bad(entry)]
        common = spread.common([_pair(one) for one in bad], [_pair(one) for one in tested], self.places)
        self._common[check] = common
        for entry in bad:
            if check in suite.PROGRAMS and not number(entry.row["measured"]):
                # The run failed, not the network path.
                entry.row["cause"] = self._of_run(entry)
                continue
            place = self._place(check, entry)
            codes = {remark.code for remark in entry.remarks}
            if "mtu_path" in codes:
                reported = "; packets of the standard MTU arrive" if number(entry.row["measured"]) else ""
                entry.row["cause"] = f"path MTU too small: {place}{reported}{self._settings(OF_MTU)}"
                self._add("mtu_path", entry.row["cause"], common, entry)
            elif "unreachable" in codes:
                entry.row["cause"] = f"no packet arrives: {place}: {WAY}"
                self._add("unreachable", entry.row["cause"], common, entry)
            elif not entry.row["cause"] or not entry.row["measured"] or codes & set(compare.OF_FIGURE):
                entry.row["cause"] = place

    def fallback(self) -> None:
        """Detect PVRDMA over TCP: the latency of TCP, and a bandwidth as far below the line."""
        if self.intent["data_path"] != "pvrdma":
            return
        line = number(self.intent["speed_gb"])
        widths = {_pair(one): one for one in self._by.get("pair.write_bw", ())}
        slow: list[tuple[Entry, Entry | None]] = []
        for entry in self._by.get("pair.write_lat", ()):
            usec, width = number(entry.row["measured"]), widths.get(_pair(entry))
            gbps = number(width.row["measured"]) if width is not None else None
            if usec is None or usec <= TCP_US or (gbps is not None and line and gbps > TCP_SHARE * line):
                continue
            slow.append((entry, width if gbps is not None else None))
        common = self._where([entry for entry, _width in slow], "pair.write_lat")
        for entry, width in slow:
            place = common["text"] if common else self._place("pair.write_lat", entry)
            text = f"PVRDMA fell back to TCP: {place}. Check on {self._hosts(common, entry)}: {PVRDMA_LOOK}"
            for one in (entry, width):
                if one is None:
                    continue
                one.row.update(cause=text, verdict=FAIL)
                if IS_TCP not in one.row["why"]:
                    one.row["why"] = f"{one.row['why']} {IS_TCP}".strip()
                self._add("pvrdma_tcp", text, common, one)

    def bandwidth(self) -> None:
        """Compare bad bandwidth with the latency of the same pair and with the counters of adapters and ports."""
        latencies = {_pair(one): one for one in self._by.get("pair.write_lat", ())}
        for check in ("pair.write_bw", "pair.write_bw_both", "pair.write_bw_gpu"):
            bad = [entry for entry in self._by.get(check, ()) if _of_figure(entry) and not self._has(entry)]
            lost = [entry for entry in bad if self._lost(entry, latencies.get(_pair(entry)))]
            common = self._where(lost, check)
            for entry in bad:
                if entry in lost:
                    self._loss(entry, check, common)
                else:
                    self._slow(entry, check, latencies.get(_pair(entry)))

    def latency(self) -> None:
        """Bad latency with good bandwidth: an end answers late, because the path itself is good."""
        widths = {_pair(one): one for one in self._by.get("pair.write_bw", ())}
        for entry in self._by.get("pair.write_lat", ()):
            width = widths.get(_pair(entry))
            if not _of_figure(entry) or self._has(entry) or width is None or _is_bad(width):
                continue
            if number(width.row["measured"]) is not None:
                place = self._place("pair.write_lat", entry)
                entry.row["cause"] = f"{place}; bandwidth is good: {LATE}"
                self._add("latency", entry.row["cause"], self._common.get("pair.write_lat"), entry)

    def slow_guest(self) -> None:
        """Find a guest that alone trains slower than the others alone."""
        for entry in self._by.get("cluster.training", ()):
            codes = {remark.code for remark in entry.remarks}
            guests = guests_of(entry.subject)
            if compare.OUTLIER in codes and len(guests) == 1:
                me = spread.where(guests[0], self.places)
                entry.row["cause"] = (
                    f"{me} computes slower than the others: check its GPU, licence, CPUs and power limit"
                )
                self._add("slow_rank", entry.row["cause"], {"level": "guest", "name": guests[0], "text": me}, entry)

    def scaling(self) -> None:
        """Attribute bad efficiency to a guest or a network path."""
        slow = [one for one in self._causes.values() if one["code"] == "slow_rank"]
        unlicensed = [one for one in self._by.get("guest.licence", ()) if one.row["verdict"] == FAIL]
        ways = [one for check in ("pair.write_bw", "cluster.nccl") for one in self._by.get(check, ()) if _is_bad(one)]
        for check in ("cluster.efficiency", "cluster.nccl", "cluster.training", "cluster.rdma_gain"):
            for entry in self._by.get(check, ()):
                if entry.row["cause"] or not (_of_figure(entry) or _varies(entry)):
                    continue
                if unlicensed:
                    entry.row["cause"] = unlicensed[0].row["cause"]
                elif slow:
                    entry.row["cause"] = slow[0]["text"]
                elif [one for one in ways if one is not entry and one.row["cause"]]:
                    entry.row["cause"] = next(one.row["cause"] for one in ways if one is not entry and one.row["cause"])
                elif check == "cluster.nccl":
                    entry.row["cause"] = (
                        "the path between GPU and network adapter, because RDMA with host memory is good"
                    )
                elif check != "cluster.rdma_gain":
                    entry.row["cause"] = (
                        "one slow rank, its data loading or its CPUs, because the tested network paths are good"
                    )

    def _lost(self, entry: Entry, latency: Entry | None) -> bool:
        """Whether packets are lost: by the counters, or because bandwidth is very low while latency is good."""
        if latency is not None and _of_figure(latency):
            return False
        if any(self._dropped(guest) for guest in _pair(entry)) or self._ports():
            return True
        # A slow cable explains it, unless the settings show that packets are dropped.
        if self._settings(OF_SPEED) and not self._settings(but=OF_MTU):
            return False
        low = number(entry.row["expected"]["low"])
        others = [number(one.row["measured"]) for one in self._by.get(entry.check, ()) if one is not entry]
        middle = spread.median([one for one in others if one is not None])
        wanted = max((one for one in (low, middle) if one), default=None)
        return wanted is not None and entry.row["measured"] < LOST_SHARE * wanted

    def _loss(self, entry: Entry, check: str, common: Mapping[str, Any] | None) -> None:
        place = common["text"] if common else self._place(check, entry)
        ports = self._ports()
        where = f"; packets are dropped at {', '.join(ports)}" if ports else ""
        text = f"packets are lost under load while latency is good: mismatch of {FLOW}, {place}{where}"
        text += self._settings(but=OF_MTU) or self._settings(OF_LOSS)
        entry.row["cause"] = text
        self._add("loss", text, common, entry)

    def _slow(self, entry: Entry, check: str, latency: Entry | None) -> None:
        place = self._place(check, entry)
        both = latency is not None and _of_figure(latency)
        what = "latency is also bad" if both else "no sign of lost packets"
        hint = "check the NUMA node of the VM, the power policy of the host, the PCIe slot and the link of the adapter"
        entry.row["cause"] = f"{place}; {what}: {self._settings(OF_SPEED).lstrip('; ') or hint}"
        self._add("slow_end", entry.row["cause"], self._common.get(check), entry)

    def _dropped(self, guest: str) -> bool:
        return any(
            guest in guests_of(entry.subject) and {remark.code for remark in entry.remarks} & {"drops", "resent"}
            for entry in self._by.get("guest.counters", ())
        )

    def _ports(self) -> list[str]:
        """Switch and host ports that dropped packets."""
        found = []
        for entry in self._by.get("fabric.counters", ()):
            if any(remark.code == "drops" for remark in entry.remarks):
                found.append(
                    " ".join(str(entry.subject[key]) for key in ("switch", "host", "port") if key in entry.subject)
                )
        return found

    def _settings(self, codes: Sequence[str] | None = None, but: Sequence[str] = ()) -> str:
        """The first settings conflict with one of these codes, or the first one that fails."""
        for entry in self._by.get("fabric.settings", ()):
            for remark in entry.remarks:
                if (remark.verdict == FAIL and remark.code not in but) if codes is None else remark.code in codes:
                    return f"; fabric.settings reports: {remark.why}"
        return ""

    def _place(self, check: str, entry: Entry) -> str:
        common = self._common.get(check)
        if common is not None:
            return common["text"]
        one, other = _pair(entry)
        return f"between {spread.where(one, self.places)} and {spread.where(other, self.places)}"

    def _of_run(self, entry: Entry) -> str:
        """Guest and error of a failed run, so that rows with the same failure are grouped."""
        at, known = entry.values.get("at"), texts.meaning(entry.values.get("error"))
        words = [spread.where(at, self.places)] if at in _pair(entry) else []
        words += known[:1] if known is not None else []
        return ": ".join(words) or entry.row["cause"]

    def _where(self, entries: Sequence[Entry], check: str) -> dict[str, Any] | None:
        tested = [_pair(one) for one in self._by.get(check, ()) if _was_tested(one)]
        return spread.common([_pair(one) for one in entries], tested, self.places) if entries else None

    def _hosts(self, common: Mapping[str, Any] | None, entry: Entry) -> str:
        guests = [common["name"]] if common and common["level"] == "guest" else _pair(entry)
        if common and common["level"] == "host":
            return common["name"]
        if common and common["level"] == "all":
            return "all hosts"
        hosts = [mapping(self.places.get(guest)).get("host") or f"the host of {guest}" for guest in guests]
        return " and ".join(sorted(set(hosts)))

    def _has(self, entry: Entry) -> bool:
        return any(one["code"] == "pvrdma_tcp" and entry.row["id"] in one["rows"] for one in self._causes.values())

    def _add(self, code: str, text: str, common: Mapping[str, Any] | None, entry: Entry) -> None:
        place = mapping(common)
        one = self._causes.setdefault(
            (code, text), {"code": code, "text": text, "place": place.get("name", ""), "rows": []}
        )
        if entry.row["id"] not in one["rows"]:
            one["rows"].append(entry.row["id"])


def _pair(entry: Entry) -> tuple[str, str]:
    return cast("tuple[str, str]", (entry.subject.get("from"), entry.subject.get("to")))


def _was_tested(entry: Entry) -> bool:
    return entry.row["verdict"] in (PASS, NOT_REQUIRED, WARN, FAIL)


def _is_bad(entry: Entry) -> bool:
    return entry.row["verdict"] == FAIL or _of_figure(entry)


def _of_figure(entry: Entry) -> bool:
    return any(remark.code in compare.OF_FIGURE for remark in entry.remarks)


def _varies(entry: Entry) -> bool:
    return any(remark.code == compare.SPREAD for remark in entry.remarks)
