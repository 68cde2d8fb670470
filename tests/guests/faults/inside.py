"""What is wrong in guests."""

from __future__ import annotations

import contextlib

from twin.model import gpu_errors

from . import FAIL, GUESTS, MPI, ONE, OTHER, PAIRS, SECOND, Fault, Seen, shell, vm, ways

# Ranks find each other at ports that nobody chose, and the SSH of the containers at one that is known.
RANKS = "INPUT -i ens224 -p tcp --syn ! --dport 12345 -j REJECT --reject-with tcp-reset"
CLOSED = "does not let the connections of MPI in"
TOKENS = "/etc/nvidia/ClientConfigToken"


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
        # What it is told of RoCE goes with the module, and comes back with the start of the guest.
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
}
