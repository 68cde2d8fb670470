# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The licence of the guest that the module runs on."""

from __future__ import annotations

import contextlib
import re
import socket
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Callable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import smi_text
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock, wait
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import causes, gridd, plan, token
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import state as states
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.params import LicenceRequest

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change, Item

SERVICE = "nvidia-gridd"
RESTART_S = 60
# The port of a licence server, and how long one that does not answer is waited for.
PORT, REACH_S = 443, 5


def _connect(host: str, port: int) -> bool:
    """Return whether a server accepts connections."""
    try:
        with contextlib.closing(socket.create_connection((host, port), timeout=REACH_S)):
            return True
    except OSError:
        return False


class Licence(Noun[LicenceRequest, states.LicenceState]):
    """One guest; tests may replace its files, its commands, its time and its network."""

    def __init__(
        self,
        commands: Commands | None = None,
        files: Files | None = None,
        clock: type[Clock] = Clock,
        connect: Callable[[str, int], bool] | None = None,
    ) -> None:
        self._commands = commands or Commands()
        self._files = files or Files()
        self._clock = clock
        self._connect = connect or _connect
        self._folder = gridd.TOKENS
        self._known = cast("plan.Known", None)

    def read(self, items: Sequence[Item[LicenceRequest, states.LicenceState]]) -> None:
        (item,) = items
        requested = item.requested
        text = self._text(item.label, requested)
        now_s = self._clock.wall()
        conf = gridd.parse(self._conf())
        self._folder = requested.settings.get(gridd.TOKEN_FOLDER) or conf.get(gridd.TOKEN_FOLDER) or gridd.TOKENS
        self._folder = self._folder.rstrip("/")
        item.now = self._see(requested)
        texts = [self._files.text(self._path(name)) or "" for name in item.now.tokens]
        texts += [text] if text is not None else []
        self._known = plan.Known(text, {token.fingerprint(one): token.read(one) for one in texts}, now_s)
        item.ids.update(machine.ids(self._files))

    def want(self, item: Item[LicenceRequest, states.LicenceState]) -> states.LicenceState:
        return plan.want(item.label, item.now, item.requested, self._known)

    def compare(self, now: states.LicenceState, wanted: states.LicenceState) -> list[Change]:
        return plan.compare(now, wanted)

    def keep(self, items: Sequence[Item[LicenceRequest, states.LicenceState]]) -> None:
        """A licence arrives a while after the start of the service: a correct configuration may still have none."""
        for item in items:
            self._await(item)

    def apply(self, items: Sequence[Item[LicenceRequest, states.LicenceState]]) -> None:
        (item,) = items
        item.touched = True
        try:
            self._write(item)
            self._commands.must(
                ["systemctl", "restart", SERVICE],
                item.label,
                f"cannot restart the service {SERVICE}",
                f"Check `journalctl -u {SERVICE}` on the guest",
                "service_failed",
                limit_s=RESTART_S,
            )
        except OperatorError as error:
            item.error = error

    def prove(self, items: Sequence[Item[LicenceRequest, states.LicenceState]]) -> None:
        for item in items:
            if item.error is not None:
                item.proved = self._see(item.requested)
                continue
            self._await(item)
            left = plan.compare(cast("states.LicenceState", item.proved), item.wanted)
            if left and item.error is None:
                item.error = not_proved(
                    item.label,
                    "the licence settings are not in the desired state after the change",
                    left,
                    "Check whether another program writes these files, then run the task again",
                )

    def project(self, state: states.LicenceState) -> dict[str, Any]:
        return states.project(state)

    def _await(self, item: Item[LicenceRequest, states.LicenceState]) -> None:
        """Wait until the GPUs report the desired state; their last report is the proof."""
        requested = item.requested
        seen: list[states.LicenceState] = []

        def done() -> bool:
            seen.append(self._see(requested))
            if requested.proof == "none":
                return True
            return seen[-1].licensed if requested.state == "present" else not seen[-1].licensed

        done_, seconds = wait(done, requested.wait_s, self._clock)
        item.proved = seen[-1]
        if not done_:
            item.error = self._why(item, seen[-1], seconds)

    def _why(
        self, item: Item[LicenceRequest, states.LicenceState], proved: states.LicenceState, seconds: float
    ) -> OperatorError:
        if item.requested.state == "absent":
            return OperatorError(
                item.label,
                "cannot return its licence",
                f"nvidia-smi still reports {proved.status} after {seconds:.0f} s",
                f"Check `journalctl -u {SERVICE}` on the guest",
                "still_licensed",
            )
        held = [self._known.held[mark] for mark in item.wanted.tokens.values()]
        servers = [host for one in held for host in one.servers]
        return causes.why(
            item.label,
            proved,
            self._journal(),
            held=held[0] if held else None,
            now_s=self._clock.wall(),
            unreachable=tuple(host for host in servers if not self._connect(*_place(host))),
            synchronised=self._synchronised(),
            seconds=seconds,
        )

    def _write(self, item: Item[LicenceRequest, states.LicenceState]) -> None:
        conf = self._conf()
        made = gridd.with_settings(conf, item.requested.settings)
        if self._files.text(gridd.FILE) != made:
            self._files.write(gridd.FILE, made, self._files.mode(gridd.FILE) or 0o644)
        wanted, now = item.wanted, item.now
        for name, mark in wanted.tokens.items():
            if now.tokens.get(name) != mark:
                self._files.write(self._path(name), cast("str", self._known.text).strip() + "\n", token.MODE)
            elif now.modes.get(name) != plan.MODE:
                self._files.set_mode(self._path(name), token.MODE)
        for name in sorted({*now.tokens} - {*wanted.tokens}):
            self._files.remove(self._path(name))

    def _conf(self) -> str:
        """The text of the settings; before there are any, that of the template with its explanations."""
        text = self._files.text(gridd.FILE)
        return text if text is not None else self._files.text(gridd.TEMPLATE) or ""

    def _text(self, label: str, requested: LicenceRequest) -> str | None:
        """The token that the task gives; None for none."""
        if requested.state == "absent":
            return None
        if requested.token_file is None:
            return requested.token
        text = self._files.text(requested.token_file)
        wanted = f"cannot use the token in {requested.token_file}"
        if text is None:
            raise OperatorError(
                label, wanted, "The file does not exist on the guest", "Copy it there, or set `token`", "no_token"
            )
        trouble = token.problem(text)
        if trouble is not None:
            raise OperatorError(label, wanted, trouble, plan.PORTAL, "no_token")
        return text

    def _see(self, requested: LicenceRequest) -> states.LicenceState:
        conf = gridd.parse(self._files.text(gridd.FILE))
        names = [name for name in self._files.names(self._folder) if name.endswith(token.ENDING)]
        texts = {name: self._files.text(self._path(name)) or "" for name in names}
        service, started = self._service()
        found = states.LicenceState(
            settings={key: conf[key] for key in requested.settings if key in conf},
            tokens={name: token.fingerprint(text) for name, text in texts.items()},
            modes={name: f"{self._files.mode(self._path(name)) or 0:04o}" for name in names},
            service=service,
            current=self._current(started, [gridd.FILE, *map(self._path, names)]),
        )
        return replace(found, report=self._report()) if service is not None else found

    def _service(self) -> tuple[str | None, float | None]:
        """(the state of the service, the second of the wall clock at which it started)."""
        shown = ["LoadState", "ActiveState", "ActiveEnterTimestampMonotonic"]
        done = self._commands.run(["systemctl", "show", SERVICE, "--property", ",".join(shown)])
        reported = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
        if reported.get("LoadState") != "loaded":
            return None, None
        since = reported.get("ActiveEnterTimestampMonotonic", "")
        # By the age of the service: the clock may have been set since it started.
        age = self._clock.monotonic() - int(since) / 1e6 if re.match(r"[1-9]\d*\Z", since) else None
        return reported.get("ActiveState"), self._clock.wall() - age if age is not None else None

    def _current(self, started: float | None, paths: Sequence[str]) -> bool:
        now = self._clock.wall()
        written = [self._files.changed_at(path) for path in paths]
        # A file from the future was written before the clock was set, and proves nothing.
        return started is None or all(at is None or at > now or at <= started for at in written)

    def _report(self) -> smi_text.Report:
        done = self._commands.run(["nvidia-smi", "-q"])
        if done.missing or done.timed_out:
            return smi_text.Report(trouble="not_installed" if done.missing else "unknown", said=done.outcome)
        return smi_text.parse(done.stdout + done.stderr)

    def _journal(self) -> str:
        done = self._commands.run(["journalctl", "-u", SERVICE, "-o", "cat", "--no-pager", "-n", "50"])
        text = done.stdout if done.ok else ""
        secret = (self._known.text or "").strip()
        return text.replace(secret, "(the token)") if secret else text

    def _synchronised(self) -> bool | None:
        done = self._commands.run(["timedatectl", "show", "--property", "NTPSynchronized", "--value"])
        return {"yes": True, "no": False}.get(done.stdout.strip()) if done.ok else None

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def _place(host: str) -> tuple[str, int]:
    """Return host and port of a server, with the default port unless it contains another."""
    found = re.match(r"(\[[^\]]+\]|[^:]+):(\d+)\Z", host)
    return (found[1].strip("[]"), int(found[2])) if found else (host, PORT)
