"""Run an action plugin for switches as Ansible would, in this process, over the connection that its users have."""

from __future__ import annotations

import contextlib
import os
import uuid

from ansible.executor.task_executor import start_connection
from ansible.playbook.play_context import PlayContext
from ansible.plugins import loader as plugins
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.switch_session import Helper

from . import drive_action, helper_processes

NETWORK_OS = {
    "cumulus": "nvidia.nvue.nvue",
    "enterprise_sonic": "dellemc.enterprise_sonic.sonic",
    "eos": "arista.eos.eos",
    "nxos": "cisco.nxos.nxos",
    "onyx": "aiready.vsphere.onyx",
    "os10": "aiready.vsphere.os10",
    "sonic": "sonic",
}
SHELLS = ("cumulus", "sonic")
# These let an administrator in with all rights.
WITHOUT_ENABLE = ("nxos", "os10", "enterprise_sonic")


class Opened:
    """A switch of a twin with an open connection: call it with a module and its parameters."""

    def __init__(self, switch, connection):
        self.connection = connection
        self._variables = {"inventory_hostname": switch.name, "ansible_network_os": NETWORK_OS[switch.platform]}
        self._become = plugins.become_loader.get("sudo") if switch.platform in SHELLS else None

    def __call__(self, module, params, check=False):
        path = getattr(self.connection, "socket_path", None)
        if path is not None and not os.path.exists(path):
            _begin(self.connection)  # as before each task
        return drive_action.act(self.connection, module, params, check, self._variables, self._become)


@contextlib.contextmanager
def connected(twin, name, strict=False, **more):
    """Ansible's connection to a switch of a twin that has the face switches; its helper is gone afterwards.

    more: variables of the inventory.
    """
    switch = twin.world.fabric.switches[name]
    opened = _shell(twin, name) if switch.platform in SHELLS else _command_line(twin, switch, strict, more)
    with opened as connection:
        yield Opened(switch, connection)


def run(twin, name, module, params, check=False):
    """The answer of one task in a session of its own."""
    with connected(twin, name) as switch:
        return switch(module, params, check)


def variables(twin, name, strict=False):
    """What an inventory says of a switch of a twin."""
    switch = twin.world.fabric.switches[name]
    address, port = twin.switch_endpoints[name]
    user = next(iter(switch.users))
    common = {
        "ansible_host": address,
        "ansible_port": port,
        "ansible_user": user,
        "ansible_network_os": NETWORK_OS[switch.platform],
    }
    if switch.platform in SHELLS:
        known = f"-o UserKnownHostsFile={twin.known_hosts_file}"
        key = {"ansible_ssh_private_key_file": str(twin.ssh_key_file), "ansible_ssh_common_args": known}
        return {**common, **key, "ansible_connection": "ssh", "ansible_become": True}
    enable = {} if switch.platform in WITHOUT_ENABLE else {"ansible_become": True, "ansible_become_method": "enable"}
    return {
        **common,
        **enable,
        "ansible_connection": "ansible.netcommon.network_cli",
        "ansible_password": switch.users[user].password,
        # How long Ansible waits after each prompt for more, on a machine that is far away.
        "ansible_buffer_read_timeout": 0.01,
        # A busy machine is slow, and other tests may run between two commands.
        "ansible_command_timeout": 120,
        "ansible_connect_timeout": 300,
        # libssh knows no file of keys but the user's own, where those of a twin have no business.
        "ansible_host_key_checking": strict,
    }


def _shell(twin, name):
    user = next(iter(twin.world.fabric.switches[name].users))
    return drive_action.ssh(twin.switch_endpoints[name], twin.ssh_key_file, twin.known_hosts_file, user)


@contextlib.contextmanager
def _command_line(twin, switch, strict, more):
    options = {**variables(twin, switch.name, strict), **more}
    context = PlayContext()
    context.timeout = 60
    context.connection, context.network_os = options["ansible_connection"], options["ansible_network_os"]
    context.remote_addr, context.port = options["ansible_host"], options["ansible_port"]
    context.remote_user, context.password = options["ansible_user"], options["ansible_password"]
    context.become, context.become_method = options.get("ansible_become", False), "enable"
    with helper_processes.quick():
        connection = plugins.connection_loader.get(
            context.connection, context, "/dev/null", task_uuid=str(uuid.uuid4())
        )
        connection.set_options(var_options=options)
        _begin(connection)
        try:
            yield connection
        finally:
            Helper(connection._socket_path, 1).end()


def _begin(connection):
    """Start Ansible's helper of a connection, or find the one that runs."""
    context, options = connection._play_context, connection.get_options()
    connection._socket_path = start_connection(context, options, str(uuid.uuid4()))
