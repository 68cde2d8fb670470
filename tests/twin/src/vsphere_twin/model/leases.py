"""Leases of imports and exports: the files of a VM that a client uploads or downloads, until it ends the lease."""

from __future__ import annotations

import copy
import hashlib
import posixpath
import secrets
from dataclasses import dataclass

from pyVmomi import vim, vmodl

from . import devices, disk_files, ovf_import, provision, tasks, vmdk
from .vm import DISK
from .world import Entity

LEASE_S = 300  # without a report of progress (vSphere API reference, HttpNfcLeaseInfo.leaseTimeout)
READY_S = 0.05  # of model time, in which an import makes its VM


@dataclass
class Transfer:
    """One file under a lease, and what was transferred of it."""

    name: str
    key: str
    import_key: str
    device: object
    size: int = 0
    sha1: str = ""
    sha256: str = ""

    @property
    def disk(self):
        return isinstance(self.device, DISK)


class Lease(Entity):
    kind = "HttpNfcLease"

    def __init__(self, world, moid, mode, user=""):
        super().__init__(moid)
        self.version = None
        self.world, self.mode, self.user = world, mode, user
        self.secret, self.address = secrets.token_hex(16), "*"
        self.state, self.percent, self.fault = "initializing", 0, None
        self.vm = self.task = None
        self.files: dict[str, Transfer] = {}
        self.devices = []
        self._reports = 0

    @property
    def importing(self):
        return self.mode == "import"

    def ready(self, vm, hardware, name):
        """The files of a VM can be transferred."""
        self.vm, self.devices, self.state = vm, hardware, "ready"
        controllers = {one.key: one for one in hardware}
        disks = images = 0
        for device in hardware:
            if isinstance(device, DISK):
                file, disks = f"disk-{disks}.vmdk", disks + 1
            elif self.importing and _image(device):
                file, images = f"_deviceImage{images}.iso", images + 1
            else:
                continue
            controller = controllers[device.controllerKey]
            keys = (ovf_import.device_id(one, controller, device) for one in (vm.moid, name))
            self.files[file] = Transfer(file, *keys, device)
        self.world.leases[self.secret] = self
        self.report(0)

    def report(self, percent):
        """The client reports its progress, and so the lease lasts."""
        self.percent = percent
        self._reports += 1
        reports = self._reports
        if self.task is not None:
            self.task.progress = percent
            self.world.touch(self.task)
        self.world.timeline.after(LEASE_S, lambda: self._expire(reports))
        self.world.touch(self)

    def complete(self):
        """All is transferred, or what the client has of it."""
        self._end("done")
        if self.task is not None:
            tasks.finish(self.world, self.task, result=self.vm)

    def fail(self, fault):
        """End with a fault; an import leaves no VM."""
        self.fault, vm = fault, self.vm
        self._end("error")
        if self.importing and vm is not None and self.world.get(vm.moid) is vm:
            for file in self.files.values():
                if not file.disk:
                    _forget_image(self.world, file.device)
            provision.forget(self.world, vm, self.user)
        if self.task is not None:
            tasks.finish(self.world, self.task, error=fault)

    def content(self, name):
        """The data of an exported disk; nobody has written any."""
        return vmdk.empty(self.files[name].device.capacityInBytes or 0)

    def received(self, name, upload):
        """Take an upload; returns the reason why the host rejects it, or an empty text."""
        file = self.files[name]
        if file.disk:
            said = vmdk.problem(upload.first, upload.last, upload.size, file.device.capacityInBytes)
            if said:
                return said
        else:
            store, path = _place(self.world, file.device)
            store.files.put(path, b"".join(upload.parts))
            self.world.touch(store)
        file.size, file.sha1, file.sha256 = upload.size, upload.sha1.hexdigest(), upload.sha256.hexdigest()
        return ""

    def room(self, name, size):
        """Return whether an upload of this size can fit; only images are stored."""
        file = self.files[name]
        return file.disk or size <= _place(self.world, file.device)[0].free

    def cancelled(self):
        """A client cancels the task of the lease, which ends by itself."""
        self.task = None
        self.fail(cancelled())

    def _expire(self, reports):
        if self.state in ("initializing", "ready") and reports == self._reports:
            self.fail(vim.fault.Timedout(msg="The lease timed out: its client did not report progress."))

    def _end(self, state):
        self.state = state
        self.world.leases.pop(self.secret, None)
        if self.vm is not None and self.vm.busy_with is self.task:
            self.vm.busy_with = None
        self.world.touch(self, *filter(None, [self.vm]))


