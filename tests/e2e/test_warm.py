"""A playbook that the warm server forks is what a new process runs: output, status, environment and end."""

from __future__ import annotations

import json
import os
import re
import signal
import time

import pytest
import yaml

from rehearse import playbook
from warm import client
from warm.server import NAME

from .kills import kill_all

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
        path: "{{ folder }}/{{ inventory_hostname }}"
        state: touch
        mode: 0644
    - name: A filter of the collection fails
      ansible.builtin.debug: {msg: "{{ 5 | aiready.vsphere.host_gaps({}) }}"}
      ignore_errors: true
    - name: A module gets what it does not know
      ansible.builtin.stat: {path: /, unknown: 1}
      ignore_errors: true
    - name: A loop skips one of its items
      ansible.builtin.command: {argv: [echo, "{{ item }}"]}
      changed_when: item == 'c'
      when: item != 'b'
      loop: [a, b, c]
      register: looped
    - name: A fact is made of what a loop returned, and is the next task's condition
      ansible.builtin.set_fact: {letters: "{{ looped.results | reject('skipped') | map(attribute='stdout') | join }}"}
    - name: A task is skipped
      ansible.builtin.command: {argv: ["false"]}
      when: letters != 'ac'
    - name: A condition is met, and a module decides by another one
      ansible.builtin.command: {argv: ["true"]}
      when: letters == 'ac'
      failed_when: letters == 'ac'
      ignore_errors: true
    - name: A condition fails
      ansible.builtin.debug: {msg: never}
      when: not_known == 1
      ignore_errors: true
    - name: Something is tried more than once
      ansible.builtin.set_fact: {tried: "{{ tried | default(0) | int + 1 }}"}
      register: trying
      until: trying.ansible_facts.tried == 5
      retries: 1
      delay: 0
      ignore_errors: true
    - name: Files are included
      ansible.builtin.include_tasks: {file: "{{ folder }}/more.yml"}
      when: item
      loop: [false, true]
    - ansible.builtin.assert: {that: [letters == 'ac', more == 'true'], fail_msg: no, success_msg: "yes"}
    - name: The last task fails
      ansible.builtin.command: {argv: ["false"]}
"""
MORE = """\
- ansible.builtin.set_fact: {more: "{{ item | lower }}"}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "play.yml").write_text(TASKS)
    return tmp_path / "play.yml"


def _both(monkeypatch, tmp_path, file, *arguments, inventory="localhost,"):
    found = []
    for warm in (True, False):
        monkeypatch.setenv(playbook.WARM, "1") if warm else monkeypatch.delenv(playbook.WARM, raising=False)
        work = tmp_path / str(warm)
        work.mkdir()
        (work / "more.yml").write_text(MORE)
        words = (*arguments, "--extra-vars", f"folder={work}")
        run = playbook.run(file, *words, env=playbook.environment(work), inventory=inventory)
        output = re.sub(r'"(start|end|delta|elapsed)": "[^"]*"', "", run.output)
        found.append((run.status, output.replace(str(work), "")))
    return found


@pytest.mark.parametrize("arguments", [(), ("-v",), ("--check", "--diff"), ("--nonsense",)], ids=" ".join)
def test_output_and_status_are_those_of_a_new_process(monkeypatch, tmp_path, file, arguments):
    forked, new = _both(monkeypatch, tmp_path, file, *arguments)
    assert forked == new


def test_output_and_status_are_those_of_a_new_process_where_a_play_has_several_hosts(monkeypatch, tmp_path, file):
    file.write_text(
        TASKS.replace("localhost", "all").replace("connection: local", "connection: local\n  order: sorted")
    )
    forked, new = _both(monkeypatch, tmp_path, file, "--forks", "1", inventory="one,two")
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


def _sleeps(file):
    play = {**yaml.safe_load(TASKS)[0]}
    play["tasks"] = [{"ansible.builtin.command": {"argv": ["sh", "-c", f"touch {file}.begun; sleep 600; true"]}}]
    file.write_text(json.dumps([play]))


def _left(file):
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and f"{file}.begun" in _command(pid)]


def test_killed_playbook_leaves_no_process(monkeypatch, tmp_path, file):
    monkeypatch.setenv(playbook.WARM, "1")
    _sleeps(file)
    run = playbook.run(file, env=playbook.environment(tmp_path), inventory="localhost,", kill_after_s=3)
    assert run.status == -9
    assert _left(file) == []


def test_all_processes_of_a_named_playbook_are_killed(tmp_path, file):
    _sleeps(file)
    env = {**playbook.environment(tmp_path), NAME: "killed-together"}
    process = client.start(["ansible-playbook", "--inventory", "localhost,", str(file)], tmp_path, env)
    while not file.with_name(f"{file.name}.begun").exists() and process.poll() is None:
        time.sleep(0.05)
    kill_all("killed-together")
    assert process.wait(60) == -9
    process.stdout.close()
    assert _left(file) == []


def test_interrupted_playbook_leaves_no_process(monkeypatch, tmp_path, file):
    monkeypatch.setenv(playbook.WARM, "1")
    _sleeps(file)
    command = ["ansible-playbook", "--inventory", "localhost,", str(file)]
    process = client.start(command, tmp_path, playbook.environment(tmp_path))
    while not os.path.exists(f"{file}.begun"):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    assert "User interrupted execution" in process.stdout.read()
    assert process.wait() == 99
    # What was asked to end may need a moment on a busy machine.
    until = time.monotonic() + 60
    while _left(file) and time.monotonic() < until:
        time.sleep(0.05)
    assert _left(file) == []


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
