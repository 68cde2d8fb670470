# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Steps that restore the settings of ESXi hosts. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.host import device_mode, mlxconfig
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.state import entry_of
from ansible_collections.aiready.vsphere.plugins.module_utils.host.power.evacuation import DRS_OPTION
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore import drivers
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import cannot, net, step
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.proof_gaps import shown

if TYPE_CHECKING:
    from typing import Iterable, Mapping, Union

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
        Cannot,
        Entry,
        Inverse,
        Net,
        Step,
    )

    Steps = list[Union[Step, Cannot]]

# Parts of a path after the name of the setting's kind.
_LABEL, _SIZE, MODE = ".label", ".vgpu_mode", ".device_mode"
# The failure of the module for a device that cannot have the mode, for example without its driver.
MODE_LOST = "device_mode_not_configurable"
# Failures of the modules whose step has one device, if the host does not list it.
DEVICE_GONE = ("device_not_found", "gpu_not_found")
_SHELL = "TSM-SSH"
_WRITE_ONLY = "The BMC does not return its value."
_IN_GUEST = "Before the run, it was {}. Set it in the guest with mig_partition."
_SHARED_SWITCH = (
    "All hosts of the switch share its MTU, and a larger one also carries smaller packets. Lower it in vCenter after "
    "all of its hosts are restored."
)
_DRS_OPTION = "No module sets it back. Before the run, it was {}. Change it in the advanced options of DRS in vCenter."
_OTHER_PLACE = "Its place in the document is not that of a section of the module. Correct the document in vCenter."


def _bios(entries: Sequence[Entry]) -> Steps:
    settings = {path: one for path, one in _all(entries).items() if path != "bios.job"}
    unknown = {path for path, one in settings.items() if one.back is None}
    known = _without(settings, unknown)
    found: Steps = _lost(entries, settings, unknown, _WRITE_ONLY)
    if known:
        attributes = {_after(path): one.back for path, one in known.items()}
        # The BMC is the one of the inventory.
        args = {"attributes": attributes, "registry": entries[-1].request.get("registry", "required")}
        found.append(step(entries, args, known))
    return found


def _kernel_setting(entries: Sequence[Entry]) -> Steps:
    settings = _all(entries)
    back = {_after(path): one.back for path, one in settings.items()}
    return [step(entries, dict(entries[-1].request, settings=back), settings)] if settings else []


def _module_options(entries: Sequence[Entry]) -> Steps:
    found: Steps = []
    for name, own in _by(entries, "module").items():
        settings = _all(own)
        load = settings.get(f"{name}.enabled")
        options = {path[len(name) + 1 :]: one.back for path, one in settings.items() if one is not load}
        if settings:
            args = dict(own[-1].request, options=options, state="merged")
            args.pop("enabled", None)
            found.append(step(own, dict(args, enabled=load.back) if load else args, settings))
    return found


def _pvrdma(entries: Sequence[Entry]) -> Steps:
    settings = _all(entries)
    if not settings:
        return []
    tag, firewall = settings.get("Net.PVRDMAVmknic"), settings.get("firewall.pvrdma")
    adapter = tag.back if tag is not None else entries[-1].request.get("vmknic")
    args: dict[str, Any] = {"host": entries[-1].request["host"]}
    args["firewall"] = firewall.back if firewall is not None else "unchanged"
    args.update({"state": "present", "vmknic": adapter} if adapter else {"state": "absent"})
    return [step(entries, args, settings)]


def _mtu(entries: Sequence[Entry]) -> Steps:
    found: Steps = []
    for path, one in _all(entries).items():
        if one.of is not None:
            found += _lost(entries, {path: one}, [path], _SHARED_SWITCH)
            continue
        args = dict(entries[-1].request, devices=[_after(path)], mtu=one.back, switch="refuse")
        found.append(step(entries, args, {path: one}))
    return found


def _graphics(entries: Sequence[Entry]) -> Steps:
    known = {path: _mode(path, one) for path, one in _all(entries).items() if path != "graphics.xorg"}
    args: dict[str, Any] = {**_chosen(entries, ("host", "method")), "restart": "none"}
    devices: dict[str, dict[str, Any]] = {}
    for path, one in known.items():
        name = _after(path)
        if name in ("default_type", "assignment_policy"):
            args[name] = one.back
        elif name.endswith(_SIZE):
            devices.setdefault(name[: -len(_SIZE)], {})["vgpu_mode"] = one.back
        elif name.endswith(MODE):
            devices.setdefault(name[: -len(MODE)], {})["device_mode"] = one.back
        else:
            devices.setdefault(name, {})["type"] = one.back
    if devices:
        args["devices"] = [{"id": address, **values} for address, values in sorted(devices.items())]
    return [step(entries, args, known)] if known else []


def _passthrough(entries: Sequence[Entry]) -> Steps:
    found: Steps = []
    devices: dict[str, dict[str, Net]] = {}
    for path, one in _all(entries).items():
        address = _after(path)
        for ending in (_LABEL, MODE):
            address = address[: -len(ending)] if address.endswith(ending) else address
        devices.setdefault(address, {})[path] = _mode(path, one)
    for address, settings in devices.items():
        device: dict[str, Any] = {"id": address}
        for path, one in settings.items():
            if path.startswith("sriov."):
                device["sriov_vfs"] = one.back or 0
            elif path.endswith(_LABEL):
                device["label"] = one.back or ""
            elif path.endswith(MODE):
                device["device_mode"] = one.back
            else:
                device["state"] = one.back
        args = dict(entries[-1].request, devices=[device])
        # Only REST sets a mode, and it sets none at once.
        found.append(step(entries, dict(args, apply="reboot") if "device_mode" in device else args, settings))
    return found


