# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The driver of a guest from the look to the proof, on a guest in a folder."""

from __future__ import annotations

import hashlib
import json

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import notes, nouveau, params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.noun import GuestDriver

from unit.answers import Ended, Module
from unit.plugins.module_utils.guest.a_guest import KERNEL, ROCKY, Clock, Guest

DEB = "nvidia-linux-grid-550"


def call(guest, check=False, **given):
    """The answer of the module on this guest."""
    checked = ArgumentSpecValidator(params.ARGUMENTS, required_if=params.REQUIRED_IF).validate(given)
    assert checked.error_messages == []
    assert params.check_params(checked.validated_parameters) == []
    noun = GuestDriver(guest, guest.files, Clock(), KERNEL, "x86_64")
    item = Item("train-01", request(params.DriverRequest, checked.validated_parameters), {"name": "train-01"})
    with pytest.raises(Ended) as ended:
        runner.run(Module(check), noun, [item], "driver", True)
    return ended.value.args[0]["driver"]


def paths(answer):
    return [change["path"] for change in answer["changes"]]


def waits(answer):
    return [entry["what"] for entry in answer["pending"]]


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path / "guest")


@pytest.fixture
def deb(guest, tmp_path):
    return guest.package_file(tmp_path)


def test_a_guest_without_a_driver_gets_it_and_shows_its_gpu(guest, deb):
    answer = call(guest, package=deb, host_version="550.54.16")
    assert answer["msg"] == ""
    assert paths(answer) == ["nouveau", "driver", "loaded"]
    assert guest.packages[DEB] == ("550.54.15", "ii ")
    assert guest.files.text(nouveau.FILE) == nouveau.TEXT
    assert guest.did("update-initramfs", "-u")
    assert [gpu["name"] for gpu in answer["after"]["gpus"]] == ["NVIDIA A100-40C"]
    assert answer["pending"] == []
    assert not guest.files.exists(notes.FILE)


def test_check_mode_predicts_all_but_the_gpus_and_changes_nothing(guest, deb):
    before = sorted(path for path in guest.root.rglob("*"))
    predicted = call(guest, check=True, package=deb)
    assert sorted(path for path in guest.root.rglob("*")) == before
    assert not guest.did("apt-get")
    made = call(guest, package=deb)
    for answer in (predicted, made):
        answer["after"].pop("gpus")
    assert predicted == made


def test_a_second_run_changes_nothing(guest, deb):
    call(guest, package=deb)
    guest.ran.clear()
    answer = call(guest, package=deb, host_version="550.54.16")
    assert (answer["changed"], answer["changes"], answer["msg"]) == (False, [], "")
    assert not guest.did("apt-get") + guest.did("update-initramfs") + guest.did("modprobe")


def test_nouveau_in_the_kernel_waits_for_a_reboot_which_a_second_run_says_again(guest, deb):
    guest.put("/sys/module/nouveau/refcnt", "1")
    answer = call(guest, package=deb)
    assert paths(answer) == ["nouveau", "driver"]
    assert waits(answer) == ["driver", "nouveau"]
    assert not guest.did("modprobe")
    again = call(guest, package=deb)
    assert (again["changed"], again["msg"], waits(again)) == (False, "", ["driver", "nouveau"])


def test_after_the_reboot_a_module_that_is_not_loaded_is_loaded(guest, deb):
    call(guest, package=deb)
    (guest.root / "sys/module/nvidia/version").unlink()
    answer = call(guest, package=deb)
    assert paths(answer) == ["loaded"]
    assert guest.loaded == "550.54.15"


def test_a_newer_driver_waits_for_the_one_in_the_kernel_to_go(guest, deb, tmp_path):
    call(guest, package=deb)
    newer = guest.package_file(tmp_path, version="550.90.07")
    predicted, answer = call(guest, check=True, package=newer), call(guest, package=newer)
    assert (paths(answer), waits(answer), answer["msg"]) == (["driver"], ["driver"], "")
    assert waits(predicted) == ["driver"]
    again = call(guest, package=newer)
    assert (again["changed"], waits(again), again["msg"]) == (False, ["driver"], "")


def test_a_driver_of_another_branch_takes_the_place_of_the_old_one_in_one_go(guest, deb, tmp_path):
    guest.install({"name": "nvidia-linux-grid-535", "version": "535.161.08"})
    call(guest, package=deb)
    (command,) = guest.did("apt-get")
    assert command[-2:] == (deb, "nvidia-linux-grid-535-")


def test_an_older_driver_needs_a_word(guest, deb, tmp_path):
    call(guest, package=deb)
    older = guest.package_file(tmp_path, version="550.54.14")
    assert call(guest, package=older)["failure"]["code"] == "downgrade"
    answer = call(guest, package=older, downgrade="allow")
    assert answer["msg"] == ""
    assert "--allow-downgrades" in guest.did("apt-get")[-1]


