"""What is wrong in guests."""

from __future__ import annotations

import contextlib

from vsphere_twin.model import gpu_errors

from . import (
    FAIL,
    FIRST,
    GUESTS,
    MPI,
    NCCL,
    ONE,
    OTHER,
    PAIRS,
    RUNS,
    SECOND,
    Fault,
    Seen,
    changed,
    named,
    nothing,
    shell,
    vm,
    ways,
)

# Ranks find each other at ports that nobody chose, and the SSH of the containers at one that is known.
RANKS = "INPUT -i ens224 -p tcp --syn ! --dport 12345 -j REJECT --reject-with tcp-reset"
CLOSED = "rejects the connections of MPI"
TOKENS = "/etc/nvidia/ClientConfigToken"


# The port of the containers' SSH, and a container of somebody else that listens on it.
PORT = 12345
IMAGE = '"$(docker images --quiet | head -n 1)"'
STRANGER = f"""
docker run --detach --name stranger --network host --entrypoint python3 {IMAGE} -m http.server {PORT}
for _try in $(seq 600); do ss -Hltn 'sport = :{PORT}' | grep -q . && exit 0; sleep 0.1; done
exit 1
"""
# A token that another licence server signed.
OTHER_TOKEN = f"cp {TOKENS}/*.tok /srv/kept.tok && sed -i 's/[^.]*$/c29tZWJvZHkgZWxzZQ/' {TOKENS}/*.tok"
NO_ROOM = "mount -t tmpfs -o size=64k,mode=0755 full /var/lib"


def script(wrong, right):
    return lambda twin: shell(twin, SECOND, wrong, right)


@contextlib.contextmanager
def gpu_error(twin, number):
    twin.control.gpu_error(vm=SECOND, number=number)
    try:
        yield
    finally:
        with twin.world.lock:
            # As a restart of the VM does.
            gpu_errors._EVENTS.pop(vm(twin, SECOND), None)
            twin.world.touch(vm(twin, SECOND))


@contextlib.contextmanager
def gpu_computes_wrong(twin):
    with changed(
        twin,
        lambda world: gpu_errors.set_wrong(world, vm(twin, SECOND)),
        lambda world: gpu_errors.set_wrong(world, vm(twin, SECOND), wrong=False),
    ):
        yield


# The brackets keep it from finding itself.
UNTIL_MEASURED = "until pgrep -f '[i]b_write_bw' >/dev/null; do sleep 0.1; done; systemctl stop nvidia-gridd"
LOSE_LICENCE = f'systemd-run --unit lose-licence sh -c "{UNTIL_MEASURED}"'

