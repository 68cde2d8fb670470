"""Cisco NX-OS: a session at the command line, its modes, checkpoints and files."""

from __future__ import annotations

import json
import re

from .. import tree
from ..dialogue import Dialogue, Reply
from ..grammar import Grammar, Wrong
from ..phrases import spelled
from . import nxos_files, nxos_policy_show, nxos_show
from .nxos_rules import DEFAULTS, GRAMMAR, Refusal, port_list

EXEC = Grammar(ports=port_list)
MOST_LOSSLESS = 3  # classes of the network policy [unsure: by chip]


class NxosDialogue(Dialogue):
    """One user at one switch."""

    MORE = "--More--"
    COMPLAINT = "ERROR: the command could not be carried out"

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.device = switch.device
        self.places = []  # (mode, sections, part of the prompt), from configuration mode inwards

    # Objects that lines change.

    @property
    def config(self):
        return self.device.config

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
            raise Refusal(None)
        return found

    def ports(self, names=None):
        """The ports that a command names, or all."""
        if any(name not in self.switch.ports for name in names or ()):
            raise Refusal(None)
        return names or list(self.switch.ports)

    def policies(self, kind):
        """{name: Section} of the policy maps of a kind."""
        found = {key[2]: key for key in self.config.sections if key[:2] == ("policy-map", kind)}
        return {name: self.config.find(key) for name, key in found.items()}

    def policy(self):
        """The policy map that lines go into."""
        return next(
            sections[0]
            for mode, sections, _label in reversed(self.places)
            if mode.startswith("pmap-") and "-c" not in mode
        )

    def users_of(self, kind, name):
        """Return whether the policy is attached anywhere."""
        places = [section for _header, section in self.config.sections.values()]
        return any(
            value == name for place in places for key, (_l, value) in place.lines.items() if key[:2] == ("policy", kind)
        )

    def need_policy(self, kind, name):
        """Require an existing policy to attach."""
        if name != DEFAULTS.get(kind) and ("policy-map", kind, name) not in self.config.sections:
            raise Refusal(f"ERROR: Policy-map {name} of type {kind} does not exist")

    def check_lossless(self):
        """Refuse more lossless classes than the chip has buffers for."""
        classes = self.policy().kept("class").values()
        if sum("pause" in one.lines for one in classes) > MOST_LOSSLESS:
            for one in self.targets:
                one.drop("pause")
            raise Refusal(f"ERROR: No more than {MOST_LOSSLESS} no-drop classes are supported")

    # The conversation.

    def greeting(self):
        return "\nCisco Nexus Operating System (NX-OS) Software\n"

    def prompt(self):
        name = self.config.get("hostname")
        return f"{name}(config{'-' + self.places[-1][2] if self.places[1:] else ''})# " if self.places else f"{name}# "

    def run(self, line):
        line = line.rstrip()
        if not line.strip() or line.strip().startswith("!"):
            return Reply()
        if " ; " in line:
            return self._several(line.split(" ; "))
        command, *filters = [part.strip() for part in re.split(r"\s\|\s", line.strip())]
        try:
            return self._carried(command, filters)
        except Wrong as wrong:
            return Reply(self._complaint(wrong, line))
        except Refusal as refusal:
            if refusal.args[0] is None:
                return Reply(self._complaint(Wrong("invalid", len(command.split()) - 1), line))
            return Reply(f"{refusal}\n")

    def answer(self, text):
        return Reply()

    def _several(self, lines):
        replies = [self.run(line) for line in lines]
        return Reply("".join(reply.text for reply in replies), close=any(reply.close for reply in replies))

    def _carried(self, command, filters):
        inner = [place[0] for place in reversed(self.places)]
        try:
            if filters or not inner:
                raise Wrong("invalid", 0)
            handler, values, mode = GRAMMAR.find(inner, command)
        except Wrong as wrong:
            try:
                handler, values = EXEC.match([*(["config"] if inner else []), "exec"], command)
            except Wrong as other:
                raise max(wrong, other, key=lambda one: one.at) from None
            return self._filtered(handler(self, **values), filters)
        while self.places[-1][0] != mode:
            self.places.pop()
        handler(self, **values)
        return Reply()

    def _filtered(self, said, filters):
        if isinstance(said, Reply):
            return said
        word = filters[0].split()[0] if filters else ""
        as_json = word in ("json", "json-pretty")
        if callable(said):
            said = said(as_json)
        if as_json:
            if not isinstance(said, dict):
                # Output without a structure is returned as text [unsure].
                return Reply(said or "")
            return Reply(json.dumps(said, indent=4 if word == "json-pretty" else None) + "\n")
        text = tree.pipe(said or "", [words.split() for words in filters])
        return Reply("% Invalid command at '^' marker.\n" if text is None else text)

    def _complaint(self, wrong, line):
        if wrong.kind == "incomplete":
            return "% Incomplete command at '^' marker.\n"
        words = list(re.finditer(r"\S+", line))
        at = words[min(wrong.at, len(words) - 1)].start() + len(self.prompt())
        kind = "Ambiguous" if wrong.kind == "ambiguous" else "Invalid"
        return f"{' ' * at}^\n% {kind} command at '^' marker.\n"


