# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The environment of ranks and the transport flags of Open MPI, each with its reason. Pure."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterator, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TCP, UCX

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import Gid
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import TrainingRequest

# From this version on NCCL finds the GID by itself, and its documentation says not to set its index. Before, it uses
# the first one of the table, which as a rule is that of RoCE v1.
CHOOSES_GID = (2, 21)
GID_INDEX = "NCCL_IB_GID_INDEX"
NEVER_GPUDIRECT = "LOC"


@dataclass(frozen=True)
class Setting:
    """One variable of the ranks' environment, or one parameter of Open MPI."""

    name: str
    value: str
    reason: str

    def as_result(self) -> dict[str, str]:
        return {"name": self.name, "value": self.value, "reason": self.reason}


@dataclass(frozen=True)
class Place:
    """Part of one guest: its request, and the detected interface and RDMA device."""

    name: str  # in the inventory
    node: str  # its name within the run, which launchers take
    address: str
    interface: str
    slots: int
    prefix: int = 24
    mtu: int = 1500
    gid: Gid | None = None

    @property
    def network(self) -> str:
        return str(ipaddress.ip_network(f"{self.address}/{self.prefix}", strict=False))


def environment(
    request: TrainingRequest, places: Sequence[Place], nccl: tuple[int, int] | None = None
) -> list[Setting]:
    """Return the environment of all ranks. nccl is the version in the image, as (major, minor), if it is known."""
    settings = []
    if request.engine != "horovod" or request.controller == "gloo":
        # mpirun gives its ranks a terminal, which does the same and does not cut lines.
        settings.append(Setting("PYTHONUNBUFFERED", "1", "Shows the lines of a rank without a delay."))
    names = list(dict.fromkeys(place.interface for place in places))
    if request.engine == "ray":
        settings.append(
            Setting("RAY_raylet_start_wait_time_s", str(request.limits.start_s), "A node of Ray starts in this time.")
        )
    if request.engine == "horovod":
        settings += _horovod(request)
    elif len(places) > 1:
        settings.append(
            Setting(
                "GLOO_SOCKET_IFNAME", ",".join(names), "Gloo of PyTorch uses the data path, not the first interface."
            )
        )
    if len(places) > 1:
        listed = ",".join(names)
        settings.append(
            Setting(
                "NCCL_SOCKET_IFNAME", f"={listed}", "NCCL connects over the data path, not over a bridge of containers."
            )
        )
        settings += _nccl(request, places, nccl)
        if request.mpi_transport == UCX:
            settings += _ucx(request, places)
    if request.gpus == "all":
        settings += [
            Setting("NCCL_DEBUG", "INFO", "NCCL falls back to TCP without an error; only its log reports the network."),
            Setting("NCCL_DEBUG_SUBSYS", "INIT,NET", "Limits the log to the lines about the network."),
        ]
    given = {str(name): _text(value) for name, value in request.environment.items()}
    derived = [setting for setting in settings if setting.name not in given]
    return derived + [Setting(name, value, "Given by the user.") for name, value in sorted(given.items())]


