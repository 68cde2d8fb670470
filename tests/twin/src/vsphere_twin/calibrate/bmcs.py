"""BMCs: attributes of the BIOS, their dependencies and defaults, resets."""

from __future__ import annotations

import re

from vsphere_twin.model import bios_tables, bmc

from .registry import rule
from .verdict import confirms, either, lacks

VENDORS = {"dell": "dell", "hpe": "hpe", "hewlett": "hpe", "supermicro": "supermicro"}
REBOOT = "#ComputerSystem.Reset"


def vendor_of(resources):
    """The vendor by the words of the system or of the service root."""
    for uri, resource in sorted(resources.items()):
        if re.fullmatch(r"/redfish/v1(?:/Systems/[^/]+)?", uri):
            text = f"{resource.get('Manufacturer') or ''} {resource.get('Vendor') or ''}".lower()
            for word, vendor in VENDORS.items():
                if word in text:
                    return vendor
    return None


def registry_of(resources):
    """The entries of the registry of BIOS attributes: attributes by name, and dependencies; None if it was not read."""
    for resource in resources.values():
        entries = resource.get("RegistryEntries")
        if isinstance(entries, dict) and entries.get("Attributes"):
            attributes = {one.get("AttributeName"): one for one in entries["Attributes"]}
            return attributes, entries.get("Dependencies") or []
    return None


def attributes_of(resources):
    """The active attributes of the BIOS, or None."""
    for uri, resource in resources.items():
        if re.search(r"/Bios$", uri, re.IGNORECASE) and isinstance(resource.get("Attributes"), dict):
            return resource["Attributes"]
    return None


def _of(evidence, vendor):
    return [(name, found) for name, found in sorted(evidence.bmcs.items()) if vendor_of(found) == vendor]


def _maps(dependencies, source, target):
    """Whether a dependency maps one attribute to another."""
    for one in dependencies:
        rule_of = one.get("Dependency") or {}
        sources = [part.get("MapFromAttribute") for part in rule_of.get("MapFrom") or []]
        if source in sources and rule_of.get("MapToAttribute") == target:
            return True
    return False


@rule("dell-virtualization-and-c-states")
def dell(evidence):
    for name, found in _of(evidence, "dell"):
        active, registry = attributes_of(found), registry_of(found)
        own = sorted(one for one in active or {} if re.search(r"vtd|iommu|directedio", one, re.IGNORECASE))
        if active is not None and "ProcVirtualization" in active and own:
            yield either(False, name, f"ProcVirtualization beside {', '.join(own)}")
        elif active is not None and "ProcVirtualization" in active:
            yield confirms(name, "ProcVirtualization, and no attribute of its own for VT-d")
        if registry is None:
            yield lacks("the attribute registry of a Dell BIOS")
        elif {"SysProfile", "ProcCStates"} <= set(registry[0]):
            locked = _maps(registry[1], "SysProfile", "ProcCStates")
            yield either(locked, name, f"ProcCStates {'depends' if locked else 'does not depend'} on SysProfile")


@rule("hpe-workload-profile")
def hpe(evidence):
    for name, found in _of(evidence, "hpe"):
        registry = registry_of(found)
        if registry is None:
            yield lacks("the attribute registry of an HPE BIOS")
        elif {"WorkloadProfile", "MinProcIdlePower"} <= set(registry[0]):
            locked = _maps(registry[1], "WorkloadProfile", "MinProcIdlePower")
            yield either(
                locked, name, f"MinProcIdlePower {'depends' if locked else 'does not depend'} on WorkloadProfile"
            )


@rule("power-cycle-by-vendor")
def power_cycle(evidence):
    for name, found in sorted(evidence.bmcs.items()):
        vendor = vendor_of(found) or "other"
        for uri, resource in found.items():
            if not re.fullmatch(r"/redfish/v1/Systems/[^/]+", uri):
                continue
            action = (resource.get("Actions") or {}).get(REBOOT) or {}
            values = action.get("ResetType@Redfish.AllowableValues") or _action_info(found, action)
            if not values:
                yield lacks("allowed values of ComputerSystem.Reset")
                continue
            if vendor == "other" and not resource.get("Manufacturer"):
                yield lacks("the manufacturer of the system")
                continue
            expected = "PowerCycle" in bmc.RESETS[vendor]
            has = "PowerCycle" in values
            yield either(has is expected, name, f"{vendor}: {'has' if has else 'has no'} PowerCycle")


def _action_info(resources, action):
    info = resources.get(str(action.get("@Redfish.ActionInfo")).rstrip("/")) or {}
    for one in info.get("Parameters") or []:
        if one.get("Name") == "ResetType":
            return one.get("AllowableValues")
    return None


@rule("bios-attributes")
def defaults(evidence):
    for name, found in sorted(evidence.bmcs.items()):
        vendor, registry = vendor_of(found), registry_of(found)
        if vendor not in ("dell", "hpe"):
            continue
        if registry is None:
            yield lacks("the attribute registry of a Dell or HPE BIOS")
            continue
        # HPE's servers with AMD processors have other values. The twin has none of them.
        if vendor == "hpe" and "IntelProcVtd" not in registry[0]:
            yield lacks("the attribute registry of an HPE BIOS for Intel processors")
            continue
        for one in bios_tables.TABLES[vendor].attributes:
            entry = registry[0].get(one.name)
            if entry is None or one.kind != "Enumeration":
                continue
            real = {value.get("ValueName") for value in entry.get("Value") or []}
            if real:
                values = f"{one.name}: {', '.join(sorted(real))}; the twin has {', '.join(one.values)}"
                yield either(set(one.values) <= real, name, values)
