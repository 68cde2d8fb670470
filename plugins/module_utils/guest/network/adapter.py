# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The network adapters of a guest as its kernel has them now: found by MAC address or name, read by `ip`."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files


MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
# Programs between the ssh daemon and this process are a few: sudo, a shell, Python.
ANCESTORS_AT_MOST = 32


@dataclass
class Link:
    """One adapter in the running configuration."""

    name: str
    mac: str
    mtu: int
    up: bool = True  # switched on; whether there is a carrier is another question
    carrier: bool = True
    addresses: list[str] = field(default_factory=list)  # with prefix; link-local ones are left out
    largest_mtu: int | None = None
    # True for a device, false for a VLAN or bridge on top of one, which has the same MAC address.
    is_device: bool = True


def mac_of(text: object) -> str | None:
    """Return a MAC address in lower case and with colons; None for other values."""
    plain = re.sub(r"[^0-9a-f]", "", str(text).lower())
    found = ":".join(plain[place : place + 2] for place in range(0, len(plain), 2))
    return found if MAC.fullmatch(found) else None


def read_all(commands: Commands) -> list[Link]:
    """Every Link of the guest but the loopback."""
    done = commands.must(
        ["ip", "-j", "-d", "addr", "show"],
        "The guest's adapters",
        "cannot read them with `ip`",
        "Install the package iproute2 (iproute on Red Hat), then run the task again",
        "ip_missing",
    )
    try:
        reported = json.loads(done.stdout or "[]")
    except ValueError as error:
        raise OperatorError(
            "The guest's adapters",
            "cannot read them with `ip -j`",
            "Its output is not JSON",
            "Update the package iproute2 (iproute on Red Hat) to 4.18 or newer, then run the task again",
            "ip_too_old",
        ) from error
    return [_link(entry) for entry in reported if entry.get("ifname") and "LOOPBACK" not in entry.get("flags", [])]


def find(links: Sequence[Link], mac: str | None = None, name: str | None = None) -> Link:
    """The one Link with a MAC address or a name."""
    wanted = mac or name
    if mac is not None:
        found = [link for link in links if link.mac == mac]
        # A VLAN, a bridge or a bond has the MAC address of a device below it.
        found = [link for link in found if link.is_device] or found
    else:
        found = [link for link in links if link.name == name]
    if len(found) == 1:
        return found[0]
    have = ", ".join(f"{link.name} ({link.mac})" for link in links) or "none"
    if not found:
        raise OperatorError(
            f"Adapter {wanted}",
            "does not exist on the guest",
            f"The guest has {have}",
            "Compare the MAC address with vCenter. Check that the adapter is connected and its driver is loaded",
            "no_such_adapter",
            adapters=[link.name for link in links],
        )
    raise OperatorError(
        f"Adapter {wanted}",
        "is ambiguous",
        f"Several adapters have this MAC address: {', '.join(link.name for link in found)}",
        "Name one of them with `name` instead of `mac`",
        "adapter_ambiguous",
        adapters=[link.name for link in found],
    )


def way_in(files: Files) -> str | None:
    """The guest address that the SSH connection of this task uses; None if no connection is visible.

    Programs such as sudo remove the variable, so this reads the environments of the parent processes.
    """
    process = "self"
    for _step in range(ANCESTORS_AT_MOST):
        for entry in (files.text(f"/proc/{process}/environ") or "").split("\0"):
            name, _equals, value = entry.partition("=")
            if name == "SSH_CONNECTION" and len(value.split()) == 4:
                return value.split()[2]
        parent = re.search(r"(?m)^PPid:\s*(\d+)", files.text(f"/proc/{process}/status") or "")
        if parent is None or parent.group(1) in ("0", "1"):
            return None
        process = parent.group(1)
    return None


def default_routes(files: Files) -> list[str]:
    """The names of the adapters that have the default route of IPv4."""
    rows = [line.split() for line in (files.text("/proc/net/route") or "").splitlines()[1:]]
    return sorted({row[0] for row in rows if len(row) > 7 and row[1] == row[7] == "00000000"})


def same_network(address: str, other: str) -> bool:
    """Return whether two addresses with prefix are in one network."""
    one, two = ipaddress.ip_interface(address), ipaddress.ip_interface(other)
    return one.version == two.version and one.network.overlaps(two.network)


def _link(entry: Mapping[str, Any]) -> Link:
    kind = entry.get("linkinfo", {}).get("info_kind")
    return Link(
        name=entry["ifname"],
        mac=entry.get("address", "").lower(),
        mtu=entry.get("mtu", 0),
        up="UP" in entry.get("flags", []),
        carrier="LOWER_UP" in entry.get("flags", []),
        addresses=[
            f"{one['local']}/{one['prefixlen']}"
            for one in entry.get("addr_info", [])
            if one.get("local") and one.get("scope") != "link"
        ],
        largest_mtu=entry.get("max_mtu") or None,
        is_device=kind in (None, "veth"),
    )
