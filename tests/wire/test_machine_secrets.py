"""What VMs are given in secret is seen nowhere but in the VM: not in what is printed or logged, nor in any file."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from pathlib import Path

from rehearse import playbook

from .drive import connection
from .rows.vm_clone import machines, world
from .test_driver_killed import MARK, kill_marked, numbers
from .test_secrets import ANSIBLE, MINE, VCENTER, WRONG, lines_of_processes

WORD = "0pen-sesame-userdata"
USERDATA = f"#cloud-config\nusers:\n  - name: trainer\n    plain_text_passwd: {WORD}\npackages: [rdma-core]\n"
ENCODED = base64.b64encode(USERDATA.encode()).decode()
INIT = {"cloud_init": {"userdata": "{{ guest_word }}", "metadata": {"local-hostname": "new-01.example.com"}}}
ONE = {"name": "new-01"}
SOURCE = {"template": "ubuntu-template", "vms": [{"name": "new-01", "host": "esx-01"}]}
# What makes the VM, finds it made, is refused, is not let in, and reads its settings back.
TASKS = [
    ("vm_clone", {**SOURCE, **INIT}),
    ("vm_clone", {**SOURCE, "vms": [{**SOURCE["vms"][0], **INIT}]}),
    ("vm_clone", {**SOURCE, **INIT, "vms": [{"name": "new-02", "folder": "nowhere"}]}),
    ("vm_clone", {**SOURCE, **INIT, "vms": [{"name": "new-02", "no_such_option": 1}]}),
    ("vm_clone", {**SOURCE, **INIT, "password": WRONG, "session": "once"}),
    ("vm_shape", {**ONE, "cpus": 4, "memory_reservation": "ignore"}),
    ("vm_shape", {**ONE, "advanced": {"guestinfo.userdata": None}}),
    ("vm_power", {**ONE, "state": "on"}),
    ("vm_power", {**ONE, "state": "off", "force": True}),
    ("vm_clone", {"vms": [ONE], "state": "absent"}),
]


def run(arguments, secrets, directory):
    """What Ansible printed and logged, at its most talkative, and the command lines of its processes."""
    secret, log, output = directory / "secret.json", directory / "ansible.log", directory / "output"
    secret.write_text(json.dumps(secrets))
    environment = playbook.environment(directory, ANSIBLE_LOG_PATH=str(log), **{MARK: str(directory)})
    command = [ANSIBLE, "-vvv", "--diff", "-e", f"@{secret}", *arguments]
    seen, earlier = set(), numbers()
    with output.open("wb") as stream:
        task = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, cwd=playbook.ROOT
        )
        try:
            while task.poll() is None:
                seen.update(lines_of_processes(f"{MARK}={directory}", earlier))
                time.sleep(0.1)
        finally:
            task.kill()
            task.wait()
            kill_marked(f"{MARK}={directory}")
    secret.unlink()
    return output.read_text() + log.read_text(), seen


def nowhere(reported, seen, directory, *secrets):
    for secret in (*secrets, WORD, ENCODED):
        assert secret not in reported
        assert not [line for line in seen if secret in line]
        # The play itself has the wrong password in it.
        files = [path for path in directory.rglob("*") if path.is_file() and path.name != "play.json"]
        assert [path for path in files if secret.encode() in path.read_bytes()] == []


def test_userdata_and_password_are_in_nothing_that_the_modules_say_or_keep(twin, tmp_path):
    data = world({})
    data["users"] = {"administrator@vsphere.local": MINE}
    running = twin(seed=data)
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {VCENTER: {**connection(running, tmp_path / "sessions"), "password": "{{ vcenter_word }}"}},
        "tasks": [
            {"name": f"Task {number}", f"aiready.vsphere.{module}": params, "ignore_errors": True}
            for number, (module, params) in enumerate(TASKS, start=1)
        ],
    }
    book = tmp_path / "play.json"
    book.write_text(json.dumps([play]))
    given = ["-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}", str(book)]
    reported, seen = run(given, {"vcenter_word": MINE, "guest_word": USERDATA}, tmp_path)
    # All of it was done and reported in full, or there would be nothing to look through.
    for word in ("userdata", "folder_not_found", "no_such_option", "wrong_password", '"power": "on"'):
        assert word in reported, word
    assert machines("new-")(running) == {}
    assert running.requests["CloneVM_Task"] == 1
    nowhere(reported, seen, tmp_path, MINE, WRONG)


def test_userdata_and_password_are_in_nothing_that_the_stage_for_vms_says_or_keeps(twin, tmp_path):
    running = twin()
    playbook.write_endpoint(running, tmp_path)
    site = {
        "vcenter": {
            "hostname": running.host,
            "port": running.port,
            "username": running.username,
            "ca_file": str(running.ca_file),
        },
        "cluster": "gpu",
        "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
        "machine": {"template": "ubuntu-template", "cpus": 8, "memory_gb": 32},
        "network": {"path": "tcp", "portgroup": "pg-train"},
        "vms": [{"name": "new-01"}],
    }
    extra = {"site": site, "site_userdata": USERDATA}
    reported, seen = run(["-i", str(playbook.LAB), str(Path("playbooks") / "machines.yml")], extra, tmp_path)
    (vm,) = [one for one in running.world.of_kind("VirtualMachine") if one.name == "new-01"]
    assert base64.b64decode(vm.setting("guestinfo.userdata")).decode() == USERDATA
    assert vm.power == "poweredOn"
    assert "failed=0" in reported
    nowhere(reported, seen, tmp_path)
