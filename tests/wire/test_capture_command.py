"""The capture command is one file that runs without Ansible and without an installed pyVmomi."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.bundle import Capture

from house.collection import ROOT


@pytest.fixture(scope="session")
def command(tmp_path_factory):
    """Runs the built command with an interpreter that has no packages of its own."""
    spec = importlib.util.spec_from_file_location("capture_build", ROOT / "extensions" / "capture" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    built = tmp_path_factory.mktemp("command") / module.NAME
    module.build(built)

    def run(*arguments, **variables):
        # -I: without the environment of Python; -S: without site-packages.
        return subprocess.run(
            [sys.executable, "-I", "-S", str(built), *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            stdin=subprocess.DEVNULL,
            env={**{key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}, **variables},
            cwd=built.parent,
        )

    return run


def vcenter(running):
    return ["--vcenter", running.host, "--port", str(running.port), "--user", running.username]


def test_take_and_show_need_no_ansible(twin, command, tmp_path):
    running = twin("small")
    capture = tmp_path / "site.zip"
    (tmp_path / "password").write_text(f"{running.password}\n")
    taken = command(
        "take",
        *vcenter(running),
        "--password-file",
        str(tmp_path / "password"),
        "--ca-file",
        str(running.ca_file),
        "--out",
        str(capture),
    )
    assert taken.returncode == 0, taken.stderr
    assert "sources answered" in taken.stdout
    assert "400 INVALID_ARGUMENT" in taken.stdout
    found = Capture(str(capture))
    assert found.manifest["anonymised"]
    assert found.is_read("esxcli host-001/001-esxcli-system-version-get")
    shown = command("show", str(capture))
    assert shown.returncode == 0, shown.stderr
    assert "not read" in shown.stdout
    assert running.password not in taken.stdout + taken.stderr + shown.stdout + json.dumps(found.manifest)
    assert "Logout" in running.requests


def test_the_certificate_of_vcenter_is_verified(twin, command, tmp_path):
    running = twin("small")
    refused = command("take", *vcenter(running), "--out", str(tmp_path / "x.zip"), VMWARE_PASSWORD=running.password)
    assert refused.returncode == 1
    assert "certificate" in refused.stderr
    assert not running.requests["Login"]


def test_a_password_is_no_argument(command, tmp_path):
    refused = command("take", "--vcenter", "vc.example.org", "--user", "reader", "--password", "hunter2")
    assert refused.returncode == 2
    asked = command("take", "--vcenter", "vc.example.org", "--user", "reader")
    assert "VMWARE_PASSWORD" in asked.stderr
    empty = tmp_path / "empty"
    empty.write_text("")
    assert "is empty" in command("take", "--vcenter", "v", "--user", "u", "--password-file", str(empty)).stderr


def test_a_damaged_capture_is_named(command, tmp_path):
    (tmp_path / "x.zip").write_text("nothing")
    shown = command("show", str(tmp_path / "x.zip"))
    assert shown.returncode == 1
    assert "cannot read the capture" in shown.stderr


def test_bmcs_are_added_and_one_that_fails_is_named(twin, command, tmp_path):
    running = twin("factory", faces=("redfish",))
    capture = str(tmp_path / "site.zip")
    bmcs = [address.removeprefix("https://") for address in running.bmc_endpoints.values()]
    (tmp_path / "bmcs").write_text(f"# two of them\n{bmcs[1]}\n127.0.0.1:1\n")
    taken = command(
        "take",
        "--bmc",
        bmcs[0],
        "--bmc-list",
        str(tmp_path / "bmcs"),
        "--bmc-user",
        running.bmc_username,
        "--bmc-ca-file",
        str(running.ca_file),
        "--out",
        capture,
        AIREADY_BMC_PASSWORD=running.bmc_password,
    )
    assert taken.returncode == 0, taken.stderr
    assert "bmc bmc-003 (bmc_refused)" in taken.stdout
    found = Capture(capture)
    assert {name.split("/")[1] for name in found.files} == {"bmc-001", "bmc-002"}
    assert not found.is_read("bmc bmc-003")


def test_two_captures_are_compared_and_one_becomes_a_site(twin, command, tmp_path):
    running = twin("small")

    def take(name):
        out = tmp_path / "site.zip"
        arguments = ("take", *vcenter(running), "--ca-file", str(running.ca_file), "--out", str(out))
        taken = command(*arguments, VMWARE_PASSWORD=running.password)
        assert taken.returncode == 0, taken.stderr
        return out.rename(tmp_path / name)

    before = take("march.zip")
    train = next(one for one in running.world.of_kind("VirtualMachine") if one.name == "train-01")
    train.memory_mb = 32768
    running.world.touch(train)
    after = take("june.zip")
    found = command("diff", str(before), str(after), "--names", str(tmp_path / "site.zip.secret.json"))
    assert (found.returncode, found.stderr) == (3, "")
    assert found.stdout == "VM train-01: memory (MB) 65536 -> 32768\n"
    same = command("diff", str(after), str(after), "--json")
    assert (same.returncode, same.stdout) == (0, "[]\n")

    folder = tmp_path / "first"
    written = command("site", str(after), str(folder), "--names", str(tmp_path / "site.zip.secret.json"))
    assert (written.returncode, written.stderr) == (0, "")
    assert "Fill in:\n" in written.stdout
    hosts = yaml.safe_load((folder / "hosts.yml").read_text())["all"]["children"]["esxi_hosts"]["hosts"]
    assert sorted(hosts) == sorted(one.name for one in running.world.of_kind("HostSystem"))
    site = yaml.safe_load((folder / "group_vars" / "all" / "site.yml").read_text())["site"]
    assert (site["cluster"], site["machine"]["template"]) == ("gpu", "ubuntu-template")
    again = command("site", str(after), str(folder))
    assert again.returncode == 1
    assert "Use a new folder" in again.stderr
