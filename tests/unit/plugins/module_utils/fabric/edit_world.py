# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A switch with one port and a platform for it, which fail wherever a test of edits wants them to."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import QosRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import View
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Lost, Refused
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Oper, Port, Switch

INTENT = Intent()
REQUEST = QosRequest("present", INTENT, {}, "when_verified", None, verify_timeout_s=3, reconnect_timeout_s=3)
EDIT = Edit(["mtu 9216"])
WANTS = {"swp1": {"mtu": 9216}}


class World:
    """A switch with one port, whose MTU is all that matters; trouble says what goes wrong when."""

    def __init__(self, **trouble):
        self.mtu, self.runs, self.saved, self.armed = 1500, None, 1500, False
        self.trouble = trouble
        self.connected = True
        self.seconds = 0.0
        self.log = []
        self.own, self.unsaved, self.port = {}, None, {}

    def does(self, what):
        self.log.append(what)
        trouble = self.trouble.get(what)
        if isinstance(trouble, list):
            trouble = trouble.pop(0) if trouble else None
        if trouble == "refused":
            raise Refused(what, "% Invalid input")
        if trouble == "own":
            raise OperatorError(self.name, "a change was to be begun", "Somebody else is at it", "Wait", "busy")
        if trouble == "lost":
            self.connected = False
        if not self.connected and what != "reconnect":
            raise Lost(what, "closed")

    # The clock.
    def monotonic(self):
        return self.seconds

    def sleep(self, seconds):
        self.seconds += seconds

    # The session.
    name = "leaf-01"

    def reconnect(self):
        self.log.append("reconnect")
        waits = self.trouble.get("silent_for", 0)
        if self.seconds < waits:
            if self.trouble.get("login") == "refused":
                raise Refused("login", "System is booting up")
            raise Lost("login", "no route")
        self.connected = True

    def look(self):
        self.does("look")
        running = self.mtu if self.runs is None else self.runs
        port = Port(mtu=self.mtu, **self.port)
        oper = Oper(up=True, mtu=running, **self.port)
        switch = Switch("eos", ports={"swp1": port}, oper={"swp1": oper}, own=self.own, unsaved=self.unsaved)
        return View(switch, {"swp1": compare.effect(port, INTENT)})


class Stub(Platform):
    title = "Stub"

    def apply(self, session, edit):
        if session.trouble.get("half"):
            session.mtu = 5000
        if session.trouble.get("apply") != "lost_before":
            session.does("apply")
            session.mtu = 9216 if not session.trouble.get("half") else 5000
        else:
            session.connected = False
            raise Lost("apply", "closed")
        session.does("applied")

    def confirm(self, session, edit):
        session.does("confirm")

    def revert(self, session, edit, before):
        session.does("revert")
        session.mtu = session.trouble.get("returns_to", 1500)

    def save(self, session):
        session.does("save")
        session.saved = session.mtu

    def way_back(self, edit):
        return "It returns by itself after 300 s."
