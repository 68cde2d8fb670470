"""A switch alone on a bench, without cables and SSH: for tests of what its command line says and does."""

from __future__ import annotations

import threading
import types

from vsphere_twin.switches.device import kind
from vsphere_twin.switches.model import PhysicalSwitch, SwitchFaults


def switch(platform, version=None, ports=4, lines=(), **options):
    """A switch of a platform, with what an operator typed."""
    world = types.SimpleNamespace(
        switch_faults=SwitchFaults(),
        lock=threading.RLock(),
        timeline=types.SimpleNamespace(after=lambda _seconds, act: act()),
        fabric=types.SimpleNamespace(sends=lambda _switch, _port: True),
    )
    found = PhysicalSwitch(world, "leaf-01", kind(platform), version, ports=ports, **options)
    found.device.load([line for line in lines if line.strip()])
    return found


class Console:
    """A session: call it with lines, and get what the last one was answered with."""

    def __init__(self, one, *lines):
        self.dialogue = one.device.dialogue("admin")
        self(*lines)

    def __call__(self, *lines):
        text = ""
        for line in lines:
            self.reply = self.dialogue.run(line)
            text = self.reply.text
        return text

    def answer(self, text):
        """What was typed after a question."""
        self.reply = self.dialogue.answer(text)
        return self.reply.text

    @property
    def prompt(self):
        return self.dialogue.prompt()


def bare(text):
    """Lines without blanks at their ends and without empty ones around them."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]
