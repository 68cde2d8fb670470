"""OpenSSH's own client against the shells of the twin's hosts."""

from __future__ import annotations

import subprocess


class OpenSsh:
    """ssh with a twin's keys, as an operator has it set up."""

    def __init__(self, twin):
        self._twin = twin

    def __call__(self, host, command, *options, stdin=""):
        """The completed process of one command on a host."""
        return subprocess.run(
            [*self.argv(host, *options), command], input=stdin, capture_output=True, text=True, timeout=120, check=False
        )

    def argv(self, host, *options):
        """The command line up to the command."""
        address, port = self._twin.ssh_endpoints[host]
        return ["ssh", *self.options(), "-p", str(port), *options, f"root@{address}"]

    def options(self):
        """What ssh and its siblings have in common."""
        settings = {
            "UserKnownHostsFile": self._twin.known_hosts_file,
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "IdentitiesOnly": "yes",
        }
        pairs = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        return ["-F", "none", "-i", str(self._twin.ssh_key_file), *pairs]


def open_shell(twin, name):
    """Start the SSH service of a host, as the operator does in the client; the host."""
    with twin.world.lock:
        (host,) = [one for one in twin.world.of_kind("HostSystem") if one.name == name]
        host.service("TSM-SSH").running = True
        twin.world.touch(host, host.managers["serviceSystem"])
    return host
