# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The desired RoCE QoS in one place; switches, hosts and guests derive their values from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, cast

MODES = ("lossless", "semi_lossless", "lossy")
TRUSTS = ("dscp", "both")
PRIORITIES, DSCPS = range(8), range(64)
ECT0 = 0b10
# Bytes of headers around the payload of a RoCE packet; 4096 bytes is the largest path MTU of InfiniBand.
LARGEST_PATH_MTU, HEADERS = 4096, 104
# Path MTUs of InfiniBand that an Ethernet MTU can carry.
PATH_MTUS = (4096, 2048, 1024, 512, 256)
SWITCH_MTU, LARGEST_MTU = 9216, 10240


@dataclass(frozen=True)
class Thresholds:
    """Queue lengths where marking starts and where all packets are marked, and the probability between them."""

    min_kb: int = 150
    max_kb: int = 1500
    probability: int = 100


@dataclass(frozen=True)
class Ecn:
    """Marking of the RoCE queue; thresholds may differ by the speed of a port in Gbit/s."""

    enabled: bool = True
    default: Thresholds = Thresholds()
    by_speed: dict[int, Thresholds] = field(default_factory=dict)

    def at(self, speed: int | None) -> Thresholds:
        """The thresholds of a port; the common ones if its speed is unknown."""
        return self.by_speed.get(cast("int", speed), self.default)


@dataclass(frozen=True)
class Watchdog:
    """PFC watchdog, for a peer that does not stop sending pauses. Times in ms; None keeps the platform default."""

    enabled: bool = True
    detection_ms: int | None = None
    recovery_ms: int | None = None
    action: str | None = None  # drop, forward, alert; None keeps the platform default


@dataclass(frozen=True)
class Intent:
    """The desired RoCE QoS of switches, hosts and guests."""

    mode: str = "lossless"
    priority: int = 3
    dscp: int = 26
    cnp_priority: int = 6
    cnp_dscp: int = 48
    trust: str = "dscp"
    mtu: int = SWITCH_MTU
    bandwidth_percent: int = 50
    ecn: Ecn = Ecn()
    watchdog: Watchdog = Watchdog()
    dcbx: str = "ignore"  # DCBX of the switch: ieee (sends settings to hosts), off, or ignore
    cable_length_m: int | None = None  # None keeps the platform default

    @property
    def lossless(self) -> list[int]:
        """The priorities with PFC, whose packets are not dropped."""
        return [] if self.mode == "lossy" else [self.priority]

    @property
    def sends_pauses(self) -> bool:
        """Return whether switches send pauses; semi-lossless switches only obey them."""
        return self.mode == "lossless"

    @property
    def pfc_mask(self) -> int:
        """The priorities with PFC as a bit mask, the form of adapter options."""
        return sum(1 << priority for priority in self.lossless)

    @property
    def dscp_map(self) -> dict[int, int]:
        """{DSCP: priority} of RoCE and of congestion notifications."""
        return {self.dscp: self.priority, self.cnp_dscp: self.cnp_priority}

    @property
    def needs_map(self) -> bool:
        """Return whether the map differs from DSCP / 8, the default of most equipment."""
        return any(dscp >> 3 != priority for dscp, priority in self.dscp_map.items())

    @property
    def traffic_class(self) -> int:
        """The byte with the DSCP and the ECN-capable bits, for NCCL, UCX and rdma_cm."""
        return self.dscp << 2 | (ECT0 if self.ecn.enabled else 0)

    @property
    def is_preset(self) -> bool:
        """Return whether these are the values of the RoCE presets of NVIDIA switches."""
        usual = Intent()
        same = ("priority", "dscp", "cnp_priority", "cnp_dscp", "bandwidth_percent", "ecn", "trust")
        return all(getattr(self, name) == getattr(usual, name) for name in same)

    def esxi_module_options(self) -> dict[str, dict[str, str]]:
        """Options of the kernel modules of ConnectX adapters on ESXi, by module."""
        mask = f"0x{self.pfc_mask:02x}"
        return {
            "nmlx5_core": {"pfctx": mask, "pfcrx": mask, "trust_state": "2"},  # DSCP
            "nmlx5_rdma": {"dscp_force": str(self.dscp)},
        }

    def mlnx_qos(self) -> list[list[str]]:
        """The arguments of `mlnx_qos` calls; one call cannot set both trust and map."""
        bits = ",".join("1" if priority in self.lossless else "0" for priority in PRIORITIES)
        # An adapter trusts either DSCP or PCP, and all RoCE v2 packets have a DSCP.
        calls = [["--trust", "dscp"], ["--pfc", bits]]
        if self.needs_map:
            calls += [["--dscp2prio", f"set,{dscp},{priority}"] for dscp, priority in sorted(self.dscp_map.items())]
        return calls


def path_mtu(ethernet_mtu: int) -> int:
    """The largest path MTU of InfiniBand that fits into an Ethernet MTU; 0 if none fits."""
    return next((size for size in PATH_MTUS if size + HEADERS <= ethernet_mtu), 0)


def intent(params: Mapping[str, Any]) -> Intent:
    """The Intent of the options of a module or site; omitted options (None) have the defaults of Intent."""
    given = {key: value for key, value in params.items() if value is not None and key in Intent.__dataclass_fields__}
    if "ecn" in given:
        given["ecn"] = _ecn(given["ecn"])
    if "watchdog" in given:
        given["watchdog"] = _watchdog(given["watchdog"])
    return Intent(**given)


