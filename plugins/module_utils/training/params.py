# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Arguments of training_run, and rules for its parameters; documented in the module."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.args import ROCE_INTENT
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent, intent, problems
from ansible_collections.aiready.vsphere.plugins.module_utils.training import images, ray

ENGINES = ("horovod", "torchrun", "deepspeed", "ray")
RESTARTED = ("torchrun", "deepspeed")
LAUNCHERS, CONTROLLERS = ("mpirun", "horovodrun"), ("mpi", "gloo")
DATA_PATHS, RDMA_PATHS = ("tcp", "pvrdma", "sriov", "passthrough"), ("pvrdma", "sriov", "passthrough")
TRANSPORTS = TCP, UCX = ("tcp", "ucx")
# Data paths with a device that UCX supports. It has no transport for PVRDMA [unsure].
UCX_PATHS = ("sriov", "passthrough")
CLIENTS = {"docker": "docker", "podman": "podman", "containerd": "nerdctl"}
BUILTINS = ("small", "synthetic", "all_reduce")
LIMITS = {"wall_s": 3600, "stall_s": 300, "start_s": 120, "pull_s": 1800, "lost_s": 30, "return_s": 600}
MOST_RESTARTS = 100

ARGUMENTS = {
    "hosts": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "required": True},
            "address": {"type": "str"},
            "interface": {"type": "str"},
            "slots": {"type": "int", "default": 1},
        },
    },
    "image": {"type": "str", "required": True},
    "pull": {"type": "str", "choices": ["missing", "always", "never"], "default": "missing"},
    "engine": {"type": "str", "choices": list(ENGINES), "default": "horovod"},
    "launcher": {"type": "str", "choices": list(LAUNCHERS), "default": "mpirun"},
    "controller": {"type": "str", "choices": list(CONTROLLERS), "default": "mpi"},
    "check_build": {"type": "bool", "default": True},
    "elastic": {
        "type": "dict",
        "options": {
            "min_ranks": {"type": "int", "required": True},
            "max_ranks": {"type": "int"},
            "reset_limit": {"type": "int"},
        },
    },
    "restarts": {"type": "int", "default": 0},
    "hold_file": {"type": "path"},
    "builtin": {"type": "str", "choices": list(BUILTINS)},
    "command": {"type": "list", "elements": "str"},
    "arguments": {"type": "list", "elements": "str", "default": []},
    "environment": {"type": "dict", "default": {}},
    "data_path": {"type": "str", "choices": list(DATA_PATHS), "default": "tcp"},
    "interface": {"type": "str"},
    "gpudirect": {"type": "str", "choices": ["auto", "enabled", "disabled"], "default": "auto"},
    "roce": ROCE_INTENT["config"],
    "gpus": {"type": "str", "choices": ["all", "none"], "default": "all"},
    "container_engine": {"type": "str", "choices": sorted(CLIENTS), "default": "docker"},
    "memlock": {"type": "str", "choices": ["unlimited", "ignore"], "default": "unlimited"},
    "mpi_transport": {"type": "str", "choices": list(TRANSPORTS), "default": TCP},
    "shm_size": {"type": "str", "default": "1g"},
    "mounts": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "source": {"type": "path", "required": True},
            "target": {"type": "path", "required": True},
            "writable": {"type": "bool", "default": False},
        },
    },
    "ssh_port": {"type": "int", "default": 12345},
    "limits": {
        "type": "dict",
        "options": {name: {"type": "int", "default": value} for name, value in LIMITS.items()},
        "apply_defaults": True,
    },
    "work_dir": {"type": "path", "default": "/run/aiready-training"},
    "result_dir": {"type": "path"},
}
RELATIONS = {
    "mutually_exclusive": [("builtin", "command")],
    "required_one_of": [("builtin", "command")],
}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Variables with names of secrets never enter the environment of a rank, where every process of the guest could read
# them. A token is a secret, but language models use tokens and tokenizers in another sense.
SECRET = re.compile(
    r"pass(word|wd|phrase)?($|_)|secret|token(?![a-z])|api_?key|access_?key|credential|private_?key", re.I
)
SECRET_VALUE = re.compile(r"nvapi-|-----BEGIN|glpat-|gh[pousr]_\w{20}|hf_\w{20}|://[^/\s:]*:(?!\d{1,5}/)\S{1,1024}@")
# The name of a file is no secret, and a number is no token, but counts some.
FILE, COUNT = re.compile(r".*_(file|path|dir)", re.I), re.compile(r"\d{1,9}|true|false", re.I)
# Folders that no training needs as a whole. The first is that of everything.
NO_MOUNTS = (
    "",
    "boot",
    "dev",
    "etc",
    "proc",
    "root",
    "run",
    "sys",
    "usr",
    "var",
    "var/run",
    "run/docker.sock",
    "var/run/docker.sock",
)
# These variables break the launcher or its start.
KEPT = re.compile(r"(PATH|HOME|SHELL|PWD|LD_PRELOAD|LD_AUDIT|OMPI_|PMIX_|PRTE_|ORTE_|SSH_|RANK$|WORLD_SIZE$|MASTER_)")


