"""Options of roles that are keys of the site: type, choices, default and text are written once, in its specification.

`python -m house.role_options` lists the options that differ. With `--write`, it writes them into the specifications of
the roles.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from house.collection import ROOT, load
from house.handover import from_site, receivers

# The parts of a site where a role's options have the same names, and options with another name there.
PARTS = {
    "container_runtime": ("runtime.",),
    "esxi_host": ("hosts.", "", "network."),
    "guest_vm": ("guests.",),
    "horovod": ("training.",),
    "kubernetes": ("kubernetes.",),
    "switch": ("fabric.",),
    "training_vm": ("machine.", "gpu.", "network.", "placement.", ""),
    "validation": ("validation.",),
}
NAMED = {
    "esxi_host_bios_attributes": "bios.attributes",
    "guest_vm_user": "guests.training_user",
    "training_vm_gpu_assignment": "gpu.passthrough.assignment",
    "training_vm_gpu_devices": "gpu.passthrough.devices",
    "training_vm_gpu_label": "gpu.passthrough.label",
    "training_vm_gpu_mode": "gpu.mode",
    "training_vm_nic_assignment": "network.assignment",
    "training_vm_nic_devices": "network.devices",
    "training_vm_nic_label": "network.label",
    "training_vm_owner": "name",
}
# A filter makes something else of the key of this name.
WORKED_OUT = {
    "esxi_host_vms",
    "horovod_controller",
    "horovod_gpus",
    "horovod_launcher",
    "kubernetes_cluster",
    "kubernetes_gpu_operator",
    "kubernetes_network_operator",
    "kubernetes_training",
    "training_vm_gpudirect",
    "validation_osu",
}
# What a role has where the site has nothing.
NOTHING: dict[str, Any] = {"str": "", "path": "", "int": 0, "dict": {}, "list": []}
KINDS = ("type", "elements", "choices")
# The text of the role says more, or something else, such as what the role does with an empty value.
OWN_TEXT = {
    "container_runtime_cdi",
    "container_runtime_engine",
    "container_runtime_proof_image",
    "container_runtime_proxy",
    "container_runtime_registries",
    "container_runtime_restart",
    "container_runtime_source",
    "container_runtime_toolkit_repository",
    "container_runtime_toolkit_version",
    "container_runtime_vendor_repository",
    "esxi_host_bios_attributes",
    "esxi_host_cluster",
    "esxi_host_datacenter",
    "esxi_host_driver",
    "esxi_host_evacuation",
    "esxi_host_guest_shutdown_timeout_s",
    "esxi_host_mtu",
    "esxi_host_nics",
    "esxi_host_vfs",
    "esxi_host_vmknic",
    "guest_vm_driver",
    "guest_vm_limits",
    "guest_vm_ntp_servers",
    "guest_vm_rdma",
    "horovod_elastic",
    "horovod_limits",
    "kubernetes_kubeconfig",
    "training_vm_cluster",
    "training_vm_cores_per_socket",
    "training_vm_cpus",
    "training_vm_datacenter",
    "training_vm_datastore",
    "training_vm_drs",
    "training_vm_folder",
    "training_vm_gpu_assignment",
    "training_vm_gpu_devices",
    "training_vm_gpu_mode",
    "training_vm_hardware_version",
    "training_vm_max_per_vm",
    "training_vm_memory_gb",
    "training_vm_mmio_size_gb",
    "training_vm_nic_assignment",
    "training_vm_numa",
    "training_vm_owner",
    "training_vm_path",
    "training_vm_policy",
    "training_vm_portgroup",
    "training_vm_prune",
    "training_vm_switch",
    "training_vm_template",
    "validation_fail_on",
    "validation_nccl_command",
}
# Without a site, the role changes or runs nothing that is not asked for. A site has to name its mode.
OWN_DEFAULT = {"esxi_host_mtu", "esxi_host_vfs", "training_vm_gpu_mode", "validation_nccl_command"}
# DirectPath of a site is passthrough with an assignment of its own here.
OWN_CHOICES = {
    "training_vm_gpu_assignment",
    "training_vm_gpu_mode",
    "training_vm_nic_assignment",
    "training_vm_path",
}
SECRETS = {"site_userdata": "training_vm_userdata"}
WIDTH = 130


def keys(role: str) -> dict[str, str]:
    """{option: key of the site}."""
    site = _site()
    found = {}
    for option, key in from_site(role).items():
        named = [NAMED[option]] if option in NAMED else [part + key for part in PARTS[role] if part + key in site]
        if named and option not in WORKED_OUT:
            found[option] = named[0]
    return found


def wanted(role: str) -> dict[str, dict[str, Any]]:
    """{option: its type, choices, default and text by the specification of the site}."""
    names = {key: option for option, key in keys(role).items()}
    return {option: dict(_wanted(option, _site()[key], names)) for option, key in keys(role).items()}


def _wanted(option: str, entry: dict[str, Any], names: dict[str, str]) -> Iterator[tuple[str, Any]]:
    kinds = [kind for kind in KINDS if kind in entry and (kind != "choices" or option not in OWN_CHOICES)]
    yield from ((kind, entry[kind]) for kind in kinds)
    default = entry.get("default")
    if option not in OWN_DEFAULT:
        yield "default", NOTHING[entry["type"]] if default is None else default
    if option not in OWN_TEXT:
        yield "description", [_of_role(line, names) for line in entry["description"]]


def _of_role(text: str, names: dict[str, str]) -> str:
    """A text of the site with the names of the role's options."""
    text = re.sub(r"O\(site\.([\w.]+)", lambda found: f"O({names.get(found[1], found[0][2:])}", " ".join(text.split()))
    return re.sub(r"O\((site_\w+)\)", lambda found: f"O({SECRETS.get(found[1], found[1])})", text)


