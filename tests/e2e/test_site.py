"""The site playbook does what the site says, once."""

from __future__ import annotations

import sys

import pytest

WHOLE = {"train-01": ["grid_a100-40c"], "train-02": ["grid_a100-40c"]}
NOTHING = {"train-01": [], "train-02": []}


def test_first_run_gives_the_gpus_and_the_second_changes_nothing(lab):
    lab = lab()
    first = lab.run("--diff")
    assert (first.status, lab.profiles()) == (0, WHOLE), first.output
    # The shape of the VMs and their GPUs, by one task.
    assert first.changed == 1
    assert "grid_a100-40c" in first.output
    again = lab.run("--diff")
    assert (again.status, again.changed) == (0, 0), again.output
    assert lab.profiles() == WHOLE


def test_check_mode_shows_for_each_vm_what_would_change_and_changes_nothing(lab):
    lab = lab()
    run = lab.run("--check", "--diff")
    assert (run.status, run.changed) == (0, 1), run.output
    assert lab.profiles() == NOTHING
    for name in WHOLE:
        assert f"+++ after: /lab/vm/training/{name}" in run.output


@pytest.mark.parametrize(
    "arguments, expected",
    [
        pytest.param(["--tags", "machines"], WHOLE, id="tag of the stage"),
        pytest.param(["--skip-tags", "machines"], NOTHING, id="without the stage"),
        pytest.param(["--limit", "!localhost"], NOTHING, id="limit without the controller"),
    ],
)
def test_tags_and_limit_are_honoured(lab, arguments, expected):
    lab = lab()
    run = lab.run(*arguments)
    assert lab.profiles() == expected, run.output


def test_vcenter_may_come_from_the_environment_alone_as_awx_gives_it_and_the_password_is_never_shown(lab, tmp_path):
    lab = lab()
    twin = lab.twin
    (tmp_path / "hosts.yml").write_text("all: {hosts: {localhost: {ansible_connection: local}}}\n")
    env = {
        "VMWARE_HOST": twin.host,
        "VMWARE_PORT": str(twin.port),
        "VMWARE_USER": twin.username,
        "VMWARE_PASSWORD": twin.password,
        "AIREADY_VCENTER_CA_FILE": str(twin.ca_file),
    }
    interpreter = ["--extra-vars", f"ansible_python_interpreter={sys.executable}"]
    run = lab.run(
        "-vvvv",
        *lab.site(vcenter=None),
        *interpreter,
        of="aiready.vsphere.site",
        inventory=tmp_path / "hosts.yml",
        env=env,
    )
    assert run.status == 0, run.output
    assert lab.profiles() == WHOLE
    assert twin.password not in run.output


def test_rows_of_vms_and_vms_with_profiles_of_their_own(lab):
    lab = lab()
    vms = [{"prefix": "train-", "count": 1}, {"name": "train-02", "profiles": ["grid_a100-20c"]}]
    run = lab.run(*lab.site(vms=vms), of="aiready.vsphere.machines")
    assert run.status == 0, run.output
    assert lab.profiles() == {"train-01": ["grid_a100-40c"], "train-02": ["grid_a100-20c"]}


def test_each_problem_of_a_site_is_a_line_of_its_own_whatever_the_release_of_ansible(lab):
    lab = lab()
    gpu = {"mode": "vgpu", "profile": "a100-40c", "modes": 1}
    run = lab.run(*lab.site(gpu=gpu, vms=[{"name": "train-01"}, {"name": "train-01"}]))
    assert run.status != 0
    lines = [line.strip(' -",') for line in run.output.splitlines() if "fatal:" not in line]
    for key in ("site.gpu.modes: ", "site.gpu.profile: ", "site.vms: "):
        assert [line for line in lines if line.startswith(key)], run.output
