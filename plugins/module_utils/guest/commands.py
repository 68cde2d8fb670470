# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Commands on the guest that the module itself runs on: lists of words, a clean environment, an end in time."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError

# A login by ssh or sudo may lack all folders of administrators.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Proxy variables that a network command may need from the environment of the task; they can hold passwords, so that no
# other command gets them.
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "ftp_proxy", "all_proxy")
NOT_FOUND = 127
# Lines of a long output that a message shows.
SHOWN = 3


@dataclass(frozen=True)
class Done:
    """Result of a command."""

    argv: tuple[str, ...]
    rc: int
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.rc == 0 and not self.timed_out

    @property
    def missing(self) -> bool:
        """Return whether the program does not exist."""
        return self.rc == NOT_FOUND and not self.stdout

    @property
    def words(self) -> str:
        """The last lines of its error output, or of its output if there are no errors."""
        said = self.stderr if self.stderr.strip() else self.stdout
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return " / ".join(lines[-SHOWN:])

    @property
    def outcome(self) -> str:
        """Return the end of the command as a sentence."""
        name = " ".join(self.argv[:3])
        if self.timed_out:
            return f"`{name}` timed out: {self.words or 'no output'}."
        if self.missing:
            return f"The program {self.argv[0]} is not installed."
        return f"`{name}` exited with status {self.rc}: {self.words or 'no output'}."


class Commands:
    """Runs commands; tests give another one that answers from a table."""

    def run(
        self,
        argv: Sequence[str],
        limit_s: float = 60,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        network: bool = False,
    ) -> Done:
        """The result of a command. Failures and missing programs raise nothing; only must() raises."""
        argv = tuple(str(word) for word in argv)
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(env, network),
                cwd="/",
                # Its children end with it when the time is up.
                start_new_session=True,
            )
        except OSError as error:
            return Done(argv, NOT_FOUND, "", str(error))
        try:
            out, err = process.communicate(stdin.encode(), timeout=limit_s)
            late = False
        except subprocess.TimeoutExpired:
            _end(process)
            out, err = process.communicate()
            late = True
        return Done(argv, process.returncode, _text(out), _text(err), late)

    def must(self, argv: Sequence[str], subject: str, wanted: str, todo: str, code: str, **options: Any) -> Done:
        """Run a command that must succeed; wanted is the failure, such as "cannot read the adapters"."""
        done = self.run(argv, **options)
        if not done.ok:
            raise OperatorError(subject, wanted, done.outcome, todo, code, command=list(done.argv), rc=done.rc)
        return done

    def find(self, program: str) -> str | None:
        """Return the path of a program; None if it does not exist."""
        for folder in PATH.split(":"):
            path = os.path.join(folder, program)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
        return None


def environment(extra: Mapping[str, str] | None = None, network: bool = False) -> dict[str, str]:
    """Return the environment of a command: without the task's variables, except the proxies for a network command."""
    found = {"PATH": PATH, "LC_ALL": "C", "LANG": "C", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    if network:
        names = [*PROXIES, *(name.upper() for name in PROXIES)]
        found.update({name: os.environ[name] for name in names if name in os.environ})
    found.update(extra or {})
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")
