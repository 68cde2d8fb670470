# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Device classes of Enhanced DirectPath I/O (DVX) that the vendors' software on a host defines. Pure.

Names are those of the types of pyVmomi 9.1.1.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.host.pci import normal_address

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.session import VCenter

# Before these API versions there are no classes and no addresses of devices, and asking for them is an error.
SINCE, BOUND_SINCE = "8.0.0.1", "9.1.0.0"
PROPERTY = "hardware.dvxClasses"
# The device of the host behind each virtual device of a running VM.
BINDINGS = "config.assignableHardwareBinding"


class DvxClass(NamedTuple):
    """What the vendor's software supports for the devices of a class."""

    # vMotion needs it.
    checkpoint: bool
    dma_tracing: bool
    # VMs get its devices as network adapters.
    sriov_nic: bool


def properties_of(vcenter: VCenter) -> tuple[str, ...]:
    """The properties of a host to read, where the server has them."""
    return (*((PROPERTY,) if vcenter.offers(SINCE) else ()), *bound_properties(vcenter))


def bound_properties(vcenter: VCenter) -> tuple[str, ...]:
    """The property with the devices of running VMs, where the server has it."""
    return (BINDINGS,) if vcenter.offers(BOUND_SINCE) else ()


def bound_of(infos: Iterable[Any] | None) -> dict[tuple[str, int], str]:
    """{(MoID of the VM, key of its device): PCI address} from config.assignableHardwareBinding."""
    return {
        (one.vm._GetMoId(), one.deviceKey): normal_address(one.pciId) or one.pciId
        for one in infos or []
        if one.vm is not None and getattr(one, "pciId", None) and getattr(one, "deviceKey", None) is not None
    }


def classes_of(infos: Iterable[Any] | None) -> dict[str, DvxClass]:
    """{name: DvxClass} from hardware.dvxClasses."""
    return {
        one.deviceClass: DvxClass(bool(one.checkpointSupported), bool(one.swDMATracingSupported), bool(one.sriovNic))
        for one in infos or []
    }


def project(classes: dict[str, DvxClass]) -> list[dict[str, Any]]:
    """The classes as a user sees them."""
    return [
        {
            "device_class": name,
            "vmotion": one.checkpoint,
            "dma_tracing": one.dma_tracing,
            "sriov_nic": one.sriov_nic,
        }
        for name, one in sorted(classes.items())
    ]
