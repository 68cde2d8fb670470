"""All faults of all layers."""

from __future__ import annotations

from . import fabric, hosts, inside, jobs, vms

FAULTS = {**hosts.FAULTS, **fabric.FAULTS, **vms.FAULTS, **inside.FAULTS, **jobs.FAULTS}
# What is planted beside those that nobody sees without measuring, so that there is one of each layer.
_BESIDE = ("guest-no-module", "guest-mtu")
WORDS = ("some", "all")


def chosen(which):
    """The faults that a word of WORDS names."""
    return {name: fault for name, fault in FAULTS.items() if which == "all" or fault.silent or name in _BESIDE}
