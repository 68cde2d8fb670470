# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The differences between the desired state of a host and one read of it by esxi_host_info. Pure.

One read of all settings costs a no-change run less than half of what the modules in check mode cost, one by one. See
"One restart" in docs/architecture.md.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import is_loaded, request_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import results, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import Request

# A profile that lives in a MIG instance counts slices before its memory: grid_a100-3-20c.
MIG_PROFILE = re.compile(r"-\d+-\d+[a-z]+\Z")
MIG_MODE = "mig"
RULESET = "firewall.pvrdma"


@dataclass(frozen=True)
class Gap:
    """One setting of a host that differs. step: the part of the role esxi_host that sets it."""

    step: str
    text: str
    path: str
    requested: str
    found: str


@dataclass(frozen=True)
class Answer:
    """What a module returned in check mode. asked: whether the verification needs it."""

    step: str
    result: Any
    asked: bool = False


def left(proofs: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[dict[str, str]]:
    """The differences that the verification reports; proofs: results of modules that ran after everything was done."""
    request = request_of(inputs)
    answers = [
        Answer("bios", proofs.get("bios"), request.bios),
        Answer("passthrough", proofs.get("passthrough"), request.nic_passthrough or bool(request.directpath_label)),
        Answer("firmware", proofs.get("firmware"), request.firmware),
    ]
    # Another client's maintenance mode is not ended by the role.
    owner = (((proofs.get("maintenance") or {}).get("host") or {}).get("after") or {}).get("owner")
    host = (proofs.get("look") or {}).get("host") or {}
    return reported(gaps(host, request, answers, in_service=owner != "others"))


def reported(found: Iterable[Gap]) -> list[dict[str, str]]:
    """The differences for YAML."""
    return [dict(asdict(gap), differs=f"{gap.path}: requested {gap.requested}, found {gap.found}") for gap in found]


def gaps(
    host: Mapping[str, Any], request: Request, answers: Iterable[Answer] = (), in_service: bool = False
) -> list[Gap]:
    """The differences of a host that esxi_host_info returned; answers are for what that does not read."""
    if not host:
        return [Gap("host", "the host was not read, so nothing verifies it", "host", "verified", "not read")]
    found = [
        *_driver(host, request),
        *_kernel(host, request),
        *_modules(host, request),
        *_graphics(host, request),
        *_mig(host, request),
        *_pvrdma(host, request),
        *_mtu(host, request),
        *_passthrough(host, request),
        *_functions(host, request),
        *_answered(answers),
        *(_service(host) if in_service else ()),
    ]
    # Profiles are what all of it is for: they say little while anything else is missing.
    return found or list(_profiles(host, request))


def _driver(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    family = request.driver.get("family", "nvaie")
    if not request.driver or not family:
        return
    driver = host["driver"] or {"family": "none", "version": "", "loaded": False}
    version = request.driver.get("version")
    if driver["family"] == "none":
        yield Gap("driver", f"the NVIDIA host driver ({family}) is not installed", "driver.family", family, "none")
    elif driver["family"] != family:
        text = f"the {driver['family']} driver {driver['version']} is installed, requested {family}"
        yield Gap("driver", text, "driver.family", family, driver["family"])
    elif version and driver["version"] != version:
        text = f"the driver {driver['version']} is installed, requested {version}"
        yield Gap("driver", text, "driver.version", version, driver["version"])
    elif not driver["loaded"]:
        text = f"the driver {driver['version']} is installed but not loaded; a restart is pending"
        yield Gap("driver", text, "driver.loaded", "true", "false")


def _kernel(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    for name, value in request.kernel_settings.items():
        there, path, asked = host["kernel"].get(name), f"kernel.{name}", _spoken(value)
        if there is None:
            yield Gap("kernel", f"the host has no kernel setting {name}", path, asked, "no such setting")
        elif not _same(there["configured"], value):
            text = f"the kernel setting {name} is {there['configured']}, requested {asked}"
            yield Gap("kernel", text, path, asked, there["configured"])
        elif not _same(there["runtime"], value):
            text = f"the kernel setting {name} is configured but not effective; a restart is pending"
            yield Gap("kernel", text, path, asked, f"{there['runtime']} until the restart")


def _modules(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    for module, options in request.options_on(host).items():
        there = host["modules"].get(module)
        if there is None:
            yield Gap("modules", f"the host has no kernel module {module}", module, shown(options), "no such module")
            continue
        for name, value in options.items():
            path, asked = f"{module}.{name}", str(value)
            configured = (there["options"] or {}).get(name)
            active = (there["active_options"] or {}).get(name)
            if not _same(configured, value):
                text = f"the option {name} of {module} is {configured or 'not set'}, requested {value}"
                yield Gap("modules", text, path, asked, configured or "not set")
            elif there["active_options"] is not None and not _same(active, value):
                text = f"the option {name} of {module} is configured but not effective; a restart is pending"
                yield Gap("modules", text, path, asked, f"{active or 'not set'} until the restart")


def _graphics(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    kind, graphics = request.graphics_type, host["graphics"]
    if kind == "ignore" or graphics is None:
        return
    default = graphics["default_type"]
    if default != kind:
        text = f"the default graphics type is {default}, requested {kind}"
        yield Gap("graphics", text, "graphics.default_type", kind, default)
    given_away = {gpu["id"] for gpu in host["gpus"] if gpu["passthrough"]["configured"]}
    for device in graphics["devices"] if is_loaded(host) else ():
        if device["id"] in given_away:
            continue
        if _of_the_host(device):
            text = (
                f"the mode of the GPU {device['id']} is system_select: the host picks it at power-on, requested {kind}"
            )
            yield Gap("graphics", text, f"graphics.{device['id']}.device_mode", kind, device_mode.SYSTEM)
            continue
        path = f"graphics.{device['id']}.type"
        if device["configured"] != kind:
            text = f"the GPU {device['id']} is set to {device['configured']}, requested {kind}"
            yield Gap("graphics", text, path, kind, device["configured"])
        elif device["active"] != kind:
            text = f"the GPU {device['id']} is set to {kind} and is still {device['active']}"
            yield Gap("graphics", text, path, kind, f"{device['active']} until the restart")


def _mig(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    mode = request.mig
    if mode == "ignore" or not is_loaded(host) or host["graphics"] is None:
        return
    devices = host["graphics"]["devices"]
    on = [device["id"] for device in devices if device["mode"] == MIG_MODE]
    known = any(device["mode"] for device in devices)
    if not known and host["profiles_offered"]:
        # Hosts before 8.0.3 do not report the mode, what they offer does.
        mig = all(MIG_PROFILE.search(name) for name in host["profiles_offered"])
        on = [device["id"] for device in devices] if mig else []
    if mode == "disabled":
        for device in on:
            text = f"MIG is on at the GPU {device}, and time-sliced profiles are requested"
            yield Gap("mig", text, f"mig.{device}", "disabled", "enabled")
    else:
        for device in [one["id"] for one in devices if one["id"] not in on]:
            text = f"MIG is off at the GPU {device}, and MIG-backed profiles are requested"
            yield Gap("mig", text, f"mig.{device}", "enabled", "disabled")


def _pvrdma(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    vmknic = request.vmknic
    if not request.pvrdma:
        return
    tag = host["options"].get("Net.PVRDMAVmknic")
    if tag != vmknic:
        text = f"PVRDMA uses {tag or 'no VMkernel adapter'}, requested {vmknic}; it silently uses TCP"
        yield Gap("pvrdma", text, "Net.PVRDMAVmknic", vmknic, tag or "not set")
    if not host["rulesets"].get("pvrdma"):
        yield Gap("pvrdma", "the firewall ruleset pvrdma is closed", RULESET, "open", "closed")


def _mtu(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    mtu, name = request.mtu, request.vmknic
    if not mtu:
        return
    adapters = [adapter for adapter in host["vmkernel"] if adapter["device"] == name]
    if name and not adapters:
        yield Gap("mtu", f"the host has no VMkernel adapter {name}", f"{name}.mtu", str(mtu), "no such adapter")
    for adapter in adapters:
        if adapter["mtu"] != mtu:
            text = f"the MTU of {adapter['device']} is {adapter['mtu']}, requested {mtu}"
            yield Gap("mtu", text, f"{name}.mtu", str(mtu), str(adapter["mtu"]))
        switch = adapter.get("switch")
        for size in sorted(
            {nic["mtu"] for nic in host["nics"] if switch and nic["switch"] == switch and nic["mtu"] < mtu}
        ):
            # The switch drops frames of the adapter that are larger.
            text = f"the MTU of the switch {switch} is {size}, requested {mtu}"
            yield Gap("mtu", text, f"{switch}.mtu", str(mtu), str(size))


def _passthrough(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    state = request.gpu_passthrough
    if state == "ignore":
        return
    for gpu in host["gpus"]:
        path, found = f"passthrough.{gpu['id']}", gpu["passthrough"]
        configured, active = found["configured"], found["active"]
        if state == "enabled" and _of_the_host(gpu):
            text = f"the mode of the GPU {gpu['id']} is system_select: the host picks it at power-on"
            yield Gap("passthrough", text, f"{path}.device_mode", device_mode.DIRECT, device_mode.SYSTEM)
        elif configured != (state == "enabled"):
            text = f"passthrough of the GPU {gpu['id']} is not {state}"
            yield Gap("passthrough", text, path, state, _state(configured))
        elif configured != active:
            text = f"passthrough of the GPU {gpu['id']} is configured but not effective; a restart is pending"
            yield Gap("passthrough", text, path, state, f"{_state(active)} until the restart")


def _of_the_host(device: Mapping[str, Any]) -> bool:
    """Whether the host picks the mode of a device, which then may change at any time."""
    return (device.get("device_mode") or {}).get("current") == device_mode.SYSTEM


def _state(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"


def _functions(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    """Virtual functions, counted at each port that VMs are to share."""
    number = request.vfs
    for port in host["nics"] if number else ():
        if port["device"] in request.nics:
            found = port["vfs"]["active"]
            if found < number:
                text = f"{port['device']} has {found} virtual functions, {number} are requested{_most(port, number)}"
                yield Gap("vfs", text, f"vfs.{port['device']}", str(number), str(found))


def _most(port: Mapping[str, Any], number: int) -> str:
    most = port["vfs"]["max"]
    return "" if most >= number else f"; its firmware allows {most}: set SRIOV_EN=1 and NUM_OF_VFS={number}"


def _profiles(host: Mapping[str, Any], request: Request) -> Iterator[Gap]:
    profiles = request.profiles
    if not profiles or set(profiles) & set(host["profiles_offered"]):
        return
    offers = ", ".join(host["profiles_offered"]) or "none"
    hint = ""
    if not host["profiles_offered"] and is_loaded(host):
        # The driver loads without them, and the only sign is that no profile is offered (NVIDIA AI Enterprise guide).
        hint = "; the driver is loaded, so check the BIOS: SR-IOV, IOMMU and memory mapped I/O above 4 GB"
    text = f"none of the profiles {', '.join(profiles)} is offered, the host offers {offers}{hint}"
    yield Gap("bios", text, "profiles_offered", ", ".join(profiles), offers)


def _service(host: Mapping[str, Any]) -> Iterator[Gap]:
    if host["in_maintenance"]:
        yield Gap("leave", "the host is still in maintenance mode", "in_maintenance", "false", "true")


def _answered(answers: Iterable[Answer]) -> Iterator[Gap]:
    """What modules would still change, or wait for, when they were asked in check mode."""
    for answer in answers:
        step, found = answer.step, results(answer.result)
        if answer.asked and not found:
            yield Gap(step, f"{step} was not read, so nothing verifies it", step, "verified", "not read")
        for item in found:
            for change in item.get("changes") or []:
                before, after = _spoken(change["before"]), _spoken(change["after"])
                path = _path(item, change["path"])
                yield Gap(step, f"{path} is {before}, requested {after}", path, after, before)
            changed = {change["path"] for change in item.get("changes") or []}
            for waiting in item.get("pending") or []:
                if waiting["what"] not in changed:
                    needs, path = waiting["needs"].replace("_", " "), _path(item, waiting["what"])
                    text = f"{path} is configured but not effective; a {needs} is pending"
                    yield Gap(step, text, path, "effective", f"configured, waits for a {needs}")


def _path(item: Mapping[str, Any], path: str) -> str:
    """The path with the device, where an answer has several and their names are not part of it."""
    device = item.get("pci") or item["index"] if "index" in item else item.get("name") if "mst" in item else None
    return path if device is None else f"{device}.{path}"


def _same(there: object, wanted: object) -> bool:
    if there is None:
        return False
    return _canonical(there) == _canonical(wanted)


def _canonical(value: object) -> list[int] | str:
    """8 is 0x08, and TRUE is true."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return [int(part, 0) for part in str(value).split(",")]
    except ValueError:
        return str(value).lower()


def _spoken(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "nothing" if value in (None, "", []) else str(value)
