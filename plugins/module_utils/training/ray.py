# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Commands of a Ray cluster in the containers of a run: a head, workers, fixed ports and one job. Pure."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import Place

# Ray selects random ports for most of these otherwise, which no firewall can allow.
HEAD_PORT, DASHBOARD_PORT, CLIENT_PORT = 6379, 8265, 10001
NODE_MANAGER_PORT = 8077
NODE_PORTS = (
    ("--object-manager-port", 8076),
    ("--node-manager-port", NODE_MANAGER_PORT),
    ("--dashboard-agent-grpc-port", 8078),
    ("--runtime-env-agent-port", 8079),
    ("--metrics-export-port", 8080),
    ("--dashboard-agent-listen-port", 52365),
    ("--min-worker-port", 10002),
    ("--max-worker-port", 10999),
)
WORKER_PORTS = ("--min-worker-port", "--max-worker-port")
# The object store is in the shared memory of the container. Ray falls back to a disk if it is too small for the store.
STORE_PART = 0.8
SIZE = re.compile(r"(\d+)([bkmg]?)b?", re.I)
UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
# Ray accepts no smaller object store.
LEAST_STORE = 75 << 20


def ports(first: bool) -> tuple[int, ...]:
    """Return the ports that must be free on a guest. Ray skips the busy ones among those of its workers."""
    of_nodes = tuple(port for name, port in NODE_PORTS if name not in WORKER_PORTS)
    return (HEAD_PORT, *of_nodes, DASHBOARD_PORT, CLIENT_PORT) if first else of_nodes


def store_bytes(shm_size: str) -> int | None:
    """Return the size of the object store that fits in the shared memory; None for a size of another form."""
    found = SIZE.fullmatch(shm_size)
    return None if found is None else int(int(found.group(1)) * UNITS[found.group(2).lower()] * STORE_PART)


def commands(request: TrainingRequest, places: Sequence[Place], helper: str, job: Sequence[str]) -> list[list[str]]:
    """Return the command of each guest. helper is the program that starts a node and waits; job is the driver."""
    head = places[0].address or "127.0.0.1"
    nodes = ",".join(place.address or "127.0.0.1" for place in places)
    made = []
    for number, place in enumerate(places):
        role = ["head", "--nodes", nodes] if number == 0 else ["worker", "--head-node", f"{head}:{NODE_MANAGER_PORT}"]
        argv = ["python3", helper, *role, "--wait", str(request.limits.start_s), "--address", f"{head}:{HEAD_PORT}"]
        argv += ["--start", shlex.join(_start(request, place, head, number == 0))]
        made.append([*argv, "--", *_submit(job)] if number == 0 else argv)
    return made


def _start(request: TrainingRequest, place: Place, head: str, first: bool) -> list[str]:
    argv = ["ray", "start", "--log-color", "false"]
    if first:
        argv += ["--head", "--port", str(HEAD_PORT), "--include-dashboard", "true", "--dashboard-host", "127.0.0.1"]
        argv += ["--dashboard-port", str(DASHBOARD_PORT), "--ray-client-server-port", str(CLIENT_PORT)]
    else:
        argv += ["--address", f"{head}:{HEAD_PORT}"]
    argv += ["--node-ip-address", place.address or "127.0.0.1", "--disable-usage-stats"]
    argv += [word for name, port in NODE_PORTS for word in (name, str(port))]
    store = store_bytes(request.shm_size)
    if store is not None:
        argv += ["--object-store-memory", str(store)]
    return argv + ["--num-gpus", str(place.slots if request.gpus == "all" else 0)]


def _submit(job: Sequence[str]) -> list[str]:
    return [
        "ray",
        "job",
        "submit",
        "--address",
        f"http://127.0.0.1:{DASHBOARD_PORT}",
        "--log-style",
        "record",
        "--log-color",
        "false",
        "--",
        *job,
    ]


def ranks(places: Sequence[Place], helper: str, port: int, training: Sequence[str]) -> list[str]:
    """Return the driver that starts the ranks of a built-in training, each with the environment of torchrun."""
    slots = ",".join(f"{place.address or '127.0.0.1'}={place.slots}" for place in places)
    return ["python3", helper, "ranks", "--slots", slots, "--port", str(port), "--", *training]
