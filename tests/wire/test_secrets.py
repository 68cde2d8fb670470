"""Passwords are seen nowhere: not in what Ansible prints or logs, not in the process list, not in a file."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rehearse import playbook
from twin_labs.host_lab import ESX, esx, seed

from .drive import bmc_connection, connection
from .test_driver_killed import MARK, kill_marked, marked, numbers

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
MINE, WRONG = "Sesame-0pen-vC", "Sesame-wr0ng"
VCENTER, BMC = "group/aiready.vsphere.vcenter", "group/aiready.vsphere.bmc"


def tasks(twin):
    """What changes, what looks, what is refused, and what is not let in."""
    address, port = twin.ssh_endpoints[ESX]
    shell = {
        "esxcli_transport": "ssh",
        "ssh_host": address,
        "ssh_port": port,
        "ssh_key_file": str(twin.ssh_key_file),
        "ssh_known_hosts_file": str(twin.known_hosts_file),
    }
    host = {"host": ESX}
    return [
        ("esxi_kernel_setting", {**host, "settings": {"atsSupport": True}}),
        ("esxi_kernel_setting", {**host, "settings": {"nonsense": True}}),
        ("esxi_module_options", {**host, "module": "nmlx5_core", "options": {"pfctx": "0x08", "pfcrx": "0x08"}}),
        ("nvaie_vib", {**host, "depot": "[datastore-01] none.zip"}),
        ("nvaie_driver_info", {**host, **shell}),
        ("esxi_maintenance", {**host, "password": WRONG, "session": "once"}),
        ("bios_settings", {"functions": {"sriov": "disabled"}, "conflicts": "replace"}),
        ("bios_settings", {"attributes": {"nonsense": 1}}),
        ("bmc_power", {"state": "on", "bmc_password": WRONG}),
    ]


def written(twin, directory):
    """A playbook with the passwords in variables, and the file that holds these."""
    options, bmc = connection(twin, directory / "sessions"), bmc_connection(twin, ESX)
    secret = directory / "secret.json"
    secret.write_text(json.dumps({"vcenter_word": options["password"], "bmc_word": bmc["bmc_password"]}))
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {
            VCENTER: {**options, "password": "{{ vcenter_word }}"},
            BMC: {**bmc, "bmc_password": "{{ bmc_word }}"},
        },
        "tasks": [
            {"name": f"Task {number}", f"aiready.vsphere.{module}": params, "ignore_errors": True}
            for number, (module, params) in enumerate(tasks(twin), start=1)
        ],
    }
    book = directory / "play.json"
    book.write_text(json.dumps([play]))
    return book, secret


def lines_of_processes(mark, earlier):
    """The command lines of all processes of the run; it began after the earlier processes."""
    for pid in marked(mark, earlier):
        try:
            yield Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue


@pytest.fixture
def run(twin, tmp_path):
    """(the twin, what was printed and logged, the command lines that were seen) of one run of all tasks."""
    data = seed(esx(ssh="running"))
    data["users"] = {"administrator@vsphere.local": MINE}
    running = twin(seed=data, faces=("ssh", "redfish"))
    book, secret = written(running, tmp_path)
    mark = f"{MARK}={tmp_path}"
    log, output, seen = tmp_path / "ansible.log", tmp_path / "output", set()
    environment = playbook.environment(tmp_path, ANSIBLE_LOG_PATH=str(log), **{MARK: str(tmp_path)})
    command = [ANSIBLE, "-i", "localhost,", "-c", "local", "-vvv", "--diff", "-e", f"@{secret}", book]
    command += ["-e", f"ansible_python_interpreter={sys.executable}"]
    earlier = numbers()
    with output.open("wb") as stream:
        task = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
        try:
            while task.poll() is None:
                seen.update(lines_of_processes(mark, earlier))
                time.sleep(0.02)
        finally:
            task.kill()
            task.wait()
            kill_marked(mark)
    secret.unlink()
    return running, output.read_text() + log.read_text(), seen


def test_no_password_is_printed_logged_listed_or_kept(run, tmp_path):
    running, reported, seen = run
    # All of it was done and reported in full, or there would be nothing to look through.
    assert reported.count("module_args") >= 2 * len(tasks(running)) - 2
    for word in ("atsSupport", "kernel_setting_impossible", "depot_not_found", "wrong_password", "bmc_login_refused"):
        assert word in reported, word
    assert any("nvaie_driver_info" in line or "esxcli" in line for line in seen)
    for secret in (MINE, WRONG, running.bmc_password):
        assert secret not in reported
        assert not [line for line in seen if secret in line]
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "play.json"]
    assert any(path.parent.name == "sessions" for path in kept)
    for path in kept:
        content = path.read_bytes()
        assert not [one for one in (MINE, WRONG, running.bmc_password) if one.encode() in content], path
