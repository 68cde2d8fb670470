# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The state of a guest as {key: value}: files, folders, packages, services, adapters, accounts and kernel modules.

Values are JSON. A key is the kind and the name, such as `file:/etc/chrony.conf`. A key that is missing does not exist.
Accounts contain password hashes: only the record of the guest has them, and no result shows a value.
"""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import table
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import Commands
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.packages import Packages

State = Dict[str, Any]

# A larger file, such as a driver package, is compared by size and time. Its content is not recorded.
LARGE = 8 * 1024 * 1024
# Folders of every system, and the one of the record.
ALWAYS_THERE = ("/", "/etc", "/usr", "/var", "/var/lib", "/var/lib/aiready.vsphere")

# A home with more files belongs to somebody who works there.
HOME_FILES = 5000


def scan(
    files: Files,
    commands: Commands,
    packages: Packages,
    homes: Iterable[str] = (),
    users: Sequence[str] = (),
    keep: Callable[[str, bytes], None] | None = None,
) -> State:
    """Read the whole state. homes: users whose home is read whole; users: those with rows that begin with ~.

    keep gets the hash and the content of each file.
    """
    found: State = {}
    accounts = _accounts(files)
    found.update(accounts)
    where = home_folders(accounts)
    paths, folders = _paths(files, [where[name] for name in ("root", *users) if name in where])
    for name in homes:
        inside, below = _tree(files, where.get(name))
        paths.update(inside)
        folders.update(below)
    for path in sorted(paths):
        value = entry(files, path, keep)
        if value is not None:
            found[f"file:{path}"] = value
    found.update({f"folder:{path}": True for path in folders})
    found.update(_packages(commands, packages))
    found.update(_services(commands))
    found.update(_adapters(files, commands))
    for line in (files.text("/proc/modules") or "").splitlines():
        name = line.split(" ", 1)[0]
        if name.startswith(table.MODULES):
            found[f"module:{name}"] = True
    return found


def _adapters(files: Files, commands: Commands) -> State:
    """All adapters but those that the guest is managed through: DHCP may change their addresses at any time."""
    try:
        links = adapter.read_all(commands)
    except OperatorError:
        # A guest without the program ip, which a stage installs.
        return {}
    ours = {*adapter.default_routes(files)}
    way = adapter.way_in(files)
    found: State = {}
    for link in links:
        if link.name not in ours and way not in [one.split("/")[0] for one in link.addresses]:
            found.update({f"mtu:{link.name}": link.mtu, f"addresses:{link.name}": sorted(link.addresses)})
    return found


def entry(files: Files, path: str, keep: Callable[[str, bytes], None] | None = None) -> dict[str, Any] | None:
    """Return what distinguishes a file from another one; None for a folder or a missing file."""
    target = files.at(path)
    try:
        reported = os.lstat(target)
        owner = {"uid": reported.st_uid, "gid": reported.st_gid}
        if stat.S_ISLNK(reported.st_mode):
            return dict(owner, link=os.readlink(target))
        if not stat.S_ISREG(reported.st_mode):
            return None
        owner["mode"] = stat.S_IMODE(reported.st_mode)
        if reported.st_size > LARGE:
            return dict(owner, size=reported.st_size, time=reported.st_mtime_ns)
        with open(target, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        return None
    mark = hashlib.sha256(raw).hexdigest()
    if keep is not None:
        keep(mark, raw)
    return dict(owner, sha256=mark)


def home_folders(accounts: Mapping[str, Any]) -> dict[str, str]:
    """{user: home} of the lines of /etc/passwd."""
    lines = [line for key, line in accounts.items() if key.startswith("account:/etc/passwd:")]
    fields = [line.split(":") for line in lines]
    return {one[0]: one[5].rstrip("/") for one in fields if len(one) > 5 and one[5].startswith("/")}


def _accounts(files: Files) -> State:
    found: State = {}
    for path in table.ACCOUNTS:
        for line in (files.text(path) or "").splitlines():
            name = line.split(":", 1)[0]
            # A second line of a name, such as a second range of /etc/subuid.
            key = f"account:{path}:{name}"
            found[key] = f"{found[key]}\n{line}" if key in found else line
    return found


def _paths(files: Files, homes: Sequence[str]) -> tuple[set[str], set[str]]:
    """The existing paths of all rows, and the folders above them and above missing ones."""
    paths: set[str] = set()
    folders: set[str] = set()
    for pattern in (one for row in table.ROWS for path in row.paths for one in _at_home(path, homes)):
        paths.update(_matching(files, pattern))
        parent = os.path.dirname(pattern)
        while parent not in ALWAYS_THERE:
            folders.update(path for path in _matching(files, parent) if os.path.isdir(files.at(path)))
            parent = os.path.dirname(parent)
    return paths, folders


def _at_home(path: str, homes: Sequence[str]) -> list[str]:
    return [home + path[1:] for home in homes] if path.startswith("~") else [path]


def _matching(files: Files, pattern: str) -> Iterator[str]:
    root = files.at("")
    for path in glob.glob(glob.escape(root) + pattern):
        yield path[len(root) :]


def below(files: Files, home: str | None) -> list[str]:
    """The files of a home, also of one with many."""
    root = files.at("")
    found = []
    for place, _below, names in os.walk(files.at(home)) if home is not None else ():
        found += [os.path.join(place, name)[len(root) :] for name in names]
    return found


def _tree(files: Files, home: str | None) -> tuple[list[str], list[str]]:
    """The files and folders of a home; none if there are too many."""
    if home is None:
        return [], []
    paths: list[str] = []
    folders: list[str] = []
    root = files.at("")
    for place, _below, names in os.walk(files.at(home)):
        folders.append(place[len(root) :])
        paths += [os.path.join(place, name)[len(root) :] for name in names]
        if len(paths) > HOME_FILES:
            return [], []
    return paths, folders


def _packages(commands: Commands, packages: Packages) -> State:
    versions: dict[str, list[str]] = {}
    for one in packages.all():
        versions.setdefault(one.name, []).append(one.version)
    manual: set[str] = set()
    if packages.family == "debian":
        # Another architecture is written as name:architecture.
        manual = {name.split(":")[0] for name in commands.run(["apt-mark", "showmanual"]).stdout.split()}
    return {
        f"package:{name}": {"version": ", ".join(sorted(found)), "manual": name in manual}
        for name, found in versions.items()
    }


def _services(commands: Commands) -> State:
    reported = commands.run(["systemctl", "is-active", *table.UNITS]).stdout.splitlines()
    states = [*reported, *[""] * len(table.UNITS)]
    # systemctl prints one line per unit; a unit that does not exist is inactive.
    return {
        f"service:{name}": states[at] in ("active", "activating", "reloading") for at, name in enumerate(table.UNITS)
    }
