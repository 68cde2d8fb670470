"""Maintenance mode: who has to leave the host, who can, and how long the task waits for the others."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import device_mode, direct, drs, dvx, relocation, tasks
from .host import require_answer, require_usable, touch, wrong_state
from .inventory import reference

VGPU_OPTION = "VgpuMMAutomationTimeoutSecs"
MIGRATION_SECONDS = 0.1


def enter(world, host, task, timeout_s=0, powered_off_too=False):
    """Work of EnterMaintenanceMode_Task: the task ends once no VM runs, or after its time (0 waits for ever)."""
    require_answer(host)
    if host.maintenance or host.entering_maintenance is not None or host.leaving:
        raise wrong_state()
    if not host.running_vms() and not (powered_off_too and _evacuates(host)):
        _entered(world, host)
        return None
    host.entering_maintenance = task
    waiting = _Waiting(world, host, task)
    host.when_vms_go.append(waiting.look)
    task.on_cancel = waiting.stop
    if timeout_s > 0:
        world.timeline.after(timeout_s, waiting.too_late)
    world.timeline.after(MIGRATION_SECONDS, lambda: waiting.evacuate(powered_off_too))
    touch(world, host)
    return tasks.LATER


def leave(world, host):
    """Work of ExitMaintenanceMode_Task."""
    require_answer(host)
    if not host.maintenance:
        raise wrong_state()
    host.maintenance = False
    touch(world, host)


class _Waiting:
    """A task that waits for running VMs."""

    def __init__(self, world, host, task):
        self.world, self.host, self.task = world, host, task

    def look(self):
        """End the task if no VM runs any more. A disconnected host ends it too."""
        if self.task.completed_at is None and not self.host.running_vms():
            self.stop()
            if self.host.reachable:
                _entered(self.world, self.host)
                tasks.finish(self.world, self.task)
            else:
                tasks.finish(self.world, self.task, error=vmodl.fault.HostCommunication(msg="The host went away."))

    def too_late(self):
        if self.task.completed_at is None:
            self.stop()
            tasks.finish(self.world, self.task, error=vim.fault.Timedout(msg="Operation timed out."))

    def stop(self):
        self.host.entering_maintenance = None
        self.host.when_vms_go = [one for one in self.host.when_vms_go if one != self.look]
        touch(self.world, self.host)

    def evacuate(self, powered_off_too):
        """Migrate the VMs that DRS moves by itself; the task waits for the last move."""
        if self.task.completed_at is not None:
            return
        for vm in list(self.host.vms.values()):
            if (vm.power == "poweredOn" or powered_off_too) and _may_move(vm):
                _move(self.world, vm)
        self.look()


def _entered(world, host):
    host.maintenance = True
    device_mode.at_maintenance(host)
    touch(world, host)


def _evacuates(host):
    """Return whether DRS evacuates by itself: only a fully automated one does; others only recommend."""
    return getattr(host.compute, "drs", "off") == "fullyAutomated"


def _may_move(vm):
    if drs.behaviour(vm) != "fullyAutomated":
        return False
    if vm.power != "poweredOn":
        return all(isinstance(one.backing, dvx.BACKING) for one in vm.passthrough_devices)
    if direct.bound(vm):
        return False
    if not vm.vgpus:
        return True
    # Without the option DRS does not move VMs with a vGPU (VMware KB 88271).
    return getattr(vm.host.compute, "options", {}).get(VGPU_OPTION) not in (None, "", "0")


def _move(world, vm):
    for other in sorted(vm.host.compute.hosts.values(), key=lambda one: (len(one.running_vms()), one.number)):
        if other is vm.host or other.entering_maintenance is not None or drs.violated(vm, other):
            continue
        try:
            require_usable(other)
            relocation.relocate(world, vm, vim.vm.RelocateSpec(host=reference(other)))
        except vmodl.MethodFault:
            continue  # no room there; the next host may have some
        return