def device_of(path: str) -> str:
    """The address of the device in the path of its mode."""
    return _after(path)[: -len(MODE)]


def of_gone(step: Mapping[str, Any], failure: Mapping[str, Any]) -> list[str]:
    """The settings of devices that the host does not list, such as a GPU that was replaced in another slot."""
    if failure.get("code") in DEVICE_GONE and step["module"] in ("mig_partition", "nic_firmware"):
        return list(step["back"])
    gone = tuple(str(one) for one in failure.get("gone") or ())
    return [path for path in step["back"] if gone and _after(path).startswith(gone)]


def _mode(path: str, one: Net) -> Net:
    """A device mode that the run fixed. Each fixed mode follows from settings that have rows of their own."""
    return replace(one, also=device_mode.FIXED) if path.endswith(MODE) else one


def _mig(entries: Sequence[Entry]) -> Steps:
    settings = _all(entries)
    if not settings:
        return []
    if entries[-1].stage == "guests":
        return [
            cannot(entries, path, _IN_GUEST.format(shown(one.back))) for path, one in settings.items() if one.differs
        ]
    address = entries[-1].ids.get("pci") or entries[-1].ids.get("uuid")
    args = {**_chosen(entries, ("in_use", "vsphere", "lost_gpus", "model")), "gpus": [address]}
    layout, mode = settings.get("layout"), settings.get("mode")
    args["mode"] = mode.back if mode is not None else "enabled"
    if any(entry.request.get("vsphere") == "instances" for entry in entries):
        args["vsphere"] = "instances"
    if layout is not None and args["mode"] == "enabled":
        args["layout"] = [entry_of(line) for line in layout.back]
        # A restart removes all instances, and the mode of GPUs of the Hopper generation and later.
        settings["layout"] = replace(layout, also=(*layout.also, []))
    made = step(entries, args, settings)
    return [made if mode is not None else replace(made, follows=("mode",) if args.get("layout") else ())]


def _firmware(entries: Sequence[Entry]) -> Steps:
    settings = _all(entries)
    back = {path: mlxconfig.plain(str(one.back)) for path, one in settings.items()}
    device = entries[-1].ids.get("pci") or entries[-1].label
    args = dict(entries[-1].request, devices=[device], settings=back)
    return [step(entries, args, settings)] if settings else []


def _service(entries: Sequence[Entry]) -> Steps:
    found: Steps = []
    for own in _by(entries, "service").values():
        settings = _all(own)
        if settings:
            running = settings.get("running")
            state = "started" if running is not None and running.back else "stopped"
            found.append(
                step(own, dict(own[-1].request, state="restored" if "borrowed" in settings else state), settings)
            )
    return found


def returns_shell(step: Mapping[str, Any]) -> bool:
    """Whether a step stops SSH that this collection has started for a limited time."""
    args = step["args"]
    return step["module"] == "esxi_service" and (args.get("service"), args["state"]) == (_SHELL, "restored")


def _profile(entries: Sequence[Entry]) -> Steps:
    places = entries[-1].request.get("places") or {}
    found: Steps = []
    known: dict[str, Net] = {}
    sections: dict[str, dict[str, Any]] = {}
    for path, one in _all(entries).items():
        section = next((name for name, place in places.items() if path.startswith(f"{place}/")), None)
        if section is None:
            found += _lost(entries, {path: one}, [path], _OTHER_PLACE)
            continue
        known[path] = one
        *above, name = path[len(places[section]) + 1 :].split("/")
        part = sections.setdefault(section, {})
        for key in above:
            part = part.setdefault(key, {})
        # Null removes a setting that the document did not have.
        part[name] = one.back
    if known:
        found.append(step(entries, dict(entries[-1].request, settings=sections, uncovered="report"), known))
    return found


def _all(entries: Sequence[Entry]) -> dict[str, Net]:
    """Also settings that are as before, because they may wait for the restart of the host."""
    return net(entries, settled=True)


def _lost(entries: Sequence[Entry], settings: Mapping[str, Net], paths: Iterable[str], why: str) -> Steps:
    return [cannot(entries, path, why) for path in sorted(paths) if settings[path].differs]


def _after(path: str) -> str:
    return path.partition(".")[2]


def _by(entries: Iterable[Entry], option: str) -> dict[str, list[Entry]]:
    """The entries by a parameter of their module that names a part of the host."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(str(entry.request.get(option)), []).append(entry)
    return found


def _chosen(entries: Sequence[Entry], names: Iterable[str]) -> dict[str, Any]:
    request = entries[-1].request
    return {name: request[name] for name in names if name in request}


def _without(settings: Mapping[str, Net], names: Iterable[str]) -> dict[str, Net]:
    left_out = set(names)
    return {path: one for path, one in settings.items() if path not in left_out}


def _maintenance(entries: Sequence[Entry]) -> Steps:
    """Maintenance mode passes. The DRS option of the cluster, which lets DRS evacuate vGPUs, stays."""
    settings = {path: one for path, one in net(entries).items() if path.endswith(f".{DRS_OPTION}")}
    return [cannot(entries, path, _DRS_OPTION.format(shown(one.back))) for path, one in settings.items()]


INVERSE: Mapping[str, Inverse] = {
    "bios_settings": _bios,
    "cluster_configuration": _profile,
    "esxi_maintenance": _maintenance,
    "esxi_kernel_setting": _kernel_setting,
    "esxi_module_options": _module_options,
    "esxi_service": _service,
    "host_graphics": _graphics,
    "mig_partition": _mig,
    "nic_firmware": _firmware,
    drivers.MODULE: drivers.inverse,
    "pci_passthrough": _passthrough,
    "pvrdma_host": _pvrdma,
    "vmkernel_mtu": _mtu,
}
