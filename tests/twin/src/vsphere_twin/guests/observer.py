"""Access of a test to a guest: changes from outside, and its state without any module."""

from __future__ import annotations

import time

import docker

from . import engine, execs

NOLOGIN = "/run/nologin"
LIMIT_S = 600  # only a failure takes this long, however busy this machine is


class Observer:
    """Access to one running guest, without its network and its users."""

    def __init__(self, guests, machine):
        self._guests, self._machine = guests, machine

    @property
    def name(self):
        return self._machine.vm.name

    @property
    def boots(self):
        """Return how often its operating system was started."""
        return self._machine.boots

    @property
    def container(self):
        """The engine's name of it."""
        return self._machine.container_name

    def run(self, argv, stdin=None):
        """Run a program as root and return (status, stdout, stderr); stdin is its input, a text or bytes."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = execs.run(self._guests.client.api, self.container, argv, given)
        return done.status, done.out, done.err

    def read(self, path):
        """The text of a file, or None."""
        status, text, _err = self.run(["cat", str(path)])
        return text if status == 0 else None

    def put(self, path, content, mode=0o644):
        """Write a file, as root; its folder is created."""
        script = 'mkdir -p "$(dirname "$0")" && cat >"$0" && chmod "$1" "$0"'
        status, _out, err = self.run(["sh", "-c", script, str(path), f"{mode:o}"], content)
        if status != 0:
            raise OSError(f"{path} could not be written in {self.name}: {err.strip()}")

    def address(self, interface):
        """The first IPv4 address of an interface, or None."""
        _status, text, _err = self.run(["ip", "-4", "-o", "address", "show", "dev", interface])
        words = text.split()
        return words[3].partition("/")[0] if len(words) > 3 else None

    def counters(self):
        """{interface: (bytes received, bytes sent)}."""
        _status, text, _err = self.run(
            ["sh", "-c", "cd /sys/class/net && for n in *; do echo $n $(cat $n/statistics/[rt]x_bytes); done"]
        )
        rows = [line.split() for line in text.splitlines()]
        return {name: (int(received), int(sent)) for name, received, sent in rows}

    def pull_plug(self):
        """The machine is gone at once, as when its host loses it."""
        self._container().kill()

    def hang(self, hanging=True):
        """Freeze or resume everything in it."""
        container = self._container()
        engine.freeze(container) if hanging else container.unpause()

    def wait(self, up=True, limit_s=LIMIT_S):
        """Until Tools run and users may log in, or it is off; RuntimeError at once if it will not come up by itself."""
        until = time.monotonic() + limit_s
        vm = self._machine.vm
        while True:
            with self._guests.world.lock:
                state = f"{vm.power}, tools {'running' if vm.tools_running else 'not running'}"
                there = vm.tools_running if up else vm.power == "poweredOff" and self._machine.idle
                if up and self._machine.failed:
                    raise RuntimeError(f"{vm.name} does not come up: {self._machine.problem}.")
            if there and not (up and self._is_shut()):
                return self
            if time.monotonic() > until:
                raise TimeoutError(
                    f"{vm.name} is not {'up' if up else 'off'} after {limit_s} s: {state}. {self._machine.problem}"
                )
            time.sleep(0.05)

    def _is_shut(self):
        """Tools may run a moment before a machine that boots lets users in."""
        try:
            return self.run(["test", "-e", NOLOGIN])[0] == 0
        except docker.errors.APIError:
            return True  # it went off meanwhile

    def _container(self):
        return self._guests.client.containers.get(self._machine.container_name)
