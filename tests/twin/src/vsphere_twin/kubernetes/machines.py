"""Machines of clusters: VMs of a vCenter with the devices of a VM class, or nodes of a Supervisor without a vCenter."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from ..model import inventory, pci, power, provision
from ..model import supervisor as json_form

NVIDIA, MELLANOX = 4318, 5555
FOLDER = "Namespaces"  # [unsure: MEM], with a folder of each namespace
NO_ROOM = "0/1 hosts have a free device for the VM class"
# What vm-operator sets for a VM with such a device. The class has precedence.
MMIO = {"pciPassthru.use64bitMMIO": "TRUE", "pciPassthru.64bitMMIOSizeGB": "512"}
ROOT_DISK_GB = 20
_MIB = {"Ki": 2**-10, "Mi": 1, "Gi": 2**10, "Ti": 2**20}


class NoRoom(Exception):
    """No host has what the VM class requests."""


def devices(spec):
    """(profiles of vGPUs, vendors of whole devices). Where configSpec is not empty, hardware.devices is ignored."""
    if spec.get("configSpec"):
        backings = [one.get("device", {}).get("backing", {}) for one in spec["configSpec"].get("deviceChange") or ()]
        profiles = [one["vgpu"] for one in backings if "vgpu" in one]
        return profiles, [row["vendorId"] for one in backings for row in (one.get("allowedDevice") or ())[:1]]
    given = (spec.get("hardware") or {}).get("devices") or {}
    profiles = [one["profileName"] for one in given.get("vgpuDevices") or ()]
    return profiles, [one["vendorID"] for one in given.get("dynamicDirectPathIODevices") or ()]


def _size(spec):
    """Processors and memory of a node, as far as the class has them."""
    hardware = spec.get("hardware") or {}
    found = {"cpus": hardware["cpus"]} if "cpus" in hardware else {}
    return {**found, **({"memory": str(hardware["memory"])} if "memory" in hardware else {})}


class Machines:
    """Machines of a Supervisor without a vCenter: nodes with what their class requests, as long as GPUs are free."""

    waiting = False

    def __init__(self):
        self.free_gpus, self.host_branch = None, "580"
        self._held = {}

    def create(self, namespace, name, spec, _class=""):
        """The hardware of a new node, or NoRoom."""
        profiles, vendors = devices(spec)
        gpus = len(profiles) + vendors.count(NVIDIA)
        if self.free_gpus is not None:
            if gpus > self.free_gpus:
                raise NoRoom(NO_ROOM)
            self.free_gpus -= gpus
        self._held[(namespace, name)] = gpus
        found = {"gpus": gpus, "vgpu": bool(profiles), "adapters": vendors.count(MELLANOX)}
        return {**found, "host_branch": self.host_branch, **_size(spec)}

    def remove(self, namespace, name):
        """The devices of a node are free again."""
        gpus = self._held.pop((namespace, name), 0)
        if self.free_gpus is not None:
            self.free_gpus += gpus


class VirtualMachines:
    """Machines of a Supervisor in a vCenter: VMs that hold devices of their hosts. The caller has the vCenter's lock.

    Node images, disks of the cluster and the workload network are left out: a VM has an empty disk and no adapter.
    """

    def __init__(self, world):
        self._world, self._made = world, {}
        self.firmware = "efi"  # of the node image, which has precedence over the class [unsure: which one images have]
        self.waiting = False  # whether a machine waits for devices, which a change in vCenter may free

    def create(self, namespace, name, spec, vm_class=""):
        """Create and start the VM of a machine. Return the hardware of its node, or NoRoom."""
        vm = provision.create(self._world, self._folder(namespace), self._config(name, spec), self._pool(namespace))
        self.waiting = not self._start(vm)
        if self.waiting:
            provision.destroy(self._world, vm)
            raise NoRoom(NO_ROOM)
        self._made[(namespace, name)] = vm
        self._world.workloads.vms[vm.moid] = vm_class
        vendors = [row.vendor_id for row in pci.devices(vm.host) if _holds(vm, row.address)]
        gpus = len(vm.vgpus) + vendors.count(NVIDIA)
        branch = vm.host.driver.version.partition(".")[0] if vm.vgpus else ""
        found = {"gpus": gpus, "vgpu": bool(vm.vgpus), "host_branch": branch, "adapters": vendors.count(MELLANOX)}
        return {**found, **_size(spec)}

    def remove(self, namespace, name):
        """Stop and delete the VM of a machine."""
        vm = self._made.pop((namespace, name), None)
        if vm is None or self._world.get(vm.moid) is not vm:
            return  # somebody deleted it in vCenter
        if vm.power != "poweredOff":
            power.power_off(self._world, vm)
        provision.destroy(self._world, vm)

    def _start(self, vm):
        """Start a VM on the first host that has its devices, as vCenter finds one. Return whether it runs."""
        for host in sorted(vm.host.compute.hosts.values(), key=lambda one: (len(one.running_vms()), one.number)):
            try:
                if host is not vm.host:
                    power.move(self._world, vm, host)
                power.power_on(self._world, vm, host)
            except vmodl.MethodFault:
                continue
            return True
        return False

    def _pool(self, namespace):
        return self._cluster(namespace).pool

    def _cluster(self, namespace):
        return self._world.get(self._world.workloads.namespaces[namespace].cluster)

    def _folder(self, namespace):
        found = inventory.datacenter_of(self._cluster(namespace)).vm_folder
        for name in (FOLDER, namespace):
            found = inventory.find_child(found, name) or inventory.make_folder(self._world, found, name)
        return found

    def _config(self, name, spec):
        """The configuration of the VM: processors, memory and policies of the class have precedence over configSpec."""
        config = json_form.built(spec["configSpec"]) if spec.get("configSpec") else vim.vm.ConfigSpec()
        memory = _mib(spec["hardware"]["memory"])
        reserved = ((spec.get("policies") or {}).get("resources") or {}).get("requests", {}).get("memory")
        config.name, config.guestId, config.firmware = name, "ubuntu64Guest", self.firmware
        config.uuid = config.instanceUuid = config.files = config.vmProfile = None
        config.numCPUs, config.memoryMB = spec["hardware"]["cpus"], memory
        config.memoryAllocation = vim.ResourceAllocationInfo(reservation=_mib(reserved) if reserved else 0)
        changes = [one for one in config.deviceChange or [] if not isinstance(one.device, vim.vm.device.VirtualDisk)]
        if not spec.get("configSpec"):
            changes = _added(spec["hardware"].get("devices") or {})
        if changes:
            present = {one.key for one in config.extraConfig or []}
            more = [vim.option.OptionValue(key=key, value=value) for key, value in MMIO.items() if key not in present]
            config.extraConfig = [*(config.extraConfig or []), *more]
        config.deviceChange = [*_disk(), *changes]
        return config


def _holds(vm, address):
    holder = vm.host.claimed.get(address)
    return holder is not None and holder.vm is vm


def _mib(quantity):
    """A quantity of memory in MiB."""
    text = str(quantity)
    return int(int(text[:-2]) * _MIB[text[-2:]]) if text[-2:] in _MIB else int(text) // 2**20


def _added(given):
    """The devices of hardware.devices."""
    kind = vim.vm.device.VirtualPCIPassthrough
    backings = [kind.VmiopBackingInfo(vgpu=one["profileName"]) for one in given.get("vgpuDevices") or ()]
    for one in given.get("dynamicDirectPathIODevices") or ():
        allowed = [kind.AllowedDevice(vendorId=one["vendorID"], deviceId=one["deviceID"])]
        label = one.get("customLabel") or ""
        backings.append(kind.DynamicBackingInfo(deviceName="", allowedDevice=allowed, customLabel=label))
    return [_add(kind(key=-20000 - at, backing=one)) for at, one in enumerate(backings)]


def _disk():
    """The root disk of a node."""
    backing = vim.vm.device.VirtualDisk.FlatVer2BackingInfo(diskMode="persistent", thinProvisioned=True, fileName="")
    disk = vim.vm.device.VirtualDisk(key=-2, controllerKey=-1, unitNumber=0, backing=backing)
    disk.capacityInKB = ROOT_DISK_GB * 2**20
    created = _add(disk)
    created.fileOperation = "create"
    return [_add(vim.vm.device.ParaVirtualSCSIController(key=-1, busNumber=0, sharedBus="noSharing")), created]


def _add(device):
    return vim.vm.device.VirtualDeviceSpec(operation="add", device=device)
