# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""What is refused before anything is touched, with the words that an operator reads."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import smi_text
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import refusals, trouble
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.state import DriverState, Surroundings

from unit.plugins.module_utils.guest.a_guest import KERNEL, NO_DEVICES, ROCKY, Guest

from .test_noun import DEB, call

EFI = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


@pytest.fixture
def guest(tmp_path):
    return Guest(tmp_path / "guest")


def secure_boot(guest, on=True):
    guest.put(EFI, "\x06\0\0\0" + ("\x01" if on else "\0"))


def refused(guest, code, **given):
    """The message; nothing was touched."""
    before = dict(guest.packages)
    for check in (True, False):
        answer = call(guest, check=check, **given)
        assert answer["failure"]["code"] == code, answer["msg"]
        assert answer["changed"] is False
    assert guest.packages == before
    assert not guest.did("apt-get") + guest.did("dnf") + guest.did("sh")
    return answer["msg"]


@pytest.mark.parametrize(
    "host, version, words",
    [
        pytest.param("550.54.16", "570.124.06", "newer than the host of branch R550", id="newer than the host"),
        pytest.param("550.54.16", "525.105.17", "too old for a host of branch R550", id="much older"),
        pytest.param("535.161.05", "550.54.15", "Use a guest driver of R535 and R525", id="what would be allowed"),
        pytest.param("550.54.16", "570.124.06", "such as 550.54.15", id="the guest driver of the same release"),
    ],
)
def test_a_driver_that_would_disable_the_vgpu(guest, tmp_path, host, version, words):
    path = guest.package_file(tmp_path, f"nvidia-linux-grid-{version[:3]}", version)
    message = refused(guest, "driver_pair", package=path, host_version=host)
    assert words in message
    assert host in message
    assert version in message


@pytest.mark.parametrize("count, more", [(1, ""), (5, ""), (6, " and 1 more"), (9, " and 4 more")])
def test_of_many_processes_on_the_gpu_the_message_names_five(count, more):
    users = [f"python ({number})" for number in range(1, count + 1)]
    around = Surroundings(None, "", "", users=tuple(users))
    with pytest.raises(OperatorError) as raised:
        refusals.refuse_in_use("job-01", DriverState(), around, "cannot replace it")
    assert f"The GPU is in use by {', '.join(users[:5])}{more}. Stop them or wait" in raised.value.message
    assert raised.value.failure == documented("gpu_in_use", subject="job-01", processes=users)


def test_a_driver_of_the_branch_before_that_of_the_host_is_fine(guest, tmp_path):
    path = guest.package_file(tmp_path, "nvidia-linux-grid-535", "535.161.08")
    assert call(guest, package=path, host_version="550.54.16")["msg"] == ""


@pytest.mark.parametrize(
    "package",
    ["nvidia-driver-550-server", "cuda-drivers-550", "nvidia-open-550", "nvidia-dkms-550", "nvidia-utils-550"],
)
def test_packages_of_another_driver_are_named_with_the_command_that_removes_them(guest, tmp_path, package):
    guest.packages[package] = ("550.54.15", "ii ")
    message = refused(guest, "conflicting_driver", package=guest.package_file(tmp_path))
    assert f"Remove them with `apt-get remove {package}` and reboot" in message


def test_a_package_that_was_removed_and_left_its_configuration_does_no_harm(guest, tmp_path):
    guest.packages["nvidia-driver-550"] = ("550.54.15", "rc ")
    assert call(guest, package=guest.package_file(tmp_path))["msg"] == ""


def test_a_driver_for_whole_gpus_from_a_run_file(guest, tmp_path):
    guest.put("/usr/bin/nvidia-uninstall")
    message = refused(guest, "conflicting_driver", package=guest.package_file(tmp_path))
    assert "driver for whole GPUs: nvidia-uninstall exists, nvidia-gridd does not" in message
    assert "`nvidia-uninstall --silent`" in message


def test_a_driver_for_vgpus_from_a_run_file(guest, tmp_path):
    for program in ("nvidia-uninstall", "nvidia-gridd"):
        guest.put(f"/usr/bin/{program}")
    path = guest.package_file(tmp_path, "nvidia-driver-550")
    message = refused(guest, "conflicting_driver", package=path, flavour="data_centre")
    assert "driver for vGPUs: nvidia-uninstall and nvidia-gridd exist" in message


@pytest.mark.parametrize(
    "name, words",
    [
        ("nvidia-driver-550", "driver for whole GPUs"),
        ("nvidia-vgpu-host-550", "a host driver"),
    ],
)
def test_a_package_that_is_no_guest_driver(guest, tmp_path, name, words):
    message = refused(guest, "not_a_guest_driver", package=guest.package_file(tmp_path, name))
    assert words in message
    assert "name contains `grid`" in message


def test_a_run_file_of_a_data_centre(guest, tmp_path):
    path = tmp_path / "NVIDIA-Linux-x86_64-550.54.15.run"
    path.write_text("#!/bin/sh\npkg_string=NVIDIA-Linux-x86_64-550.54.15\n")
    refused(guest, "not_a_guest_driver", package=str(path))


