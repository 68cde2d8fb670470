"""The playbook awx_files writes lists for infra.aap_configuration. Ansible reads the objects of the role in them."""

from __future__ import annotations

import json

import yaml
from ansible_collections.aiready.vsphere.plugins.plugin_utils.awx.objects import objects

from rehearse import playbook

WRITE = playbook.ROOT / "playbooks" / "awx_files.yml"
LISTS = ("credential_types", "credentials", "notifications", "templates", "schedules")
SECRET, ADDRESS = "not-a-real-one", "https://h.example.org/not-a-real-one"
LOGIN = {"username": "automation", "password": SECRET}
OPTIONS = {
    "awx_execution_environment": {"image": "images.example.org/aiready:1"},
    "awx_project": {"scm_url": "https://git.example.org/aiready.git"},
    "awx_credentials": [{"kind": "vcenter", "inputs": {"host": "vcenter.example.org", **LOGIN}}],
    "awx_notifications": [{"name": "hook", "type": "webhook", "configuration": {"url": ADDRESS}}],
}
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
HERE = {"all": {"hosts": {"localhost": LOCAL}}}
# The play of redhat-cop/aap_configuration_template reads a folder like this one.
READ = [
    {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {"ansible.builtin.include_vars": {"dir": "{{ config }}", "extensions": ["yml"]}},
            {
                "ansible.builtin.copy": {
                    "content": "{{ dict(names | zip(query('ansible.builtin.vars', *names))) | to_json }}",
                    "dest": "{{ config }}/read.json",
                },
                "vars": {"names": [f"controller_{name}_aiready" for name in LISTS]},
            },
        ],
    }
]


def test_ansible_reads_the_objects_of_the_role_from_the_files(tmp_path):
    config, book, here = tmp_path / "config" / "all", tmp_path / "read.yml", tmp_path / "hosts.yml"
    here.write_text(yaml.safe_dump(HERE))
    env, given = playbook.environment(tmp_path), json.dumps({**OPTIONS, "awx_files_dest": str(config)})
    run = playbook.run(WRITE, "-e", given, "--diff", env=env, inventory=here)
    assert run.status == 0, run.output
    assert "aiready_vcenter_password" in run.output
    again = playbook.run(WRITE, "-e", given, env=env, inventory=here)
    assert (again.status, again.changed) == (0, 0), again.output
    assert SECRET not in run.output + "".join(path.read_text() for path in config.iterdir())
    secrets = {"aiready_vcenter_password": SECRET, "aiready_notification_hook_url": ADDRESS}
    (config / "secrets.yml").write_text(yaml.safe_dump(secrets))
    book.write_text(yaml.safe_dump(READ))
    run = playbook.run(book, "-e", json.dumps({"config": str(config)}), env=env, inventory=here)
    assert run.status == 0, run.output
    expected = objects(OPTIONS)
    read = json.loads((config / "read.json").read_text())
    assert read == {f"controller_{name}_aiready": expected[f"controller_{name}"] for name in LISTS}


def test_the_folder_is_required(tmp_path):
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(HERE))
    env, given = playbook.environment(tmp_path), json.dumps(OPTIONS)
    run = playbook.run(WRITE, "-e", given, env=env, inventory=tmp_path / "hosts.yml")
    assert run.status != 0
    assert "awx_files_dest is empty. Set it to the folder" in run.text
