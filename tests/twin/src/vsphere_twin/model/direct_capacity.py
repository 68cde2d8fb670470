"""Capacity of DirectPath profiles (vSphere 9.0): how many devices of a request hosts have, use and could give.

The counts follow from the devices of the hosts, by the same rules as a power-on. The description of the API has the
fields, not their meaning in each state: rules marked [unsure] are derived.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass

from pyVmomi import vim, vmodl

from . import catalogue, direct, dvx, groups, pci
from .gpu import Resident

NVIDIA_NAME = "NVIDIA"


@dataclass(frozen=True)
class Count:
    """Devices of one request: used, free now, and the most in the present modes of the devices."""

    consumed: int = 0
    remaining: int = 0
    most: int = 0

    def __add__(self, other):
        return Count(self.consumed + other.consumed, self.remaining + other.remaining, self.most + other.most)


class Uncountable(Exception):
    """No number can be given; the fault says why."""

    def __init__(self, fault):
        super().__init__(fault.msg)
        self.fault = fault


def count(hosts, config):
    """Return the Count of a request on these hosts together."""
    counter = _counter(config)
    return sum((_in_use(host, counter(host)) for host in hosts), Count())


def require_answering(host):
    """Raise for a host that vCenter cannot ask [unsure: that the answer is unknown, and the fault]."""
    if not host.reachable:
        raise Uncountable(vmodl.fault.HostNotConnected(msg="Unable to communicate with the remote host."))


def vendor_of(config):
    """Return the vendor's name that a profile shows [unsure: the words]."""
    kinds = vim.DirectPathProfileManager
    if isinstance(config, kinds.VmiopDirectPathConfig):
        return NVIDIA_NAME
    if isinstance(config, kinds.VirtualDeviceGroupDirectPathConfig):
        return NVIDIA_NAME if config.deviceGroupName.startswith("Nvidia") else ""
    if isinstance(config, kinds.DynamicDirectPathConfig):
        vendors = {one.vendorId & 0xFFFF for one in config.dynamicDirectPathBacking.allowedDevice or []}
        return NVIDIA_NAME if vendors == {pci.NVIDIA} else ""
    return ""


def _in_use(host, counted):
    """A host that takes no VM gives no further device [unsure]."""
    if host.reachable and not host.maintenance:
        return counted
    return dataclasses.replace(counted, remaining=0)


def _counter(config):
    kinds = vim.DirectPathProfileManager
    if isinstance(config, kinds.VmiopDirectPathConfig):
        entry, _board = catalogue.profile(config.vgpuProfile)
        if entry is None:
            raise Uncountable(_not_found(f"The vGPU profile '{config.vgpuProfile}' is unknown."))
        return lambda host: _vgpus(host, entry)
    if isinstance(config, kinds.DynamicDirectPathConfig):
        return lambda host: _devices(host, config.dynamicDirectPathBacking)
    if isinstance(config, kinds.VirtualDeviceGroupDirectPathConfig):
        return lambda host: _units(host, config.deviceGroupName)
    if isinstance(config, kinds.DvxDirectPathConfig) and config.dvxBacking.deviceClass:
        return lambda host: _enhanced(host, config.dvxBacking.deviceClass)
    raise Uncountable(vmodl.fault.NotSupported(msg="The operation is not supported on the object."))


def _vgpus(host, entry):
    return sum((_vgpus_of(host, gpu, entry) for gpu in host.gpus), Count())


def _vgpus_of(host, gpu, entry):
    consumed = sum(one.profile == entry for one in gpu.residents)
    empty = dataclasses.replace(gpu, residents=[], held_by=None)
    free = [_further(_bound(host, one), entry, host.release) for one in (gpu, empty)]
    return Count(consumed, *free)


def _bound(host, gpu):
    """A free GPU whose mode the host picks, as the power-on of a VM with vGPUs binds it."""
    if not _is_left_to_host(host, gpu) or gpu.vms():
        return gpu
    return dataclasses.replace(gpu, passthrough=False, active_type="sharedDirect")


def _is_left_to_host(host, gpu):
    """Without a driver, the host picks nothing."""
    return gpu.pci_id in host.modes.left_to_host and host.driver.family != "none"


def _further(gpu, entry, release):
    """Return how many more vGPUs of one type a GPU takes, each at the start that the host would choose."""
    trial = dataclasses.replace(gpu, residents=list(gpu.residents))
    for number in itertools.count():
        start = trial.room_for(entry, release)
        if start is None:
            return number
        trial.residents.append(Resident(None, -1 - number, entry, start))
    return 0


def _devices(host, backing):
    picked = {gpu.pci_id: gpu for gpu in host.gpus if _is_left_to_host(host, gpu)}
    rows = [
        row.address
        for row in pci.devices(host)
        if (row.passthru_active or row.address in picked)
        and direct.allows(backing, row, direct.labelled(host, row.address))
    ]
    held = sum(not direct.free(host, address) for address in rows)
    shared = sum(address in picked and bool(picked[address].residents) for address in rows)
    return Count(held, len(rows) - held - shared, len(rows))


def _enhanced(host, name):
    there = dvx.addresses(host, name)
    free = len(dvx.free(host, name))
    return Count(len(there) - free, free, len(there))


def _units(host, name):
    """Devices that other groups or VMs use make a group of devices unavailable."""
    units = [one for one in groups.offered(host) if one.name == name]
    free = sum(groups.available(host, one) for one in units)
    consumed = sum(list(vm.device_groups.values()).count(name) for vm in host.running_vms())
    return Count(consumed, free, len(units))


def _not_found(text):
    return vim.fault.NotFound(msg=text)
