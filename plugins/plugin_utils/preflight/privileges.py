# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Which privileges the stages need, and on which objects.

Where the description of the API names the privilege of a method, it is that one; a test compares them. The others, of
methods whose privilege depends on what is asked for, are those that vSphere's documentation lists for the same work.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """stage and why: for whoever reads it; kind: the object, as vcenter_access_info names it."""

    stage: str
    kind: str
    privilege: str
    why: str
    # The method of the API whose description names the privilege; empty where none does.
    method: str = ""
    # The condition of the site under which it is needed, see CONDITIONS in preflight_questions; empty means always.
    when: str = ""
    # The consequence if a run goes on without it; empty for a privilege that the stage cannot do without.
    without: str = ""
    # First release of vCenter that has it, as numbers that compare; empty for all.
    since: tuple[int, ...] = ()


NEEDS = (
    Need("hosts", "host", "Host.Config.Maintenance", "maintenance mode and restarts", "RebootHost_Task"),
    Need("hosts", "host", "Host.Config.Settings", "graphics types and module options", "UpdateGraphicsConfig"),
    Need("hosts", "host", "Host.Config.NetService", "SSH and the firewall", "EnableRuleset"),
    Need("hosts", "host", "Host.Config.PciPassthru", "passthrough", "UpdatePassthruConfig", "passthrough"),
    # Graphics types are device modes over REST there, whose description names it.
    Need("hosts", "host", "Host.Config.PciPassthru", "device modes", when="shared", since=(9, 1, 0)),
    Need("hosts", "host", "Host.Config.AdvancedConfig", "the VMkernel adapter of PVRDMA", when="pvrdma"),
    Need("hosts", "host", "Host.Config.Network", "the MTU of the VMkernel adapter", "UpdateVirtualSwitch", "rdma"),
    Need("hosts", "host", "Global.SetCustomField", "notes for the next run"),
    Need("hosts", "vcenter", "Global.ManageCustomFields", "notes for the next run", "AddCustomFieldDef"),
    Need("hosts", "driver_datastore", "Datastore.FileManagement", "the upload of the driver"),
    # Description of the REST interface of vSphere 9.1; configuration profiles came with 8.0 Update 1.
    Need(
        *("hosts", "cluster", "VcIntegrity.ClusterConfiguration.View", "the configuration profile of the cluster"),
        without="The stage does not know whether a configuration profile reverts host settings, and continues.",
        since=(8, 0, 1),
    ),
    Need(
        *("hosts", "cluster", "VcIntegrity.ClusterConfiguration.Modify", "host settings in the configuration profile"),
        without="The stage stops if a configuration profile manages the cluster and has a setting of the run.",
        since=(8, 0, 1),
    ),
    # That the query needs this privilege is unsure: the description of the API names none for it.
    Need(
        *("machines", "cluster", "DirectPathProfileManager.Manage", "vCenter's count of free GPU devices"),
        when="creates",
        without="The model of this collection counts the free devices.",
        since=(9, 0, 0),
    ),
    Need("machines", "folder", "VirtualMachine.Inventory.CreateFromExisting", "new VMs", when="creates"),
    Need("machines", "folder", "VirtualMachine.Config.AddRemoveDevice", "vGPUs and adapters"),
    Need("machines", "folder", "VirtualMachine.Config.AdvancedConfig", "memory mapped I/O and other settings"),
    Need("machines", "folder", "VirtualMachine.Config.CPUCount", "processors"),
    Need("machines", "folder", "VirtualMachine.Config.DiskExtend", "larger disks of new VMs", when="grows"),
    Need("machines", "folder", "VirtualMachine.Config.EditDevice", "adapters"),
    Need("machines", "folder", "VirtualMachine.Config.Memory", "memory"),
    Need("machines", "folder", "VirtualMachine.Config.Resource", "the reservation of memory"),
    Need("machines", "folder", "VirtualMachine.Config.Settings", "settings of the VM"),
    Need("machines", "folder", "VirtualMachine.Interact.PowerOff", "power", "PowerOffVM_Task"),
    Need("machines", "folder", "VirtualMachine.Interact.PowerOn", "power", "PowerOnVM_Task"),
    Need("machines", "folder", "VirtualMachine.Inventory.Delete", "removal of VMs that left the site", when="removes"),
    Need("machines", "folder", "VirtualMachine.Provisioning.Customize", "the guest's name", when="customizes"),
    Need("machines", "template", "VirtualMachine.Provisioning.DeployTemplate", "new VMs from the template"),
    Need("machines", "cluster", "Resource.AssignVMToPool", "a place for new VMs", when="creates"),
    Need("machines", "cluster", "Resource.ColdMigrate", "moving VMs that are off", "RelocateVM_Task", "creates"),
    Need("machines", "cluster", "Host.Inventory.EditCluster", "rules of DRS", "ReconfigureComputeResource_Task", "drs"),
    Need("machines", "datastore", "Datastore.AllocateSpace", "disks of new VMs", when="creates"),
    Need("machines", "portgroup", "Network.Assign", "adapters on the port group"),
)
