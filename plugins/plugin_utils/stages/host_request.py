# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The desired state of one ESXi host: the inputs of the role esxi_host, and their meaning on a given host. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.host import pvrdma

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NUMBERS = ("mtu", "vfs")


@dataclass(frozen=True)
class Request:
    """Inputs of the role without its prefix; empty or ignore keeps the current state."""

    name: str = ""
    cluster: str = ""
    # The SSH user.
    user: str = "root"
    bmc_address: str = ""
    bios_functions: Mapping[str, Any] = field(default_factory=dict)
    bios_attributes: Mapping[str, Any] = field(default_factory=dict)
    driver: Mapping[str, Any] = field(default_factory=dict)
    graphics_type: str = "ignore"
    gpu_passthrough: str = "ignore"
    mig: str = "ignore"
    profiles: Sequence[str] = ()
    kernel_settings: Mapping[str, Any] = field(default_factory=dict)
    module_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    nics: Sequence[str] = ()
    vfs: int = 0
    nic_passthrough: bool = False
    directpath_label: str = ""
    # {gpu or nic: device class of Enhanced DirectPath I/O}
    dvx_classes: Mapping[str, str] = field(default_factory=dict)
    requires_vmotion: bool = False
    requires_ats: bool = False
    nic_firmware: Mapping[str, Any] = field(default_factory=dict)
    pvrdma: bool = False
    vmknic: str = ""
    mtu: int = 0
    reboot: str = "refuse"
    cold_cycle: str = "refuse"
    allow_reverted_settings: bool = False
    uncompared_settings: str = "report"
    evacuation: str = "refuse"
    vms: Sequence[Mapping[str, Any]] = ()
    ssh: str = "start"

    @property
    def bios(self) -> bool:
        return bool(self.bmc_address and (self.bios_functions or self.bios_attributes))

    @property
    def firmware(self) -> bool:
        return bool(self.nic_firmware and self.nics)

    @property
    def shuts_vms(self) -> bool:
        return self.evacuation == "shutdown" and bool(self.vms)

    def options_on(self, host: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """{kernel module: its options}; an option of nmlx5_core has one number for each port, over all adapters."""
        options = {module: dict(values) for module, values in self.module_options.items()}
        if self.vfs:
            ports = [port["device"] for port in host.get("nics") or () if port.get("driver") == "nmlx5_core"]
            numbers = (str(self.vfs if port in self.nics else 0) for port in ports)
            options.setdefault("nmlx5_core", {})["max_vfs"] = ",".join(numbers)
        return options

    def profile_settings_on(self, host: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Settings of the host that the configuration profile of its cluster may revert, as cluster_configuration."""
        return {
            "kernel_settings": dict(self.kernel_settings),
            "module_options": self.options_on(host),
            "advanced_options": {pvrdma.OPTION: self.vmknic} if self.pvrdma else {},
        }

    def passthrough_on(self, host: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The devices to pass through, or to return to the host: all GPUs, and the ports of the network."""
        gpus = [] if self.gpu_passthrough == "ignore" else [gpu["id"] for gpu in host.get("gpus") or ()]
        given: list[dict[str, Any]]
        given = [{"id": gpu, "state": self.gpu_passthrough, "take_from_vgpu": True} for gpu in gpus]
        given += [{"id": port, "state": "enabled"} for port in self.nics if self.nic_passthrough]
        labels = self.labels_on(host)
        return [dict(one, label=labels[one["id"]]) if one["id"] in labels else one for one in given]

    def labels_on(self, host: Mapping[str, Any]) -> dict[str, str]:
        """{address: hardware label} of the devices that a VM gets together: all of one PCIe root have the same."""
        if not self.directpath_label:
            return {}
        roots = {gpu["id"]: gpu["root"] for gpu in host.get("gpus") or () if self.gpu_passthrough == "enabled"}
        ports = {port["pci"]: port["root"] for port in host.get("nics") or ()}
        roots.update({port: ports[port] for port in self.nics if self.nic_passthrough and port in ports})
        return {address: label_of(self.directpath_label, root) for address, root in roots.items()}


def request_of(inputs: Mapping[str, Any]) -> Request:
    """The request with numeric types; ansible-core before 2.19 passes numbers as text."""
    given: dict[str, Any] = {key: int(value or 0) if key in NUMBERS else value for key, value in inputs.items()}
    return Request(**given)


def label_of(prefix: str, root: str) -> str:
    """The hardware label of the devices below one PCIe root, such as aiready-0000-36."""
    return f"{prefix}-{root.replace(':', '-')}"


def is_loaded(host: Mapping[str, Any]) -> bool:
    """Whether the NVIDIA driver runs on the host."""
    return bool((host.get("driver") or {}).get("loaded"))
