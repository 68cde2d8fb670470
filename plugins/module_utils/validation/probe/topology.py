# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The topology of a site for a report: hosts with GPUs and adapters, switches, VMs, and cables. Pure."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import hops
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import simulated as parts
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import listing, mapping, number

# A GPU that vCenter reports and the guest does not.
UNSEEN = "unseen GPU"


def picture(
    guests: Mapping[str, Any],
    agreement: Mapping[str, Any] | None = None,
    host_ports: Sequence[Any] | None = None,
    switches: Sequence[Any] | None = None,
    measurements: Sequence[Mapping[str, Any]] = (),
    simulated: Sequence[str] = (),
) -> dict[str, Any]:
    """The topology of validation.json.

    guests is {name: {host, gpu, nic, address}}, gpu being the name of a GPU or the number of GPUs in vCenter.
    agreement is the result of roce_agreement_info, host_ports that of esxi_roce_info ([{name, ports}]), switches
    that of roce_qos_info ([{name, platform}]). From the measurements it uses the nvidia-smi output of each guest.
    simulated has the names of parts.PARTS that the site declares.
    """
    gpus = {
        name: _gpus(name, mapping(guest).get("gpu"), measurements, simulated) for name, guest in mapping(guests).items()
    }
    known = {one["name"]: one for one in listing(switches) if mapping(one).get("name")}
    paths = _from_hosts(mapping(agreement).get("paths"), mapping(guests))
    cables = _cables(paths, known)
    hosts: dict[str, list[str]] = {}
    for name, guest in mapping(guests).items():
        if guest.get("host"):
            hosts.setdefault(guest["host"], []).append(name)
    speeds = {
        (one.get("name"), port.get("name")): port.get("speed")
        for one in listing(host_ports)
        for port in listing(mapping(one).get("ports"))
    }
    fake = {kind: bool(parts.among(some, simulated)) for kind, some in parts.TOPOLOGY.items()}
    nics = {name: {"host": one.get("host"), "nic": one.get("nic")} for name, one in mapping(guests).items()}
    return {
        "hops": hops.of(paths, nics, mapping(agreement).get("ends")),
        "hosts": [
            {
                "name": host,
                "simulated": fake["host"],
                "gpus": [gpu for vm in vms for gpu in gpus[vm]],
                "nics": [
                    {
                        "name": nic,
                        "speed_gb": speeds.get((host, nic)),
                        "switch": at[0],
                        "port": at[1],
                        "simulated": fake["nic"],
                    }
                    for (owner, nic), at in sorted(cables.items())
                    if owner == host
                ],
                "vms": vms,
            }
            for host, vms in sorted(hosts.items())
        ],
        "switches": [
            {
                "name": name,
                "platform": str(one.get("platform") or ""),
                "peers": _peers(name, agreement, known),
                "simulated": fake["switch"],
            }
            for name, one in sorted(known.items())
        ],
        "vms": [
            {
                **{key: guest.get(key) or "" for key in ("host", "nic", "address")},
                "name": name,
                "gpu": _short(gpus[name]),
                "simulated": fake["vm"],
            }
            for name, guest in mapping(guests).items()
        ],
    }


def _gpus(
    vm: str, reported: Any, measurements: Sequence[Mapping[str, Any]], simulated: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The GPUs of a VM, each as {name of the card, mig, vgpus, vm, simulated}.

    The name of a vGPU contains the type of its card. The card of the host is unknown.
    """
    looks = [one for one in measurements if one["check"] == "guest.driver" and one["subject"].get("guest") == vm]
    last = looks[-1] if looks else {}
    seen = listing(mapping(last.get("readings")).get("gpus")) or (
        [{"name": reported}] if isinstance(reported, str) else []
    )
    made = [dict(_gpu(mapping(gpu)), vm=vm, simulated=bool(last.get("simulated"))) for gpu in seen]
    lacking = int(number(reported) or 0) - len(made)
    # Only vCenter reports these.
    fake = parts.VCENTER in simulated
    return made + [{"name": UNSEEN, "mig": "", "vgpus": [], "vm": vm, "simulated": fake} for _one in range(lacking)]


def _gpu(reported: Mapping[str, Any]) -> dict[str, Any]:
    name, mig = str(reported.get("name") or "GPU"), "MIG" if reported.get("mig") else ""
    profile = _profile(name)
    board, part = catalogue.board_of(profile), catalogue.mig_type(profile)
    if board is None:
        return {"name": name, "mig": mig, "vgpus": [name] if reported.get("virtualization") == "vgpu" else []}
    # Remarks on a card in the table are in parentheses.
    card = board.title.partition(" (")[0]
    return {"name": card, "mig": part.mig_profile if part else mig, "vgpus": [profile]}


def _profile(name: str) -> str:
    """The vSphere name of a vGPU profile: a guest may have NVIDIA A100-40C for grid_a100-40c."""
    family, _space, rest = name.lower().replace(" ", "_").partition("_")
    known = (f"{one}_{rest}" for one in (family, "grid", "nvidia"))
    return next((one for one in known if catalogue.is_known(one)), name)


def _short(gpus: Sequence[Mapping[str, Any]]) -> str:
    """The GPUs of a VM as text."""
    names = [gpu["vgpus"][0] if gpu["vgpus"] else gpu["name"] for gpu in gpus]
    counted = ((names.count(name), name) for name in dict.fromkeys(names))
    return ", ".join(f"{count} x {name}" if count > 1 else name for count, name in counted)


def _from_hosts(paths: Any, guests: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The paths, with the host instead of a guest that has a port of it in passthrough mode."""

    def end(reported: Mapping[str, Any]) -> dict[str, Any]:
        guest = mapping(guests.get(str(reported.get("name"))))
        if not guest.get("host"):
            return dict(reported)
        return {"name": guest["host"], "port": guest.get("nic") or reported.get("port")}

    return [dict(path, a=end(mapping(path.get("a"))), b=end(mapping(path.get("b")))) for path in listing(paths)]


def _cables(paths: Any, switches: Mapping[str, Any]) -> dict[tuple[str, str], tuple[str, str]]:
    """{(host, adapter): (switch, port)}."""
    found = {}
    for path in listing(paths):
        for one, other in ((path["a"], path["b"]), (path["b"], path["a"])):
            if other["name"] in switches and one["name"] not in switches:
                found[one["name"], one["port"]] = (other["name"], other["port"])
    return found


def _peers(name: str, agreement: Any, switches: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for path in listing(mapping(agreement).get("paths")):
        for one, other in ((path["a"], path["b"]), (path["b"], path["a"])):
            if one["name"] == name and other["name"] in switches:
                found.append({"port": one["port"], "to": other["name"]})
    return found
