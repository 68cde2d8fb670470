"""The ESXi shell over SSH, as OpenSSH's client and Ansible see it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import asyncssh
import pytest

from vsphere_twin.launch import launch
from vsphere_twin.model import lifecycle, power

from .lab import lab as lab_of
from .secure_shell import OpenSsh, open_shell

HOST, OTHER = "esx-01.lab.example", "esx-02.lab.example"


@pytest.fixture
def lab(twin):
    """A running twin whose first host lets SSH in, and an OpenSSH client for it."""
    running = twin(faces=("ssh",))
    open_shell(running, HOST)
    return running, OpenSsh(running)


def test_a_fresh_host_refuses_ssh_until_its_service_runs(lab):
    running, ssh = lab
    assert ssh(OTHER, "hostname").returncode == 255
    open_shell(running, OTHER)
    assert ssh(OTHER, "hostname").stdout == f"{OTHER}\n"


def test_each_host_has_a_key_of_its_own(lab):
    running, _ssh = lab
    keys = [line.split()[-1] for line in running.known_hosts_file.read_text().splitlines()]
    assert len(set(keys)) == 2


def test_commands_come_with_output_errors_and_exit_code(lab):
    _running, ssh = lab
    done = ssh(HOST, "echo out; frobnicate")
    assert (done.returncode, done.stdout, done.stderr) == (127, "out\n", "sh: frobnicate: not found\n")


def test_input_reaches_the_first_program(lab):
    _running, ssh = lab
    assert ssh(HOST, "cat | grep b", stdin="a\nb\n").stdout == "b\n"


def test_a_strange_key_and_a_strange_user_stay_outside(lab, tmp_path):
    running, ssh = lab
    key = tmp_path / "key"
    key.write_bytes(asyncssh.generate_private_key("ssh-ed25519").export_private_key("openssh"))
    key.chmod(0o600)
    words = ssh.argv(HOST)
    strange_key = [str(key) if word == str(running.ssh_key_file) else word for word in words]
    strange_user = [*words[:-1], words[-1].replace("root@", "admin@")]
    for argv in (strange_key, strange_user):
        done = subprocess.run([*argv, "hostname"], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 255
        assert "Permission denied" in done.stderr


def test_root_also_comes_in_with_the_password_of_the_lab(lab):
    running, _ssh = lab
    address, port = running.ssh_endpoints[HOST]

    async def hostname(password):
        options = {"port": port, "username": "root", "password": password, "client_keys": None, "config": None}
        async with asyncssh.connect(address, known_hosts=str(running.known_hosts_file), **options) as connection:
            return (await connection.run("hostname")).stdout

    assert asyncio.run(hostname(running.password)) == f"{HOST}\n"
    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(hostname("wrong"))


def test_an_interactive_shell_runs_line_after_line(lab):
    _running, ssh = lab
    done = subprocess.run(
        ssh.argv(HOST), input="echo a\nfalse\nexit 3\necho b\n", capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("a\n", 3)


def test_nothing_of_the_machine_behind_the_shell_can_be_reached(lab):
    running, ssh = lab
    address, port = running.ssh_endpoints[HOST]
    assert ssh(HOST, "cat /etc/passwd").returncode == 1
    words = ["sftp", *ssh.options(), "-P", str(port), f"root@{address}"]
    done = subprocess.run(words, input="ls /\n", capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    assert done.stdout.count("etc") == 0


def test_lockdown_mode_keeps_root_out(lab):
    running, ssh = lab
    host = open_shell(running, HOST)
    host.lockdown = "lockdownNormal"
    assert "Permission denied" in ssh(HOST, "hostname").stderr
    host.lockdown = "lockdownDisabled"
    assert ssh(HOST, "hostname").returncode == 0


def test_a_reboot_ends_connections_and_the_host_is_back_later(lab):
    running, ssh = lab
    host = open_shell(running, HOST)
    with subprocess.Popen([*ssh.argv(HOST), "-N"], stderr=subprocess.PIPE, text=True) as idle:
        with running.world.changed:
            lifecycle.restart(running.world, host)
        idle.communicate(timeout=120)
        assert idle.returncode == 255
    with running.world.changed:
        assert running.world.changed.wait_for(lambda: host.running_esxi and host.boots, timeout=120)
    host.service("TSM-SSH").running = True
    assert ssh(HOST, "hostname").returncode == 0


def test_the_line_may_break_after_a_command_took_effect(lab):
    running, ssh = lab
    gpu = open_shell(running, HOST).gpus[0]
    running.control.drop_command(prefix="nvidia-smi -i 0 -mig")
    assert ssh(HOST, "nvidia-smi -i 0 -mig 1").returncode == 255
    assert gpu.mig.pending


def test_dropping_all_connections_does_not_keep_new_ones_out(lab):
    running, ssh = lab
    with subprocess.Popen([*ssh.argv(HOST), "-N"], stderr=subprocess.PIPE, text=True) as idle:
        assert (
            ssh(HOST, "true").returncode == 0
        )  # by now the first one is most likely in; drop_ssh is asked until it ends
        stop = threading.Event()
        while idle.poll() is None and not stop.wait(0.05):
            running.control.drop_ssh()
        assert idle.returncode == 255
    assert ssh(HOST, "hostname").returncode == 0


def test_many_hosts_answer_at_the_same_time(lab):
    running, ssh = lab
    open_shell(running, OTHER)
    argv = [[*ssh.argv(name), "esxcli --formatter=json system hostname get"] for name in (HOST, OTHER) * 4]
    started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for words in argv]
    answers = [process.communicate(timeout=120)[0] for process in started]
    assert [answer.count("esx-01") for answer in answers] == [2, 0] * 4


def test_ansible_runs_raw_commands_and_finds_no_python_for_modules(lab, tmp_path):
    running, _ssh = lab
    address, port = running.ssh_endpoints[HOST]
    variables = {
        "ansible_host": address,
        "ansible_port": port,
        "ansible_user": "root",
        "ansible_ssh_private_key_file": running.ssh_key_file,
        "ansible_ssh_common_args": f"'-F none -o UserKnownHostsFile={running.known_hosts_file}'",
    }
    inventory = tmp_path / "hosts"
    inventory.write_text(f"{HOST} " + " ".join(f"{name}={value}" for name, value in variables.items()) + "\n")
    env = {**os.environ, "ANSIBLE_HOME": str(tmp_path), "ANSIBLE_SSH_CONTROL_PATH_DIR": str(tmp_path / "cp")}

    def ansible(*words):
        program = Path(sys.executable).parent / "ansible"
        argv = [str(program), "-i", str(inventory), HOST, *words]
        return subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    done = ansible("-m", "raw", "-a", "esxcli system maintenanceMode get")
    assert done.returncode == 0, done.stderr
    assert "Disabled" in done.stdout
    assert ansible("-m", "ping").returncode != 0


def test_a_command_that_waits_ends_with_the_twin():
    with launch(lab_of({"power": "on"}), faces=("ssh",)) as running:
        ssh = OpenSsh(running)
        host = open_shell(running, "esx-01")
        waiting = subprocess.Popen([*ssh.argv("esx-01"), "esxcli system maintenanceMode set -e true"])
        with running.world.changed:
            running.world.changed.wait_for(lambda: host.entering_maintenance is not None, timeout=120)
    assert waiting.wait(timeout=120) == 255
    assert not host.maintenance


def test_maintenance_mode_asked_for_on_the_shell_waits_for_the_vms():
    with launch(lab_of({"power": "on"}), faces=("ssh",)) as running:
        ssh = OpenSsh(running)
        host = open_shell(running, "esx-01")
        waiting = subprocess.Popen([*ssh.argv("esx-01"), "esxcli system maintenanceMode set -e true"])
        with running.world.changed:
            running.world.changed.wait_for(lambda: host.entering_maintenance is not None, timeout=120)
            assert not host.maintenance
            (vm,) = host.running_vms()
            power.power_off(running.world, vm)
        assert waiting.wait(timeout=120) == 0
        assert ssh("esx-01", "esxcli system maintenanceMode get").stdout == "Enabled\n"
