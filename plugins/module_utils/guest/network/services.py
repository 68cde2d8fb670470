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
    """The service that the task names; with auto the one that has the adapter, or else the first that could have it."""
    if name != "auto":
        service = KNOWN[name](commands, files)
        if service.claims(link) is None:
            raise OperatorError(
                f"Adapter {link.name}",
                f"it was to be set up by {service.NAME}",
                f"{service.NAME} does not run here, or leaves this adapter alone",
                "Leave out `backend`, so that the service that does is found, or start it",
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
            "its settings were to be kept for the next start",
            "None that sets up adapters runs here, neither netplan, NetworkManager, systemd-networkd nor ifupdown",
            "Install one of them, such as `systemctl enable --now systemd-networkd`, then run again",
            "no_network_service",
        )
    return able[0]


def name_of(service: Service) -> str:
    """The name of a service as a task writes it."""
    return next((name for name, kind in KNOWN.items() if isinstance(service, kind)), "")
