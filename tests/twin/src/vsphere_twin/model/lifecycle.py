"""Shutdown and start of a host: restarts, shutdowns, power from the BMC. Every transition takes model time."""

from __future__ import annotations

from . import boot as boots
from .host import show_connection, touch, wrong_state
from .power import stop

LEAVING_SHARE = 0.2  # of the boot time: how long ESXi still answers after it was asked to restart


def restart(world, host):
    """RebootHost_Task and `reboot`: ESXi goes down in order, and the machine starts again without losing power."""
    if not host.running_esxi or host.leaving:
        raise wrong_state()
    _leave(world, host, lambda: reset(world, host))


def shut_down(world, host):
    """ShutdownHost_Task and a graceful power-off: ESXi goes down in order, then the power is off."""
    if not host.running_esxi or host.leaving:
        raise wrong_state()
    _leave(world, host, lambda: power_off(world, host))


def reset(world, host):
    """The reset button: everything is gone at once and starts again, warm."""
    if host.power != "poweredOn":
        raise wrong_state()
    _go_down(world, host, "poweredOn")
    _start(world, host, cold=False)


def power_off(world, host, state="poweredOff"):
    """Power off the host and every VM. A running boot ends."""
    _go_down(world, host, state)


def power_on(world, host):
    """Power on with a cold start. A running machine is unchanged."""
    if host.power == "poweredOn":
        return
    host.power = "poweredOn"
    _start(world, host, cold=True)


def power_cycle(world, host):
    """Off and on again by the BMC: a cold start."""
    power_off(world, host)
    power_on(world, host)


def stand_by(world, host):
    """PowerDownHostToStandBy_Task."""
    if not host.running_esxi or host.leaving:
        raise wrong_state()
    _leave(world, host, lambda: power_off(world, host, "standBy"))


def set_connection(world, host, state):
    """vCenter lets go of a host, or takes it back; ESXi and its VMs go on."""
    if state == "connected" and not host.running_esxi:
        raise wrong_state()
    show_connection(host, state)
    touch(world, host)


def _leave(world, host, then):
    """Let ESXi answer for a moment longer: a client that checks too early takes the old host for the new one."""
    host.leaving = True
    host.start_number += 1
    touch(world, host)
    _later(world, host, host.boot_seconds * LEAVING_SHARE, then)


def _go_down(world, host, power):
    host.start_number += 1
    host.leaving, host.booting = False, power == "poweredOn"
    host.power = power
    for vm in list(host.vms.values()):
        if vm.power == "poweredOn":
            stop(world, vm)
    if host.connection == "connected":
        show_connection(host, "notResponding")
    touch(world, host)


def _start(world, host, cold):
    host.start_number += 1
    host.booting = True
    touch(world, host)
    if world.faults.take_hanging_boot(host.name):
        return  # only power from outside brings it back
    seconds = world.faults.take_slow_boot(host.name)
    _later(world, host, host.boot_seconds if seconds is None else seconds, lambda: _come_up(world, host, cold))


def _come_up(world, host, cold):
    host.booting = False
    if host.connection == "notResponding":
        show_connection(host, "connected")
    boots.boot(world, host, cold)


def _later(world, host, seconds, work):
    """Do it unless the power has changed meanwhile."""
    number = host.start_number

    def due():
        if host.start_number == number:
            work()

    world.timeline.after(seconds, due)