@EXEC.on("exec", "terminal what=length|width <number:0-511>", "terminal session-timeout <number:0-525600>")
def terminal(cli, number, what=None):
    if what == "length":
        cli.page_lines = number


@EXEC.on("exec", "exit")
def leave(cli):
    if not cli.places:
        return Reply(close=True)
    cli.places.pop()
    return ""


@EXEC.on("exec", "end")
def end(cli):
    cli.places.clear()


@EXEC.on("exec", "logout")
def logout(cli):
    return Reply(close=True)


@EXEC.on("exec", "configure [ terminal ]")
def configure(cli):
    cli.places[:] = [("config", [cli.config], "")]


@EXEC.on("exec", "reload")
def reload(cli):
    cli.switch.reload()
    return Reply(close=True)


@EXEC.on("exec", "show running-config [ everything=all ]")
def show_running(cli, everything=None):
    return cli.device.text(cli.config, "running-config", bool(everything))


@EXEC.on("exec", "show running-config ipqos [ all ]")
def show_qos(cli):
    lines = ["", "!Command: show running-config ipqos", "!Time: Mon Jan  1 00:00:00 2024", ""]
    lines += [f"version {cli.switch.version} Bios:version 05.47", *cli.device.qos(cli.config)]
    for key in [key for key in cli.config.sections if key[0] == "interface"]:
        policies = [
            line
            for where, (line, _value) in cli.config.sections[key][1].lines.items()
            if "policy" in where or where in ("pfc", "watchdog")
        ]
        lines += ["", cli.config.sections[key][0], *(f"  {line}" for line in policies)] if policies else []
    return "".join(f"{line}\n" for line in lines)


@EXEC.on("exec", "show running-config interface [ <names:ports> ] [ everything=all ]")
def show_running_interface(cli, names=None, everything=None):
    head = [
        "",
        "!Command: show running-config interface",
        "!Time: Mon Jan  1 00:00:00 2024",
        "",
        f"version {cli.switch.version} Bios:version 05.47",
    ]
    for name in cli.ports(names):
        head += ["", *cli.device._port(cli.config, ("interface", name), bool(everything))]
    return "".join(f"{line}\n" for line in head)


@EXEC.on("exec", "show running-config vlan")
def show_vlans(cli):
    numbers = sorted({1, *cli.config.kept("vlan")})
    lines = ["", "!Command: show running-config vlan", "!Time: Mon Jan  1 00:00:00 2024", ""]
    lines += [f"version {cli.switch.version} Bios:version 05.47", f"vlan {spelled(numbers)}"]
    for key in sorted(key for key in cli.config.sections if key[0] == "vlan" and cli.config.find(key).lines):
        lines += [cli.config.sections[key][0], *(f"  {line}" for line, _value in cli.config.find(key).lines.values())]
    return "".join(f"{line}\n" for line in lines)


@EXEC.on("exec", "show running-config diff")
def show_unsaved(cli):
    found = tree.differences(cli.device.body(cli.device.saved), cli.device.body(cli.device.config))
    return "".join(f"{line}\n" for line in ["*** Startup-config", "--- Running-config", *found[2:]] if found)


@EXEC.on("exec", "show startup-config")
def show_startup(cli):
    return cli.device.startup()


nxos_show.declare(EXEC)
nxos_files.declare(EXEC)
nxos_policy_show.declare(EXEC)
