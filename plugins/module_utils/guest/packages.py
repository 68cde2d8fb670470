# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Package manager of the guest: installed packages with their states, and installation with dependencies."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Iterable, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import locks
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.clock import Clock

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands, Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.os_release import Distribution


# A small guest needs minutes to build a kernel module.
LIMIT_S = 1800
# Errors of apt that an outdated list of packages explains.
_OLD_LISTS = re.compile(
    r"Unable to locate|unmet dependencies|is not installable|404 +Not Found|no installation candidate"
)


@dataclass(frozen=True)
class Package:
    """A package of the guest, or in a file."""

    name: str
    version: str
    architecture: str = ""
    # False for one whose installation was broken off, or could not be finished.
    whole: bool = True


class Packages:
    """Common base of both package managers."""

    family: str | None = None

    def __init__(
        self,
        commands: Commands,
        files: Files,
        subject: str = "packages",
        wait_s: float = 300,
        clock: Clock | type[Clock] = Clock,
    ) -> None:
        self._commands = commands
        self._files = files
        self._subject = subject
        self._wait_s = wait_s
        self._clock = clock

    def all(self) -> list[Package]:
        """Every package that is installed, also in part."""
        raise NotImplementedError

    def in_file(self, path: str) -> Package | None:
        """The Package in a file; None for a file that holds none."""
        raise NotImplementedError

    def repair(self, path: str | None = None) -> None:
        """Repair an interrupted installation; path: the file of a package that may be half unpacked."""
        raise NotImplementedError

    def install(self, what: Sequence[str], how: str = "install", without: Sequence[str] = ()) -> None:
        """Install packages by their names, name and version, or paths, in the place of others.

        how: install, downgrade or reinstall.
        """
        raise NotImplementedError

    def remove(self, names: Sequence[str]) -> None:
        """Remove packages; their configuration stays."""
        raise NotImplementedError

    def versions(self, name: str) -> list[str]:
        """The versions of a package that the repositories have, newest first."""
        raise NotImplementedError

    def pinned(self, name: str, version: str) -> str:
        """Return the argument that selects a version of a package."""
        raise NotImplementedError

    def broken_off(self) -> bool:
        """Return whether the package manager was killed midway, so that it refuses to work until it is repaired."""
        return False

    def change(
        self,
        argv: Sequence[str],
        wanted: str,
        todo: str,
        again: Callable[[Done], bool] | None = None,
        fine: Callable[[Done], bool] | None = None,
    ) -> Done:
        """Run a command that changes packages once the lock is free. again: retry a failure; fine: accept it."""
        locks.wait_until_free(self._files, cast("str", self.family), self._wait_s, self._subject, self._clock)
        done = self._commands.run(argv, limit_s=LIMIT_S, network=True)
        if not done.ok and again is not None and again(done):
            done = self._commands.run(argv, limit_s=LIMIT_S, network=True)
        if not done.ok and not (fine is not None and fine(done)):
            raise OperatorError(
                self._subject, wanted, done.outcome, todo, "package_trouble", command=list(done.argv), rc=done.rc
            )
        return done


