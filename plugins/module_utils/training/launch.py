# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The commands that start a training: mpirun, horovodrun, torchrun, deepspeed or a job of Ray. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.training import ray
from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import mpi_parameters

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import ElasticRequest, TrainingRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import Place, Setting

INSIDE = "/aiready"  # the folder of a run, as its containers see it
# In the file system of each container: the folder of a run is not executable if the guest's /run is noexec, as on
# Debian and Ubuntu.
PROGRAMS = "/usr/local/libexec/aiready"
DISCOVER = f"{PROGRAMS}/discover"
TRAININGS = f"{INSIDE}/trainings"
# From that size on, mpirun would log in through other hosts.
MANY_HOSTS = 64
TORCHRUN_PORT = 29500
HOSTFILE = f"{INSIDE}/hostfile"
# deepspeed without its hostfile uses the GPUs of one guest, with a warning and no error. $1: the file.
CHECKED = '[ -s "$1" ] || { echo "deepspeed: Unable to find hostfile $1"; exit 2; }; shift; exec "$@"'
RAY_CLUSTER = f"{TRAININGS}/ray_cluster.py"


@dataclass(frozen=True)
class Launch:
    """A command that is run in the container of one guest, and the ranks that it starts there or everywhere."""

    place: Place
    argv: tuple[str, ...]
    first_rank: int = 0
    waits: int = 1  # how many launches the run has

    @property
    def shown(self) -> dict[str, object]:
        return {"host": self.place.name, "argv": list(self.argv)}


def launches(request: TrainingRequest, places: Sequence[Place], settings: Sequence[Setting]) -> list[Launch]:
    """Return the commands to start, with their guests."""
    if request.engine != "horovod":
        return {"torchrun": _torchrun, "deepspeed": _deepspeed, "ray": _ray}[request.engine](request, places)
    ranks = sum(place.slots for place in places)
    start = _mpirun if request.launcher == "mpirun" else _horovodrun
    return [Launch(places[0], tuple(start(request, places, settings, ranks)))]


def ports(request: TrainingRequest, first: bool = True) -> tuple[int, ...]:
    """Return the ports that the containers of one guest need, of the first guest or of another one."""
    if request.engine == "horovod":
        return (request.ssh_port,) if len(request.hosts) > 1 else ()
    meeting = (TORCHRUN_PORT,) if first and (request.engine != "ray" or request.builtin) else ()
    return (*meeting, *ray.ports(first)) if request.engine == "ray" else meeting


def training(request: TrainingRequest) -> list[str]:
    """The command of one rank."""
    if request.builtin:
        # Ranks of deepspeed and of Ray have the environment of torchrun.
        engine = "horovod" if request.engine == "horovod" else "torchrun"
        return ["python3", f"{TRAININGS}/{request.builtin}.py", "--engine", engine, *request.arguments]
    return [*request.command, *request.arguments]


def _hosts(places: Sequence[Place]) -> str:
    return ",".join(f"{place.node}:{place.slots}" for place in places)


def _mca(parameters: Iterable[Setting]) -> list[str]:
    return [word for parameter in parameters for word in ("--mca", parameter.name, parameter.value)]


def _mpirun(request: TrainingRequest, places: Sequence[Place], settings: Sequence[Setting], ranks: int) -> list[str]:
    argv = ["mpirun", "--allow-run-as-root", "--tag-output", "-np", str(ranks), "-H", _hosts(places)]
    # With two dashes: Open MPI 5 accepts no other form.
    argv += ["--bind-to", "none", "--map-by", "slot", *_mca(mpi_parameters(places, request.mpi_transport))]
    if len(places) >= MANY_HOSTS:
        argv += ["--mca", "plm_rsh_no_tree_spawn", "true", "--mca", "plm_rsh_num_concurrent", str(len(places))]
    for setting in settings:
        argv += ["-x", setting.name]
    return argv + training(request)


