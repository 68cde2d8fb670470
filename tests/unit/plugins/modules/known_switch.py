# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A platform of switches whose rules are known, and what roce_qos answers about it."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import params as parameters
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Limits, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import RoceQos
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Marking, Port, Switch

from unit.answers import Ended, Module

from . import described

IDENTITY = {number: number for number in range(8)}


def port(**difference):
    right = {
        "trust": "dscp",
        "dscp_map": {26: 3, 48: 6},
        "queues": IDENTITY,
        "groups": IDENTITY,
        "pfc_queues": IDENTITY,
        "pfc_mode": "on",
        "pfc": [3],
        "pfc_sends": True,
        "lossless": [3],
        "ecn": {3: Marking(150000, 1500000, 100)},
        "strict": [6],
        "shares": {3: 50},
        "mtu": 9216,
        "watchdog": True,
        "pause": False,
    }
    return Port(**{**right, **difference})


class Known(Platform):
    """A platform that reads what the test says."""

    name, title = "known", "Known OS"
    limits = Limits(modes=("lossless", "lossy"))

    def __init__(self, ports, **switch):
        super().__init__()
        self.switch = Switch("known", version="1.0", ports=ports, config="qos", **switch)

    def reads(self, ports):
        return ["show qos"]

    def parse(self, texts):
        return self.switch

    def blank(self, switch, name):
        return Port(trust="pcp", pfc_mode="off", pfc=[], lossless=[], ecn={}, strict=[], watchdog=False, mtu=1500)

    def render(self, switch, wanted, intent, exact=True):
        return Edit([f"set {name}" for name in wanted] if intent else ["remove"])


class Silent:
    name = "leaf-01"

    def __init__(self, refuses=()):
        self.refuses = refuses

    def run(self, command, answers=()):
        if command in self.refuses:
            raise Refused(command, "% Invalid input")
        return ""


def plan(platform, session=None, warnings=None, **given):
    """The answer in check mode."""
    requested = described.checked({"host_ports": ["swp1"], **given}, parameters.ARGUMENTS)
    reported = [] if warnings is None else warnings
    asked = parameters.request_of(requested)
    noun = RoceQos(asked, platform, session or Silent(), None, reported.append)
    with pytest.raises(Ended) as ended:
        runner.run(Module(), noun, [Item("leaf-01", asked)], "switch", single=True)
    return ended.value.args[0]


def made(requested, platform, keep=None):
    """The answer of a run that changes."""
    module_run = Module()
    module_run.check_mode = False
    asked = parameters.request_of(requested)
    noun = RoceQos(asked, platform, Silent(), keep, print)
    with pytest.raises(Ended) as ended:
        runner.run(module_run, noun, [Item("leaf-01", asked)], "switch", single=True)
    return ended.value.args[0]
