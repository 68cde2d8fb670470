"""One job of NCCL: the ranks that met, the network that each of them chose, and the resulting speed of the ring."""

from __future__ import annotations

import ipaddress
import math
import weakref
from dataclasses import dataclass, field

from pyVmomi import vim

from vsphere_twin.model import ends, rates

from . import devices, drivers, licence, memory, rdma_ends

LEVELS = ("LOC", "NVL", "PIX", "PXB", "PHB", "SYS")  # of NCCL_NET_GDR_LEVEL, the nearest first
SEEN, USUAL = "PHB", "PXB"  # how far GPU and adapter are in a VM, and how far NCCL goes by itself
VERSION = "2.23.4+cuda12.4"
BUFFERS_KB = 40 * 1024  # the memory that it registers
MOST_JOBS = 50  # that are remembered
VIRTUAL = ("lo", "docker")
_JOBS = weakref.WeakKeyDictionary()  # world: {name of the job: {rank: Rank}}


class Failed(Exception):
    """NCCL gives up: its warning, and the message of the test."""

    def __init__(self, warning, kind="unhandled system error", delay_s=0.0):
        super().__init__(warning)
        self.warning, self.kind, self.delay_s = warning, kind, delay_s


@dataclass
class Rank:
    """A process of the job."""

    number: int
    local: int
    vm: object
    pid: int
    cards: list
    guest: object
    env: dict
    restricted: bool
    network: str = ""  # IB or Socket
    nic: object = None  # the RDMA device
    index: int = 0
    bootstrap: dict = field(default_factory=dict)  # the interface for sockets
    gpu_direct: bool = False
    known: list = field(default_factory=list)  # RDMA devices that it may use
    over: bool = False

    @property
    def name(self):
        return self.guest.hostname or self.vm.host_name

    def chosen(self, name, default=""):
        return self.env.get(f"NCCL_{name}", default)


def join(world, job, rank, size):
    """The ranks of a job by their numbers once all are there, before that None."""
    jobs = _JOBS.setdefault(world, {})
    for old in [one for one in jobs if one != job][:-MOST_JOBS]:
        del jobs[old]
    ranks = jobs.setdefault(job, {})
    if rank.number in ranks and ranks[rank.number].over:
        ranks.clear()  # another job of the same name
    ranks[rank.number] = rank
    return [ranks[number] for number in range(size)] if set(range(size)) <= set(ranks) else None


def rank_of(vm, call, number, local, cards):
    """Return the data of a process for the job."""
    state = memory.of(vm)
    unlicensed = any(licence.needs(one) for one in cards) and not licence.valid(state, call.guest.time)
    since = call.guest.time - state.booted_at if state.booted_at else 0.0
    restricted = unlicensed and since >= licence.UNRESTRICTED_S
    return Rank(number, local, vm, call.guest.pid, cards, call.guest, call.env, restricted)


def choose(world, rank):
    """The interface to meet over, and the network for data."""
    rank.bootstrap = _interface(rank)
    rank.known = [] if rank.chosen("IB_DISABLE") == "1" else _adapters(world, rank)
    if not rank.known:
        rank.network = "Socket"
        return
    rank.network, rank.nic = "IB", rank.known[rank.local % len(rank.known)]
    wanted = rank.chosen("IB_GID_INDEX", "-1")
    rank.index = int(wanted) if wanted.lstrip("-").isdigit() and int(wanted) >= 0 else _gid_index(rank)
    rank.gpu_direct = _gpu_direct(rank)


def check(world, rank):
    """Raise Failed if a rank cannot work with its choices."""
    vgpus = [one for one in rank.cards if one.profile is not None]
    if vgpus and not _unified(rank.vm):
        raise Failed("Cuda failure 801 'operation not supported'", "unhandled cuda error")
    if rank.network == "Socket":
        return
    if not rdma_ends.may_lock(rank.guest, BUFFERS_KB):
        raise Failed("Call to ibv_reg_mr failed with error Cannot allocate memory")
    if rdma_ends.gid(rank.nic, rank.index) is None:
        raise Failed("Call to ibv_modify_qp failed with error Invalid argument errno 22")
    if rank.gpu_direct and ends.gpu_way(world, end_of(rank))[0] == "no":
        raise Failed(_completion(rank, 4, 81), delay_s=2.0)


def check_others(world, rank, ranks):
    """Raise Failed if another rank cannot work: it reports its own failure, and this one sees a closed connection."""
    for one in ranks:
        try:
            if one is not rank:
                check(world, one)
        except Failed as problem:
            warning = f"socketProgress: Connection closed by remote peer {_address(one)}"
            kind = "remote process exited or there was a network error"
            raise Failed(warning, kind, delay_s=problem.delay_s + 2.0) from None


def end_of(rank):
    """The model's End of its adapter."""
    _octets, version = rdma_ends.gid(rank.nic, rank.index)
    traffic_class = rank.chosen("IB_TC", "0")
    return rdma_ends.end(rank.vm, rank.nic, version, (int(traffic_class) if traffic_class.isdigit() else 0) >> 2)


def ring_gbs(world, ranks):
    """Return the speed of the ring's slowest part, in GB/s; Failed if it breaks."""
    found = []
    for rank, peer in zip(ranks, [*ranks[1:], ranks[0]], strict=True):
        if rank is peer:
            return 2 * rates.of("nccl.memory_gbs")
        found.append(_link(world, rank, peer))
    slowest = min(found)
    return slowest * (rates.of("gpu.restricted") if any(one.restricted for one in ranks) else 1)