class Upload:
    """The bytes of an upload as they arrive: checksums, and all of them only where they are stored."""

    def __init__(self, stored):
        self.stored, self.parts, self.size = stored, [], 0
        self.first = self.last = b""
        self.sha1 = hashlib.sha1(usedforsecurity=False)
        self.sha256 = hashlib.sha256()

    def add(self, data):
        """Take the next bytes."""
        self.size += len(data)
        self.sha1.update(data)
        self.sha256.update(data)
        if len(self.first) < vmdk.SECTOR:
            self.first = (self.first + data)[: vmdk.SECTOR]
        self.last = (self.last + data)[-vmdk.SECTOR :]
        if self.stored:
            self.parts.append(data)


def begin_export(world, vm, moid, user, hardware=None):
    """ExportVm, and with the devices of a snapshot ExportSnapshot."""
    lease = Lease(world, moid, "export", user)
    lease.ready(vm, list(vm.devices if hardware is None else hardware), vm.name)
    return lease


def begin_import(world, pool, spec, folder, host, moid, user):
    """ImportVApp: the VM is made in a moment; a fault of it is the error of the lease."""
    lease = Lease(world, moid, "import", user)
    lease.task = tasks.begun(world, "ImportVApp", pool, user)
    lease.task.state, lease.task.started_at = "running", tasks.utc_now()
    lease.task.on_cancel = lease.cancelled
    world.timeline.after(READY_S, lambda: _made(world, lease, pool, spec.configSpec, folder, host))
    return lease


def cancelled():
    """The fault of work that its client ended."""
    return vmodl.fault.RequestCanceled(msg="The task was canceled by a user.")


def require_off(vm):
    """Only a VM that does not run is exported."""
    if vm.power != "poweredOff":
        raise devices.wrong_power(vm)
    if vm.busy_with is not None:
        raise tasks.task_in_progress(vm.busy_with)


def _made(world, lease, pool, config, folder, host):
    if lease.state != "initializing":
        return

    def work():
        planned = world.faults.take_task_fault("ImportVApp", pool.name)
        if planned is not None:
            raise planned
        lease.vm = vm = provision.create(world, folder, config, pool, host)
        hardware = [_with_image(vm, device) for device in vm.devices]
        vm.devices, vm.busy_with = hardware, lease.task
        lease.ready(vm, hardware, config.name)

    _nothing, fault = tasks.attempted(lease.task, work)
    if fault is not None:
        lease.fail(fault)


def _image(device):
    backing = getattr(device, "backing", None)
    return isinstance(backing, vim.vm.device.VirtualCdrom.IsoBackingInfo) and "_deviceImage" in backing.fileName


def _with_image(vm, device):
    """The drive with its image in the folder of the VM."""
    if not _image(device):
        return device
    fresh = copy.deepcopy(device)
    fresh.backing.fileName = (
        f"{vm.home.rpartition('/')[0]}/{posixpath.basename(device.backing.fileName.split('] ')[-1])}"
    )
    return fresh


def _place(world, device):
    path = device.backing.fileName
    stores = ((one, disk_files.relative(path, one)) for one in world.of_kind("Datastore"))
    return next((store, place) for store, place in stores if place is not None)


def _forget_image(world, device):
    store, path = _place(world, device)
    if store.files.get(path) is not None:
        store.files.remove(path)


def written_files(lease):
    """The files that were transferred, with what a manifest says of them."""
    if not lease.importing:
        for name, file in lease.files.items():
            data = lease.content(name)
            file.size, file.sha1 = len(data), hashlib.sha1(data, usedforsecurity=False).hexdigest()
            file.sha256 = hashlib.sha256(data).hexdigest()
    return [file for file in lease.files.values() if file.sha1]