def test_the_headers_of_the_kernel_are_installed_if_that_is_asked_for(guest, deb):
    (guest.root / f"lib/modules/{KERNEL}/build/Makefile").unlink()
    (guest.root / f"lib/modules/{KERNEL}/build").rmdir()
    refused = call(guest, package=deb)
    assert f"needs linux-headers-{KERNEL}, which is not installed" in refused["msg"]
    assert refused["failure"]["code"] == "requirements_missing"
    assert not guest.did("apt-get")
    answer = call(guest, package=deb, install_requirements=True)
    assert paths(answer)[0] == "missing"
    assert answer["after"]["missing"] == []


def test_a_run_file_is_installed_with_dkms_and_removed_by_its_own_program(guest, tmp_path):
    file = tmp_path / "NVIDIA-Linux-x86_64-550.54.15-grid.run"
    file.write_text("#!/bin/sh\nversion_string=550.54.15\npkg_string=NVIDIA-Linux-x86_64-550.54.15-grid\n")
    answer = call(guest, package=str(file))
    assert answer["msg"] == ""
    assert guest.did("sh") == [("sh", str(file), "--silent", "--dkms")]
    assert (answer["after"]["format"], answer["after"]["package"]) == ("run", None)
    assert call(guest, package=str(file))["changed"] is False
    gone = call(guest, state="absent")
    assert gone["msg"] == ""
    assert guest.did("nvidia-uninstall", "--silent")
    assert waits(gone) == ["driver"]


@pytest.mark.parametrize(
    "log, words",
    [("", ""), ("one\n-> ERROR: first\nERROR: second\n ERROR: third\n", "second / third")],
    ids=["no log", "its last two errors"],
)
def test_an_installer_that_fails_is_reported_with_the_end_of_its_log(guest, tmp_path, log, words):
    file = tmp_path / "NVIDIA-Linux-x86_64-550.54.15-grid.run"
    file.write_text("#!/bin/sh\npkg_string=NVIDIA-Linux-x86_64-550.54.15-grid\n")
    guest.put("/var/log/nvidia-installer.log", log)
    guest.refusals["sh "] = "installation failed"
    answer = call(guest, package=str(file))
    assert {key: answer["failure"][key] for key in ("code", "rc")} == {"code": "installer_failed", "rc": 1}
    assert "installation failed" in answer["msg"]
    assert (words in answer["msg"], "first" in answer["msg"]) == (True, False)


def test_a_run_file_comes_after_the_reboot_that_takes_nouveau_out(guest, tmp_path):
    file = tmp_path / "NVIDIA-Linux-x86_64-550.54.15-grid.run"
    file.write_text("#!/bin/sh\nversion_string=550.54.15\n")
    guest.put("/sys/module/nouveau/refcnt", "1")
    predicted, answer = call(guest, check=True, package=str(file)), call(guest, package=str(file))
    assert predicted == answer
    assert (paths(answer), waits(answer), answer["msg"]) == (["nouveau"], ["driver", "nouveau"], "")
    assert not guest.did("sh")
    again = call(guest, package=str(file))
    assert (again["changed"], waits(again)) == (False, ["driver", "nouveau"])


def test_a_run_file_signs_with_the_keys_of_the_task(guest, tmp_path):
    file = tmp_path / "NVIDIA-Linux-x86_64-550.54.15-grid.run"
    file.write_text("#!/bin/sh\nversion_string=550.54.15\n")
    call(guest, package=str(file), signing_key="/etc/keys/mok.key", signing_certificate="/etc/keys/mok.der")
    (command,) = guest.did("sh")
    assert command[-2:] == (
        "--module-signing-secret-key=/etc/keys/mok.key",
        "--module-signing-public-key=/etc/keys/mok.der",
    )


def test_a_package_of_a_repository_is_any_version_or_the_one_asked_for(guest):
    guest.offers[DEB] = ["550.90.07-1", "550.54.15-1"]
    answer = call(guest, package=DEB, version="550.54.15")
    assert answer["msg"] == ""
    assert f"{DEB}=550.54.15-1" in guest.did("apt-get")[-1]
    assert call(guest, package=DEB)["changed"] is False, "any version is right where none is asked for"


def test_a_version_that_no_repository_has_is_named_with_those_that_it_has(guest):
    guest.offers[DEB] = ["550.90.07-1"]
    answer = call(guest, package=DEB, version="550.54.15")
    assert answer["failure"]["code"] == "not_in_repository"
    assert "The repositories of the guest have 550.90.07." in answer["msg"]
    assert "No repository has this package" in call(guest, package="nvidia-linux-grid-999")["msg"]


def test_an_rpm_is_installed_by_dnf(tmp_path):
    guest = Guest(tmp_path / "guest", ROCKY)
    rpm = guest.package_file(tmp_path, architecture="x86_64", ending="rpm")
    answer = call(guest, package=rpm)
    assert answer["msg"] == ""
    assert guest.did("dnf", "-y", "install") == [("dnf", "-y", "install", rpm)]
    assert answer["after"]["format"] == "rpm"


