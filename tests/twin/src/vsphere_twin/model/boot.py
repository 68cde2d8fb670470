"""Effects of a machine's start, in the order in which they happen."""

from __future__ import annotations

import datetime

from . import adapters, bmc, device_mode, graphics, kernel, mig, passthru, software
from .host import Driver, touch


def boot(world, host, cold):
    """Start ESXi: all pending changes take effect, on a cold start also those that need one."""
    bmc.at_boot(host, cold)
    if cold:
        adapters.cold_start(host)
    kernel.at_boot(host)
    lost = world.faults.take_lost_driver(host.name)
    installed = software.at_boot(host)
    host.driver = Driver() if lost else installed
    kernel.driver_modules(host, host.driver.family)
    mig.at_boot(host, cold)
    _bind(host)
    _start_services(host)
    host.ipv6 = host.ipv6_at_boot
    host.boots += 1
    host.cold_boots += bool(cold)
    host.boot_time = datetime.datetime.now(datetime.timezone.utc)
    host.reboot_required = False
    touch(world, host)


def awake(host):
    """A host that a seed describes as running: its software and devices as after its last boot."""
    host.driver = software.at_boot(host)
    kernel.driver_modules(host, host.driver.family)
    _bind(host)


def _bind(host):
    passthru.at_boot(host)
    adapters.at_boot(host)
    graphics.adopt_default(host)
    graphics.settle(host)
    device_mode.at_boot(host)


def _start_services(host):
    """Start the enabled services; a manually started one does not start by itself."""
    for service in host.services:
        ports_open = any(host.rulesets.get(name) for name in service.ruleset)
        service.running = service.policy == "on" or (service.policy == "automatic" and ports_open)
