# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Check whether packets of full size reach other machines. A hop silently drops a packet that is too large."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link


# Headers of IP and ICMP in front of the payload of ping.
HEADERS = 28
SMALLEST = 576
# Time limit for the answer to one packet during the search of the largest size.
ANSWERS_S = 3
_RECEIVED = re.compile(r"\b([0-9]+) (?:packets )?received")
PLACES = (
    "the peer's own adapter, the port group and the distributed switch of both VMs, the network adapters of both "
    "hosts, and the ports of the switches between them"
)


def prove(commands: Commands, link: Link, mtu: int, peers: Iterable[str], wait_s: int) -> None:
    """Fail unless a packet of the whole MTU reaches every peer, sent by this adapter."""
    for peer in peers:
        if _passes(commands, link, mtu, peer, wait_s):
            continue
        subject = f"Adapter {link.name}"
        wanted = f"packets of {mtu} bytes do not reach {peer}"
        if not _passes(commands, link, SMALLEST, peer, wait_s):
            raise OperatorError(
                subject,
                wanted,
                f"{peer} does not answer small packets either",
                "Check that the peer runs and has this address. Check that both are in one port group and VLAN, and "
                "that no firewall drops ICMP",
                "peer_unreachable",
                peer=peer,
            )
        largest = _largest(commands, link, mtu, peer)
        raise OperatorError(
            subject,
            wanted,
            f"Packets of up to {largest} bytes arrive; larger ones are dropped",
            f"Check for an MTU of {largest} at {PLACES}",
            "path_mtu",
            peer=peer,
            wanted_mtu=mtu,
            largest_mtu=largest,
        )


def _passes(commands: Commands, link: Link, mtu: int, peer: str, wait_s: int) -> bool:
    """Three packets, of which one is enough: the first may wait for the peer's hardware address.

    Where it has a limit of time, ping itself succeeds only when all are answered.
    """
    size = str(mtu - HEADERS)
    argv = ["ping", "-q", "-n", "-c", "3", "-i", "0.2", "-W", "1", "-w", str(wait_s), "-M", "do", "-s", size]
    done = commands.run([*argv, "-I", link.name, peer], limit_s=wait_s + 5)
    if done.missing:
        raise OperatorError(
            f"Adapter {link.name}",
            f"cannot test the path to {peer}",
            "The program ping is not installed",
            "Install iputils-ping (iputils on Red Hat), then run the task again",
            "ping_missing",
        )
    answered = _RECEIVED.search(done.stdout)
    return done.ok or (answered is not None and int(answered.group(1)) > 0)


def _largest(commands: Commands, link: Link, mtu: int, peer: str) -> int:
    """Return the largest MTU that passes, by bisection."""
    works, fails = SMALLEST, mtu
    for likely in (1500, 8900):
        if works < likely < fails:
            works, fails = (likely, fails) if _passes(commands, link, likely, peer, ANSWERS_S) else (works, likely)
    while fails - works > 1:
        middle = (works + fails) // 2
        works, fails = (middle, fails) if _passes(commands, link, middle, peer, ANSWERS_S) else (works, middle)
    return works
