"""The guest driver and its licence on real guests: broken worlds, refusals, a killed run, and the secret."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from .lab import Fresh, journal
from .rows.vgpu_guest_driver import WITHOUT_NOUVEAU, driver
from .watching import Processes

MODULE, LICENCE = "aiready.vsphere.vgpu_guest_driver", "aiready.vsphere.vgpu_licence"
PACKAGE = "nvidia-linux-grid-550"
HOLD = """
import fcntl, time
file = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(file, fcntl.LOCK_EX)
open("/run/held", "w").close()
time.sleep(3600)
"""
# Waits until dpkg is at work on the driver, then ends the module and what it has started, as a lost machine would. The
# brackets keep the patterns from finding this very script.
KILL = f"""
until pgrep -f '[d]pkg --.*{PACKAGE}' >/dev/null; do sleep 0.05; done
pkill -9 -x -f /usr/bin/python3; pkill -9 -x apt-get; pkill -9 -x dpkg
"""


def call(guest, module, params, **how):
    """The answer of one task, failed or not."""
    return guest.play([{"name": "the task", module: params, "ignore_errors": True}], **how)[0]


def installed(guest, package=PACKAGE):
    """The state and version that dpkg reports, past the module."""
    status, out, _err = guest.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Version}", package])
    return out.strip() if status == 0 else None


@pytest.fixture(scope="module")
def gpu_guest(guests):
    """A guest with a vGPU, its driver, and no licence; tests leave it so."""
    vm = guests.fresh(vgpus=["grid_a100-40c"])
    guest = Fresh(guests, vm)
    played = guest.play([*WITHOUT_NOUVEAU, {"name": "a driver", MODULE: driver("550.54.15")(guest)}])
    assert played.status == 0, played.output
    yield guest
    guests.remove(vm)


@pytest.fixture(scope="module")
def plain_guest(guests):
    """A guest without a vGPU, on which tests install and remove what they like."""
    vm = guests.fresh()
    yield Fresh(guests, vm)
    guests.remove(vm)


def test_a_driver_that_does_not_fit_the_host_is_refused_and_not_installed(gpu_guest):
    answer = call(gpu_guest, MODULE, driver("570.124.06")(gpu_guest))
    assert answer["failure"]["code"] == "driver_pair"
    assert "Use a guest driver of R550" in answer["msg"]
    assert installed(gpu_guest) == "ii 550.54.15"
    assert installed(gpu_guest, "nvidia-linux-grid-570") is None


def test_a_gpu_in_the_guest_is_reported_with_its_profile(gpu_guest):
    answer = call(gpu_guest, MODULE, driver("550.54.15")(gpu_guest))
    assert answer["changed"] is False
    (gpu,) = answer["driver"]["after"]["gpus"]
    assert (gpu["virtualization"], gpu["name"]) == ("vgpu", "GRID A100-40C")


@pytest.mark.parametrize(
    "which, code",
    [
        ("expired_token_file", "token_expired"),
        ("bad_token_file", "token_refused"),
        ("unreachable_token_file", "server_unreachable"),
    ],
)
def test_a_guest_that_gets_no_licence_says_why(gpu_guest, which, code):
    token = Path(gpu_guest.twin.endpoint()["licence"][which]).read_text().strip()
    answer = call(gpu_guest, LICENCE, {"token": token, "wait_s": 15, "other_tokens": "remove"})
    assert answer["failure"]["code"] == code, answer["msg"]
    assert answer["licence"]["failed"] is True


def test_the_token_is_shown_nowhere(gpu_guest, guests):
    token = Path(gpu_guest.twin.endpoint()["licence"]["token_file"]).read_text().strip()
    play = {
        "hosts": gpu_guest.name,
        "gather_facts": False,
        "become": True,
        "tasks": [
            {"name": "take", LICENCE: {"token": token, "other_tokens": "remove"}},
            {"name": "give back", LICENCE: {"state": "absent"}},
        ],
    }
    with Processes(gpu_guest) as processes:
        played = guests.playbook([play], diff=True, count=2, extra=("-vvv",))
    assert played.status == 0, played.output
    assert played[0]["licence"]["after"]["status"] == "Licensed"
    shown = {
        "Ansible": played.output,
        "processes": processes.text,
        "journal": journal(gpu_guest),
    }
    assert "vgpu_licence" in shown["journal"], "Ansible writes its calls there"
    assert [place for place, text in shown.items() if token in text or token[-40:] in text] == []


def test_a_guest_without_a_vgpu_gets_the_driver_and_the_reason_why_it_shows_nothing(plain_guest):
    answer = call(plain_guest, MODULE, driver("550.54.15")(plain_guest))
    # A guest in a container sees the PCI bus of its machine, where that has one.
    has_bus = plain_guest.run(["test", "-d", "/sys/bus/pci/devices"])[0] == 0
    assert answer["failure"]["code"] == ("no_vgpu" if has_bus else "no_device"), answer["msg"]
    assert installed(plain_guest) == "ii 550.54.15"
    assert not call(plain_guest, MODULE, {"state": "absent"}).get("failed")
    assert installed(plain_guest) is None


def test_a_template_without_a_vgpu_gets_its_driver(plain_guest):
    answer = call(plain_guest, MODULE, driver("550.54.15", gpu="optional")(plain_guest))
    assert not answer.get("failed"), answer.get("msg")
    assert installed(plain_guest) == "ii 550.54.15"
    call(plain_guest, MODULE, {"state": "absent"})


def test_what_a_killed_run_left_is_finished_by_the_next(plain_guest):
    params = driver("550.54.15", gpu="optional")(plain_guest)
    killing = threading.Thread(target=lambda: plain_guest.run(["timeout", "300", "bash", "-c", KILL]))
    killing.start()
    killed = call(plain_guest, MODULE, params)
    killing.join()
    assert "Killed" in killed.get("module_stderr", ""), f"the run was to be killed: {killed}"
    answer = call(plain_guest, MODULE, params)
    assert not answer.get("failed"), answer.get("msg")
    assert installed(plain_guest) == "ii 550.54.15"
    assert plain_guest.run(["dpkg", "--audit"])[1].strip() == ""
    assert call(plain_guest, MODULE, params)["changed"] is False
    call(plain_guest, MODULE, {"state": "absent"})


def test_who_uses_the_package_manager_is_named(plain_guest):
    plain_guest.run(
        ["bash", "-c", f"nohup python3 -c '{HOLD}' >/dev/null 2>&1 & until test -e /run/held; do sleep 0.05; done"]
    )
    try:
        answer = call(plain_guest, MODULE, driver("550.54.15", gpu="optional", lock_wait_s=1)(plain_guest))
    finally:
        plain_guest.run(["bash", "-c", "pkill -f lock-frontend; rm /run/held"])
    assert answer["failure"]["code"] == "packages_locked"
    assert answer["failure"]["holder"].startswith("python3 (process ")
    assert installed(plain_guest) is None


def test_a_full_disk_is_reported_and_nothing_is_left_of_the_download(plain_guest):
    plain_guest.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "/var/tmp"])
    try:
        # Packages of the lab are small: not a byte is left for them.
        plain_guest.run(["dd", "if=/dev/zero", "of=/var/tmp/full", "bs=4096", "count=1"])
        answer = call(plain_guest, MODULE, driver("550.54.15", gpu="optional")(plain_guest))
        assert answer["failure"]["code"] == "disk_full", answer["msg"]
        assert plain_guest.run(["ls", "-A", "/var/tmp"])[1] == "full\n"
    finally:
        plain_guest.run(["umount", "/var/tmp"])


def test_packages_of_a_data_centre_are_named(plain_guest):
    url = plain_guest.twin.endpoint()["depot"]["url"]
    file = "nvidia-driver-550_550.54.15-1_amd64.deb"
    fetch = {"url": f"{url}/datacentre/{file}", "dest": "/var/tmp/"}
    played = plain_guest.play(
        [
            {"name": "fetch", "ansible.builtin.get_url": fetch},
            {"name": "install", "ansible.builtin.apt": {"deb": f"/var/tmp/{file}"}},
        ]
    )
    assert played.status == 0, played.output
    try:
        answer = call(plain_guest, MODULE, driver("550.54.15", gpu="optional")(plain_guest))
        assert answer["failure"]["code"] == "conflicting_driver"
        assert "apt-get remove nvidia-driver-550" in answer["msg"]
        refused = call(plain_guest, MODULE, {"package": f"/var/tmp/{file}", "gpu": "optional"})
        assert refused["failure"]["code"] == "not_a_guest_driver"
    finally:
        plain_guest.run(["apt-get", "-y", "purge", "nvidia-driver-550"])
