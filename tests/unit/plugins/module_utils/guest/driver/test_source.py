# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import nouveau, params, source

DEB = "nvidia-linux-grid-550_550.54.15_amd64.deb"
RUN = "NVIDIA-Linux-x86_64-550.54.15-grid.run"


@pytest.mark.parametrize(
    "package, kind, form, name, version, machine, flavour",
    [
        (f"/var/tmp/{DEB}", "file", "deb", "nvidia-linux-grid-550", "550.54.15", "x86_64", "guest"),
        (
            "/a/nvidia-linux-grid-550-550.54.15.x86_64.rpm",
            "file",
            "rpm",
            "nvidia-linux-grid-550",
            "550.54.15",
            "x86_64",
            "guest",
        ),
        (f"https://a.example/{RUN}?sig=x.deb", "url", "run", RUN[:-4], "550.54.15", "x86_64", "guest"),
        (
            "/a/NVIDIA-Linux-x86_64-550.54.15.run",
            "file",
            "run",
            "NVIDIA-Linux-x86_64-550.54.15",
            "550.54.15",
            "x86_64",
            "data_centre",
        ),
        (
            "/a/NVIDIA-Linux-x86_64-550.54.16-vgpu-kvm.run",
            "file",
            "run",
            "NVIDIA-Linux-x86_64-550.54.16-vgpu-kvm",
            "550.54.16",
            "x86_64",
            "host",
        ),
        (
            "/a/nvidia-driver-550_550.54.15-1_arm64.deb",
            "file",
            "deb",
            "nvidia-driver-550",
            "550.54.15",
            "aarch64",
            "data_centre",
        ),
        ("nvidia-linux-grid-550", "repository", None, "nvidia-linux-grid-550", None, None, "guest"),
    ],
)
def test_a_name_reports_what_a_driver_is(package, kind, form, name, version, machine, flavour):
    found = source.of(package)
    assert (found.kind, found.format, found.version, found.architecture) == (kind, form, version, machine)
    assert found.name == name
    assert found.flavour == flavour


@pytest.mark.parametrize(
    "text, version",
    [
        ("550.54.15", "550.54.15"),
        ("2:550.54.15-1", "550.54.15"),
        ("470.63", "470.63"),
        ("1.2.3", None),
        ("", None),
        (None, None),
    ],
)
def test_the_version_of_a_driver_stands_in_that_of_its_package(text, version):
    assert source.driver_version(text) == version


@pytest.mark.parametrize(
    "head, version",
    [
        ("#!/bin/sh\nversion_string=550.90.07\npkg_string=NVIDIA-Linux-x86_64-550.90.07-grid\n", "550.90.07"),
        ('#!/bin/sh\nlabel="NVIDIA Accelerated Graphics Driver for Linux-x86_64 550.90.07"\n', "550.90.07"),
        ("#!/bin/sh\n# NVIDIA, in a form that nobody knows yet\n", "550.54.15"),
    ],
)
def test_a_run_file_reports_its_version_in_its_first_lines(head, version):
    assert source.is_run_file(source.of(f"/a/{RUN}"), head).version == version


@pytest.mark.parametrize("head", ["", "<html>", "#!/bin/sh\necho hello\n", "\x7fELF"])
def test_what_is_no_run_file_of_nvidia_is_none(head):
    assert source.is_run_file(source.of(f"/a/{RUN}"), head) is None


@pytest.mark.parametrize(
    "texts, command_line, kept",
    [
        ([nouveau.TEXT], "", True),
        (["# blacklist nouveau\n", "options nouveau modeset=0\n"], "", False),
        (["blacklist nouveau\n"], "", False),
        (["  blacklist   nouveau  # no\n", "options nouveau modeset=0"], "", True),
        (["blacklist nouveau-ng\noptions nouveau modeset=0\n"], "", False),
        ([], "quiet rd.driver.blacklist=nouveau nouveau.modeset=0", True),
        ([], "modprobe.blacklist=foo,nouveau nouveau.modeset=0", True),
        ([], "modprobe.blacklist=nouveaux nouveau.modeset=0", False),
    ],
)
def test_nouveau_is_kept_away_by_files_or_by_the_kernel_s_command_line(texts, command_line, kept):
    assert nouveau.blocked(texts, command_line) is kept


def given(**more):
    return {**{name: option.get("default") for name, option in params.ARGUMENTS.items()}, **more}


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"package": " "}, "`package` is empty"),
        ({"package": "a.deb", "source": "file"}, "Use an absolute path"),
        ({"package": "/a.deb", "source": "url"}, "not a URL"),
        ({"package": "/a.zip"}, "ends in .deb, .rpm or .run"),
        ({"package": "/grid.deb"}, "Set `version`"),
        ({"package": f"/{DEB}", "version": "17.1-b"}, "not a driver version"),
        ({"package": f"/{DEB}", "host_version": "seventeen"}, "`host_version` is seventeen"),
        ({"package": f"http://depot.example.com/{DEB}"}, "Use https://, or set `checksum`."),
        ({"package": f"/{DEB}", "checksum": "md5:00"}, "Write it as one of sha256:<digits>"),
        ({"package": f"/{DEB}", "checksum": "sha256:00"}, "Write it as one of"),
        ({"package": "nvidia-linux-grid-550", "checksum": "sha256:" + "0" * 64}, "Signatures protect"),
        ({"package": f"/{DEB}", "signing_key": "/k", "signing_certificate": "/c"}, "for .run files"),
        ({"package": f"/{DEB}", "lock_wait_s": -1}, "is negative"),
    ],
)
def test_options_that_make_no_sense_are_reported_before_anything_is_read(wrong, words):
    assert any(words in problem for problem in params.check_params(given(**wrong)))


@pytest.mark.parametrize(
    "right",
    [
        {"package": f"/{DEB}"},
        {"package": "/grid.deb", "version": "550.54.15"},
        {"package": f"https://depot.example.com/{RUN}", "checksum": "sha512:" + "aF" * 64},
        {"package": "nvidia-linux-grid-550", "version": "550.54.15", "host_version": "550.54.16"},
        {"state": "absent"},
    ],
)
def test_options_that_make_sense_are_taken(right):
    assert params.check_params(given(**right)) == []


def test_request_does_not_show_the_password_of_a_url():
    shown = repr(request(params.DriverRequest, given(package="https://me:canary@depot.example.com/grid/a.deb")))
    assert "lock_wait_s=300" in shown
    assert "canary" not in shown