def start_us(ranks):
    """The time of an all-reduce of nothing."""
    apart = len({one.vm for one in ranks}) > 1
    kind = "socket" if any(one.network == "Socket" for one in ranks) else "ib"
    found = rates.of(f"nccl.latency.{kind}") if apart else 12.0
    return found * max(1.0, math.log2(max(len(ranks), 2)))


def _link(world, rank, peer):
    if rank.vm is peer.vm:
        return rates.of("nccl.memory_gbs")
    if "Socket" in (rank.network, peer.network):
        if rank.network != peer.network:
            raise Failed("NET/IB : transport mismatch with the peer", "internal error")
        if not _meet(rank.bootstrap, peer.bootstrap):
            raise Failed(f"socketStartConnect: Connect to {_address(peer)} failed : No route to host", delay_s=3.0)
        return rates.socket_gbs(min(_line(world, one) for one in (rank, peer)))
    octets, _version = rdma_ends.gid(peer.nic, peer.index)
    if not rdma_ends.near(rank.nic, octets):
        raise Failed("Call to ibv_modify_qp failed with error Connection timed out errno 110", delay_s=3.0)
    state = ends.between(world, end_of(rank), end_of(peer))
    if not state.reached or not state.passes(min(rank.nic.active_mtu, peer.nic.active_mtu)):
        raise Failed(_completion(peer, 12, 129), delay_s=5.0)
    direct = rank.gpu_direct and peer.gpu_direct
    kinds = [ends.gpu_way(world, end_of(one))[0] for one in (rank, peer)]
    return rates.nccl_gbs(state, ("apart" if "apart" in kinds else "near") if direct else "")


def _adapters(world, rank):
    """Active RDMA devices that NCCL_IB_HCA leaves."""
    found = [one for one in rdma_ends.every(world, rank.vm, rank.guest) if one.active]
    requested = rank.chosen("IB_HCA")
    exclude = requested.startswith("^")
    names = requested.lstrip("^")
    exact = names.startswith("=")
    names = [one.partition(":")[0] for one in names.lstrip("=").split(",") if one]
    if not names:
        return found
    return [
        one
        for one in found
        if any(one.name == name or (not exact and one.name.startswith(name)) for name in names) != exclude
    ]


def _gid_index(rank):
    """RoCE v2 with an IPv4 address, within NCCL_IB_ADDR_RANGE where that is set."""
    requested = rank.chosen("IB_ADDR_RANGE")
    if requested:
        network = ipaddress.ip_network(requested, strict=False)
        for index, (address, version) in enumerate(rank.nic.gids):
            if version == ends.V2 and address.ipv4_mapped and address.ipv4_mapped in network:
                return index
    return rdma_ends.best_index(rank.nic)


def _gpu_direct(rank):
    """Return whether NCCL gives GPU memory to the adapter; its nvidia_peermem check does not depend on the adapter."""
    driver = drivers.loaded(rank.vm, rank.guest) or {}
    dmabuf = drivers.exports_memory(driver) and not rank.nic.function.pvrdma
    level = rank.chosen("NET_GDR_LEVEL", USUAL)
    far_enough = level in LEVELS and LEVELS.index(SEEN) <= LEVELS.index(level)
    return far_enough and ("nvidia_peermem" in rank.guest.loaded or dmabuf)


def _interface(rank):
    """The interface that NCCL_SOCKET_IFNAME leaves, or the first real one."""
    requested = rank.chosen("SOCKET_IFNAME")
    exclude, exact = requested.startswith("^"), requested.startswith("=")
    names = [one for one in requested.lstrip("^=").split(",") if one]
    usable = [one for one in rank.guest.interfaces if one["up"] and one["addresses"]]
    if names:
        hits = [
            one
            for one in usable
            if any(one["name"] == name or (not exact and one["name"].startswith(name)) for name in names) != exclude
        ]
    else:
        hits = [one for one in usable if not one["name"].startswith(VIRTUAL)]
    if not hits:
        raise Failed("Bootstrap : no socket interface found", "internal error")
    return hits[0]


def _meet(one, other):
    networks = [{ipaddress.ip_interface(row).network for row in side["addresses"]} for side in (one, other)]
    return bool(networks[0] & networks[1])


def _line(world, rank):
    """The speed of the host's port behind an interface."""
    mac = rank.bootstrap["mac"].lower()
    nic = next((one for one in rank.vm.nics if one.macAddress.lower() == mac), None)
    port = getattr(nic.backing, "port", None) if nic is not None else None
    host = rank.vm.host
    if isinstance(nic, vim.vm.device.VirtualSriovEthernetCard):
        own = devices.devices(world, rank.vm, rank.guest)
        return next((one.function.speed_mbps for one in own if one.function.key == nic.key), 1000) / 1000
    if port is not None:
        uplinks = world.get(port.portgroupKey).switch.uplinks_of(host)
    else:
        uplinks = [one for one in host.nics if one.switch in host.standard_switches]
    return min((one.speed_mbps for one in uplinks if one.link_up), default=10_000) / 1000


def _unified(vm):
    """Return whether all vGPUs of a VM have unified memory, without which NCCL does not start."""
    names = [f"pciPassthru{number}.cfg.enable_uvm" for number in range(len(vm.vgpus))]
    return all(str(vm.setting(name)).casefold() in ("1", "true") for name in names)


def _address(rank):
    return f"{rank.bootstrap['addresses'][0].partition('/')[0]}<{41000 + rank.number}>"


def _completion(peer, status, vendor):
    what = "Send" if status == 12 else "Recv"
    return (
        f"NET/IB : Got completion from peer {_address(peer)} with status={status} opcode=129 len=0 "
        f"vendor err {vendor} ({what})"
    )
