# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read the RoCE QoS of a Linux guest: one command for an overview, and one for each adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import linux
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.endpoint import as_data

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.remote import Remote
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts.linux_text import Values


ARGUMENTS = {
    "interfaces": {"type": "list", "elements": "str", "default": []},
    "traffic_class": {"type": "int"},
    "host": {"type": "str"},
}


def look(remote: Remote, name: str, params: Mapping[str, Any]) -> dict[str, object]:
    """The guest as the module returns it; remote runs commands in it."""
    around = _run(remote, name, linux.look())
    values, tools, adapters = linux.adapters(around)
    wanted = params["interfaces"] or sorted(adapters)
    missing = [interface for interface in wanted if interface not in adapters]
    if missing:
        raise OperatorError(
            name,
            f"cannot read the adapters {', '.join(missing)}",
            f"RDMA is on {', '.join(sorted(adapters))}" if adapters else "The guest has no adapter with RDMA",
            "Correct `interfaces`, or load the driver of the adapter",
            "no_such_adapter",
            missing=missing,
        )
    ports = [_port(remote, name, interface, values, tools, adapters[interface], params) for interface in wanted]
    not_read = [] if ports else ["The guest has no adapter with RDMA, so no adapter was checked."]
    return {"name": name, "host": params["host"], "ports": ports, "tools": tools, "not_read": not_read}


def _port(
    remote: Remote,
    name: str,
    interface: str,
    values: Values,
    tools: Sequence[str],
    rdma: tuple[str, str],
    params: Mapping[str, Any],
) -> dict[str, object]:
    answer = _run(remote, name, linux.ask(interface, values, tools, *rdma))
    said = linux.sections(answer)
    return as_data(linux.endpoint(name, interface, values, rdma, said, params["traffic_class"]))


def _run(remote: Remote, name: str, argv: Sequence[str]) -> str:
    done = remote.run(argv)
    if done.rc != 0:
        raise OperatorError(
            name,
            "cannot read the adapters with /bin/sh",
            f"The shell exited with status {done.rc}: {done.text or 'no output'}",
            "Check that the guest runs Linux, and that `become` works",
            "no_shell",
            rc=done.rc,
        )
    return done.stdout
