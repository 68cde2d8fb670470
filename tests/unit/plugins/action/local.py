"""An action plugin as Ansible makes it for a task on this machine."""

from __future__ import annotations

from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins import loader as plugins
from ansible.template import Templar


def action_of(kind, name, arguments, check=False, variables=None):
    """The action of a class for a task, over Ansible's own connection."""
    task = Task()
    task.action, task.args, task.check_mode, task.diff = name, arguments, check, True
    context = PlayContext()
    connection = plugins.connection_loader.get("local", context)
    connection.set_options()
    connection.set_become_plugin(None)
    loader = DataLoader()
    loader.set_basedir("/")
    return kind(
        task=task,
        connection=connection,
        play_context=context,
        loader=loader,
        templar=Templar(loader=loader, variables=variables),
        shared_loader_obj=plugins,
    )