def _horovodrun(
    request: TrainingRequest, places: Sequence[Place], settings: Sequence[Setting], ranks: int
) -> list[str]:
    argv = ["horovodrun", f"--{request.controller}", "-np", str(ranks)]
    if request.elastic is not None:
        argv += _elastic(request.elastic, places)
    else:
        argv += ["-H", _hosts(places)]
    argv += ["--start-timeout", str(request.limits.start_s), "--disable-cache"]
    if len(places) > 1:
        # Else it starts helpers everywhere to find out, and hangs on bridges of containers.
        argv += ["--network-interfaces", ",".join(dict.fromkeys(place.interface for place in places))]
    if request.controller == "mpi":
        # It sets the others itself.
        own = [one for one in mpi_parameters(places) if one.name not in ("pml", "btl", "btl_tcp_if_include")]
        argv.append(f"--mpi-args={' '.join(_mca(own))}")
    return argv + training(request)


def _elastic(elastic: ElasticRequest, places: Sequence[Place]) -> list[str]:
    argv = ["--min-np", str(elastic.min_ranks), "--host-discovery-script", DISCOVER]
    if elastic.max_ranks is not None:
        argv += ["--max-np", str(elastic.max_ranks)]
    if elastic.reset_limit is not None:
        argv += ["--reset-limit", str(elastic.reset_limit)]
    return argv


def _torchrun(request: TrainingRequest, places: Sequence[Place]) -> list[Launch]:
    script = _script(training(request))
    found, first = [], 0
    for number, place in enumerate(places):
        argv = ["python3", "-m", "torch.distributed.run", "--nnodes", str(len(places))]
        argv += ["--nproc_per_node", str(place.slots), "--node_rank", str(number)]
        argv += ["--master_addr", places[0].address or "127.0.0.1", "--master_port", str(TORCHRUN_PORT)]
        argv += ["--max_restarts", "0", "--tee", "3", "--log_dir", "/tmp/torchrun", *script]
        found.append(Launch(place, tuple(argv), first, len(places)))
        first += place.slots
    return found


def _script(words: list[str]) -> list[str]:
    """The script for a launcher that calls Python itself, and accepts no options for it."""
    # PyTorch before 2.0 rejects the spelling --no-python. All releases and DeepSpeed accept this one.
    python = words[0].rpartition("/")[2].startswith("python") and len(words) > 1 and not words[1].startswith("-")
    return words[1:] if python else ["--no_python", *words]


def _deepspeed(request: TrainingRequest, places: Sequence[Place]) -> list[Launch]:
    """One launcher for each guest, without ssh between containers."""
    # The built-in trainings read LOCAL_RANK, and accept no such option.
    script = [*(["--no_local_rank"] if request.builtin else []), *_script(training(request))]
    found, first = [], 0
    for number, place in enumerate(places):
        argv = ["/bin/sh", "-c", CHECKED, "sh", HOSTFILE, "deepspeed", "--hostfile", HOSTFILE]
        argv += ["--no_ssh", "--node_rank", str(number)]
        argv += ["--master_addr", places[0].address or "127.0.0.1", "--master_port", str(TORCHRUN_PORT), *script]
        found.append(Launch(place, tuple(argv), first, len(places)))
        first += place.slots
    return found


def hostfile(places: Sequence[Place]) -> str:
    """The guests of deepspeed, in the order of their ranks."""
    return "".join(f"{place.node} slots={place.slots}\n" for place in places)


def _ray(request: TrainingRequest, places: Sequence[Place]) -> list[Launch]:
    """A node of Ray on each guest. The first one is the head, and submits the training as a job."""
    words = training(request)
    job = ray.ranks(places, RAY_CLUSTER, TORCHRUN_PORT, words) if request.builtin else words
    made = ray.commands(request, places, RAY_CLUSTER, job)
    return [Launch(place, tuple(argv), 0, len(places)) for place, argv in zip(places, made)]


def hosts_of_ranks(places: Sequence[Place]) -> list[str]:
    """The guest of each rank: ranks fill the slots in the order of the hosts."""
    return [place.name for place in places for _slot in range(place.slots)]
