"""Drivers, licences and RDMA devices of real guests are as the model has them; packages are really installed."""

from __future__ import annotations

import docker.errors
import pytest

from .lab import journal, until

GRID = "nvidia-linux-grid-550_550.54.15_amd64.deb"
PAIRED = {"vgpus": ["grid_a100-40c"], "adapters": [{"type": "pvrdma", "network": "pg-rdma"}]}


def sh(guest, script):
    """(status, everything that a line of shell prints)."""
    status, out, err = guest.run(["sh", "-c", f"exec 2>&1; {script}"])
    return status, out + err


def reboot(guest):
    before = sh(guest, "cat /proc/sys/kernel/random/boot_id")[1]
    sh(guest, "systemctl reboot")

    def back():
        try:
            status, text = sh(guest, "cat /proc/sys/kernel/random/boot_id && systemctl is-active lab-hardware.service")
        except docker.errors.APIError:
            return False  # the machine is off for a moment
        return status == 0 and before not in text

    until(back)


@pytest.fixture
def sources(guests):
    return guests.twin.endpoint()["depot"]["url"]


def test_a_guest_without_software_has_devices_only(fresh_guest):
    guest = fresh_guest(**PAIRED)
    for program in ("nvidia-smi", "ibv_devinfo", "ibstat", "mokutil"):
        assert sh(guest, f"command -v {program}")[0] != 0
    assert "vmw_pvrdma" in sh(guest, "lsmod")[1]
    assert "NVIDIA" in sh(guest, "lspci")[1]
    # What the files show follows the link a moment later.
    until(lambda: sh(guest, "cat /sys/class/infiniband/*/ports/1/state") == (0, "4: ACTIVE\n"))


def test_driver_and_licence_from_the_depot(fresh_guest, guests, sources):
    guest = fresh_guest(**PAIRED)
    headers = "apt-get update -qq && apt-get install -qq linux-headers-$(uname -r)"
    status, text = sh(
        guest, f"{headers} && cd /tmp && curl -fsSO {sources}/grid/{GRID} && apt-get install -qq ./{GRID}"
    )
    assert status == 0, text
    assert "No such device" in sh(guest, "modprobe nvidia")[1]  # nouveau has it
    sh(guest, "echo blacklist nouveau >/etc/modprobe.d/blacklist-nouveau.conf")
    reboot(guest)
    assert sh(guest, "nvidia-smi -L")[1].startswith("GPU 0: GRID A100-40C (UUID: GPU-")
    assert sh(guest, "cat /sys/module/nvidia/version") == (0, "550.54.15\n")
    with open(guests.twin.endpoint()["licence"]["token_file"], "rb") as token:
        guest.put("/etc/nvidia/ClientConfigToken/client.tok", token.read())
    sh(
        guest,
        "chmod 0744 /etc/nvidia/ClientConfigToken/client.tok && cd /etc/nvidia && cp gridd.conf.template gridd.conf",
    )
    assert "Unlicensed (Unrestricted)" in sh(guest, "nvidia-smi -q")[1]
    sh(guest, "systemctl restart nvidia-gridd")
    until(lambda: "Licensed (Expiry: " in sh(guest, "nvidia-smi -q")[1])
    assert "License acquired successfully." in journal(guest, "-u", "nvidia-gridd", "-o", "cat")
    reboot(guest)
    until(lambda: "Licensed (Expiry: " in sh(guest, "nvidia-smi -q")[1])
    assert sh(guest, "apt-get purge -qq nvidia-linux-grid-550; command -v nvidia-smi")[0] != 0


def test_programs_come_and_go_with_their_packages(fresh_guest):
    guest = fresh_guest(**PAIRED)
    status, text = sh(
        guest, "apt-get update -qq && apt-get install -qq --no-install-recommends ibverbs-utils rdma-core"
    )
    assert status == 0, text
    assert "hca_id:\tvmw_pvrdma0\n" in sh(guest, "ibv_devinfo")[1]
    reboot(guest)
    assert "hca_id:\trocep19s0f1\n" in sh(guest, "ibv_devinfo")[1]
    assert sh(guest, "test -c /dev/infiniband/uverbs0 && test -c /dev/infiniband/rdma_cm")[0] == 0
    assert sh(guest, "cat /sys/kernel/config/rdma_cm/rocep19s0f1/ports/1/default_roce_tos") == (0, "0\n")
    assert sh(guest, "apt-get purge -qq ibverbs-utils; command -v ibv_devinfo")[0] != 0


def test_gids_follow_the_addresses_of_the_interface(fresh_guest):
    guest = fresh_guest(**PAIRED)
    gids = "cat /sys/class/infiniband/vmw_pvrdma0/ports/1/gids/*"
    sh(guest, "ip address add 192.168.77.5/24 dev ens224")
    until(lambda: "0000:0000:0000:0000:0000:ffff:c0a8:4d05" in sh(guest, gids)[1])
    sh(guest, "ip address flush dev ens224")
    until(lambda: not sh(guest, gids)[1].replace("0", "").strip(":\n"))
    sh(guest, "ip link set ens224 down")
    until(lambda: sh(guest, "cat /sys/class/infiniband/vmw_pvrdma0/ports/1/state")[1] == "1: DOWN\n")
