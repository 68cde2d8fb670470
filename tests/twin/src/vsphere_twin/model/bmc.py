"""The baseboard management controller of a host: its BIOS settings, active and staged, and the power button."""

from __future__ import annotations

import collections
import datetime
import itertools
from dataclasses import dataclass, field

from . import bios_tables, lifecycle
from .seed_file import Problem, SeedError, line_of

USERNAME, PASSWORD = "root", "calvin-2026"
# Values of ComputerSystem.Reset; vendors differ.
BASIC_RESETS = ("On", "ForceOff", "GracefulShutdown", "ForceRestart")
RESETS = {
    "dell": (*BASIC_RESETS, "GracefulRestart", "PushPowerButton", "PowerCycle"),
    "hpe": (*BASIC_RESETS, "GracefulRestart", "PushPowerButton"),
    "supermicro": (*BASIC_RESETS, "GracefulRestart", "ForceOn", "PowerCycle"),
    "other": BASIC_RESETS,
}


class Refused(Exception):
    """Refusal of the BMC: the message of the standard registry, its arguments, and the attribute."""

    def __init__(self, message, *args, attribute=None):
        self.message = message
        self.arguments = args
        self.attribute = attribute
        super().__init__(f"{message}: {', '.join(map(str, args))}")


@dataclass
class Job:
    """A configuration job of an iDRAC: without one its staged settings do not take effect."""

    number: int
    state: str = "Scheduled"
    message: str = "Task successfully scheduled."
    started: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc))

    @property
    def id(self):
        return f"JID_{self.number:012d}"


class Bmc:
    """One controller."""

    def __init__(self, host, vendor, attributes):
        self.host = host
        self.vendor = vendor
        self.table = bios_tables.TABLES[vendor]
        self.active = attributes
        self.staged: dict = {}
        self.forgets = False  # staged values do not survive the boot: a planned fault
        self.jobs: list[Job] = []
        self.requests = collections.Counter()  # by method and path, as clients sent them
        self.username, self.password = USERNAME, PASSWORD
        self.boot_override = {"enabled": "Disabled", "target": "None"}
        self._numbers = itertools.count(471269252011)

    @property
    def system_reset_types(self):
        return RESETS[self.vendor]

    @property
    def scheduled_job(self):
        return next((job for job in self.jobs if job.state == "Scheduled"), None)

    def functions(self):
        """Return the machine's functions under the active BIOS settings."""
        return {name: self.active[attribute] in on for name, (attribute, on) in self.table.functions.items()}

    def read_only(self, name, settings):
        """Return whether an attribute is read-only while the BIOS has these settings."""
        if self.table.attribute(name).read_only:
            return True
        return any(name in locked and settings.get(key) != value for key, value, locked in self.table.locks)


def furnish(world, host, entry):
    """Create the BMC of a host of a seed, by the vendor of the machine unless the seed names another."""
    wanted = entry.get("bios", {})
    vendor = wanted.get("vendor") or _vendor_of(host.hardware)
    ready = entry.get("state", "ready") == "ready"
    table = bios_tables.TABLES[vendor]
    attributes = {one.name: one.ready if ready and one.ready is not None else one.factory for one in table.attributes}
    for name in ("SerialNumber", "SystemModelName"):
        if name in attributes:
            attributes[name] = host.hardware.serial if name == "SerialNumber" else host.hardware.model
    unknown = [name for name in wanted.get("attributes", {}) if name not in attributes]
    if unknown:
        words = (f"Host {host.name}: a BIOS of {vendor} has no attribute {name}." for name in unknown)
        lines = (line_of(wanted["attributes"], name) for name in unknown)
        raise SeedError([Problem(one, line) for one, line in zip(words, lines, strict=True)])
    host.bmc = Bmc(host, vendor, {**attributes, **wanted.get("attributes", {})})


def stage(world, bmc, attributes):
    """Keep settings for the next boot; all of them or, after a refusal, none."""
    if bmc.scheduled_job is not None:
        raise Refused("PendingCommitted", *attributes)
    coming = {**bmc.active, **bmc.staged, **attributes}
    for name, value in attributes.items():
        one = bmc.table.attribute(name)
        if one is None:
            raise Refused("PropertyUnknown", name, attribute=name)
        # A value that the profile sets anyway contradicts nothing.
        if _by_profiles(bmc.table, coming).get(name) != value and bmc.read_only(name, coming):
            raise Refused("PropertyNotWritable", name, attribute=name)
        _check_value(one, value)
    if world.bmc_faults.take_rejection(bmc.host.name, attributes):
        raise Refused("PropertyNotWritable", *attributes)
    bmc.forgets = world.bmc_faults.take_forgetting(bmc.host.name)
    bmc.staged.update(attributes)
    bmc.staged = {name: value for name, value in bmc.staged.items() if bmc.active[name] != value}
    world.touch()