@cache
def _site() -> dict[str, dict[str, Any]]:
    def below(prefix: str, options: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, option in options.items():
            yield prefix + name, option
            yield from below(f"{prefix}{name}.", option.get("options", {}))

    return dict(below("", options_of("site")["site"]["options"]))


def options_of(role: str) -> dict[str, dict[str, Any]]:
    """The options of a role as it has them."""
    return load(f"roles/{role}/meta/argument_specs.yml")["argument_specs"]["main"]["options"]


def differences(role: str) -> list[str]:
    """Each option that is not what the site's specification says, with what differs."""
    have = options_of(role)
    return [
        f"{option}: {kind} is {_plain(have[option].get(kind))!r}, the site has {value!r}"
        for option, want in wanted(role).items()
        for kind, value in want.items()
        if _plain(have[option].get(kind)) != value
    ]


def _plain(value: Any) -> Any:
    """A value with the lines of its texts joined."""
    return (
        [_plain(line) for line in value]
        if isinstance(value, list)
        else " ".join(value.split())
        if isinstance(value, str)
        else value
    )


def written(text: str, role: str) -> str:
    """A specification with the options that differ written anew; whatever else they have stays."""
    have = options_of(role)
    for option, want in wanted(role).items():
        if {kind: _plain(have[option].get(kind)) for kind in want} != want:
            (block,) = re.findall(rf"^      {option}:\n(?: {{8}}.*\n)+", text, re.M)
            text = text.replace(block, _renewed(block, want))
    return text


def _renewed(block: str, want: dict[str, Any]) -> str:
    """The lines of an option with some of its keywords replaced."""
    name, *parts = re.split(r"^(?= {8}\w)", block, flags=re.M)
    old = {part.split(":")[0].strip(): part for part in parts}
    return name + "".join({**old, **{kind: _lines(kind, value) for kind, value in want.items()}}.values())


def _lines(kind: str, value: Any) -> str:
    if kind != "description":
        plain = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("\n...\n").strip()
        return f"        {kind}: {plain if value else json.dumps(value)}\n"
    lines = []
    for text in value:
        folded = ": " in text or " #" in text or text[0] in "\"'{[&*!|>%@`"
        opened = ["          - >-"] if folded else []
        first = " " * 12 if folded else "          - "
        wrapped = textwrap.TextWrapper(WIDTH, first, " " * 12, break_on_hyphens=False).wrap(text)
        lines += opened + wrapped
    return "        description:\n" + "".join(f"{line}\n" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the options into the roles' specifications")
    write = parser.parse_args().write
    found = [line for role in receivers() for line in differences(role)]
    print(*found, sep="\n")
    if write:
        for role in receivers():
            path: Path = ROOT / "roles" / role / "meta" / "argument_specs.yml"
            path.write_text(written(path.read_text(), role))
    return 1 if found and not write else 0


if __name__ == "__main__":
    sys.exit(main())
