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


def test_packages_are_reported_with_their_state(guest):
    guest.packages = {
        "whole": ("1", "ii "),
        "unpacked": ("1", "iU "),
        "half": ("1", "iHR"),
        "gone": ("1", "rc "),
        "held": ("1", "hi "),
        "cut": ("1", "ii"),
    }
    assert {one.name: one.whole for one in manager(guest).all()} == {
        "whole": True,
        "unpacked": False,
        "half": False,
        "held": True,
        "cut": True,
    }


def test_packages_of_the_red_hat_family_are_reported(guest):
    assert [(one.name, one.version) for one in manager(guest, ROCKY).all()] == [("bash", "5.1-1"), ("dkms", "2.8-1")]


def test_a_dpkg_that_was_killed_is_noticed(guest):
    assert not manager(guest).broken_off()
    guest.put("/var/lib/dpkg/updates/0001", "")
    assert manager(guest).broken_off()


def test_old_lists_of_packages_are_renewed_once(guest):
    guest.refusals["apt-get -q -y"] = "E: Unable to locate package dkms"
    with pytest.raises(
        OperatorError, match="cannot install dkms. `apt-get -q -y` exited with status 1: E: Unable to locate"
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
def test_apt_is_reported_that_an_older_or_the_same_version_is_meant(guest, how, word):
    manager(guest).install(["dkms"], how)
    (command,) = guest.did("apt-get")
    assert word in command


def test_a_file_that_is_no_package_is_none(guest, tmp_path):
    path = tmp_path / "page.deb"
    path.write_text("<html>")
    assert manager(guest).in_file(str(path)) is None
    assert manager(guest, ROCKY).in_file(str(path)) is None


def test_a_file_of_which_the_tools_say_nothing_holds_no_package(guest):
    guest._dpkg_deb = guest._rpm = lambda argv: (0, "\n")
    assert manager(guest).in_file("/tmp/x.deb") is None
    assert manager(guest, ROCKY).in_file("/tmp/x.rpm") is None


def test_all_that_fetches_packages_goes_through_the_proxy(guest):
    answers = [(100, "E: Unable to locate package dkms"), (0, ""), (0, "")]
    guest._apt_get = lambda argv: answers.pop(0)
    manager(guest).install(["dkms"])
    assert ["update" in argv for argv in guest.did("apt-get")] == [False, True, False]
    assert guest.over_network == guest.did("apt-get")


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


def test_a_package_of_either_family_is_read_from_its_file(guest, tmp_path):
    deb = guest.package_file(tmp_path)
    rpm = guest.package_file(tmp_path, ending="rpm")
    assert manager(guest).in_file(deb) == packages.Package("nvidia-linux-grid-550", "550.54.15", "amd64")
    assert manager(guest, ROCKY).in_file(rpm) == packages.Package("nvidia-linux-grid-550", "550.54.15-1", "x86_64")


def test_apt_is_asked_for_packages_in_the_place_of_others_in_one_command(guest):
    manager(guest, wait_s=20).install(["dkms", "a=1"], without=["b", "c"])
    (command,) = guest.did("apt-get")
    assert command[-4:] == ("dkms", "a=1", "b-", "c-")
    assert "install" in command
    assert "DPkg::Lock::Timeout=20" in command


def test_dnf_removes_the_others_before_it_installs(guest):
    guest._dnf = lambda argv: (0, "")
    manager(guest, ROCKY).install(["dkms"], "downgrade", without=["b", "c"])
    manager(guest, ROCKY).install(["gcc"])
    assert guest.did("dnf") == [
        ("dnf", "-y", "remove", "b", "c"),
        ("dnf", "-y", "downgrade", "dkms"),
        ("dnf", "-y", "install", "gcc"),
    ]


def test_a_removal_that_is_refused_is_an_error_that_names_the_packages(guest):
    guest.refusals = {"apt-get": "E: held", "dnf": "Error: protected"}
    with pytest.raises(OperatorError, match="cannot remove a, b") as raised:
        manager(guest).remove(["a", "b"])
    assert (raised.value.code, guest.ran[-1][-3:]) == ("package_trouble", ("remove", "a", "b"))
    with pytest.raises(OperatorError, match="cannot remove a, b"):
        manager(guest, ROCKY).remove(["a", "b"])
    assert guest.ran[-1] == ("dnf", "-y", "remove", "a", "b")


@pytest.mark.parametrize("path", [None, "/tmp/x.deb"])
def test_a_repair_that_fails_in_between_goes_on_and_its_end_counts(guest, path):
    guest.refusals["dpkg"] = "dependency problems"
    guest._apt_get = lambda argv: (0, "")
    manager(guest).repair(path)
    first, *install, last = guest.ran
    assert first[0] == "dpkg"
    assert first[-2:] == ("--configure", "-a")
    assert [(command[0], command[-2:]) for command in install] == ([("dpkg", ("--install", path))] if path else [])
    assert (last[0], last[-2:]) == ("apt-get", ("install", "--fix-broken"))
    guest.refusals["apt-get"] = "unmet"
    with pytest.raises(OperatorError, match="cannot finish an interrupted"):
        manager(guest).repair(path)


def test_a_dnf_that_cannot_remove_duplicates_is_an_error(guest):
    guest._dnf = lambda argv: (1, "No space left on device")
    with pytest.raises(OperatorError, match="No space left"):
        manager(guest, ROCKY).repair()
    guest._dnf = lambda argv: (1, "Error: No duplicated packages found for removal.")
    manager(guest, ROCKY).repair()


def test_only_dpkg_can_be_broken_off(guest):
    guest.put("/var/lib/dpkg/updates/0001", "")
    assert manager(guest, ROCKY).broken_off() is False


def test_versions_of_apt_are_those_of_the_name_and_lists_are_renewed_where_there_are_none(guest):
    table = " toolkit | 1.17.0-1 | https://repo amd64 Packages\n toolkit-base | 9 | https://repo\nnoise\ntoolkit\n"
    table += " toolkit | 1.16.2-1 | https://repo amd64 Packages\n toolkit | 1.15.0-1\n"
    answers = ["", table, table]
    guest._apt_cache = lambda argv: (0, answers.pop(0))
    guest._apt_get = lambda argv: (0, "")
    assert manager(guest).versions("toolkit") == ["1.17.0-1", "1.16.2-1", "1.15.0-1"]
    assert len(guest.did("apt-get", "-q", "update")) == 1
    assert manager(guest).versions("toolkit") == ["1.17.0-1", "1.16.2-1", "1.15.0-1"]
    assert len(guest.did("apt-get", "-q", "update")) == 1


def test_a_version_is_asked_for_in_the_words_of_each_family(guest):
    assert manager(guest).pinned("toolkit", "1.17.0-1") == "toolkit=1.17.0-1"
    assert manager(guest, ROCKY).pinned("toolkit", "1.17.0-1") == "toolkit-1.17.0-1"


def test_packages_are_chosen_by_patterns_in_the_order_of_their_names():
    there = [packages.Package(name, "1") for name in ("nvidia-b", "cuda", "nvidia-a", "xnvidia-c")]
    assert [one.name for one in packages.named(there, ("nvidia-*", "cuda"))] == ["cuda", "nvidia-a", "nvidia-b"]