def problems(requested: Intent, host_mtu: int | None = None) -> list[str]:
    """All problems of an intent, as sentences; host_mtu is the MTU of the adapters behind the switches."""
    return [
        *_numbers(requested),
        *_classes(requested),
        *_marking(requested),
        *_sizes(requested, host_mtu),
    ]


def _numbers(requested: Intent) -> Iterator[str]:
    for name, known in (("priority", PRIORITIES), ("cnp_priority", PRIORITIES), ("dscp", DSCPS), ("cnp_dscp", DSCPS)):
        value = getattr(requested, name)
        if value not in known:
            yield f"{name}: {value} is out of range. Use a number from 0 to {known[-1]}."
    if requested.mode not in MODES:
        yield f"mode: {requested.mode} is not a valid mode. Use one of {', '.join(MODES)}."
    if not 1 <= requested.bandwidth_percent <= 99:
        yield (
            f"bandwidth_percent: {requested.bandwidth_percent} is out of range. Use a number from 1 to 99; other "
            "traffic gets the rest."
        )
    if requested.cable_length_m is not None and requested.cable_length_m < 1:
        yield f"cable_length_m: {requested.cable_length_m} is not a valid length. Use at least 1 metre, or remove it."
    for name in ("detection_ms", "recovery_ms"):
        value = getattr(requested.watchdog, name)
        if value is not None and value < 1:
            yield f"watchdog.{name}: {value} is not a valid time. Use at least 1 millisecond, or remove it."


def _classes(requested: Intent) -> Iterator[str]:
    if requested.cnp_priority == requested.priority:
        yield (
            f"cnp_priority: {requested.cnp_priority} is the priority of RoCE itself. Congestion notifications would "
            "wait behind the data that causes the congestion. Use another priority, such as 6."
        )
    if requested.cnp_dscp == requested.dscp:
        yield (
            f"cnp_dscp: {requested.cnp_dscp} is the DSCP of RoCE itself. Switches cannot distinguish congestion "
            "notifications from data. Use another DSCP, such as 48."
        )
    if requested.priority == 0 and requested.lossless:
        yield (
            "priority: 0 carries all unmarked traffic, and PFC would pause that too. Use another priority for RoCE, "
            "such as 3."
        )
    if requested.trust == "pcp":
        yield (
            "trust: pcp maps packets without a VLAN tag to priority 0, including RoCE. Use dscp, as every RoCE v2 "
            "packet has a DSCP."
        )
    elif requested.trust not in TRUSTS:
        yield f"trust: {requested.trust} is not a valid trust mode. Use {' or '.join(TRUSTS)}."


def _marking(requested: Intent) -> Iterator[str]:
    if requested.mode == "lossy" and not requested.ecn.enabled:
        yield (
            "ecn: it is disabled, and the mode lossy has no PFC. Nothing slows senders down before packets are "
            "dropped. Enable ECN, or set mode to lossless."
        )
    for place, limits in [("ecn", requested.ecn.default), *_by_speed(requested)]:
        if not 0 < limits.min_kb <= limits.max_kb:
            yield (
                f"{place}: min_kb {limits.min_kb} and max_kb {limits.max_kb} are not a valid range. Use a min_kb of at "
                "least 1, and a max_kb of at least min_kb."
            )
        if not 1 <= limits.probability <= 100:
            yield f"{place}: a probability of {limits.probability} % is out of range. Use 1 to 100."


def _by_speed(requested: Intent) -> list[tuple[str, Thresholds]]:
    return [(f"ecn at {speed} Gbit/s", limits) for speed, limits in sorted(requested.ecn.by_speed.items())]


def _sizes(requested: Intent, host_mtu: int | None) -> Iterator[str]:
    least = LARGEST_PATH_MTU + HEADERS
    if requested.mtu < least:
        yield (
            f"mtu: {requested.mtu} is too small. RoCE packets with {LARGEST_PATH_MTU} bytes of payload need {least}. "
            f"Use {SWITCH_MTU}, or at least {least}."
        )
    elif requested.mtu > LARGEST_MTU:
        yield f"mtu: {requested.mtu} is too large for switches. Use {SWITCH_MTU}."
    if host_mtu is not None and requested.mtu < host_mtu:
        yield (
            f"mtu: {requested.mtu} is less than the {host_mtu} of the adapters behind the switch. The switch would "
            f"drop their large packets. Use {SWITCH_MTU}, or lower the MTU of the adapters."
        )


def _ecn(given: Mapping[str, Any]) -> Ecn:
    common = _thresholds(given, Thresholds())
    by_speed = {entry["speed"]: _thresholds(entry, common) for entry in given.get("by_speed") or []}
    return Ecn(given.get("state", "enabled") != "disabled", common, by_speed)


def _thresholds(given: Mapping[str, Any], common: Thresholds) -> Thresholds:
    names = ("min_kb", "max_kb", "probability")
    return Thresholds(*(getattr(common, name) if given.get(name) is None else given[name] for name in names))


def _watchdog(given: Mapping[str, Any]) -> Watchdog:
    times = {name: given.get(name) for name in ("detection_ms", "recovery_ms", "action")}
    return Watchdog(given.get("state", "enabled") != "disabled", **times)
