"""A play comes through the trouble that a vCenter gives, or ends in a way that the next run can go on from."""

from __future__ import annotations

import json

WHOLE = {"train-01": ["grid_a100-40c"], "train-02": ["grid_a100-40c"]}
CHANGING = "Configure the training VMs"


def test_session_that_vcenter_drops_in_mid_play_or_between_two_runs_is_renewed(lab):
    lab = lab()

    def drop(line):
        if CHANGING in line:
            lab.twin.world.faults.drop_sessions()

    run = lab.run(echo=drop)
    assert run.status == 0, run.output
    assert lab.profiles() == WHOLE
    lab.twin.world.faults.drop_sessions()
    run = lab.run("--check")
    assert (run.status, run.changed) == (0, 0), run.output


def test_connection_cut_after_the_server_took_the_request_adds_no_device_twice(lab):
    lab = lab()
    lab.twin.world.faults.close_after("ReconfigVM_Task")
    run = lab.run()
    assert run.status == 0, run.output
    assert lab.profiles() == WHOLE


def test_busy_vcenter_is_asked_again(lab):
    lab = lab()
    lab.twin.world.faults.unavailable(3)
    run = lab.run()
    assert run.status == 0, run.output
    assert lab.profiles() == WHOLE


def test_failed_task_stops_the_play_with_the_vendors_words_and_the_next_run_goes_on(lab):
    lab = lab()
    words = "The operation is not allowed in the current state of the host."
    lab.twin.world.faults.fail_tasks("ReconfigVM_Task", message=words, entity="train-02")
    run = lab.run()
    assert run.status != 0
    assert words in run.text, run.output
    assert "train-02" in run.text
    reserved = {vm.name: vm.fully_reserved for vm in lab.twin.world.of_kind("VirtualMachine")}
    assert (reserved["train-01"], reserved["train-02"]) == (True, False)
    run = lab.run()
    assert run.status == 0, run.output
    assert lab.profiles() == WHOLE


def test_many_hosts_of_a_play_share_one_login(lab, tmp_path):
    lab = lab(seed="large")
    names = sorted(vm.name for vm in lab.twin.world.of_kind("VirtualMachine") if not vm.template)[:20]
    hosts = {"vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {**hosts, "hosts": dict.fromkeys(names, {})}}))
    play = {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {
                "name": "Look at one VM",
                "aiready.vsphere.vgpu_profile": {"name": "{{ inventory_hostname }}", "state": "absent"},
            }
        ],
    }
    (tmp_path / "play.json").write_text(json.dumps([play]))
    twin = lab.twin
    env = {
        "VMWARE_HOST": twin.host,
        "VMWARE_PORT": str(twin.port),
        "VMWARE_USER": twin.username,
        "VMWARE_PASSWORD": twin.password,
        "AIREADY_VCENTER_CA_FILE": str(twin.ca_file),
    }
    run = lab.run("--forks", "10", of=tmp_path / "play.json", inventory=tmp_path / "hosts.json", env=env)
    assert run.status == 0, run.output
    assert twin.requests["Login"] == 1