def test_a_package_of_another_family(guest, tmp_path):
    path = guest.package_file(tmp_path, architecture="x86_64", ending="rpm")
    assert "but the guest runs Ubuntu 22.04.4 LTS" in refused(guest, "wrong_format", package=path)


def test_a_package_for_another_processor(guest, tmp_path):
    path = guest.package_file(tmp_path, architecture="arm64")
    assert "is for aarch64, but the guest has x86_64" in refused(guest, "wrong_architecture", package=path)


def test_a_system_that_nobody_knows(tmp_path):
    guest = Guest(tmp_path / "guest", "ID=alpine\nVERSION_ID=3.20\n")
    refused(guest, "unsupported_distribution", package="/a-grid_550.54.15.deb")


def test_programs_that_use_the_gpu_are_named(guest, tmp_path):
    call(guest, package=guest.package_file(tmp_path))
    guest.ran.clear()
    guest.users = "4711, python3\n"
    newer = guest.package_file(tmp_path, version="550.90.07")
    for given in ({"package": newer}, {"state": "absent"}):
        assert "in use by python3 (process 4711)" in refused(guest, "gpu_in_use", **given)
    same = guest.package_file(tmp_path)
    assert call(guest, package=same)["msg"] == "", "what is right already disturbs nobody"


class TestSecureBoot:
    def test_a_module_without_a_known_key(self, guest, tmp_path):
        secure_boot(guest)
        message = refused(guest, "secure_boot", package=guest.package_file(tmp_path))
        for way in ("`mokutil --import`", "`signing_key`", "`secure_boot: signed`", "switch off secure boot"):
            assert way in message

    def test_it_is_off(self, guest, tmp_path):
        secure_boot(guest, on=False)
        assert call(guest, package=guest.package_file(tmp_path))["msg"] == ""

    def test_the_key_of_dkms_is_enrolled(self, guest, tmp_path):
        secure_boot(guest)
        guest.put("/var/lib/shim-signed/mok/MOK.der", "")
        refused(guest, "secure_boot", package=guest.package_file(tmp_path))
        guest.keys_enrolled.add("/var/lib/shim-signed/mok/MOK.der")
        assert call(guest, package=guest.package_file(tmp_path))["msg"] == ""

    def test_the_user_knows_better(self, guest, tmp_path):
        secure_boot(guest)
        assert call(guest, package=guest.package_file(tmp_path), secure_boot="signed")["msg"] == ""

    def test_a_driver_that_is_there_already_is_not_questioned(self, guest, tmp_path):
        path = guest.package_file(tmp_path)
        call(guest, package=path)
        secure_boot(guest)
        assert call(guest, package=path)["msg"] == ""

    def test_a_kernel_that_refuses_the_module_is_reported_by_its_words(self, guest, tmp_path):
        secure_boot(guest)
        guest.refusals["modprobe"] = "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service"
        answer = call(guest, package=guest.package_file(tmp_path), secure_boot="signed")
        assert answer["failure"]["code"] == "module_not_signed"
        assert answer["changed"] is True
        assert guest.packages[DEB] == ("550.54.15", "ii ")


class TestNoGpu:
    """The driver is right and nvidia-smi shows nothing: a first run says it, and so does every other."""

    def both(self, guest, path, **given):
        first, second = call(guest, package=path, **given), call(guest, package=path, **given)
        assert first["failure"]["code"] == second["failure"]["code"]
        assert (first["changed"], second["changed"]) == (True, False)
        assert NO_DEVICES in second["msg"]
        return second

    @pytest.fixture
    def path(self, guest, tmp_path):
        guest.gpu = False
        return guest.package_file(tmp_path)

    def test_a_vm_without_a_vgpu(self, guest, path):
        guest.put("/sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n")
        guest.put("/sys/bus/pci/devices/0000:00:01.0/class", "0x060400\n")
        answer = self.both(guest, path)
        assert answer["failure"]["code"] == "no_vgpu"
        assert "No NVIDIA GPU is on the PCI bus" in answer["msg"]

    def test_a_device_that_the_driver_cannot_use(self, guest, path):
        guest.put("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x10de\n")
        guest.put("/sys/bus/pci/devices/0000:02:00.0/class", "0x030200\n")
        guest.kernel_said = "NVRM: GPU 0000:02:00.0: RmInitAdapter failed!\n"
        answer = self.both(guest, path)
        assert answer["failure"]["code"] == "no_device"
        assert "The kernel reports: NVRM: GPU 0000:02:00.0: RmInitAdapter failed!" in answer["msg"]
        assert "Compare the driver with that of the host" in answer["msg"]

    def test_an_installed_driver_that_does_not_fit_the_host(self, guest, path):
        call(guest, package=path)
        answer = call(guest, package=path, host_version="535.161.05")
        assert answer["failure"]["code"] == "driver_pair"

    def test_a_module_that_was_not_built(self, guest, path):
        guest.install = lambda reported: guest.packages.update({reported["name"]: (reported["version"], "ii ")})
        answer = call(guest, package=path)
        assert answer["failure"]["code"] == "module_missing"
        assert f"not built for the kernel {KERNEL}" in answer["msg"]


