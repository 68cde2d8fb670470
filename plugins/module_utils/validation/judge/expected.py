# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The rows of the check suite for a site, whether or not they were measured. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.pairs import rounds

if TYPE_CHECKING:
    Places = Mapping[str, Mapping[str, Any]]

# Requirements of a site with their defaults; everything else is derived from them.
DEFAULTS: dict[str, Any] = {
    "guests": [],
    "data_path": "tcp",
    "speed_gb": None,  # of the network adapters; None if unknown
    "mtu": None,  # of the data path in the guests
    "gpus": "all",  # or none
    "gpus_per_guest": 1,
    "gpu": "",  # its name, such as A100
    "licence": True,  # whether the GPUs need a licence
    "nvlink": False,  # whether the GPUs of a guest must have NVLink connections
    "nvlink_gpus": 0,  # of an NVLink set; 0 if all GPUs of a guest are one set
    "gpudirect": "auto",
    "lossless": True,
    "priority": 3,
    "memlock": "unlimited",
    "driver": None,  # the requested version
    "addresses": {},  # {guest: the address that the site sets on its data path}
    "interfaces": {},  # {guest: its interface on the data path}
    "share_hosts": False,  # whether VMs may share a host
    "rounds": None,  # of pairs, at most
    "nodes": None,  # numbers of guests that train; None is one and all
    "transports": None,  # of trainings; None selects those of the data path
    "osu": (),  # measurements of the OSU programs: latency, bandwidth, allreduce
    "stack": {},  # {option of site.stack: its value}, as suite.OPTIONS names them
    "build": {},  # {section: [features that Horovod needs]}
    "hops": [],  # switch ports on the paths of the run, as hops.of returns them
    "skip": {},  # {check: the reason for skipping it}
}
# Up to this number of guests, every number of them trains.
EACH = 4
NOT_SHOWN = "The switch ports of the hosts are unknown. Enable LLDP, or set site.fabric.cables."


def intent_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The intent with all keys."""
    intent = dict(DEFAULTS, **{key: value for key, value in given.items() if value is not None or key in DEFAULTS})
    intent["guests"] = list(intent["guests"])
    many = len(intent["guests"])
    if intent["transports"] is None:
        intent["transports"] = ["rdma", "tcp"] if intent["data_path"] in suite.RDMA_PATHS else ["tcp"]
    if intent["gpus"] == "none":
        # Without GPUs, NCCL is not used, and MPI uses TCP.
        intent["transports"] = [one for one in intent["transports"] if one == "tcp"] or ["tcp"]
    if intent["nodes"] is None:
        intent["nodes"] = sorted({1, many}) if many else []
    intent["nodes"] = sorted({int(count) for count in intent["nodes"] if 0 < int(count) <= many})
    return intent


def counts(wanted: Iterable[int] | None, many: int) -> list[int]:
    """The numbers of guests that train; the powers of two and all for a large site that names none."""
    if wanted is not None:
        return sorted({count for count in wanted if 0 < count <= many})
    if many <= EACH:
        return list(range(1, many + 1))
    return sorted({*(1 << power for power in range(many.bit_length()) if 1 << power <= many), many})


def row_id(check: str, subject: Mapping[str, Any], variant: str = "") -> str:
    """The id of a row: pair.write_bw job-01 > job-02, guest.licence job-01 (after), cluster.training 2:rdma."""
    if "guest" in subject:
        words = f"{check} {subject['guest']}"
    elif "from" in subject:
        words = f"{check} {subject['from']} > {subject['to']}"
    elif "switch" in subject:
        words = f"{check} {subject['switch']} {subject.get('port', '')}".rstrip()
    elif "host" in subject:
        words = f"{check} {subject['host']} {subject.get('port', '')}".rstrip()
    else:
        return f"{check} {variant}".strip()
    return f"{words} ({variant})" if variant else words


def rows(intent: Mapping[str, Any], places: Places | None = None) -> list[dict[str, Any]]:
    """[{id, check, subject, variant, skip}] in the order of the check suite."""
    made = []
    for spec in suite.SUITE:
        skip = suite.left_out(spec, intent)
        everybody = {"guests": intent["guests"]}
        subjects = _ports(intent, places or {}) if spec.of == "place" else _subjects(spec, intent)
        if not subjects and not skip and spec.of == "place":
            skip = NOT_SHOWN
        if skip:
            made.append(_row(spec.check, everybody, spec.variant, skip))
            continue
        for subject, variant in subjects:
            made.append(_row(spec.check, subject, variant, ""))
        if spec.of == "place":
            made += [_row(spec.check, {"host": host}, "", NOT_SHOWN) for host in _without_port(intent, places or {})]
    return made


def _subjects(spec: suite.CheckSpec, intent: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    guests = intent["guests"]
    if spec.of == "guest":
        return [({"guest": guest}, spec.variant) for guest in guests]
    if spec.of == "pair":
        pairs = rounds.ordered_pairs(guests, intent["rounds"])
        return [({"from": one, "to": other}, spec.variant) for one, other in pairs]
    if spec.check == "cluster.nccl":
        # Trainings on CPUs use TCP only, whatever NCCL supports.
        return [({"guests": guests}, "rdma" if intent["data_path"] in suite.RDMA_PATHS else "tcp")]
    if spec.of == "all":
        return [({"guests": guests}, spec.variant)]
    if spec.of == "training":
        return _trainings(intent)
    many = [count for count in intent["nodes"] if count > 1]
    if spec.check == "cluster.efficiency":
        return [({"guests": guests[:count]}, f"{count}:{one}") for count in many for one in intent["transports"]]
    if spec.check == "cluster.rdma_gain":
        return [({"guests": guests[:count]}, str(count)) for count in many]
    return []


def _ports(intent: Mapping[str, Any], places: Places) -> list[tuple[dict[str, Any], str]]:
    """The switch ports on the paths of the run, else those of the hosts of the guests, each once."""
    if intent["hops"]:
        passed = [(one["switch"], one["port"]) for hop in intent["hops"] for one in hop["ports"]]
        return [({"switch": switch, "port": port}, "") for switch, port in sorted(set(passed))]
    found = [places.get(guest) or {} for guest in intent["guests"]]
    ports = [(place["switch"], place["port"]) for place in found if place.get("switch") and place.get("port")]
    return [({"switch": switch, "port": port}, "") for switch, port in dict.fromkeys(ports)]


def _without_port(intent: Mapping[str, Any], places: Places) -> list[str]:
    """Hosts of guests without a known path, while others have one: their ports were not read."""
    host_of = {guest: (places.get(guest) or {}).get("host") for guest in intent["guests"]}
    if len(set(host_of.values())) < 2:
        return []
    if intent["hops"]:
        known = {host_of.get(guest) for hop in intent["hops"] for guest in hop["between"]}
    else:
        known = {host_of[guest] for guest in intent["guests"] if (places.get(guest) or {}).get("port")}
    return sorted({host for host in host_of.values() if host} - known)


def _trainings(intent: Mapping[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Each number of guests over each transport; each guest alone, without network, over the first."""
    found = []
    for count in intent["nodes"]:
        if count == 1:
            found += [({"guest": guest}, f"1:{intent['transports'][0]}") for guest in intent["guests"]]
        else:
            found += [({"guests": intent["guests"][:count]}, f"{count}:{one}") for one in intent["transports"]]
    return found


def _row(check: str, subject: Mapping[str, Any], variant: str, skip: str) -> dict[str, Any]:
    return {
        "id": row_id(check, subject, variant),
        "check": check,
        "subject": subject,
        "variant": variant,
        "skip": skip,
    }
