"""What a playbook hands over to a role is checked there as if it had been set option by option."""

from __future__ import annotations

import pytest
import yaml

from rehearse import playbook

VMS = {"training_vm_vms": [{"name": "train-01"}]}
RUN = {"horovod_hosts": [{"name": "train-01"}], "horovod_image": "train:1"}
LOOK = {
    "validation_guests": [{"name": "train-01", "address": "192.0.2.1"}],
    "validation_intent": {},
    "validation_result_dir": "results",
}
# Role, the key of its variable with a value that no option takes, what it needs besides, and what is said.
WRONG = {
    "training_vm": ({"power": "often"}, VMS, "value of training_vm_power must be one of: refuse, cycle, got: often"),
    "esxi_host": ({"vfs": "many"}, {}, "argument 'esxi_host_vfs' is of type"),
    "switch": ({"config": {"priority": "first"}}, {}, "argument 'priority' is of type"),
    "guest_vm": ({"peers": [{"addresses": []}]}, {}, "missing required arguments: name found in guest_vm_peers"),
    "container_runtime": ({"registries": [{"username": "ops"}]}, {}, "missing required arguments: address found in"),
    "horovod": ({"check_build": "perhaps"}, RUN, "argument 'horovod_check_build' is of type"),
    "validation": ({"keep": "some"}, LOOK, "validation_keep must be one of: missing, better, replace, got: some"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """{role: why it refused the value}, of one run."""
    folder = tmp_path_factory.mktemp("handover")
    tasks = [task for role, (site, more, _said) in WRONG.items() for task in refused(role, role, site, more)]
    # The inventory has precedence over the site.
    tasks += refused("inventory", "esxi_host", {"reboot": "allow", "ssh": "later"}, {})
    (folder / "play.yml").write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    local = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    own = {**local, "esxi_host_reboot": "at noon", "esxi_host_ssh": "start"}
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": {"localhost": own}}}))
    # In check mode: a role that does not refuse its value must change nothing of this machine.
    env = playbook.environment(folder)
    run = playbook.run(folder / "play.yml", "--check", env=env, inventory=folder / "hosts.yml")
    assert run.status == 0, run.output
    reported = {name: (folder / name).read_text() for name in [*WRONG, "inventory"] if (folder / name).exists()}
    assert set(reported) == {*WRONG, "inventory"}, run.output
    return reported


def refused(name, role, site, more):
    """Tasks that write down why a role refuses a value of the site."""
    call = {"name": f"aiready.vsphere.{role}"}
    return [
        {
            "block": [{"ansible.builtin.import_role": call, "vars": {f"{role}_site": site, **more}}],
            "rescue": [
                {
                    "ansible.builtin.copy": {
                        "content": "{{ ansible_failed_task.name }}: {{ ansible_failed_result.msg }}",
                        "dest": f"{{{{ playbook_dir }}}}/{name}",
                        "mode": "0600",
                    },
                    "check_mode": False,
                }
            ],
        }
    ]


@pytest.mark.parametrize("role", WRONG)
def test_a_role_refuses_a_value_of_the_site_that_its_option_does_not_take(said, role):
    assert said[role].startswith("Validating arguments against arg spec")
    assert WRONG[role][2] in said[role]


def test_a_variable_of_the_inventory_has_precedence_over_the_site(said):
    assert "value of esxi_host_reboot must be one of: refuse, allow, got: at noon" in said["inventory"]
    assert "esxi_host_ssh" not in said["inventory"]