@dataclass(frozen=True)
class HostRequest:
    """One guest of a run."""

    name: str
    address: str | None
    interface: str | None
    slots: int


@dataclass(frozen=True)
class ElasticRequest:
    """How many ranks an elastic run may have."""

    min_ranks: int
    max_ranks: int | None
    reset_limit: int | None


@dataclass(frozen=True)
class MountRequest:
    """One folder of the guests in the containers."""

    source: str
    target: str
    writable: bool


@dataclass(frozen=True)
class LimitsRequest:
    """Time limits of a run in seconds."""

    wall_s: int
    stall_s: int
    start_s: int
    pull_s: int
    lost_s: int
    return_s: int


@dataclass(frozen=True)
class TrainingRequest:
    """One training run. Fields that may have a secret of the user are not in its representation."""

    hosts: Sequence[HostRequest]
    image: str
    pull: str
    engine: str
    launcher: str
    controller: str
    check_build: bool
    elastic: ElasticRequest | None
    restarts: int
    hold_file: str | None
    builtin: str | None
    command: Sequence[str] = field(repr=False)
    arguments: Sequence[str] = field(repr=False)
    environment: Mapping[str, object] = field(repr=False)
    data_path: str
    interface: str | None
    gpudirect: str
    roce: Intent
    gpus: str
    container_engine: str
    memlock: str
    mpi_transport: str
    shm_size: str
    mounts: Sequence[MountRequest]
    ssh_port: int
    limits: LimitsRequest
    work_dir: str
    result_dir: str | None


def request_of(params: Mapping[str, Any]) -> TrainingRequest:
    """Return the request of a task."""
    return request(
        TrainingRequest,
        params,
        hosts=[request(HostRequest, host) for host in params["hosts"]],
        elastic=None if params["elastic"] is None else request(ElasticRequest, params["elastic"]),
        command=params["command"] or [],
        roce=intent(params["roce"] or {}),
        mounts=[request(MountRequest, mount) for mount in params["mounts"]],
        limits=request(LimitsRequest, params["limits"]),
    )


def check_params(params: Mapping[str, Any]) -> list[str]:
    """Return all problems of the parameters, as sentences."""
    return [
        *_image(params["image"]),
        *_hosts(params),
        *_engine(params),
        *_elastic(params),
        *_restarts(params),
        *_environment(params["environment"]),
        *_words(params),
        *_mounts(params["mounts"]),
        *_limits(params),
        *_roce(params),
    ]


def _hosts(params: Mapping[str, Any]) -> Iterator[str]:
    names = [host["name"] for host in params["hosts"]]
    if not names:
        yield "hosts: at least one guest is needed."
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"hosts: {name} is listed twice. List it once, with one slot for each rank."
    for host in params["hosts"]:
        if host["slots"] < 1:
            yield f"hosts: {host['name']} has {host['slots']} slots. It needs at least 1."
        if not (host["address"] or host["interface"] or params["interface"]) and len(names) > 1:
            yield (
                f"hosts: {host['name']} has neither the address nor the interface of the data path. Set one of them."
            )
    addresses = [host["address"] for host in params["hosts"] if host["address"]]
    for address in sorted({address for address in addresses if addresses.count(address) > 1}):
        yield f"hosts: {address} is the address of two guests."
    for address in addresses:
        if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", address):
            yield f"hosts: {address} is not an IPv4 address, and launchers accept no other kind."


def _engine(params: Mapping[str, Any]) -> Iterator[str]:
    if params["builtin"] == "all_reduce" and params["engine"] == "horovod":
        yield (
            "builtin: all_reduce needs ranks of torchrun, deepspeed or ray. With engine: horovod, use "
            "command: [all_reduce_perf] of nccl-tests, which mpirun starts."
        )
    if params["engine"] != "horovod":
        if params["engine"] == "ray":
            yield from _ray(params)
        return
    if params["launcher"] == "mpirun" and params["controller"] == "gloo":
        yield "controller: only horovodrun starts gloo. Use launcher: horovodrun, or controller: mpi."
    if params["mpi_transport"] == UCX and params["launcher"] != "mpirun":
        yield f"mpi_transport: ucx needs launcher: mpirun, but it is {params['launcher']}."
    if params["mpi_transport"] == UCX and params["data_path"] not in UCX_PATHS:
        yield (
            f"mpi_transport: UCX has no RDMA transport for the data path {params['data_path']}. Use sriov or "
            "passthrough, or mpi_transport: tcp."
        )
    if not 1 <= params["ssh_port"] <= 65535:
        yield f"ssh_port: {params['ssh_port']} is not a valid port."


