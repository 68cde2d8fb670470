"""What is wrong around hosts and guests, and what preflight finds: logins, privileges, clocks, services, folders."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from vsphere_twin.vcenter import privileges

from . import ONE, OTHER, Fault, changed, named, nothing

PRIVILEGE = "Network.Assign"
FOLDER = "/proc/results"


def clock(name, seconds):
    return lambda twin: changed(
        twin,
        lambda world: world.clocks.set_ahead(name, seconds),
        lambda world: world.clocks.set_ahead(name, 0),
    )


@contextlib.contextmanager
def fewer_privileges(twin):
    """The role of all users lacks one privilege."""
    permissions = twin.world.permissions
    before = list(permissions.rows)
    role = permissions.defined("fewer", set(privileges.known()) - {PRIVILEGE})

    def put(rows):
        return lambda _world: permissions.rows.__setitem__(slice(None), rows)

    with changed(twin, put([replace(row, role=role) for row in before]), put(before)):
        yield
    del permissions.roles["fewer"]


def refusing(switch):
    def plant(twin):
        found = twin.world.fabric.switches[switch]
        return changed(
            twin, lambda _world: setattr(found, "refusing", True), lambda _world: setattr(found, "refusing", False)
        )

    return plant


def blocked(plant, *words, **more):
    """A fault that preflight finds; words are of its statement."""
    return Fault("around", plant, (named(*words),), by="preflight", **more)


FAULTS = {
    # Another user than that of earlier runs, whose session goes on.
    "around-vcenter-login": blocked(
        nothing,
        "blocks: vCenter, login:",
        "incorrect user name or password",
        lab={"site": {"vcenter": {"username": "nobody@vsphere.local"}}},
    ),
    "around-bmc-password": Fault(
        "around",
        nothing,
        (named(f"blocks: {ONE},", "BMC"), named(f"blocks: {OTHER},", "BMC")),
        by="preflight",
        lab={"site_bmc_password": "not this one"},
    ),
    "around-host-clock": blocked(clock(OTHER, 300), f"blocks: {OTHER}, clock:", "seconds ahead of"),
    "around-vcenter-clock": blocked(clock("", -300), "blocks: ", "clock:", "seconds behind"),
    "around-switch-away": blocked(refusing("leaf-02"), "blocks: leaf-02,"),
    "around-switch-away-compared": Fault(
        "around", refusing("leaf-04"), (named("unknown", "leaf-04", "could not be read"),), by="fabric_check"
    ),
    "around-result-folder": blocked(
        nothing,
        "blocks: this machine,",
        FOLDER,
        lab={"lab_training": {"result_dir": FOLDER}},
        inside=True,
    ),
    "around-registry-password": blocked(
        nothing,
        "blocks: this machine, registry",
        lab={"site_registry_passwords": "{{ {lab_endpoint.registry.address: 'not this one'} }}"},
        inside=True,
    ),
    "around-privilege": blocked(fewer_privileges, "blocks: ", f"{PRIVILEGE}:", "does not hold"),
}
