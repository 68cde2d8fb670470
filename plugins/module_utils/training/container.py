# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The container of one guest: exactly the devices, capabilities and limits that its run needs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.training.launch import INSIDE
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import CLIENTS, RDMA_PATHS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import Place

LABEL = "aiready.training"
OUT = "/aiready-out"
RDMA_FOLDER = "/dev/infiniband"


# Capabilities that sshd needs to accept the launcher (SETUID, SETGID, SYS_CHROOT, AUDIT_WRITE, KILL), and that root
# needs to read data of other users and to write results. Dropped from the engine's defaults: MKNOD, NET_RAW,
# NET_BIND_SERVICE, SETPCAP, SETFCAP, FSETID.
CAPABILITIES = ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "SYS_CHROOT")


def name_of(run: str) -> str:
    return f"aiready-training-{run}"


def run_argv(
    request: TrainingRequest, place: Place, places: Sequence[Place], run: str, limits: tuple[int, int]
) -> list[str]:
    """Return the command that starts the container; limits are (seconds without output, seconds in all)."""
    engine = request.container_engine
    folder = f"{request.work_dir}/{run}"
    argv = [CLIENTS[engine], "run", "--detach", "--name", name_of(run), "--label", f"{LABEL}={run}"]
    argv += ["--network", "host", "--hostname", place.node, "--user", "0:0", "--pull", "never"]
    argv += [f"--add-host={other.node}:{other.address}" for other in places if other.address]
    # SELinux would keep the container from files that are not labelled for it.
    argv += ["--security-opt", "label=disable", "--security-opt", "no-new-privileges"]
    argv += ["--cap-drop", "ALL", *(word for one in CAPABILITIES for word in ("--cap-add", one))]
    argv += ["--volume", f"{folder}/in:{INSIDE}:ro", "--volume", f"{folder}/out:{OUT}"]
    argv += [f"--shm-size={request.shm_size}", "--ulimit", "stack=67108864"]
    if request.memlock == "unlimited":
        argv += ["--ulimit", "memlock=-1"]
    if request.data_path in RDMA_PATHS:
        argv += ["--cap-add", "IPC_LOCK", f"--device={RDMA_FOLDER}"]
    if request.gpus == "all":
        # NCCL allocates host memory by NUMA node, for which it needs this.
        argv += ["--cap-add", "SYS_NICE", *_gpus(engine)]
    for mount in request.mounts:
        argv += ["--volume", f"{mount.source}:{mount.target}{'' if mount.writable else ':ro'}"]
    argv += ["--entrypoint", "/bin/sh", request.image]
    return [*argv, f"{INSIDE}/worker", *map(str, limits)]


def _gpus(engine: str) -> list[str]:
    return ["--device", "nvidia.com/gpu=all"] if engine == "podman" else ["--gpus", "all"]
