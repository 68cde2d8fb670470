# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The part of a VM that matters to everything that is set in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.properties import Row

    class VmState(Protocol):
        """The state of a VM that a module manages a part of: a dataclass."""

        __dataclass_fields__: ClassVar[dict[str, Any]]

        @property
        def vm(self) -> Vm: ...


# State that the noun of a module builds from a VM.
V = TypeVar("V", bound="VmState")
POWER_ON_AGAIN = "aiready.vsphere.power_on_again"
PROPERTIES = (
    "name",
    "config.changeVersion",
    "config.extraConfig",
    "config.firmware",
    "config.guestId",
    "config.hardware.device",
    "config.hardware.memoryMB",
    "config.hardware.numCPU",
    "config.hardware.numCoresPerSocket",
    "config.instanceUuid",
    "config.memoryAllocation.reservation",
    "config.memoryReservationLockedToMax",
    "config.template",
    "config.version",
    "guest.toolsRunningStatus",
    "runtime.connectionState",
    "runtime.host",
    "runtime.powerState",
    "snapshot",
)
POWER = {"poweredOn": "on", "poweredOff": "off", "suspended": "suspended"}


@dataclass(frozen=True)
class Vm:
    """Common reading of a VM, whatever the task configures."""

    power: str = "off"
    power_on_again: bool = False
    template: bool = False
    connection: str = "connected"
    tools_running: bool = False
    change_version: str = ""
    firmware: str = "efi"
    # 21 for vmx-21; 0 if vCenter does not report it.
    hardware_version: int = 0
    guest_id: str = ""
    cpus: int = 0
    cores_per_socket: int = 0
    memory_mb: int = 0
    memory_locked: bool = False
    memory_reserved_mb: int | None = None
    snapshots: bool = False
    # Settings of the VMX file. The file ignores case, so the keys are in lower case here.
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def fully_reserved(self) -> bool:
        """Return whether all memory is reserved, by the lock or by a number."""
        return self.memory_locked or (0 < self.memory_mb <= (self.memory_reserved_mb or 0))


def vm_of(row: Row) -> Vm:
    """Return the state in the row of a VM."""
    extra = {option.key.lower(): str(option.value) for option in row.get("config.extraConfig") or []}
    version = (row.get("config.version") or "").rpartition("-")[2]
    return Vm(
        power=POWER.get(str(row.get("runtime.powerState")), "off"),
        power_on_again=is_on(extra.get(POWER_ON_AGAIN)),
        template=bool(row.get("config.template")),
        connection=str(row.get("runtime.connectionState") or "unknown"),
        tools_running=row.get("guest.toolsRunningStatus") == "guestToolsRunning",
        change_version=row.get("config.changeVersion") or "",
        firmware=row.get("config.firmware") or "",
        hardware_version=int(version) if version.isdecimal() else 0,
        guest_id=row.get("config.guestId") or "",
        cpus=row.get("config.hardware.numCPU") or 0,
        cores_per_socket=row.get("config.hardware.numCoresPerSocket") or 0,
        memory_mb=row.get("config.hardware.memoryMB") or 0,
        memory_locked=bool(row.get("config.memoryReservationLockedToMax")),
        memory_reserved_mb=row.get("config.memoryAllocation.reservation"),
        snapshots=row.get("snapshot") is not None,
        extra={key: value for key, value in extra.items() if value != ""},
    )


def is_on(value: str | None) -> bool:
    """True for a VMX value that switches something on."""
    return (value or "").lower() in ("1", "true", "yes", "on")


def project_power(vm: Vm) -> dict[str, object]:
    """Return the VM data that is reported to users."""
    return {"power": vm.power, "power_on_again": vm.power_on_again}
