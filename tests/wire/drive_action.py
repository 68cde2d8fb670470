"""Run an action plugin as Ansible would, in this process, over Ansible's own ssh connection to a host of a twin."""

from __future__ import annotations

import contextlib
import importlib
import json
import tempfile

from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader as plugins
from ansible.template import Templar

OURS = "aiready.vsphere"


@contextlib.contextmanager
def ssh(endpoint, key_file, known_hosts_file, user="root"):
    """Ansible's connection to a shell; its master process, which saves a login per command, is gone afterwards."""
    address, port = endpoint
    # Not below the test's own directory: the path of a control socket may only have about 100 characters.
    with tempfile.TemporaryDirectory(prefix="ssh-") as directory:
        context = PlayContext()
        connection = plugins.connection_loader.get("ssh", context, task_uuid="0")
        connection.set_options(
            var_options={
                "ansible_ssh_host": address,
                "ansible_ssh_port": port,
                "ansible_ssh_user": user,
                "ansible_ssh_private_key_file": str(key_file),
                "ansible_ssh_common_args": f"-F none -o UserKnownHostsFile={known_hosts_file} -o IdentitiesOnly=yes",
                "ansible_control_path_dir": directory,
                "ansible_ssh_retries": 0,
            },
        )
        context.set_attributes_from_plugin(connection)
        try:
            yield connection
        finally:
            connection.reset()
            connection.close()


def act(connection, module, params, check=False, variables=None, become=None):
    """The answer of an action plugin over a connection, with the variables of its host."""
    task = Task()
    task.action, task.args, task.check_mode, task.diff = f"{OURS}.{module}", params, check, True
    connection.set_become_plugin(become)
    # The class itself: the loader only finds collections that were not imported before it was set up.
    kind = importlib.import_module(f"ansible_collections.{OURS}.plugins.action.{module}").ActionModule
    loader = DataLoader()
    action = kind(
        task=task,
        connection=connection,
        play_context=connection._play_context,
        loader=loader,
        templar=Templar(loader=loader),
        shared_loader_obj=plugins,
    )
    try:
        answer = action.run(task_vars=variables or {})
    except AnsibleConnectionFailure as trouble:
        answer = {"failed": True, "unreachable": True, "changed": False, "msg": str(trouble)}
    answer.setdefault("failed", False)
    return json.loads(json.dumps(answer))


def run(twin, host, module, params, check=False):
    """The answer of an action plugin on a host of a twin that has the face ssh."""
    with ssh(twin.ssh_endpoints[host], twin.ssh_key_file, twin.known_hosts_file) as connection:
        return act(connection, module, params, check)
