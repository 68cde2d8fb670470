# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Plan of a run: the part of each guest, the commands to start, and the reasons of a refusal. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.training import container, files, images, launch
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import RDMA_PATHS
from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import (
    CHOOSES_GID,
    GID_INDEX,
    Place,
    environment,
    gid_indexes,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import Gid, ImageReport, Look
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import HostRequest, TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import Setting

LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Plan:
    """A run before it begins."""

    run: str
    request: TrainingRequest
    places: tuple[Place, ...]
    settings: tuple[Setting, ...]
    launches: tuple[launch.Launch, ...]
    containers: dict[str, list[str]]  # {guest: argv}
    pulls: tuple[str, ...]  # guests whose engine has to fetch the image first
    leftovers: dict[str, list[str]] = field(default_factory=dict)  # {guest: runs whose containers are removed first}
    remarks: tuple[str, ...] = ()
    result: dict[str, Any] | None = None


def nodes(names: Sequence[str]) -> dict[str, str]:
    """{guest: its name within the run}. Launchers cut names at the first dot, and take no others than of hosts."""
    short = {name: name.partition(".")[0] for name in names}
    usable = {
        name
        for name, node in short.items()
        if LABEL.fullmatch(node) and not node.isdecimal() and list(short.values()).count(node) == 1
    }
    return {name: short[name] if name in usable else f"guest-{number}" for number, name in enumerate(names, 1)}


def plan(request: TrainingRequest, looks: Mapping[str, Look], run: str, limits: tuple[int, int]) -> Plan:
    """Return the plan for guests with these readings, in the order of the hosts; refuses invalid requests."""
    names = nodes([host.name for host in request.hosts])
    places = tuple(_place(request, host, looks[host.name], names[host.name]) for host in request.hosts)
    for number, place in enumerate(places):
        _refuse(request, place, looks[place.name])
        _refuse_ports(request, place, looks[place.name], number == 0)
    _refuse_together(request, places)
    made = Plan(
        run,
        request,
        places,
        (),
        (),
        {place.name: container.run_argv(request, place, places, run, limits) for place in places},
        tuple(place.name for place in places if request.pull == "always" or looks[place.name].image is None),
        {place.name: [left.run for left in looks[place.name].leftovers] for place in places},
    )
    # A newly pulled image may be another one.
    return informed(made, {} if request.pull == "always" else looks)


def informed(made: Plan, looks: Mapping[str, Look]) -> Plan:
    """Return the plan with all data that follows from the image, if the readings contain it: before the pull, they do
    not."""
    request, places = made.request, made.places
    held = [looks[place.name].image for place in places if place.name in looks]
    nccl = images.nccl_of(request.image, next((image for image in held if image is not None), None))
    _refuse_gids(request, places, nccl)
    settings = tuple(environment(request, places, nccl))
    starts = tuple(launch.launches(request, places, settings))
    return replace(made, settings=settings, launches=starts, remarks=tuple(_unsure(request, places, nccl)))


def doubts(made: Plan, reported: str | None) -> Iterator[str]:
    """Remarks on a run whose NCCL reports another version in its log than its image."""
    nccl = images.version(reported)
    unset = GID_INDEX not in [setting.name for setting in made.settings]
    if nccl is not None and nccl < CHOOSES_GID and unset and _shares_rdma(made.request, made.places):
        yield (
            f"NCCL is {reported}, which does not find the GID of RoCE v2 by itself, and {GID_INDEX} was not set. NCCL "
            f"may have used RoCE v1. RoCE v2 has {_reported_indexes(made.places)}: set {GID_INDEX} in environment."
        )


def ranks_environment(made: Plan, image: ImageReport | None) -> dict[str, str]:
    """Return all variables of a rank, including those of the image."""
    return files.clean_environment(image, made.settings)


def _place(request: TrainingRequest, host: HostRequest, look: Look, node: str) -> Place:
    address, interface = host.address or "", host.interface or request.interface
    if look.engine == "" and look.engine_said == "" and not look.interfaces:
        raise _error(host.name, "cannot be read", "It answered nothing", "Check that it runs Linux", "no_answer")
    if interface and interface not in look.interfaces:
        raise _error(
            host.name,
            f"has no interface {interface} for the training",
            f"It has {', '.join(sorted(look.interfaces))}",
            "Set interface to one of these, or set only the address of the data path",
            "no_interface",
        )
    if address:
        holder = look.interface_of(address)
        if holder is None or (interface and holder != interface):
            held = "; ".join(f"{name} {one}" for name, ones in sorted(look.addresses.items()) for one, _length in ones)
            where = f"{interface} does not have" if interface else "does not have"
            raise _error(
                host.name,
                f"{where} the address {address} of the data path",
                f"It has {held}" if held else "It has no IPv4 address",
                "Set the address on the adapter, or correct address of this guest",
                "no_address",
            )
        interface = holder
    elif interface:
        own = look.addresses.get(interface, [])
        if not own:
            raise _error(
                host.name,
                f"{interface} cannot be used for the training",
                "It has no IPv4 address",
                "Set one on the interface",
                "no_address",
            )
        address = own[0][0]
    if not interface:
        # A single guest has no peer.
        return Place(host.name, node, "", "", host.slots)
    mtu, up = look.interfaces.get(interface, (0, False))
    if not up:
        raise _error(
            host.name,
            f"{interface} cannot be used for the training",
            "It is down",
            "Set it up, and check that its adapter is connected",
            "interface_down",
        )
    prefix = next(length for one, length in look.addresses[interface] if one == address)
    place = Place(host.name, node, address, interface, host.slots, prefix, mtu)
    return replace(place, gid=_gid(request, place, look)) if request.data_path in RDMA_PATHS else place


def _gid(request: TrainingRequest, place: Place, look: Look) -> Gid:
    gid = look.gid_of(place.interface, place.address)
    if gid is not None:
        return gid
    of_interface = [entry for entry in look.gids if entry.interface == place.interface]
    if of_interface:
        found = f"The GIDs of {of_interface[0].device} are {', '.join(f'{e.gid} ({e.kind})' for e in of_interface)}"
        todo = "Check that the interface is up and that its address is the one of the data path"
    elif look.gids or look.ports_down:
        devices = {f"{entry.device} at {entry.interface or 'no interface'}" for entry in look.gids}
        found = f"The guest has {', '.join(sorted(devices) + list(look.ports_down))}"
        todo = "Set the address of the adapter that has RDMA, or check the state of its port"
    else:
        found, todo = "The guest has no RDMA device", "Check the adapter of the VM and its driver in the guest"
    raise _error(
        place.name,
        f"data path {request.data_path}: {place.interface} with {place.address} has no GID of RoCE v2",
        found,
        f"{todo}, or use data_path: tcp",
        "no_rdma_device",
    )


def _refuse(request: TrainingRequest, place: Place, look: Look) -> None:
    engine = request.container_engine
    if not look.engine:
        raise _error(
            place.name,
            f"cannot run the container of the training with {engine}",
            f"{engine} does not answer: {look.engine_said or 'there is no such command'}",
            f"Install and start {engine}, and run the task with the rights to use it (become)",
            "no_engine",
        )
    if request.gpus == "all" and look.gpus < place.slots:
        raise _error(
            place.name,
            f"has too few GPUs for {place.slots} rank(s)",
            f"nvidia-smi shows {look.gpus}",
            "Set fewer slots, check the driver and its licence, or use gpus: none",
            "too_few_gpus",
        )
    if request.data_path in RDMA_PATHS and not look.rdma_files:
        raise _error(
            place.name,
            "has no files in /dev/infiniband for the container",
            "The folder is empty, although the guest has an RDMA device",
            "Run modprobe for ib_uverbs and rdma_ucm (package rdma-core)",
            "no_rdma_files",
        )
    if look.image is None and request.pull == "never":
        raise _error(
            place.name,
            f"has no image {request.image}",
            "With pull: never, the image is not pulled",
            "Use pull: missing, or load the image into the engine",
            "no_image",
        )
    if look.work_dir != "ok":
        words = {"closed": "The user of the task cannot write there", "full": "Less than 16 MB are free there"}
        raise _error(
            place.name,
            f"{request.work_dir} cannot hold the files of the run",
            words.get(look.work_dir, look.work_dir),
            "Run the task with become, free space, or set another work_dir",
            "no_work_dir",
        )


def _refuse_ports(request: TrainingRequest, place: Place, look: Look, first: bool) -> None:
    needed = launch.ports(request, first)
    taken = [str(port) for port in look.ports_taken if port in needed]
    # A container of a run that was killed still listens for a while, and is removed before this run starts.
    if not taken or any(left.running for left in look.leftovers):
        return
    raise _error(
        place.name,
        f"{'port' if len(taken) == 1 else 'ports'} {', '.join(taken)} {'is' if len(taken) == 1 else 'are'} not free "
        f"for the containers of {request.engine}",
        f"Another program listens on {'it' if len(taken) == 1 else 'them'}",
        "Set another ssh_port" if request.engine == "horovod" else "Stop this program. ss -ltnp on the guest shows it",
        "port_taken",
    )


def _refuse_together(request: TrainingRequest, places: Sequence[Place]) -> None:
    if len(places) < 2:
        return
    interfaces = sorted({place.interface for place in places})
    gloo = request.engine != "horovod" or request.launcher == "horovodrun"
    if len(interfaces) > 1 and gloo:
        raise OperatorError(
            "The guests",
            "the interface of the data path has different names, and this launcher accepts only one",
            f"They have {', '.join(f'{place.interface} on {place.name}' for place in places)}",
            "Give the adapters the same name, or use launcher: mpirun",
            "interfaces_differ",
        )


def _shares_rdma(request: TrainingRequest, places: Sequence[Place]) -> bool:
    return len(places) > 1 and request.data_path in RDMA_PATHS


def _reported_indexes(places: Sequence[Place]) -> str:
    indexes = gid_indexes(places)
    return f"the {'index' if len(indexes) == 1 else 'indexes'} {', '.join(map(str, indexes))}"


def _cannot_share_gid(request: TrainingRequest, places: Sequence[Place]) -> bool:
    """Return whether one GID index does not fit all guests, and the user gave none."""
    return _shares_rdma(request, places) and GID_INDEX not in request.environment and len(gid_indexes(places)) > 1


def _refuse_gids(request: TrainingRequest, places: Sequence[Place], nccl: tuple[int, int] | None) -> None:
    if nccl is not None and nccl < CHOOSES_GID and _cannot_share_gid(request, places):
        raise OperatorError(
            "The guests",
            "the GID index differs, and NCCL of this image accepts only one for all guests",
            f"RoCE v2 has {_reported_indexes(places)}",
            "Use an image with NCCL 2.21 or later",
            "gids_differ",
        )


def _unsure(request: TrainingRequest, places: Sequence[Place], nccl: tuple[int, int] | None) -> Iterator[str]:
    if nccl is None and request.gpus == "all" and _cannot_share_gid(request, places):
        yield (
            f"The version of NCCL in the image is not known, and RoCE v2 has {_reported_indexes(places)} on the guests."
            f" {GID_INDEX} is therefore not set. NCCL before 2.21 would use RoCE v1. Set the variable NCCL_VERSION in "
            "the image."
        )


def refuse_images(request: TrainingRequest, looks: Mapping[str, Look]) -> None:
    """A tag that was moved between two pulls gives guests different images."""
    ids: dict[str, list[str]] = {}
    for host in request.hosts:
        image = looks[host.name].image
        if image is not None:
            ids.setdefault(image["id"], []).append(host.name)
    if len(ids) > 1:
        raise OperatorError(
            f"Image {request.image}",
            "is not the same on all guests",
            "; ".join(f"{', '.join(names)}: {one[:19]}" for one, names in sorted(ids.items())) + " have different IDs",
            "Use pull: always, or name the image by its digest",
            "images_differ",
        )


def refuse_lack(request: TrainingRequest) -> None:
    """Refuse a published image that is known to be unsuitable, before gigabytes of it are pulled."""
    found = images.lack(request.image, request.engine)
    if found is not None:
        what, todo = found
        raise OperatorError(
            f"Image {request.image}",
            f"has no {what}",
            f"The engine {request.engine} needs it",
            todo,
            "image_lacks",
        )


def _error(name: str, wanted: str, found: str, todo: str, code: str) -> OperatorError:
    return OperatorError(name, wanted, found, todo, code, host=name)