FAULTS = {
    "guest-unlicensed": Fault(
        "guest",
        script(
            f"mkdir -p /srv/kept && mv {TOKENS}/*.tok /srv/kept && systemctl restart nvidia-gridd",
            f"mv /srv/kept/*.tok {TOKENS} && systemctl restart nvidia-gridd && sleep 3",
        ),
        (Seen("guest.licence job-02 (before)", FAIL, ("job-02", "unlicensed")),),
        GUESTS,
        silent=True,
    ),
    "guest-licence-lost": Fault(
        "guest",
        script(LOSE_LICENCE, "systemctl stop lose-licence || true; systemctl start nvidia-gridd && sleep 3"),
        (Seen("guest.licence job-02 (after)", FAIL, ("job-02", "unlicensed")),),
        PAIRS,
    ),
    "guest-mtu": Fault(
        "guest",
        script("ip link set ens224 mtu 1500", "ip link set ens224 mtu 9000"),
        (Seen("guest.mtu job-02", FAIL, ("job-02",)),),
        PAIRS,
    ),
    "guest-no-module": Fault(
        "guest",
        # Its RoCE settings go with the module, and the start of the guest sets them again.
        script("modprobe -r vmw_pvrdma", "modprobe vmw_pvrdma && systemctl restart aiready-roce-ens224.service"),
        (Seen("guest.modules job-02", FAIL, ("vmw_pvrdma", "job-02")),),
        PAIRS,
    ),
    "guest-no-driver": Fault(
        "guest",
        script(
            "systemctl stop nvidia-gridd; modprobe -r nvidia_uvm nvidia",
            "modprobe nvidia; modprobe nvidia_uvm; systemctl start nvidia-gridd; sleep 3",
        ),
        (Seen("guest.driver job-02", FAIL, ("job-02",)),),
        GUESTS,
    ),
    "guest-gpu-lost": Fault(
        "guest",
        lambda twin: gpu_error(twin, 79),
        (Seen("guest.driver job-02", FAIL, (SECOND,)), Seen("guest.xid job-02", FAIL, (SECOND,), ("Xid 79",))),
        GUESTS,
    ),
    "guest-gpu-memory": Fault(
        "guest",
        lambda twin: gpu_error(twin, 48),
        (Seen("guest.ecc job-02", FAIL, ("job-02",)), Seen("guest.xid job-02", FAIL, ("job-02",), ("Xid 48",))),
        GUESTS,
    ),
    "guest-gpu-computes-wrong": Fault(
        "guest",
        gpu_computes_wrong,
        (Seen("cluster.nccl rdma", FAIL, ("a GPU, its memory",), ("values of the result are wrong",)),),
        NCCL,
        silent=True,
    ),
    "guest-no-ssh": Fault(
        "guest",
        script("systemctl stop ssh; pkill -x sshd || true", "systemctl start ssh"),
        (Seen("guest.kernel job-02", FAIL, ("job-02",)),),
        PAIRS,
    ),
    "guest-firewall": Fault(
        "guest",
        script("iptables -I INPUT -i ens224 -p tcp -j DROP", "iptables -D INPUT -i ens224 -p tcp -j DROP"),
        (*ways("pair.rping", FAIL, ONE, OTHER), *ways("pair.iperf3", FAIL, ONE, OTHER)),
        PAIRS,
    ),
    "guest-firewall-ranks": Fault(
        "guest",
        script(f"iptables -I {RANKS}", f"iptables -D {RANKS}"),
        # Whether Open MPI says what it waits for, before it is ended, is a matter of chance in one of the directions.
        (
            Seen("pair.mpi_lat job-02 > job-01", FAIL, (CLOSED, SECOND)),
            Seen("pair.mpi_lat job-01 > job-02", FAIL),
            *ways("pair.mpi_bw", FAIL),
        ),
        MPI,
        # Two ranks that reduce begin with the one that may connect.
        also=("cluster.mpi_allreduce",),
    ),
    "guest-memlock": Fault(
        "guest",
        # The lab cannot raise the limit of its guests, so that a site which requires it is enough.
        nothing,
        tuple(Seen(f"guest.memlock {guest}", FAIL, ("memlock", guest), ("8192 kB",)) for guest in (FIRST, SECOND)),
        GUESTS,
        lab={"lab_guests": {"limits": {"memlock": "unlimited"}}},
    ),
    "guest-other-licence-server": Fault(
        "guest",
        script(
            f"{OTHER_TOKEN} && systemctl restart nvidia-gridd",
            f"cp /srv/kept.tok {TOKENS}/$(basename {TOKENS}/*.tok) && systemctl restart nvidia-gridd && sleep 3",
        ),
        (Seen("guest.licence job-02 (before)", FAIL, ("job-02", "unlicensed")),),
        GUESTS,
    ),
    "guest-disk-full": Fault(
        "guest",
        script(NO_ROOM, "umount --lazy /var/lib"),
        (named("blocks: job-02, disk of /var/lib:", " GB are free", "10 GB"),),
        by="preflight",
        inside=True,
    ),
    "guest-port-in-use": Fault(
        "guest",
        script(STRANGER, "docker rm --force stranger"),
        (Seen("cluster.hostname", FAIL, (), (f"port {PORT}",)),),
        RUNS,
    ),
}
