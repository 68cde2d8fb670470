"""A playbook that the warm server forks is what a new process runs: output, status, environment and end."""

from __future__ import annotations

import json
import os
import re

import pytest
import yaml

from rehearse import playbook

TASKS = """\
- hosts: localhost
  gather_facts: false
  connection: local
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  tasks:
    - name: A module of the collection fails
      aiready.vsphere.vm_guest_info:
        vms: [train-01]
        hostname: 127.0.0.1
        port: 9
        username: nobody
        password: a-secret
        validate_certs: false
      ignore_errors: true
    - name: A module of Ansible has the environment, the folder and no input
      ansible.builtin.command:
        argv: [sh, -c, "echo $SAID; pwd; cat; echo to-errors >&2"]
      environment: {SAID: "{{ 'words' | upper }}"}
      register: said
      changed_when: false
    - ansible.builtin.debug: {msg: "{{ [said.stdout_lines, said.stderr] }}"}
    - name: A module warns
      ansible.builtin.file:
        path: "{{ folder }}/made"
        state: touch
        mode: 0644
    - name: A filter of the collection fails
      ansible.builtin.debug: {msg: "{{ 5 | aiready.vsphere.host_gaps({}) }}"}
      ignore_errors: true
    - name: A module gets what it does not know
      ansible.builtin.stat: {path: /, unknown: 1}
      ignore_errors: true
    - name: The last task fails
      ansible.builtin.command: {argv: ["false"]}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "play.yml").write_text(TASKS)
    return tmp_path / "play.yml"


def _both(monkeypatch, tmp_path, file, *arguments):
    found = []
    for warm in (True, False):
        monkeypatch.setenv(playbook.WARM, "1") if warm else monkeypatch.delenv(playbook.WARM, raising=False)
        work = tmp_path / str(warm)
        work.mkdir()
        words = (*arguments, "--extra-vars", f"folder={work}")
        run = playbook.run(file, *words, env=playbook.environment(work), inventory="localhost,")
        output = re.sub(r'"(start|end|delta|elapsed)": "[^"]*"', "", run.output)
        found.append((run.status, output.replace(str(work), "")))
    return found


@pytest.mark.parametrize("arguments", [(), ("-v",), ("--check", "--diff"), ("--nonsense",)], ids=" ".join)
def test_output_and_status_are_those_of_a_new_process(monkeypatch, tmp_path, file, arguments):
    forked, new = _both(monkeypatch, tmp_path, file, *arguments)
    assert forked == new


def test_playbook_with_a_mistake_ends_as_a_new_process_does(monkeypatch, tmp_path, file):
    file.write_text("- hosts: [")
    forked, new = _both(monkeypatch, tmp_path, file)
    assert forked == new
    assert new[0] == 4


def test_configuration_file_of_the_caller_is_read(monkeypatch, tmp_path, file):
    monkeypatch.setenv(playbook.WARM, "1")
    env = playbook.environment(tmp_path)
    (tmp_path / "ansible.cfg").write_text("[defaults]\nstdout_callback = minimal\n")
    run = playbook.run(file, "--extra-vars", f"folder={tmp_path}", env=env, inventory="localhost,")
    assert "localhost | FAILED" in run.output


def test_killed_playbook_leaves_no_process(monkeypatch, tmp_path, file):
    monkeypatch.setenv(playbook.WARM, "1")
    play = {**yaml.safe_load(TASKS)[0], "tasks": [{"ansible.builtin.command": {"argv": ["sleep", "600"]}}]}
    file.write_text(json.dumps([play]))
    run = playbook.run(file, env=playbook.environment(tmp_path), inventory="localhost,", kill_after_s=3)
    assert run.status == -9
    left = [pid for pid in os.listdir("/proc") if pid.isdigit() and str(file) in _command(pid)]
    assert left == []


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as stream:
            return stream.read()
    except OSError:
        return ""


CLOSED = """\
- hosts: all
  gather_facts: false
  connection: ansible.netcommon.network_cli
  vars:
    ansible_network_os: arista.eos.eos
    ansible_host: 127.0.0.1
    ansible_port: 9
    ansible_user: somebody
    ansible_password: a-secret
  tasks:
"""
ASKS = """\
    - ansible.netcommon.cli_command: {command: show version}
      ignore_unreachable: true
      ignore_errors: true
    - ansible.builtin.meta: reset_connection
"""


def test_helper_of_a_switch_waits_until_the_one_before_it_has_ended(monkeypatch, tmp_path, file):
    file.write_text(CLOSED + 8 * ASKS)
    monkeypatch.setenv(playbook.WARM, "1")
    run = playbook.run(file, env=playbook.environment(tmp_path), inventory="leaf-01,")
    assert run.output.count("Connection refused") >= 8, run.output
    assert "Unable to connect to socket" not in run.output
