"""Arista EOS: a session at the command line, its modes, and configuration sessions."""

from __future__ import annotations

import json
import re

from .. import tree
from ..dialogue import Dialogue, Reply
from ..grammar import Grammar, Wrong
from . import eos_sessions, eos_show
from .eos_rules import GRAMMAR, Refusal, port_list

EXEC = Grammar(ports=port_list)


class EosDialogue(Dialogue):
    """One user at one switch."""

    MORE = "--More--"

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.device = switch.device
        self.privileged = switch.users[username].privilege >= 15 if username in switch.users else False
        self.session = None  # the name of the configuration session that lines go into
        self.places = []  # (mode, sections, part of the prompt), from configuration mode inwards

    # Objects that lines change.

    @property
    def config(self):
        return self.device.sessions[self.session] if self.session else self.device.config

    @property
    def mode(self):
        return self.places[-1][0]

    @property
    def targets(self):
        return self.places[-1][1]

    @property
    def release(self):
        return self.device.release

    def enter(self, mode, sections, label):
        """Go into a section; the one before it stays, where it lies around this one."""
        self.places.append((mode, sections, label))

    def port(self, name):
        """The section of a port that exists."""
        found = self.config.find(("interface", name))
        if found is None:
            raise Refusal("% Invalid input")
        return found

    def known_queue(self, kind):
        """Chips know one word for their unicast queues (facts 6.1)."""
        if kind != "mc-tx-queue" and kind != self.device.queue_word:
            raise Refusal("% Invalid input")
        if kind == "mc-tx-queue" and self.device.queue_word == "tx-queue":
            raise Refusal("% Invalid input")

    def leave(self):
        """Back out of configuration mode."""
        self.places.clear()
        self.session = None

    # The conversation.

    def prompt(self):
        name = self.device.config.get("hostname", "localhost")
        if not self.places:
            return f"{name}{'#' if self.privileged else '>'}"
        label = f"s-{self.session[:6]}" if self.session else ""
        inner = "-".join(filter(None, (place[2] for place in self.places[1:])))
        return f"{name}(config{''.join(f'-{part}' for part in (label, inner) if part)})#"

    def run(self, line):
        line = line.strip()
        if not line or line.startswith("!"):
            return Reply()
        command, *filters = [part.strip() for part in re.split(r"\s\|\s", line)]
        try:
            return self._carried(command, filters)
        except Wrong as wrong:
            return Reply(self._complaint(wrong))
        except Refusal as refusal:
            return Reply(f"{refusal}\n")

    def answer(self, text):
        return Reply()

    def _carried(self, command, filters):
        if self.session and self.session not in self.device.sessions:
            self.session, self.places = None, []  # another session committed or discarded it
        modes = ["exec", *(["enable"] if self.privileged else [])]
        inner = [place[0] for place in reversed(self.places)]
        try:
            handler, values, mode = GRAMMAR.find(inner, command) if inner and not filters else _nothing(command)
        except Wrong as wrong:
            try:
                handler, values = EXEC.match([*inner[:1], *(["config"] if inner else []), *modes], command)
            except Wrong as other:
                privileged = not self.privileged and _known(["enable"], command)
                if privileged:
                    return Reply("% Invalid input (privileged mode required)\n")
                raise max(wrong, other, key=lambda one: one.at) from None
            return self._filtered(handler(self, **values), filters)
        while self.mode != mode:
            self.places.pop()
        handler(self, **values)
        return Reply()

    def _filtered(self, said, filters):
        if isinstance(said, Reply):
            return said
        as_json = bool(filters) and filters[0].split()[0] == "json"
        if callable(said):
            said = said(as_json)
        if as_json:
            if not isinstance(said, dict):
                return Reply("% This is an unconverted command\n")
            return Reply(json.dumps(said, indent=4) + "\n")
        text = tree.pipe(said or "", [words.split() for words in filters])
        return Reply("% Invalid input\n" if text is None else text)

    def _complaint(self, wrong):
        if wrong.kind == "incomplete":
            return "% Incomplete command\n"
        if wrong.kind == "ambiguous":
            return "% Ambiguous command\n"
        if self.release >= (4, 20):
            return f"% Invalid input (at token {wrong.at}: '{wrong.word}')\n"
        return "% Invalid input\n"


def _nothing(command):
    raise Wrong("invalid", 0, command.split()[0])


def _known(modes, command):
    try:
        EXEC.match(modes, command)
    except Wrong as wrong:
        return wrong.kind != "invalid"
    return True


@EXEC.on("exec", "enable")
def enable(cli):
    cli.privileged = True


@EXEC.on("exec", "disable")
def disable(cli):
    cli.privileged = False


@EXEC.on("exec", "terminal what=length|width <number:0-32767>")
def terminal(cli, what, number):
    if what == "length":
        cli.page_lines = number
        return "Pagination disabled.\n" if number == 0 else f"Pagination set to {number} lines.\n"
    return f"Width set to {number} columns.\n"


@EXEC.on("exec", "logout", "quit")
def logout(cli):
    return Reply(close=True)


@EXEC.on("exec", "exit")
def leave(cli):
    if not cli.places:
        return Reply(close=True)
    cli.places.pop()
    if not cli.places:
        cli.session = None
    return ""


@EXEC.on("config", "end")
def end(cli):
    cli.leave()


@EXEC.on("enable", "configure [ terminal ]")
def configure(cli):
    cli.session = None
    cli.places[:] = [("config", [cli.device.config], "")]


@EXEC.on("enable", "write [ memory ]", "copy running-config startup-config")
def save(cli):
    if not cli.device.save():
        raise Refusal("% Error copying system:/running-config to flash:/startup-config (No space left on device)")
    return "Copy completed successfully.\n"


@EXEC.on("enable", "reload [ now ]")
def reload(cli):
    cli.switch.reload()
    return Reply(close=True)


@EXEC.on("enable", "show running-config [ everything=all ]", "show running-config section <wanted:LINE>")
def show_running(cli, everything=None, wanted=None):
    text = cli.device.text(cli.device.config, "running-config", bool(everything))
    return text if wanted is None else tree.pipe(text, [["section", wanted]])


@EXEC.on("enable", "show running-config interfaces <name:ports>")
def show_running_interface(cli, name):
    wanted = "|".join(f"^interface {port}$" for port in eos_show.ports(cli, name))
    return tree.pipe(cli.device.running(), [["section", wanted]])


@EXEC.on("enable", "show startup-config")
def show_startup(cli):
    return cli.device.startup()


@EXEC.on("enable", "show running-config diffs")
def show_unsaved(cli):
    found = tree.differences(cli.device.body(cli.device.saved), cli.device.body(cli.device.config))
    return "".join(
        f"{line}\n" for line in ["--- flash:/startup-config", "+++ system:/running-config", *found[2:]] if found
    )


@EXEC.on("enable", "bash timeout <seconds:0-1000> cat /mnt/flash/boot-config")
def boot_config(cli, seconds):
    return f"SWI=flash:/EOS-{cli.switch.version}.swi\n"


eos_show.declare(EXEC)
eos_sessions.declare(EXEC)
