"""Guests of a captured site: its own settings, with the services of the lab instead of those of the site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from vsphere_twin.model import guest as guest_model

from . import playbook

STAGES = ("guests", "runtime", "training", "validation")
LAB = playbook.LAB / "group_vars"
SERVICES = "the services and the login of the site are not reachable from the simulated data centre"
CONTAINERS = "guests are containers with simulated GPUs on one machine"
# What guests get from the lab, by stage: keys that replace those of the site, with the reason. The others stay.
REPLACED: Mapping[str, Mapping[str, str]] = {
    "guests": {
        **dict.fromkeys(("user", "driver", "licence"), SERVICES),
        "limits": CONTAINERS,
    },
    "runtime": {
        **dict.fromkeys(("source", "vendor_repository", "toolkit_repository", "toolkit_version", "proxy"), SERVICES),
        **dict.fromkeys(("registries", "proof_image"), SERVICES),
        **dict.fromkeys(("engine", "memlock"), CONTAINERS),
    },
    # Restarts and elastic trainings need a command and mounts of the site.
    "training": {
        **dict.fromkeys(("image", "engine", "builtin", "command", "mounts", "restarts", "elastic"), SERVICES),
        **dict.fromkeys(("launcher", "controller", "result_dir"), SERVICES),
        **dict.fromkeys(("arguments", "gpus", "slots"), CONTAINERS),
    },
    # Thresholds for real hardware mean nothing here.
    "validation": {},
}
# Own choice: each guest is a container with its own systemd and a rank of the training, on one machine.
MOST = 8
TEMPLATE = "The variable site is a template, so its VMs are not known. Write site as a mapping."
Variables = dict[str, Any]


def impossible(site: Any, seed: Mapping[str, Any]) -> str:
    """The reason why the VMs of a site cannot have guests, with its fix; an empty text if they can."""
    if not isinstance(site, dict):
        return TEMPLATE
    counts = [row.get("count") or 1 for row in _rows(site)]
    many = sum(one for one in counts if isinstance(one, int))
    if many > MOST:
        return (
            f"The site has {many} VMs, and at most {MOST} guests run on one machine. "
            "Rehearse a copy of the inventory with fewer VMs."
        )
    machine = site.get("machine")
    machine = machine if isinstance(machine, dict) else {}
    template = machine.get("template")
    sources = {template.rpartition("/")[2]} if isinstance(template, str) else set()
    sources |= _behind(seed, machine.get("content_item"))
    unfit = [
        vm["name"]
        for vm in _vms(seed)
        if (sources.intersection((vm["name"], *vm.get("moids", ()))) or _of_site(vm["name"], site)) and not _linux(vm)
    ]
    if unfit:
        names = ", ".join(unfit)
        return f"The capture shows no Linux with VMware Tools in {names}. Use VMs and a template that have both."
    return ""


def _behind(seed: Mapping[str, Any], item: Any) -> set[str]:
    """The VMs behind the items of this name in the content libraries."""
    return {
        one["from"]
        for center in seed["datacenters"]
        for library in center.get("libraries", ())
        for one in library.get("items", ())
        if item is not None and one["name"] == item and "from" in one
    }


def _linux(vm: Mapping[str, Any]) -> bool:
    return vm.get("tools") != "none" and str(vm.get("guest_id", "")).startswith(guest_model.LINUX)


def _vms(seed: Mapping[str, Any]) -> Iterable[Variables]:
    for center in seed["datacenters"]:
        yield from center.get("vms", ())


def stages_of(site: Any) -> list[str]:
    """The stages inside of guests that a site has. A template may have all of them."""
    return [one for one in STAGES if not isinstance(site, dict) or site.get(one)]


def lab() -> Variables:
    """The lab's variables of all guests, of which each stage has one: lab_guests, lab_runtime."""
    return yaml.safe_load((LAB / "all" / "site.yml").read_text())


def overlaid(site: Variables) -> tuple[Variables, list[dict[str, Any]]]:
    """The stages of a site inside of guests, with what the lab replaces as assumptions."""
    ours, made = lab(), Variables()
    assumed: list[dict[str, Any]] = []
    for stage in stages_of(site):
        own, lab_has = site[stage], ours[f"lab_{stage}"]
        if not isinstance(own, dict) or stage == "validation":
            made[stage] = f"{{{{ lab_{stage} }}}}"
            assumed.append(_row(stage, "settings", CONTAINERS))
            continue
        replaced = [key for key in REPLACED[stage] if key in own or key in lab_has]
        kept = {key: value for key, value in own.items() if key not in replaced}
        made[stage] = {**kept, **{key: lab_has[key] for key in replaced if key in lab_has and _due(stage, key, own)}}
        for reason in dict.fromkeys(REPLACED[stage].values()):
            keys = [key for key in replaced if key in own and REPLACED[stage][key] == reason]
            if keys:
                assumed.append(_row(stage, ", ".join(keys), reason))
    return made, assumed


def _due(stage: str, key: str, own: Mapping[str, Any]) -> bool:
    """Whether the lab's value is used: a site without a licence or a driver for its guests gets none."""
    return stage != "guests" or key not in ("driver", "licence") or key in own


def _row(stage: str, fact: str, reason: str) -> dict[str, Any]:
    return {"object": f"site.{stage}", "fact": fact, "value": "those of the lab", "reason": reason}


def variables(endpoint: Mapping[str, Any], folder: str) -> Variables:
    """Variables that all hosts need for the services of the lab."""
    ours = {key: value for key, value in lab().items() if key.startswith("lab_")}
    passwords = {"site_registry_passwords": lab()["site_registry_passwords"]}
    return {**ours, **passwords, "lab_endpoint": dict(endpoint), "lab_dir": folder}


def connection() -> Variables:
    """How Ansible reaches guests of the lab."""
    return yaml.safe_load((LAB / "training_guests" / "connection.yml").read_text())


def quiet(seed: Mapping[str, Any], site: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Leave VMs of others without a guest in a seed: each guest is a container. What is assumed of them."""
    found = []
    for vm in _vms(seed):
        if vm.get("power") == "on" and vm.get("tools") != "none" and not _of_site(vm["name"], site):
            vm["tools"] = "none"
            found.append(vm["name"])
    reason = "the site does not define it"
    return [{"object": f"VM {name}", "fact": "guest", "value": "none", "reason": reason} for name in found]


def _of_site(name: str, site: Mapping[str, Any]) -> bool:
    return any(
        name in (row.get("name"), str(row.get("path", "")).rpartition("/")[2])
        or bool(row.get("prefix") and name.startswith(row["prefix"]))
        for row in _rows(site)
    )


def _rows(site: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    rows = site.get("vms")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
