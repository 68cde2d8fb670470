"""Kernel modules load with what they need, refuse with the kernel's words, and are gone after a reboot."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "vm, state, loaded",
    [
        ({}, {}, ["vmxnet3", "vmw_pvrdma"]),
        ({"adapters": []}, {}, ["vmxnet3"]),
        ({}, {"modprobe": []}, ["vmxnet3", "vmw_pvrdma", "nouveau"]),
        ({"vgpus": []}, {"modprobe": []}, ["vmxnet3", "vmw_pvrdma"]),
        ({}, {"modprobe": ["blacklist nouveau", "blacklist vmw_pvrdma"]}, ["vmxnet3"]),
        ({"adapters": []}, {"modules_load": ["rdma_ucm"]}, ["vmxnet3", "ib_cm", "iw_cm", "rdma_cm", "rdma_ucm"]),
        ({}, {"installed": {"doca-ofed": {"version": "25.04"}}}, ["vmxnet3"]),
    ],
    ids=["PVRDMA", "no adapter", "nouveau", "no GPU", "blacklisted", "modules-load.d", "OFED"],
)
def test_what_loads_at_boot_follows_from_the_devices(guest_of, vm, state, loaded):
    machine = guest_of(**vm).boot(**state)
    kept = [one for one in machine.state["loaded"] if one not in ("ib_core", "ib_uverbs")]
    assert kept == loaded


@pytest.mark.parametrize(
    "argv, status, says",
    [
        (
            ["modprobe", "nvidia"],
            1,
            "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1.0-18-amd64\n",
        ),
        (
            ["modprobe", "nonsense"],
            1,
            "modprobe: FATAL: Module nonsense not found in directory /lib/modules/6.1.0-18-amd64\n",
        ),
        (["modprobe", "-q", "nonsense"], 1, ""),
        (["modprobe", "overlay"], 0, ""),
        (["modprobe", "-va", "bridge", "br_netfilter"], 0, ""),
        (["modprobe", "rdma-ucm"], 0, ""),
        (["rmmod", "ib_core"], 1, "rmmod: ERROR: Module ib_core is in use by: ib_uverbs vmw_pvrdma\n"),
        (["rmmod", "nouveau"], 1, "rmmod: ERROR: Module nouveau is not currently loaded\n"),
        (["modprobe", "-r", "vmw_pvrdma"], 0, ""),
        (["modinfo", "-F", "depends", "vmw_pvrdma"], 0, "ib_uverbs,ib_core\n"),
        (["modinfo", "nvidia"], 1, "modinfo: ERROR: Module nvidia not found.\n"),
        (["dkms", "status"], 0, ""),
    ],
)
def test_the_words_are_those_of_kmod(guest_of, argv, status, says):
    assert guest_of().boot().run(*argv) == (status, says)


def test_only_root_loads(guest_of):
    machine = guest_of().boot(uid=1000)
    says = "modprobe: ERROR: could not insert 'rdma_ucm': Operation not permitted\n"
    assert machine.run("modprobe", "rdma_ucm") == (1, says)


def test_ofed_and_the_distributions_pvrdma_module_do_not_go_together(guest_of):
    machine = guest_of().boot(installed={"doca-ofed": {"version": "25.04"}})
    assert machine.run("modprobe", "vmw_pvrdma") == (
        1,
        "modprobe: ERROR: could not insert 'vmw_pvrdma': Invalid argument\n",
    )


def test_ofed_takes_over_with_the_next_boot_and_does_not_mix_with_what_was_loaded(guest_of):
    machine = guest_of(adapters=[]).boot()
    machine.run("modprobe", "ib_core")
    assert machine.run("modinfo", "-F", "version", "ib_core") == (0, "")
    machine.state["installed"]["doca-ofed"] = {"version": "25.04"}
    assert machine.run("modinfo", "-F", "version", "ib_core") == (0, "25.04\n")
    assert "/sys/module/ib_core/version" not in machine.files
    assert machine.run("modprobe", "ib_uverbs")[1].endswith("could not insert 'ib_uverbs': Invalid argument\n")
    machine.boot()
    assert machine.run("modprobe", "ib_uverbs") == (0, "")
    assert machine.files["/sys/module/ib_core/version"] == "25.04\n"


@pytest.mark.parametrize(
    "headers, status, built", [(False, 21, False), (True, 0, True)], ids=["no headers", "with headers"]
)
def test_dkms_builds_with_headers_only(guest_of, headers, status, built):
    machine = guest_of().driver(kernel="").boot(headers=headers)
    assert machine.run("modinfo", "nvidia")[0] == 1
    assert machine.run("dkms", "autoinstall", "-k", "6.1.0-18-amd64")[0] == status
    assert ("/usr/lib/lab/installed/nvidia-module.json" in machine.files) is built


def test_lsmod_and_sys_module_agree(guest_of):
    machine = guest_of().driver().boot()
    listed = {line.split()[0] for line in machine.run("lsmod")[1].splitlines()[1:]}
    shown = {path.split("/")[3] for path, text in machine.files.items() if path.startswith("/sys/module/") and text}
    assert listed == shown == set(machine.state["loaded"])
