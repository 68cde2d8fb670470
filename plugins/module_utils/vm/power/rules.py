# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Reasons why a VM cannot be powered on or off, and causes of a refused start in vSphere. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.rules import Problem, refusal

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.noun import PowerState
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.power.params import PowerRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.request import VmRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.state import Vm

# Matched by the vendor's words: the same fault type has many reasons.
_HINTS = (
    (
        r"memory reservation|sched\.mem\.min",
        "no_full_reservation",
        "Reserve all memory of the VM (vm_shape with memory_reservation=all): a VM with a direct device needs it",
    ),
    (
        r"PCI MMIO",
        "mmio_too_small",
        "Set the window for memory mapped I/O large enough for all devices together (vm_shape with mmio=auto, or a "
        "larger mmio_size_gb), and check that the firmware is EFI",
    ),
    (
        r"No SR-IOV virtual function",
        "no_virtual_function",
        "Free a virtual function of this port, or configure more of them on the host",
    ),
    (
        r"pciPassthru|passthrough|is not available on the host|systemId does not match",
        "device_not_available",
        "Check that the device is in passthrough mode on this host and that no other VM uses it (passthrough_device, "
        "pci_passthrough)",
    ),
    (
        r"affinity|\brule\b",
        "drs_rule",
        "Move the VM to another host, or change the DRS rule that forbids this host (drs_placement)",
    ),
    (
        r"latency.?sensitivity|CPU reservation",
        "no_full_cpu_reservation",
        "Reserve the CPU of the VM in full (vm_shape), or lower its latency sensitivity",
    ),
)


def refuse_impossible(item: Item[VmRequest[PowerRequest], PowerState]) -> None:
    """Raise an OperatorError when the VM cannot get the requested power state."""
    vm, requested = item.now.vm, item.requested.settings
    problems = list(_impossible(vm, requested))
    if problems:
        raise refusal(item.label, f"cannot be powered {requested.state}", problems)


def _impossible(vm: Vm, requested: PowerRequest) -> Iterator[Problem]:
    if vm.template:
        yield Problem("template", "The VM is a template.", "Clone a VM from it.")
        return
    if vm.power == requested.state:
        return
    if vm.connection != "connected":
        yield Problem(
            f"vm_{vm.connection}",
            f"vCenter reports the VM as {vm.connection}.",
            "Restore its host or its datastore first.",
        )
        return
    if requested.state == "on" or requested.force:
        return
    if vm.power == "suspended":
        yield Problem(
            "suspended",
            "The VM is suspended, and the memory of its guest would be lost.",
            "Resume the VM and shut it down, or set force=true.",
        )
    elif not vm.tools_running:
        yield Problem(
            "no_tools",
            "VMware Tools do not run in the guest, so vCenter cannot shut it down.",
            "Shut it down from inside, or set force=true to cut its power.",
        )


def still_running(item: Item[VmRequest[PowerRequest], PowerState]) -> OperatorError:
    """The error of a VM whose guest did not shut down in time."""
    return OperatorError(
        f"VM {item.label}",
        "did not shut down",
        f"The guest got the request, but the VM is still on after {item.requested.guest_shutdown_timeout_s} seconds",
        "Check its console. Raise guest_shutdown_timeout_s, or set force=true to cut its power after that time",
        "guest_not_down",
    )


def explained(error: OperatorError) -> OperatorError:
    """Return the same refusal with advice by the vendor's words, if they are known."""
    said = f"{error.found} {error.data.get('vendor_message', '')}"
    for pattern, code, todo in _HINTS:
        if re.search(pattern, said, re.IGNORECASE):
            data = dict(error.data, reason=code)
            return OperatorError(error.subject, error.wanted, error.found, todo, error.code, **data)
    return error
