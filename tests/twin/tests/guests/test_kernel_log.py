"""The kernel's log of a guest, and errors of its GPUs."""

from __future__ import annotations

import pytest

from vsphere_twin.model import gpu_errors


def test_drivers_say_that_they_came(guest_of):
    machine = guest_of().driver().boot()
    shown = machine.run("dmesg")[1]
    assert "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15\n" in shown
    assert "vmw_pvrdma 0000:13:00.1: device version 20, driver version 20\n" in shown
    assert "Xid" not in shown


@pytest.mark.parametrize(
    "argv, line",
    [
        (
            ["dmesg"],
            "] NVRM: Xid (PCI:0000:02:00): 48, pid='<unknown>', name=<unknown>, DBE (Double Bit Error) ECC Error\n",
        ),
        (["journalctl", "-k", "--no-pager"], " job-01 kernel: NVRM: Xid (PCI:0000:02:00): 48, "),
        (["journalctl", "-k", "-o", "cat", "--grep=xid"], "NVRM: Xid (PCI:0000:02:00): 48, "),
    ],
    ids=["dmesg", "journal", "searched"],
)
def test_an_xid(guest_of, argv, line):
    machine = guest_of().driver().boot()
    gpu_errors.report(machine.world, machine.vm, 48)
    assert line in machine.run(*argv)[1]


def test_a_double_bit_error_is_counted(guest_of):
    machine = guest_of().driver().boot()
    gpu_errors.report(machine.world, machine.vm, 48)
    query = ("nvidia-smi", "--query-gpu=ecc.errors.uncorrected.volatile.total", "--format=csv,noheader")
    assert machine.run(*query) == (0, "1\n")
    assert machine.run("nvidia-smi", "-q")[1].count("            DRAM Uncorrectable            : 1\n") == 2


def test_a_gpu_that_fell_off_is_gone_until_the_next_start(guest_of):
    machine = guest_of().driver().boot()
    gpu_errors.report(machine.world, machine.vm, 79)
    assert machine.run("nvidia-smi", "-L") == (6, "No devices were found\n")
    machine.vm.booted = object()
    assert machine.run("nvidia-smi", "-L")[0] == 0
    assert "Xid" not in machine.run("dmesg")[1]


def test_the_log_is_roots(guest_of):
    machine = guest_of().boot()
    machine.state["uid"] = 1000
    assert machine.run("dmesg") == (1, "dmesg: read kernel buffer failed: Operation not permitted\n")


def test_other_journals_are_the_real_ones(guest_of):
    assert guest_of().boot().ask("journalctl", "-u", "nvidia-gridd")["pass_on"]


def test_nothing_that_fits(guest_of):
    machine = guest_of().boot()
    assert machine.run("journalctl", "-k", "-g", "Xid") == (1, "-- No entries --\n")
