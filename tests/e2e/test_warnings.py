"""A run of the collection prints no warning that the collection causes."""

from __future__ import annotations

import pytest

from rehearse import playbook

EXAMPLE = playbook.ROOT / "inventories" / "example"
PLAYBOOKS = sorted(path.stem for path in (playbook.ROOT / "playbooks").glob("*.yml"))
ROLES = sorted(path.name for path in (playbook.ROOT / "roles").iterdir() if (path / "tasks").is_dir())
WARNINGS = ("[WARNING]", "[DEPRECATION WARNING]", "[ERROR]")


def warnings_of(run):
    return [line for line in run.output.splitlines() if line.startswith(WARNINGS)]


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_playbook_is_read_without_a_warning(tmp_path, name):
    path = playbook.ROOT / "playbooks" / f"{name}.yml"
    run = playbook.run(path, "--syntax-check", env=playbook.environment(tmp_path), inventory=EXAMPLE)
    assert (run.status, warnings_of(run)) == (0, []), run.output


def test_roles_are_read_without_a_warning(tmp_path):
    plays = "".join(
        f"- {{hosts: localhost, tasks: [{{ansible.builtin.import_role: {{name: aiready.vsphere.{name}}}}}]}}\n"
        for name in ROLES
    )
    (tmp_path / "roles.yml").write_text(plays)
    run = playbook.run(tmp_path / "roles.yml", "--syntax-check", env=playbook.environment(tmp_path), inventory=EXAMPLE)
    assert (run.status, warnings_of(run)) == (0, []), run.output


def test_run_of_the_stage_for_vms_prints_no_warning(lab):
    run = lab().run("--check", "--diff")
    assert (run.status, warnings_of(run)) == (0, []), run.output
