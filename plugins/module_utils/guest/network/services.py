# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which service sets up an adapter of this guest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.ifupdown import Ifupdown
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.netplan import Netplan
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.networkd import Networkd
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.networkmanager import NetworkManager

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.adapter import Link
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network.kept import Service


# netplan writes the files of two others, so that it is asked first.
KNOWN = {"netplan": Netplan, "networkmanager": NetworkManager, "networkd": Networkd, "ifupdown": Ifupdown}


def choose(name: str, link: Link, commands: Commands, files: Files) -> Service:
    """Return the service that the task names; with auto the one that manages the adapter, or the first possible one."""
    if name != "auto":
        service = KNOWN[name](commands, files)
        if service.claims(link) is None:
            raise OperatorError(
                f"Adapter {link.name}",
                f"cannot be configured by {service.NAME}",
                f"{service.NAME} does not run on this guest, or does not manage this adapter",
                f"Start {service.NAME}, or remove `backend` so that the module detects the service",
                "service_missing",
                backend=name,
            )
        return service
    able = []
    for kind in KNOWN.values():
        service = kind(commands, files)
        claim = service.claims(link)
        if claim == "owner":
            return service
        able += [service] if claim == "able" else []
    if not able:
        raise OperatorError(
            f"Adapter {link.name}",
            "cannot save its settings for the next boot",
            "No network service runs on this guest: no netplan, NetworkManager, systemd-networkd or ifupdown",
            "Start one of them, such as with `systemctl enable --now systemd-networkd`, then run the task again",
            "no_network_service",
        )
    return able[0]


def name_of(service: Service) -> str:
    """The name of a service as a task writes it."""
    return next((name for name, kind in KNOWN.items() if isinstance(service, kind)), "")