def test_the_red_hat_family_removes_with_its_own_program(tmp_path):
    guest = Guest(tmp_path / "guest", ROCKY)
    guest.packages["kmod-nvidia-open-dkms"] = ("550.54.15", "")
    path = guest.package_file(tmp_path, architecture="x86_64", ending="rpm")
    assert "`dnf remove kmod-nvidia-open-dkms`" in refused(guest, "conflicting_driver", package=path)


@pytest.mark.parametrize(
    "words, facts, code",
    [
        ("Operation not permitted", {"secure_boot": True}, "module_not_signed"),
        ("Operation not permitted", {"secure_boot": False}, "module_not_loaded"),
        ("Exec format error", {}, "module_of_another_kernel"),
        ("No such device", {"device": True}, "no_device"),
        ("No such device", {"device": False}, "no_vgpu"),
        ("No such device", {"device": None}, "no_vgpu"),
    ],
)
def test_the_words_of_a_kernel_that_refuses_the_module(words, facts, code):
    around = Surroundings(distribution=None, kernel="6.8.0", machine="x86_64", **facts)
    error = trouble.not_loaded("train-01", "580.95.05", f"modprobe: ERROR: could not insert 'nvidia': {words}", around)
    assert (error.code, words in str(error)) == (code, True)


@pytest.mark.parametrize("enrolled", [{}, {"key_enrolled": False}])
def test_a_key_that_nobody_saw_in_the_firmware_is_not_enrolled(enrolled):
    around = Surroundings(distribution=None, kernel="6.8.0", machine="x86_64", secure_boot=True, **enrolled)
    assert around.key_enrolled is False


def test_a_gpu_that_was_lost_is_not_one_of_another_driver():
    report = smi_text.parse("Unable to determine the device handle for GPU0: 0000:02:00.0: Unknown Error\n")
    around = Surroundings(distribution=None, kernel="6.8.0", machine="x86_64", device=True)
    with pytest.raises(OperatorError) as raised:
        trouble.refuse_without_gpu("train-01", DriverState(version="580.95.05", report=report), around, "")
    assert raised.value.code == "gpu_lost"


def test_a_loaded_driver_without_nvidia_smi_is_incomplete(guest):
    guest.install({"name": DEB, "version": "550.54.15"})
    guest.load("550.54.15")
    guest._nvidia_smi = None
    answer = call(guest, package=DEB, version="550.54.15")
    assert (answer["failure"]["code"], answer["failure"]["symptom"]) == ("driver_incomplete", "not_installed")
    assert "The program nvidia-smi is not installed." in answer["msg"]
    assert (answer["after"]["loaded"], answer["after"]["gpus"]) == ("550.54.15", [])


def test_a_loaded_driver_without_its_package_or_nvidia_smi_has_no_gpus(guest):
    guest.load("550.54.15")
    guest._nvidia_smi = None
    answer = call(guest, state="absent")
    assert (answer["msg"], answer["changed"], answer["after"]["gpus"]) == ("", False, [])


WHOLE_GPU = "/sys/bus/pci/devices/0000:02:00.0"


def gpu(guest, device):
    """Put a whole GPU with this device ID on the PCI bus."""
    for name, text in {"vendor": "0x10de", "class": "0x030200", "device": device}.items():
        guest.put(f"{WHOLE_GPU}/{name}", f"{text}\n")


@pytest.mark.parametrize("package", ["nvidia-linux-grid-550", "nvidia-vgpu-vsphere-550"])
def test_a_driver_that_is_not_for_whole_gpus(guest, tmp_path, package):
    path = guest.package_file(tmp_path, package)
    message = refused(guest, "not_a_data_centre_driver", package=path, flavour="data_centre")
    assert "`flavour` is data_centre. Use the data centre driver" in message


@pytest.mark.parametrize("device", ["0x2330", "0x26b9", "0x2901", "0x2bb5", "0x3182"])
def test_a_gpu_that_needs_the_open_modules(guest, tmp_path, device):
    gpu(guest, device)
    path = guest.package_file(tmp_path, "nvidia-driver-550")
    message = refused(guest, "open_modules_needed", package=path, flavour="data_centre")
    assert "which needs the open ones" in message
    assert "Use a package with `open` in its name, such as nvidia-driver-580-open" in message


@pytest.mark.parametrize("device, package", [("0x20f1", "nvidia-driver-550"), ("0x2330", "nvidia-driver-550-open")])
def test_a_data_centre_driver_that_fits_its_gpu(guest, tmp_path, device, package):
    gpu(guest, device)
    path = guest.package_file(tmp_path, package)
    answer = call(guest, package=path, check=True, flavour="data_centre", host_version="470.10")
    assert (answer["msg"], answer["changed"]) == ("", True)


def test_packages_of_the_data_centre_driver_do_not_conflict_with_it(guest, tmp_path):
    guest.packages["nvidia-utils-550"] = ("550.54.15", "ii ")
    path = guest.package_file(tmp_path, "nvidia-driver-550")
    assert call(guest, check=True, package=path, flavour="data_centre")["msg"] == ""
