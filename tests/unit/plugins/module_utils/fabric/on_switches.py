# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A switch of the twin without network: roce_qos works on it in this process."""

from __future__ import annotations

import re
import threading
import types

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import params as parameters
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import RoceQos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused, Session

from unit.answers import Ended, Module
from unit.plugins.modules import described
from vsphere_twin.model.timeline import Timeline
from vsphere_twin.switches.device import kind
from vsphere_twin.switches.linux import LinuxShell
from vsphere_twin.switches.model import Peer, PhysicalSwitch, SwitchFaults

# What a command line prints before it goes on after a mistake.
COMPLAINT = re.compile(r"(?m)^\s*(?:%|ERROR|Error)")

# What Ansible types before the first command.
LOGIN = {"eos": ("enable",), "onyx": ("enable",), "enterprise_sonic": ("sonic-cli",)}


class Bench(Session):
    """A switch with four ports, two of them cabled, and an administrator's session on it."""

    name = "leaf-01"

    def __init__(self, platform, lines=(), version=None):
        lock = threading.RLock()
        world = types.SimpleNamespace(
            switch_faults=SwitchFaults(),
            lock=lock,
            timeline=Timeline(lock),
            fabric=types.SimpleNamespace(
                cables={(self.name, port): ("leaf-02", port) for port in kind(platform).port_names(4)},
                lit=lambda _end: True,
                sends=lambda _switch, _port: True,
                settle=lambda: None,
            ),
        )
        self.platform = platform
        self.switch = PhysicalSwitch(world, self.name, kind(platform), version, ports=4)
        self.device = self.switch.device
        self.device.load([line for line in lines if line.strip()])
        self.ports = self.device.port_names(4)
        for port in list(self.switch.ports.values())[:2]:
            port.plugged, port.peer = True, Peer("leaf-02", port.name, "44:4c:00:00:00:02")
        self.sent = []
        self.refused = None  # a line that this switch refuses
        self._dialogue = None
        self.reconnect()

    def run(self, command, answers=()):
        self.sent.append(command)
        if command == self.refused:
            raise Refused(command, "% Not supported by this hardware")
        if self._dialogue is None:
            output = LinuxShell.of(self.switch, "root").run(command, str)
            if output.rc:
                raise Refused(command, output.stdout + output.stderr)
            return output.stdout
        reply = self._dialogue.run(command)
        for _pattern, typed in answers if reply.ask else ():
            reply = self._dialogue.answer(typed)
        if COMPLAINT.search(reply.text):
            raise Refused(command, reply.text.strip())
        return reply.text

    def reconnect(self):
        if not self.device.interactive and self.platform != "enterprise_sonic":
            return
        self._dialogue = self.device.dialogue("admin")
        self._dialogue.page_lines = 0
        for line in LOGIN.get(self.platform, ()):
            self._dialogue.run(line)

    def set(self, check=False, **params):
        """What the module answers for the first two ports: one leads to a host, one to a switch."""
        given = {"host_ports": [self.ports[0]], "fabric_ports": [self.ports[1]], "verify_timeout_s": 1, **params}
        requested = described.checked(given, parameters.ARGUMENTS)
        assert parameters.check_params(requested) == []
        options = {
            "version": requested["version"],
            "allow": requested["allow"],
            "confirm_s": requested["confirm_timeout_s"],
        }
        platform = platform_of(self.platform, None, {**options, "transaction": requested["transaction"]})
        request = parameters.request_of(requested)
        noun = RoceQos(request, platform, self, None, lambda _text: None, check)
        module = Module()
        module.check_mode = check
        with pytest.raises(Ended) as ended:
            runner.run(module, noun, [Item(self.name, request)], "switch", single=True)
        return ended.value.args[0]
