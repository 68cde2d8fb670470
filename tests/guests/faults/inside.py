"""What is wrong in guests."""

from __future__ import annotations

import contextlib

from twin.model import gpu_errors

from . import FAIL, GUESTS, PAIRS, SECOND, Fault, Seen, shell, vm

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
            f"mkdir -p /root/kept && mv {TOKENS}/*.tok /root/kept && systemctl restart nvidia-gridd",
            f"mv /root/kept/*.tok {TOKENS} && systemctl restart nvidia-gridd && sleep 3",
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
        script("modprobe -r vmw_pvrdma", "modprobe vmw_pvrdma"),
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
        "guest", lambda twin: gpu_error(twin, 79), (Seen("guest.driver job-02", FAIL, ("job-02",)),), GUESTS
    ),
    "guest-gpu-memory": Fault(
        "guest", lambda twin: gpu_error(twin, 48), (Seen("guest.ecc job-02", FAIL, ("job-02",)),), GUESTS
    ),
    "guest-no-address": Fault(
        "guest",
        script(
            "ip -o -4 addr show ens224 | awk '{print $4}' > /root/address && ip addr flush dev ens224",
            "ip addr add $(cat /root/address) dev ens224",
        ),
        (Seen("guest.gid job-02", FAIL, ("job-02",)),),
        PAIRS,
    ),
    "guest-interface-down": Fault(
        "guest",
        script("ip link set ens224 down", "ip link set ens224 up"),
        (Seen("guest.rdma_device job-02", FAIL, ("job-02",)),),
        PAIRS,
    ),
    "guest-no-ssh": Fault(
        "guest",
        script("systemctl stop ssh.socket ssh; pkill -x sshd || true", "systemctl start ssh"),
        (Seen("guest.kernel job-02", FAIL, ("job-02",)),),
        GUESTS,
    ),
    "guest-firewall": Fault(
        "guest",
        script("iptables -I INPUT -i ens224 -p tcp -j DROP", "iptables -D INPUT -i ens224 -p tcp -j DROP"),
        (Seen("pair.rping job-01 > job-02", FAIL, ("job-02",)),),
        PAIRS,
    ),
}
