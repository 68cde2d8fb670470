# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What a host was promised to be, held against what it is; every gap names the missing thing. Pure."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

# A profile that lives in a MIG instance counts slices before its memory: grid_a100-3-20c.
MIG_PROFILE = re.compile(r"-\d+-\d+[a-z]+\Z")
MIG_MODE = "mig"


@dataclass(frozen=True)
class Gap:
    """One thing that a host is not. step: the part of the role esxi_host that closes it."""

    step: str
    text: str


def gaps(host, wanted, answers=()):
    """The gaps of a host as esxi_host_info tells it; answers are results of modules in check mode, for the rest."""
    found = [
        *_driver(host, wanted),
        *_kernel(host, wanted),
        *_modules(host, wanted),
        *_graphics(host, wanted),
        *_mig(host, wanted),
        *_pvrdma(host, wanted),
        *_mtu(host, wanted),
        *_passthrough(host, wanted),
        *_answered(answers),
        *_service(host, wanted),
    ]
    # Profiles are what all of it is for: they say little while anything else is missing.
    return [asdict(gap) for gap in found or _profiles(host, wanted)]


def _driver(host, wanted):
    family = (wanted.get("driver") or {}).get("family")
    if not family:
        return
    driver = host["driver"] or {"family": "none", "version": "", "loaded": False}
    version = wanted["driver"].get("version")
    if driver["family"] == "none":
        yield Gap("driver", f"the NVIDIA host driver ({family}) is not installed")
    elif driver["family"] != family:
        yield Gap("driver", f"the {driver['family']} driver {driver['version']} is installed, {family} is wanted")
    elif version and driver["version"] != version:
        yield Gap("driver", f"the driver {driver['version']} is installed, {version} is wanted")
    elif not driver["loaded"]:
        yield Gap("driver", f"the driver {driver['version']} is installed and not loaded; a restart is missing")


def _kernel(host, wanted):
    for name, value in (wanted.get("kernel_settings") or {}).items():
        there = host["kernel"].get(name)
        if there is None:
            yield Gap("kernel", f"the host has no kernel setting {name}")
        elif not _same(there["configured"], value):
            yield Gap("kernel", f"the kernel setting {name} is {there['configured']}, {_spoken(value)} is wanted")
        elif not _same(there["runtime"], value):
            yield Gap("kernel", f"the kernel setting {name} is set and not in effect; a restart is missing")


def _modules(host, wanted):
    for module, options in (wanted.get("module_options") or {}).items():
        there = host["modules"].get(module)
        if there is None:
            yield Gap("modules", f"the host has no kernel module {module}")
            continue
        for name, value in options.items():
            configured = (there["options"] or {}).get(name)
            active = (there["active_options"] or {}).get(name)
            if not _same(configured, value):
                yield Gap("modules", f"the option {name} of {module} is {configured or 'not set'}, {value} is wanted")
            elif there["active_options"] is not None and not _same(active, value):
                yield Gap("modules", f"the option {name} of {module} is set and not in effect; a restart is missing")


def _graphics(host, wanted):
    kind = wanted.get("graphics_type")
    graphics = host["graphics"]
    if not kind or graphics is None:
        return
    if graphics["default_type"] != kind:
        yield Gap("graphics", f"the default graphics type is {graphics['default_type']}, {kind} is wanted")
    loaded = bool(host["driver"] and host["driver"]["loaded"])
    given_away = {gpu["id"] for gpu in host["gpus"] if gpu["passthrough"]["configured"]}
    for device in graphics["devices"] if loaded else ():
        if device["id"] in given_away:
            continue
        if device["configured"] != kind:
            yield Gap("graphics", f"the GPU {device['id']} is set to {device['configured']}, {kind} is wanted")
        elif device["active"] != kind:
            yield Gap("graphics", f"the GPU {device['id']} is set to {kind} and is still {device['active']}")