class Dpkg(Packages):
    """Debian and Ubuntu."""

    family = "debian"
    _FIELDS = "${Package}\t${Version}\t${Architecture}\t${db:Status-Abbrev}\n"

    def all(self) -> list[Package]:
        done = self._commands.run(["dpkg-query", "-W", "-f", self._FIELDS])
        found = []
        for line in done.stdout.splitlines():
            name, version, architecture, status = (*line.split("\t"), "", "", "")[:4]
            state = status.ljust(3)
            # The second letter is the state: not installed, or only the configuration of a removed package.
            if state[1] not in "nc ":
                found.append(Package(name, version, architecture, whole=state[1] == "i" and state[2] == " "))
        return found

    def broken_off(self) -> bool:
        # dpkg saves data that is not yet in its list in files with numbers for names.
        return any(name.isdecimal() for name in self._files.names("/var/lib/dpkg/updates"))

    def in_file(self, path: str) -> Package | None:
        done = self._commands.run(["dpkg-deb", "-f", path, "Package", "Version", "Architecture"])
        reported = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
        if not done.ok or "Package" not in reported:
            return None
        return Package(reported["Package"], reported.get("Version", ""), reported.get("Architecture", ""))

    def repair(self, path: str | None = None) -> None:
        wanted, todo = "cannot finish an interrupted installation", "Repair it manually, see `dpkg --audit`"
        kept = ["dpkg", "--force-confold", "--force-confdef"]
        # Neither can do all alone: a package that is half unpacked cannot be configured, and one that lacks others is
        # not installed. The last one has to succeed.
        self.change([*kept, "--configure", "-a"], wanted, todo, fine=lambda done: True)
        if path is not None:
            self.change([*kept, "--install", path], wanted, todo, fine=lambda done: True)
        self.change([*self._apt("install"), "--fix-broken"], wanted, todo)

    def install(self, what: Sequence[str], how: str = "install", without: Sequence[str] = ()) -> None:
        asked = {"downgrade": ["--allow-downgrades"], "reinstall": ["--reinstall"]}.get(how, [])
        options = ["--no-install-recommends", *asked]
        self.change(
            [*self._apt("install"), *options, *what, *(f"{name}-" for name in without)],
            f"cannot install {', '.join(what)}",
            "Check the output of apt and the repositories of the guest",
            again=self._renewed,
        )

    def remove(self, names: Sequence[str]) -> None:
        self.change([*self._apt("remove"), *names], f"cannot remove {', '.join(names)}", "Check the output of apt")

    def versions(self, name: str) -> list[str]:
        reported = self._madison(name)
        if not reported:
            self._update()
            reported = self._madison(name)
        return reported

    def pinned(self, name: str, version: str) -> str:
        return f"{name}={version}"

    def _madison(self, name: str) -> list[str]:
        done = self._commands.run(["apt-cache", "madison", name])
        columns = [line.split("|") for line in done.stdout.splitlines()]
        return [column[1].strip() for column in columns if len(column) > 1 and column[0].strip() == name]

    def _renewed(self, done: Done) -> bool:
        return bool(_OLD_LISTS.search(done.stdout + done.stderr)) and self._update()

    def _update(self) -> bool:
        return self._commands.run(["apt-get", "-q", "update"], limit_s=LIMIT_S, network=True).ok

    def _apt(self, verb: str) -> list[str]:
        # Its own time limit covers a process that takes the lock after the check and before this command.
        kept = ["-o", "Dpkg::Options::=--force-confold", "-o", "Dpkg::Options::=--force-confdef"]
        return ["apt-get", "-q", "-y", "-o", f"DPkg::Lock::Timeout={self._wait_s}", *kept, verb]


class Rpm(Packages):
    """RHEL and Rocky Linux."""

    family = "redhat"
    _FIELDS = "%{NAME}\t%{VERSION}-%{RELEASE}\t%{ARCH}\n"

    def all(self) -> list[Package]:
        done = self._commands.run(["rpm", "-qa", "--qf", self._FIELDS])
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        return [Package(*cast("tuple[str, str, str]", line)) for line in lines if len(line) == 3]

    def in_file(self, path: str) -> Package | None:
        done = self._commands.run(["rpm", "-qp", "--nosignature", "--qf", self._FIELDS, path])
        line = done.stdout.strip().split("\t")
        return Package(*cast("tuple[str, str, str]", line)) if done.ok and len(line) == 3 else None

    def repair(self, path: str | None = None) -> None:
        # A transaction that was killed leaves two versions of a package, or the entry of one whose files are missing.
        self.change(
            ["dnf", "-y", "remove", "--duplicates"],
            "cannot finish an interrupted transaction",
            "Repair it manually, see `dnf check`",
            fine=lambda done: "No duplicated packages" in done.stdout + done.stderr,
        )

    def install(self, what: Sequence[str], how: str = "install", without: Sequence[str] = ()) -> None:
        if without:
            self.remove(without)
        self.change(
            ["dnf", "-y", how, *what],
            f"cannot install {', '.join(what)}",
            "Check the output of dnf and the repositories of the guest",
        )

    def remove(self, names: Sequence[str]) -> None:
        wanted = f"cannot remove {', '.join(names)}"
        self.change(["dnf", "-y", "remove", *names], wanted, "Check the output of dnf")

    def versions(self, name: str) -> list[str]:
        fields = "%{version}-%{release}"
        done = self._commands.run(
            ["dnf", "-q", "repoquery", "--available", "--qf", fields + "\n", name], limit_s=LIMIT_S, network=True
        )
        # Repeats and empty lines: the version of dnf decides whether a line has a line end. Its plugins, such as the
        # one for subscriptions, print sentences in between.
        reported = [line.strip() for line in done.stdout.splitlines()]
        return list(dict.fromkeys(reversed([line for line in reported if line and " " not in line])))

    def pinned(self, name: str, version: str) -> str:
        return f"{name}-{version}"


def of(
    distribution: Distribution,
    commands: Commands,
    files: Files,
    subject: str = "packages",
    wait_s: float = 300,
    clock: Clock | type[Clock] = Clock,
) -> Packages:
    """The package manager of a distribution."""
    kind = {"debian": Dpkg, "redhat": Rpm}[cast("str", distribution.family)]
    return kind(commands, files, subject, wait_s, clock)


def named(packages: Iterable[Package], patterns: Sequence[str]) -> list[Package]:
    """Return the packages whose name matches one of the patterns, sorted by name."""
    fitting = [one for one in packages if any(fnmatch.fnmatchcase(one.name, pattern) for pattern in patterns)]
    return sorted(fitting, key=lambda one: one.name)
