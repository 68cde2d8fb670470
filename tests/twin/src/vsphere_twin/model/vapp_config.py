"""The vApp configuration of a VM: products, OVF properties, licences and how the guest gets the OVF environment."""

from __future__ import annotations

import copy

from pyVmomi import vim

from . import kept

LISTS = ("product", "property", "ovfSection")
PLAIN = ("eula", "ovfEnvironmentTransport", "installBootRequired", "installBootStopDelay")


def merged(before, spec):
    """The configuration after a specification; entries are added, edited and removed by their keys."""
    if before is None:
        before = vim.vApp.VmConfigInfo(
            ipAssignment=vim.vApp.IPAssignmentInfo(), installBootRequired=False, installBootStopDelay=0
        )
    made = copy.copy(before)
    for name in LISTS:
        setattr(made, name, _entries(list(getattr(before, name)), getattr(spec, name), name))
    for name in PLAIN:
        value = getattr(spec, name)
        if value not in (None, []):
            setattr(made, name, value)
    made.ipAssignment = kept.overlay(made.ipAssignment, spec.ipAssignment)
    return made


def _entries(entries, changes, name):
    for change in changes:
        key = change.removeKey if change.operation == "remove" else getattr(change.info, "key", None)
        position = next((at for at, one in enumerate(entries) if one.key == key), None)
        if (position is None) != (change.operation == "add"):
            raise kept.wrong(f"configSpec.vAppConfig.{name}.key")
        if change.operation == "add":
            entries.append(change.info)
        elif change.operation == "edit":
            entries[position] = kept.overlay(entries[position], change.info)
        else:
            del entries[position]
    return entries