def test_what_was_killed_in_the_middle_of_dpkg_is_finished(guest, deb):
    guest.packages[DEB] = ("550.54.15", "iHR")
    guest.built("550.54.15")
    notes.begin(guest.files, "driver")
    answer = call(guest, package=deb)
    assert answer["msg"] == ""
    assert answer["before"]["interrupted"] == ["driver", "packages"]
    assert guest.packages[DEB] == ("550.54.15", "ii ")
    assert guest.did("dpkg")[-1][-2:] == ("--install", deb)
    assert call(guest, package=deb)["changed"] is False


def test_a_driver_that_was_killed_while_it_was_removed_is_removed(guest, deb):
    call(guest, package=deb)
    guest.packages[DEB] = ("550.54.15", "iF ")
    answer = call(guest, state="absent")
    assert answer["msg"] == ""
    assert DEB not in guest.packages


def test_an_early_file_system_that_a_killed_run_did_not_make_is_made(guest, deb):
    call(guest, package=deb)
    notes.begin(guest.files, "nouveau")
    guest.ran.clear()
    answer = call(guest, package=deb)
    assert paths(answer) == ["interrupted"]
    assert guest.did("update-initramfs") == [("update-initramfs", "-u")]
    assert not guest.did("apt-get")
    assert call(guest, package=deb)["changed"] is False


def test_a_failed_installation_is_reported_and_tried_again_by_the_next_run(guest, deb):
    guest.refusals["apt-get"] = "dpkg: error processing archive: No space left on device"
    answer = call(guest, package=deb)
    assert (answer["failed"], answer["failure"]["code"]) == (True, "package_trouble")
    assert "No space left on device" in answer["msg"]
    del guest.refusals["apt-get"]
    assert call(guest, package=deb)["msg"] == ""
    assert not guest.files.exists(notes.FILE)


def test_a_kernel_that_came_later_gets_its_module(guest, deb):
    call(guest, package=deb)
    guest.built(None)
    (guest.root / "sys/module/nvidia/version").unlink()
    answer = call(guest, package=deb)
    assert paths(answer) == ["module", "loaded"]
    assert guest.did("dkms") == [("dkms", "autoinstall", "-k", KERNEL)]


def test_absent_removes_every_guest_driver_and_lets_nouveau_in_again(guest, deb):
    call(guest, package=deb)
    answer = call(guest, state="absent")
    assert answer["msg"] == ""
    assert DEB not in guest.packages
    assert not guest.files.exists(nouveau.FILE)
    assert call(guest, state="absent")["changed"] is False


def test_absent_waits_for_a_reboot_where_one_removes_the_driver_from_the_kernel(guest, deb):
    call(guest, package=deb)
    guest.ran.clear()
    assert waits(call(guest, state="absent")) == ["driver"]


def test_a_driver_of_a_data_centre_comes_back_with_each_start_and_waits_for_none(guest):
    guest.built("580.95.05")
    guest.load("580.95.05")
    answer = call(guest, state="absent")
    assert (answer["changed"], waits(answer), answer["after"]["loaded"]) == (False, [], "580.95.05")


def test_absent_leaves_a_blacklist_that_somebody_else_wrote(guest):
    guest.put(nouveau.FILE, "# ours\nblacklist nouveau\noptions nouveau modeset=0\n")
    assert call(guest, state="absent")["changed"] is False


def test_a_template_without_a_gpu_gets_the_driver_all_the_same(guest, deb):
    guest.refusals["modprobe"] = "modprobe: ERROR: could not insert 'nvidia': No such device"
    answer = call(guest, package=deb, gpu="optional")
    assert answer["msg"] == ""
    assert call(guest, package=deb, gpu="optional")["changed"] is False


def test_a_file_that_is_not_there_yet_is_planned_by_its_name(guest, tmp_path):
    later = str(tmp_path / "nvidia-linux-grid-550_550.54.15_amd64.deb")
    assert paths(call(guest, check=True, package=later)) == ["nouveau", "driver", "loaded"]
    answer = call(guest, package=later)
    assert answer["failure"]["code"] == "no_such_file"
    assert f"The file {later} does not exist on the guest" in answer["msg"]


@pytest.mark.parametrize("check", [True, False])
def test_a_file_with_another_checksum_is_not_installed(guest, deb, check):
    wrong = "sha256:" + hashlib.sha256(b"else").hexdigest()
    answer = call(guest, check=check, package=deb, checksum=wrong)
    assert answer["failure"]["code"] == "wrong_checksum"
    assert not guest.did("apt-get")
    with open(deb, "rb") as file:
        right = hashlib.sha256(file.read()).hexdigest().upper()
    assert call(guest, check=check, package=deb, checksum=f"sha256:{right}")["msg"] == ""


def test_what_lies_under_the_name_of_a_driver_is_looked_into(guest, tmp_path):
    page = tmp_path / "nvidia-linux-grid-550_550.54.15_amd64.deb"
    page.write_text("<html>login</html>")
    assert call(guest, package=str(page))["failure"]["code"] == "not_a_package"
    page.write_text(json.dumps({"name": DEB, "version": "550.90.07", "architecture": "amd64"}))
    assert "holds 550.90.07" in call(guest, package=str(page))["msg"]
