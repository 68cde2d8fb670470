# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The function of each module that turns its changes into the steps that restore them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import clusters, hosts, machines, switches

if TYPE_CHECKING:
    from typing import Mapping

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Entry, Inverse

# Each file of this package has the functions of one stage, by the name of the module.
_OF_STAGE: Mapping[str, Mapping[str, Inverse]] = {
    "hosts": hosts.INVERSE,
    "machines": machines.INVERSE,
    "fabric": switches.INVERSE,
    "kubernetes": clusters.INVERSE,
}
INVERSE: Mapping[str, Inverse] = {name: one for stage in _OF_STAGE.values() for name, one in stage.items()}
# Modules that use the connection of the host of the play. All others run on the controller.
ON_HOST = ("mig_partition", "nic_firmware", "roce_qos")
# Modules that connect to the API server of a cluster.
OF_CLUSTER = (clusters.MODULE, clusters.HELM)
# Modules that connect to a BMC instead of vCenter.
OF_BMC = ("bios_settings",)
# Changes that do not last, or that the run itself takes back.
PASSING = ("bmc_power", "esxi_reboot")
# Changes that the record of each guest restores, see the module guest_baseline.
IN_GUESTS = (
    "container_engine",
    "container_registry_login",
    "guest_baseline",
    "guest_interface",
    "guest_roce",
    "nvidia_container_runtime",
    "vgpu_guest_driver",
    "vgpu_licence",
)


def with_stage(entry: Entry) -> Entry:
    """The entry; one of a module in a playbook of the user has the stage that restores the module."""
    stage = next((name for name, modules in _OF_STAGE.items() if entry.module in modules), "")
    return entry if entry.stage else replace(entry, stage=stage)