def _elastic(params: Mapping[str, Any]) -> Iterator[str]:
    elastic = params["elastic"]
    if elastic is None:
        return
    ranks = sum(host["slots"] for host in params["hosts"])
    if (params["engine"], params["launcher"], params["controller"]) != ("horovod", "horovodrun", "gloo"):
        yield "elastic: only Horovod with launcher: horovodrun and controller: gloo can add and remove ranks."
    if not 1 <= elastic["min_ranks"] <= ranks:
        yield f"elastic: min_ranks is {elastic['min_ranks']}, and the hosts have {ranks} slots."
    if elastic["max_ranks"] is not None and elastic["max_ranks"] < ranks:
        yield f"elastic: max_ranks is {elastic['max_ranks']}, fewer than the {ranks} slots of the hosts."
    if params["builtin"]:
        yield "elastic: the built-in trainings are not elastic. Use a command that is."


def _restarts(params: Mapping[str, Any]) -> Iterator[str]:
    if not 0 <= params["restarts"] <= MOST_RESTARTS:
        yield f"restarts: {params['restarts']} is not between 0 and {MOST_RESTARTS}."
    elif params["restarts"] and params["engine"] not in RESTARTED:
        fix = (
            "Horovod continues by itself after a loss. Use elastic"
            if params["engine"] == "horovod"
            else ("Ray restarts its own tasks, as the job defines it. Remove it")
        )
        yield f"restarts: {fix}, or set engine: torchrun."
    if params["hold_file"] and params["engine"] not in RESTARTED:
        yield f"hold_file: {params['engine']} does not continue from a checkpoint. Remove it, or set engine: torchrun."


def _ray(params: Mapping[str, Any]) -> Iterator[str]:
    store = ray.store_bytes(params["shm_size"])
    if store is not None and store < ray.LEAST_STORE:
        yield f"shm_size: {params['shm_size']} is too small for the object store of Ray. Use 128m or more."


def _environment(environment: Mapping[object, object]) -> Iterator[str]:
    for name, value in sorted(environment.items(), key=str):
        if not isinstance(name, str) or not NAME.fullmatch(name):
            yield f"environment: {name!r} is not the name of a variable."
        elif _is_secret(name, str(value)):
            yield (
                f"environment: {name} looks like a secret, and every rank would have it. Put it into a file of the "
                "guest that only the user of the training can read, and add the file to mounts."
            )
        elif KEPT.match(name):
            yield f"environment: {name} is set by the launcher. Remove it."


def _is_secret(name: str, value: str) -> bool:
    """Return whether a name with this value reveals a secret."""
    if SECRET_VALUE.search(value):
        return True
    if FILE.fullmatch(name):
        return False
    return bool(SECRET.search(re.sub("token", "", name, flags=re.I) if COUNT.fullmatch(value) else name))


def _options(words: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (word, its name, its value) of possible options and variables, in one word or in two."""
    for word, following in zip(words, [*words[1:], ""]):
        name, equals, value = word.partition("=")
        if not equals and word.startswith("-") and not following.startswith("-"):
            value = following
        name = name.lstrip("-").replace("-", "_")
        # A program in one word is no option.
        yield word, name if re.fullmatch(r"[\w.]+", name) else "", value


def _words(params: Mapping[str, Any]) -> Iterator[str]:
    for word, name, value in _options([*(params["command"] or []), *params["arguments"]]):
        if (value and _is_secret(name, value)) or SECRET_VALUE.search(word):
            shown = "one of its words" if SECRET_VALUE.search(word.partition("=")[0]) else word.partition("=")[0]
            yield (
                f"command: {shown} looks like a secret, and every user of the guest could read it in the list of "
                "processes. Put it into a file, and add the file to mounts."
            )
    if params["command"] == []:
        yield "command: the list is empty. Add the program and its arguments."


def _image(image: str) -> Iterator[str]:
    # The engine would take it for an option, such as --privileged.
    if image and not re.fullmatch(r"[A-Za-z0-9\[]\S*", image):
        yield f"image: {image!r} is not the name of an image, which begins with a letter or a digit and has no spaces."
    elif image and images.wrong_digest(image):
        yield (
            f"image: the digest {images.wrong_digest(image)!r} cannot be pulled. Write sha256: and 64 hexadecimal "
            "digits, as `docker image inspect` shows them in RepoDigests."
        )


def _mounts(mounts: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for mount in mounts:
        for key in ("source", "target"):
            path = mount[key]
            if not path.startswith("/") or re.search(r"[:\x00-\x1f\x7f-\x9f]", path):
                yield f"mounts: the {key} {path!r} is not an absolute path without colons and control characters."
            elif posixpath.normpath(path).lstrip("/") in NO_MOUNTS:
                yield (
                    f"mounts: the {key} {path} is a folder of the system, and the container would replace or read "
                    "all of it. Name the folder with the data."
                )


def _limits(params: Mapping[str, Any]) -> Iterator[str]:
    for name, value in params["limits"].items():
        # The check of a site reports other keys itself.
        if name in LIMITS and value < 1:
            yield f"limits: {name} is {value}, which is not a valid time. Use at least 1 second."
    if params["limits"]["stall_s"] > params["limits"]["wall_s"]:
        yield "limits: stall_s is longer than wall_s, so a stalled run would never be detected. Set a smaller value."


def _roce(params: Mapping[str, Any]) -> Iterator[str]:
    if params["roce"] is not None:
        yield from (f"roce: {problem}" for problem in problems(intent(params["roce"])))
