# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Asking a host everything that facts tells: two requests to vCenter, and what only the host itself knows."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.aiready.vsphere.plugins.module_utils.driver import names
from ansible_collections.aiready.vsphere.plugins.module_utils.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.host.facts import PROPERTIES, Answers
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import esxcli_ssh, hosts, properties
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter._pyvmomi import vim, vmodl
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter.faults import explain

VM_PROPERTIES = ("name", "runtime.powerState")
RDMA_DRIVER = "nmlx5_core"
NVIDIA_MODULE = "nvidia"


def gather(vcenter, params):
    """(the host that was found, rows of its VMs, Answers)."""
    found = hosts.find_host(vcenter, params["host"], allow_unreachable=True)
    found, vms = read(vcenter, found, PROPERTIES)
    if found.connection != "connected":
        return found, vms, Answers()
    ports = [port.device for port in found.row.get("config.network").pnic or [] if port.driver == RDMA_DRIVER]
    modules = kernel_modules(found)
    esxcli = esxcli_ssh.open_esxcli(vcenter, found, params)
    answers = Answers(
        modules=modules,
        kernel=esxcli.call("system.settings.kernel.list"),
        options={name: value for name in params["options"] for value in option_values(found, name)},
        dcb={port: _dcb(esxcli, port) for port in ports},
        driver=driver_of(esxcli.call("software.vib.list"), modules),
        pci=esxcli.call("hardware.pci.list"),
    )
    return found, vms, answers


def read(vcenter, found, paths):
    """A host with these properties, and rows of its VMs, in one request."""
    select = {
        "HostSystem": ("name", "runtime.connectionState", "runtime.powerState") + tuple(paths),
        "VirtualMachine": VM_PROPERTIES,
    }
    rows = properties.retrieve(vcenter, select, [found.ref], [("HostSystem", "vm")])
    row = next(one for one in rows if one.moid == found.moid)
    found = replace(found, row=row, connection=str(row.get("runtime.connectionState")))
    return found, [one for one in rows if one.kind == "VirtualMachine"]


def kernel_modules(found):
    """What the host tells about its kernel modules."""
    try:
        return list(found.row.get("configManager").kernelModuleSystem.QueryModules() or [])
    except vmodl.MethodFault as fault:
        raise explain(fault, f"Host {found.name}", "its kernel modules were to be listed") from fault


def option_values(found, name):
    """The values of an advanced option: one, or none where the host does not know it."""
    try:
        return [entry.value for entry in found.row.get("configManager").advancedOption.QueryOptions(name=name) or []]
    except vim.fault.InvalidName:
        return []
    except vmodl.MethodFault as fault:
        raise explain(fault, f"Host {found.name}", f"the advanced option {name} was to be read") from fault


def driver_of(vibs, modules):
    """The installed host driver, and whether the kernel has loaded its module."""
    found = next((vib for vib in vibs or [] if names.family_of(str(vib.get("Name", "")))), None)
    loaded = any(module.name == NVIDIA_MODULE and module.loaded for module in modules)
    if found is None:
        return {"family": "none", "version": None, "loaded": loaded}
    return {
        "family": names.family_of(str(found["Name"])),
        # The part before the dash is the driver's, the rest tells the ESXi that it was built for.
        "version": str(found.get("Version", "")).partition("-")[0],
        "loaded": loaded,
    }


def _dcb(esxcli, port):
    try:
        return esxcli.call("network.nic.dcb.status.get", nic_name=port)
    except OperatorError as error:
        # A port whose driver knows no DCB is told as one that has none.
        if error.code != "esxcli_failed":
            raise
        return None
