# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import locks, os_release, packages
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

from .a_guest import ROCKY, UBUNTU, Clock, Guest

LOCK = "/var/lib/dpkg/lock-frontend"
HOLD = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def manager(guest, text=UBUNTU, wait_s=300):
    return packages.of(os_release.parse(text), guest, guest.files, "train-01", wait_s, Clock())


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path)


@pytest.fixture
def held(guest):
    """A lock of apt that another process holds."""
    path = guest.put(LOCK)
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        name = "unattended-upgr"
        guest.put(f"/proc/{process.pid}/comm", f"{name}\n")
        yield f"{name} (process {process.pid})"
        process.stdin.close()


def test_packages_are_told_with_their_state(guest):
    guest.packages = {
        "whole": ("1", "ii "),
        "unpacked": ("1", "iU "),
        "half": ("1", "iHR"),
        "gone": ("1", "rc "),
        "held": ("1", "hi "),
    }
    assert {one.name: one.whole for one in manager(guest).all()} == {
        "whole": True,
        "unpacked": False,
        "half": False,
        "held": True,
    }


def test_packages_of_the_red_hat_family_are_told(guest):
    assert [(one.name, one.version) for one in manager(guest, ROCKY).all()] == [("bash", "5.1-1"), ("dkms", "2.8-1")]


def test_a_dpkg_that_was_killed_is_noticed(guest):
    assert not manager(guest).broken_off()
    guest.put("/var/lib/dpkg/updates/0001", "")
    assert manager(guest).broken_off()


def test_old_lists_of_packages_are_renewed_once(guest):
    guest.refusals["apt-get -q -y"] = "E: Unable to locate package dkms"
    with pytest.raises(
        OperatorError, match="dkms was to be installed. `apt-get -q -y` ended with 1: E: Unable to locate"
    ):
        manager(guest).install(["dkms"])
    assert len(guest.did("apt-get", "-q", "-y")) == 2
    assert len(guest.did("apt-get", "-q", "update")) == 1


def test_what_new_lists_cannot_mend_is_not_tried_again(guest):
    guest.refusals["apt-get -q -y"] = "dpkg: error: No space left on device"
    with pytest.raises(OperatorError, match="No space left"):
        manager(guest).install(["dkms"])
    assert len(guest.did("apt-get", "-q", "-y")) == 1


@pytest.mark.parametrize("how, word", [("downgrade", "--allow-downgrades"), ("reinstall", "--reinstall")])
def test_apt_is_told_that_an_older_or_the_same_version_is_meant(guest, how, word):
    manager(guest).install(["dkms"], how)
    (command,) = guest.did("apt-get")
    assert word in command


def test_a_file_that_is_no_package_is_none(guest, tmp_path):
    path = tmp_path / "page.deb"
    path.write_text("<html>")
    assert manager(guest).in_file(str(path)) is None
    assert manager(guest, ROCKY).in_file(str(path)) is None


def test_dnf_without_duplicates_is_fine(guest):
    manager(guest, ROCKY).repair()
    assert guest.did("dnf", "-y", "remove", "--duplicates")


def test_who_holds_the_lock_is_named_after_waiting(guest, held):
    with pytest.raises(OperatorError, match="in use by unattended-upgr") as raised:
        manager(guest, wait_s=20).install(["dkms"])
    assert raised.value.code == "packages_locked"
    assert raised.value.failure["holder"] == held
    assert guest.did("apt-get") == []


def test_looking_at_a_lock_takes_none(guest, held, tmp_path):
    assert locks.holder(Files(str(tmp_path)), "debian") == held
    free = guest.put("/var/lib/dpkg/lock")
    with open(free, "rb+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_process_of_dnf_is_named_while_it_lives(guest):
    guest.put("/var/lib/dnf/rpmdb_lock.pid", f"{os.getpid()}")
    assert locks.holder(guest.files, "redhat") is None, "a file that a killed dnf left"
    guest.put(f"/proc/{os.getpid()}/comm", "dnf\n")
    assert locks.holder(guest.files, "redhat") == f"dnf (process {os.getpid()})"


def test_what_dnf_says_beside_the_versions_is_none(guest):
    noise = "Updating Subscription Management repositories.\n Extra Packages 100% |  33.6 KiB/s |  00m01s\n"
    guest._dnf = lambda argv: (0, f"{noise}1.9-1.el9\n1.10-1.el9\n")
    assert manager(guest, ROCKY).versions("nvidia-container-toolkit") == ["1.10-1.el9", "1.9-1.el9"]