def _mig(host, wanted):
    mode = wanted.get("mig", "ignore")
    loaded = bool(host["driver"] and host["driver"]["loaded"])
    if mode == "ignore" or not loaded or host["graphics"] is None:
        return
    devices = host["graphics"]["devices"]
    on = [device["id"] for device in devices if device["mode"] == MIG_MODE]
    known = any(device["mode"] for device in devices)
    if not known and host["profiles_offered"]:
        # Hosts before 8.0.3 do not tell the mode, what they offer does.
        mig = all(MIG_PROFILE.search(name) for name in host["profiles_offered"])
        on = [device["id"] for device in devices] if mig else []
    if mode == "disabled":
        yield from (Gap("mig", f"MIG is on at the GPU {device}, and time-sliced profiles are wanted") for device in on)
    else:
        off = [device["id"] for device in devices if device["id"] not in on]
        yield from (Gap("mig", f"MIG is off at the GPU {device}, and MIG-backed profiles are wanted") for device in off)


def _pvrdma(host, wanted):
    vmknic = wanted.get("vmknic")
    if not wanted.get("pvrdma"):
        return
    tag = host["options"].get("Net.PVRDMAVmknic")
    if tag != vmknic:
        yield Gap("pvrdma", f"PVRDMA uses {tag or 'no VMkernel adapter'}, {vmknic} is wanted; it is TCP, silently")
    if not host["rulesets"].get("pvrdma"):
        yield Gap("pvrdma", "the firewall ruleset pvrdma is closed")


def _mtu(host, wanted):
    # Templates of older cores hand numbers on as texts.
    mtu = int(wanted.get("mtu") or 0)
    if not mtu:
        return
    for adapter in host["vmkernel"]:
        if adapter["device"] == wanted.get("vmknic") and adapter["mtu"] != mtu:
            yield Gap("mtu", f"the MTU of {adapter['device']} is {adapter['mtu']}, {mtu} is wanted")


def _passthrough(host, wanted):
    state = wanted.get("gpu_passthrough", "ignore")
    if state == "ignore":
        return
    for gpu in host["gpus"]:
        configured, active = gpu["passthrough"]["configured"], gpu["passthrough"]["active"]
        if configured != (state == "enabled"):
            yield Gap("passthrough", f"passthrough of the GPU {gpu['id']} is not {state}")
        elif configured != active:
            yield Gap("passthrough", f"passthrough of the GPU {gpu['id']} is set, not in effect; a restart is missing")


def _profiles(host, wanted):
    profiles = wanted.get("profiles") or []
    if not profiles or set(profiles) & set(host["profiles_offered"]):
        return
    offers = ", ".join(host["profiles_offered"]) or "none at all"
    hint = ""
    if not host["profiles_offered"] and host["driver"] and host["driver"]["loaded"]:
        # The driver loads without them, and the only sign is that no profile is offered (NVIDIA AI Enterprise guide).
        hint = "; the driver is loaded, so look at the BIOS: SR-IOV, IOMMU and memory mapped I/O above 4 GB"
    yield Gap("bios", f"none of the profiles {', '.join(profiles)} is offered, the host offers {offers}{hint}")


def _service(host, wanted):
    if wanted.get("in_service") and host["in_maintenance"]:
        yield Gap("leave", "the host is still in maintenance mode")


def _answered(answers):
    """What modules would still change, or wait for, when they were asked in check mode."""
    for step, answer in answers:
        for item in items(answer):
            for change in item.get("changes") or []:
                before, after = _spoken(change["before"]), _spoken(change["after"])
                yield Gap(step, f"{change['path']} is {before}, {after} is wanted")
            changed = {change["path"] for change in item.get("changes") or []}
            for waiting in item.get("pending") or []:
                if waiting["what"] not in changed:
                    needs = waiting["needs"].replace("_", " ")
                    yield Gap(step, f"{waiting['what']} is set and not in effect; a {needs} is missing")


def items(answer):
    """The results of single objects in what a module answered, also in a loop; none of a task that was skipped."""
    if not isinstance(answer, dict) or answer.get("skipped"):
        return []
    if "results" in answer:
        return [item for one in answer["results"] for item in items(one)]
    single = [answer[key] for key in ("host", "bios") if isinstance(answer.get(key), dict)]
    return single + list(answer.get("gpus") or answer.get("devices") or [])


def _same(there, wanted):
    if there is None:
        return False
    return _canonical(there) == _canonical(wanted)


def _canonical(value):
    """8 is 0x08, and TRUE is true."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return [int(part, 0) for part in str(value).split(",")]
    except ValueError:
        return str(value).lower()


def _spoken(value):
    if isinstance(value, bool):
        return str(value).upper()
    return "nothing" if value in (None, "", []) else str(value)
