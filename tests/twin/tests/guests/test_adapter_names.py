"""Names of adapters that are plugged into a running guest."""

from __future__ import annotations

from types import SimpleNamespace

from vsphere_twin.guests.machine import Machine
from vsphere_twin.model import slots


def test_an_adapter_whose_name_is_in_use_gets_the_next_free_name(guest_of):
    machine = object.__new__(Machine)
    machine.vm = guest_of(cpus=8).boot().vm
    first, second, third = (SimpleNamespace(name=name) for name in slots.names(machine.vm)[:3])
    machine._plugged = {"a": ("end", first)}
    assert machine._free_name(second, {}) == second.name
    assert machine._free_name(first, {"b": ("end", second)}) == third.name
