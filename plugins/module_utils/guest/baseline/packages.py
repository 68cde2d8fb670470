# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Packages of a guest that a stage installed or replaced: what needs them, a simulation, and their way back."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from typing import TYPE_CHECKING, Iterable, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import packages as managers
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import plan, read, table
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import read as driver

if TYPE_CHECKING:
    from typing import Any, Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands, Done
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.packages import Packages

_DPKG = "${Package}\t${db:Status-Abbrev}\t${Depends}, ${Pre-Depends}\t${Provides}\n"
_CONFFILES = "${Package}\t${Conffiles}\n"
_NEEDED = re.compile(r"(?m)^\s*(\S.*?) is needed by \(installed\) (\S+)")
# Lines of a simulation of apt that remove a package.
_REMOVES = re.compile(r"(?m)^(?:Remv|Purg) (\S+)")
ROUNDS = 20
HEADERS = ("linux-headers-", "kernel-devel")
NO_REPOSITORY = "no repository has it"
TODO = "Check the output of the package manager on the guest, then run the task again"


def needed(
    commands: Commands, manager: Packages, remove: Sequence[str], install: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """({package that stays: reason}, {package that cannot be installed again: reason})."""
    kept = _in_use(commands, remove)
    cannot: dict[str, str] = {}
    if manager.family == "redhat":
        lost = [name for name, version in install.items() if version not in manager.versions(name)]
        cannot = dict.fromkeys(lost, NO_REPOSITORY)
        kept.update(_replacing(remove, cannot))
        kept.update(_needed_by_rpm(commands, [one for one in remove if one not in kept]))
        return kept, cannot
    needs, provides = plan.dependencies(commands.run(["dpkg-query", "-W", "-f", _DPKG]).stdout)

    def removable() -> list[str]:
        """The packages to remove, without those that packages which stay need."""
        ours = [one for one in remove if one not in kept]
        kept.update({name: f"{other} needs it" for name, other in plan.needed(ours, needs, provides).items()})
        return [one for one in remove if one not in kept]

    ours, rest = removable(), dict(install)
    if not ours and not rest:
        return kept, cannot
    done = _simulated(commands, ours, rest)
    for impossible in (_unavailable, _conflicting):
        if not rest or (done.ok and not _others(done, ours)):
            break
        # One package that is gone must not leave the guest without the others, such as its time service.
        cannot.update(impossible(commands, rest, done, ours))
        rest = {name: version for name, version in rest.items() if name not in cannot}
        kept.update(_replacing(ours, cannot))
        ours = removable()
        done = _simulated(commands, ours, rest)
    outside = _others(done, ours)
    if ours and (outside or not done.ok):
        reason = f"its removal would also remove {', '.join(outside)}" if outside else done.outcome
        kept.update(dict.fromkeys(ours, reason))
    return kept, cannot


def _unavailable(commands: Commands, install: Mapping[str, str], done: Done, ours: Sequence[str]) -> dict[str, str]:
    """The packages that cannot be installed on their own."""
    alone = {name: _simulated(commands, [], {name: version}) for name, version in install.items()}
    return {name: f"{NO_REPOSITORY}. {one.outcome}" for name, one in alone.items() if not one.ok}


def _conflicting(commands: Commands, install: Mapping[str, str], done: Done, ours: Sequence[str]) -> dict[str, str]:
    """All packages, with what they remove or how their simulation failed."""
    outside = _others(done, ours)
    return dict.fromkeys(install, f"it conflicts with {', '.join(outside)}" if outside else done.outcome)


def drivers(names: Iterable[str]) -> list[str]:
    """The packages of NVIDIA's driver among these names."""
    patterns = (*driver.GUEST, *driver.CONFLICTING)
    return sorted(name for name in names if any(fnmatch.fnmatchcase(name, one) for one in patterns))


def _replacing(remove: Sequence[str], cannot: Mapping[str, str]) -> dict[str, str]:
    """The packages of a driver that replaced one which cannot be installed again: a guest keeps a driver.

    A .run file also needs the packages that build its module for a new kernel.
    """
    lost = drivers(cannot)
    build = [name for name in remove if name in driver.TOOLS or name.startswith(HEADERS)]
    return dict.fromkeys([*drivers(remove), *build] if lost else (), plan.replaced(lost))


def _simulated(commands: Commands, remove: Sequence[str], install: Mapping[str, str]) -> Done:
    return commands.run(["apt-get", "-s", "-q", "-y", *_transaction(remove, install)], limit_s=managers.LIMIT_S)


def _others(done: Done, ours: Sequence[str]) -> list[str]:
    """The packages of others that a simulation removes."""
    return sorted({name.split(":")[0] for name in _REMOVES.findall(done.stdout)} - set(ours))


def _transaction(remove: Sequence[str], install: Mapping[str, str]) -> list[str]:
    pinned = [f"{name}={version}" for name, version in sorted(install.items())]
    return [
        "--no-install-recommends",
        "--allow-downgrades",
        "install",
        *pinned,
        *(f"{name}-" for name in sorted(remove)),
    ]


def _in_use(commands: Commands, remove: Sequence[str]) -> dict[str, str]:
    """The packages of engines that run containers."""
    kept = {}
    for unit, names, _argv in table.ENGINES:
        mine = [name for name in names if name in remove]
        running = containers(commands, unit) if mine else 0
        if running:
            kept.update(dict.fromkeys(mine, f"{unit} runs {running} containers. Stop them first"))
    return kept


def containers(commands: Commands, unit: str) -> int:
    """The number of running containers of an engine; 0 if it is none."""
    asked = [argv for name, _packages, argv in table.ENGINES if name == unit]
    return sum(len(commands.run(argv).stdout.split()) for argv in asked)


def _needed_by_rpm(commands: Commands, remove: Sequence[str]) -> dict[str, str]:
    """What `rpm -e --test` refuses, until it refuses nothing."""
    ours, kept = list(remove), {}
    for _round in range(ROUNDS):
        if not ours:
            break
        done = commands.run(["rpm", "-e", "--test", *ours])
        found = {}
        for capability, other in _NEEDED.findall(done.stdout + done.stderr):
            reported = commands.run(["rpm", "-q", "--qf", "%{NAME}\n", "--whatprovides", capability])
            found.update({name: f"{other} needs it" for name in reported.stdout.split() if name in ours})
        if done.ok:
            break
        # A refusal that names none of these packages concerns all of them.
        kept.update(found or dict.fromkeys(ours, done.outcome))
        ours = [one for one in ours if one not in kept]
    return kept


def change(
    commands: Commands,
    files: Files,
    manager: Packages,
    remove: Sequence[str],
    install: Mapping[str, str],
    ours: Mapping[str, Any],
) -> None:
    """Remove and reinstall in one transaction. ours: {path: value that we left} of files that the purge may remove."""
    if manager.broken_off():
        manager.repair()
    if manager.family == "redhat":
        if install:
            manager.install([manager.pinned(name, version) for name, version in sorted(install.items())])
        if remove:
            argv = ["dnf", "-y", "remove", "--noautoremove", *sorted(remove)]
            manager.change(argv, f"cannot remove {', '.join(sorted(remove))}", TODO)
        return
    there = {one.name for one in manager.all()}
    gone = [name for name in remove if name in there]
    if gone or install:
        argv = ["apt-get", "-q", "-y", *_transaction(gone, install)]
        manager.change(argv, "cannot restore the packages of the guest", TODO)
    for path in table.PURGE_DATA:
        files.remove(path)
    pure = _untouched(commands, files, remove, ours)
    if pure:
        # Their configuration files. A package with a file that somebody changed keeps its own.
        manager.change(["dpkg", "--purge", *pure], "cannot remove the configuration of removed packages", TODO)


def _untouched(commands: Commands, files: Files, remove: Sequence[str], ours: Mapping[str, Any]) -> list[str]:
    """The removed packages whose configuration files nobody else changed."""
    done = commands.run(["dpkg-query", "-W", "-f", _CONFFILES, *remove]) if remove else None
    found, name, names, changed = "", "", [], set()
    for line in done.stdout.splitlines() if done is not None else []:
        if "\t" in line:
            name, found = line.split("\t", 1)
            names.append(name)
        else:
            found = line
        words = found.split()
        if len(words) < 2 or not words[0].startswith("/"):
            continue
        now = read.entry(files, words[0])
        if now is not None and now != ours.get(words[0]) and _digest(files, words[0]) != words[1]:
            changed.add(name)
    return sorted({*names} - changed)


def _digest(files: Files, path: str) -> str:
    try:
        with open(files.at(path), "rb") as file:
            return hashlib.md5(file.read()).hexdigest()  # the digest that dpkg records
    except (OSError, ValueError):
        # A guest in FIPS mode has no such digest, so its files count as changed.
        return ""


def mark(commands: Commands, manager: Packages, names: Mapping[str, bool]) -> None:
    """Mark packages of apt as installed manually or automatically, as before."""
    if manager.family != "debian":
        return
    for manual, verb in ((True, "manual"), (False, "auto")):
        some = sorted(name for name, one in names.items() if one is manual)
        if some:
            done = commands.run(["apt-mark", verb, *some])
            if not done.ok:
                raise OperatorError("packages", f"cannot mark them as {verb}", done.outcome, TODO, "package_trouble")