def _text(value: object) -> str:
    """Numbers and booleans of YAML as a shell would have them."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _horovod(request: TrainingRequest) -> list[Setting]:
    stall_s = request.limits.stall_s
    # Horovod's own check names the missing ranks, so it comes before the limit of the whole run.
    settings = [
        Setting(
            "HOROVOD_STALL_CHECK_TIME_SECONDS",
            str(max(1, stall_s // 3)),
            "Horovod reports ranks that delay the others.",
        ),
        Setting(
            "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS",
            str(max(2, stall_s * 2 // 3)),
            "By default, Horovod only warns and waits without a limit.",
        ),
    ]
    controller = request.controller
    settings += [
        Setting(
            "HOROVOD_CONTROLLER", controller, f"Ranks coordinate over {controller}, whatever else the image contains."
        ),
    ]
    if request.gpus == "none":
        settings.append(
            Setting("HOROVOD_CPU_OPERATIONS", controller, f"Tensors in memory go over {controller} as well.")
        )
    return settings


def _nccl(request: TrainingRequest, places: Sequence[Place], nccl: tuple[int, int] | None) -> Iterator[Setting]:
    path = request.data_path
    if path == "tcp":
        yield Setting("NCCL_IB_DISABLE", "1", "The data path is TCP; NCCL ignores any RDMA device.")
        return
    devices = list(dict.fromkeys(cast("Gid", place.gid).device for place in places))
    roce = request.roce
    yield Setting("NCCL_IB_HCA", f"={','.join(devices)}", "The RDMA device of the data path; = matches the whole name.")
    yield Setting("NCCL_IB_TC", str(roce.traffic_class), f"DSCP {roce.dscp} and ECN of the RoCE traffic class.")
    indexes = gid_indexes(places)
    # A recently read index is right for newer versions too.
    if len(indexes) == 1 and (nccl is None or nccl < CHOOSES_GID):
        unknown = ", and the image does not report its version" if nccl is None else ""
        reason = f"RoCE v2 over IPv4; NCCL before 2.21 does not find it by itself{unknown}."
        yield Setting(GID_INDEX, str(indexes[0]), reason)
    else:
        networks = list(dict.fromkeys(place.network for place in places))
        if len(networks) == 1:
            yield Setting("NCCL_IB_ADDR_RANGE", networks[0], "GIDs of the data path, if a port has several.")
    level = _gpudirect(request)
    if level is not None:
        yield level


def gid_indexes(places: Sequence[Place]) -> list[int]:
    """Return the positions of RoCE v2 in the GID tables of the guests."""
    return sorted({cast("Gid", place.gid).index for place in places})


def _ucx(request: TrainingRequest, places: Sequence[Place]) -> Iterator[Setting]:
    """UCX carries MPI with the RoCE traffic class of NCCL. It does not use rdma_cm, which has a class of its own."""
    devices = list(dict.fromkeys(f"{gid.device}:{gid.port}" for gid in (cast("Gid", place.gid) for place in places)))
    yield Setting("UCX_NET_DEVICES", ",".join(devices), "The RDMA device of the data path.")
    yield Setting("UCX_TLS", "rc,self,sm", "Without tcp, UCX fails instead of falling back to TCP.")
    yield Setting(
        "UCX_IB_TRAFFIC_CLASS",
        str(request.roce.traffic_class),
        f"DSCP {request.roce.dscp} and ECN of the RoCE traffic class.",
    )
    indexes = gid_indexes(places)
    if len(indexes) == 1:
        yield Setting("UCX_IB_GID_INDEX", str(indexes[0]), "RoCE v2 over IPv4 on all guests.")
    yield Setting("UCX_LOG_LEVEL", "info", "Only the log of UCX reports the transport that it selected.")


def _gpudirect(request: TrainingRequest) -> Setting | None:
    if request.data_path == "pvrdma":
        return Setting(
            "NCCL_NET_GDR_LEVEL",
            NEVER_GPUDIRECT,
            "A PVRDMA device cannot access GPU memory, and NCCL does not detect that.",
        )
    if request.gpudirect == "enabled":
        return Setting(
            "NCCL_NET_GDR_LEVEL", "PHB", "In a VM, the distance of GPU and adapter appears larger than NCCL allows."
        )
    if request.gpudirect == "disabled":
        return Setting("NCCL_NET_GDR_LEVEL", NEVER_GPUDIRECT, "GPUDirect RDMA is disabled.")
    return None


def mpi_parameters(places: Sequence[Place], transport: str = TCP) -> list[Setting]:
    """Parameters of Open MPI. NCCL carries the heavy data; MPI itself stays on TCP, unless UCX is requested."""
    layer = Setting("pml", "ob1", "The point-to-point layer that Horovod's authors tested.")
    if transport == UCX:
        layer = Setting("pml", "ucx", "MPI runs over UCX, and mpirun fails if the image has none.")
    parameters = [
        layer,
        Setting("btl", "^openib", "MPI stays on TCP: its own RDMA does not support threads."),
        Setting(
            "btl_vader_single_copy_mechanism",
            "none",
            "The default reads the memory of other containers, which is not allowed.",
        ),
    ]
    if len(places) > 1:
        interfaces = {place.interface for place in places}
        networks = list(dict.fromkeys(place.network for place in places))
        where = interfaces.pop() if len(interfaces) == 1 else ",".join(networks)
        parameters += [
            Setting("btl_tcp_if_include", where, "Ranks connect over the data path, not over bridges of containers."),
            Setting("oob_tcp_if_include", where, "The daemons of mpirun also use the data path."),
        ]
    return parameters
