"""The methods of a host itself: maintenance, power, connection, lockdown."""

from __future__ import annotations

import functools

from pyVmomi import vim

from vsphere_twin.model import joining, lifecycle, maintenance, tasks
from vsphere_twin.model.host import require_answer, touch, wrong_state

from ..projections import host_system
from ..projections.shape import make
from ..registry import method
from .tasking import begin

LOOK_S = 0.1


def host_method(kind, name):
    """A method that only a host that answers can serve."""

    def register(function):
        @functools.wraps(function)
        def serve(call, this, **arguments):
            require_answer(getattr(this, "host", this))
            return function(call, this, **arguments)

        return method(kind, name)(serve)

    return register


@host_method("HostSystem", "EnterMaintenanceMode_Task")
def enter_maintenance(call, this, timeout, evacuatePoweredOffVms=None, maintenanceSpec=None):
    task = None

    def work():
        return maintenance.enter(call.world, this, task, timeout or 0, bool(evacuatePoweredOffVms))

    task = begin(call, "EnterMaintenanceMode_Task", this, work)
    return task


@host_method("HostSystem", "ExitMaintenanceMode_Task")
def exit_maintenance(call, this, timeout):
    return begin(call, "ExitMaintenanceMode_Task", this, lambda: maintenance.leave(call.world, this))


@host_method("HostSystem", "RebootHost_Task")
def reboot(call, this, force):
    _require_maintenance(this, force)
    return begin(call, "RebootHost_Task", this, lambda: lifecycle.restart(call.world, this))


@host_method("HostSystem", "ShutdownHost_Task")
def shut_down(call, this, force):
    _require_maintenance(this, force)
    return begin(call, "ShutdownHost_Task", this, lambda: lifecycle.shut_down(call.world, this))


@host_method("HostSystem", "PowerDownHostToStandBy_Task")
def stand_by(call, this, timeoutSec, evacuatePoweredOffVms=None):
    if this.running_vms():
        raise vim.fault.HostPowerOpFailed(msg="The host has virtual machines that run.")
    return begin(call, "PowerDownHostToStandBy_Task", this, lambda: lifecycle.stand_by(call.world, this))


@method("HostSystem", "PowerUpHostFromStandBy_Task")
def wake(call, this, timeoutSec):
    """The task ends when the host is back, or after its time."""
    if this.power != "standBy":
        raise wrong_state()
    task = None

    def work():
        lifecycle.power_on(call.world, this)
        _watch(call.world, this, task, timeoutSec if timeoutSec > 0 else None)
        return tasks.LATER

    task = begin(call, "PowerUpHostFromStandBy_Task", this, work)
    return task


@method("HostSystem", "DisconnectHost_Task")
def disconnect(call, this):
    return begin(call, "DisconnectHost_Task", this, lambda: lifecycle.set_connection(call.world, this, "disconnected"))


@method("HostSystem", "ReconnectHost_Task")
def reconnect(call, this, cnxSpec=None, reconnectSpec=None):
    def work():
        if this.connection == "connected":
            raise wrong_state()  # "if the host is not in the disconnected state" (vSphere API reference)
        lifecycle.set_connection(call.world, this, "connected")

    return begin(call, "ReconnectHost_Task", this, work)


@method("ClusterComputeResource", "AddHost_Task")
def add_host(call, this, spec, asConnected, resourcePool=None, license=None):
    work = functools.partial(joining.add, call.world, this, spec, asConnected)
    return begin(call, "AddHost_Task", this, work)


@method("Folder", "AddStandaloneHost_Task")
def add_standalone_host(call, this, spec, addConnected, compResSpec=None, license=None):
    work = functools.partial(joining.add_standalone, call.world, this, spec, addConnected)
    return begin(call, "AddStandaloneHost_Task", this, work, exclusive=False)


@host_method("HostSystem", "QueryHostConnectionInfo")
def connection_info(call, this):
    return make(vim.host.ConnectInfo, host=host_system.summary(this, call.world))


@host_method("HostSystem", "EnterLockdownMode")
def enter_lockdown(call, this):
    _lock(call, this, "lockdownNormal")


@host_method("HostSystem", "ExitLockdownMode")
def exit_lockdown(call, this):
    _lock(call, this, "lockdownDisabled")


@host_method("HostAccessManager", "ChangeLockdownMode")
def change_lockdown(call, this, mode):
    _lock(call, this.host, str(mode))


@host_method("HostAccessManager", "QueryLockdownExceptions")
def lockdown_exceptions(call, this):
    return list(this.host.lockdown_exceptions)


@host_method("HostAccessManager", "UpdateLockdownExceptions")
def update_lockdown_exceptions(call, this, users=None):
    this.host.lockdown_exceptions = list(users or [])
    touch(call.world, this.host)


def _require_maintenance(host, force):
    if not force and not host.maintenance:
        raise wrong_state()


def _watch(world, host, task, seconds_left):
    """Check periodically whether the host is up; None waits for ever."""
    if task.completed_at is not None:
        return
    if host.reachable:
        tasks.finish(world, task)
    elif seconds_left is not None and seconds_left <= 0:
        tasks.finish(world, task, error=vim.fault.Timedout(msg="Operation timed out."))
    else:
        left = None if seconds_left is None else seconds_left - LOOK_S
        world.timeline.after(LOOK_S, lambda: _watch(world, host, task, left))


def _lock(call, host, mode):
    host.lockdown = mode
    touch(call.world, host)