def schedule(world, bmc):
    """Schedule an iDRAC's configuration job for the staged values."""
    if bmc.scheduled_job is not None:
        raise Refused("JobExists")
    if not bmc.staged:
        raise Refused("NothingPending")
    job = Job(next(bmc._numbers))
    bmc.jobs.append(job)
    world.touch()
    return job


def delete_job(world, bmc, job):
    """Delete a job that has not run, and with it its staged values."""
    if job.state == "Scheduled":
        bmc.staged.clear()
    bmc.jobs.remove(job)
    world.touch()


def clear(world, bmc):
    """Clear the staged values."""
    if bmc.scheduled_job is not None:
        raise Refused("PendingCommitted")
    bmc.staged.clear()
    world.touch()


def defaults(world, bmc):
    """Bios.ResetBios: stage the factory's values."""
    for one in bmc.table.attributes:
        if not one.read_only and bmc.active[one.name] != one.factory:
            bmc.staged[one.name] = one.factory
    world.touch()


def at_boot(host, cold):
    """Apply the staged values to the BIOS; on a Dell only those with a job."""
    bmc = host.bmc
    job = bmc.scheduled_job
    if not bmc.staged or (bmc.vendor == "dell" and job is None):
        return
    settings = dict(bmc.active) if bmc.forgets else {**bmc.active, **bmc.staged}
    # The value of a profile overrides its attributes, also those that were staged beside it.
    settings.update(_by_profiles(bmc.table, settings))
    bmc.active, bmc.staged = settings, {}
    if job is not None and bmc.forgets:
        job.state, job.message = "Failed", "Unable to complete the configuration."
    elif job is not None:
        job.state, job.message = "Completed", "Job completed successfully."
    bmc.forgets = False


def reset(world, bmc, kind):
    """ComputerSystem.Reset. A graceful one asks ESXi, which needs to run for that."""
    host = bmc.host
    if kind not in bmc.system_reset_types:
        raise Refused("ActionParameterNotSupported", kind, "ResetType")
    on = host.power == "poweredOn"
    if kind in ("On", "ForceOn"):
        if on and bmc.vendor in ("dell", "hpe"):
            raise Refused("AlreadyOn")
        lifecycle.power_on(world, host)
    elif kind == "PushPowerButton":
        (_shut_down if on else lifecycle.power_on)(world, host)
    elif not on:
        if kind == "ForceOff" and bmc.vendor not in ("dell", "hpe"):
            return
        raise Refused("AlreadyOff")
    elif kind == "ForceOff":
        lifecycle.power_off(world, host)
    elif kind == "GracefulShutdown":
        _shut_down(world, host)
    elif kind == "GracefulRestart":
        _gracefully(world, host, lifecycle.restart, lifecycle.reset)
    elif kind == "PowerCycle":
        lifecycle.power_cycle(world, host)
    else:
        lifecycle.reset(world, host)


def _by_profiles(table, settings):
    """Return the values that the selected profiles set."""
    chosen = [values.get(settings[name], {}) for name, values in table.profiles.items()]
    return {name: value for one in chosen for name, value in one.items()}


def _shut_down(world, host):
    _gracefully(world, host, lifecycle.shut_down, lambda *_: None)


def _gracefully(world, host, ask, otherwise):
    """ESXi that runs is asked; a machine that is on without it does not react to the power button."""
    (ask if host.running_esxi and not host.leaving else otherwise)(world, host)


def _check_value(one, value):
    if one.kind == "Enumeration" and value not in one.values:
        raise Refused("PropertyValueNotInList", value, one.name, attribute=one.name)
    kinds = {"Integer": int, "String": str, "Boolean": bool, "Enumeration": str}
    if not isinstance(value, kinds[one.kind]) or (one.kind == "Integer" and isinstance(value, bool)):
        raise Refused("PropertyValueTypeError", value, one.name, attribute=one.name)
    low, high = one.bounds
    size = value if one.kind == "Integer" else len(value) if one.kind == "String" else low
    if not low <= size <= max(high, low):
        raise Refused("PropertyValueOutOfRange", value, one.name, attribute=one.name)


def _vendor_of(hardware):
    name = hardware.vendor.casefold()
    return next((vendor for vendor in ("dell", "hpe", "supermicro") if name.startswith(vendor)), "other")
