# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The files of a run, as the containers of one guest see them under /aiready. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Iterable, Mapping, Protocol, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.training.launch import (
    DISCOVER,
    HOSTFILE,
    INSIDE,
    PROGRAMS,
    hostfile,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import SECRET
from ansible_collections.aiready.vsphere.plugins.module_utils.training.scripts import START, WORKER

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.look import ImageReport
    from ansible_collections.aiready.vsphere.plugins.module_utils.training.transport import Place, Setting

    class Keys(Protocol):
        """Keys of a run: private ones, and the identities that their other side expects."""

        @property
        def private(self) -> str: ...
        @property
        def public(self) -> str: ...
        @property
        def host_private(self) -> Mapping[str, str]: ...
        @property
        def host_public(self) -> Mapping[str, str]: ...


USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Variables of an image that the launcher must not inherit, besides those that look like a secret.
NOT_FROM_IMAGE = ("HOSTNAME", "TERM", "NVIDIA_REQUIRE_")
# It imports every framework.
CHECK_S = 90
# Files that are started by the name of their interpreter are plain. Programs are those that the worker copies to
# PROGRAMS.
PLAIN, SECRET_FILE, PROGRAM = 0o644, 0o600, 0o755


def clean_environment(image: ImageReport | None, settings: Iterable[Setting]) -> dict[str, str]:
    """Return the environment of a rank: the variables of the image, and those that this run derives."""
    found = {
        name: value
        for name, value in (image["environment"] if image else {}).items()
        if not SECRET.search(name) and not name.startswith(NOT_FROM_IMAGE)
    }
    found["PATH"] = f"{PROGRAMS}/bin:{found.get('PATH', USUAL_PATH)}"
    found["HOME"] = "/root"
    found.update((setting.name, setting.value) for setting in settings)
    return found


def not_taken(image: ImageReport | None) -> list[str]:
    """Names of the image's variables that no rank gets."""
    return sorted(name for name in (image["environment"] if image else {}) if SECRET.search(name))


def files(
    place: Place,
    places: Sequence[Place],
    environment: Mapping[str, str],
    argv: Sequence[str] | None,
    keys: Keys | None,
    port: int,
    wall_s: int,
    trainings: Mapping[str, str],
) -> dict[str, tuple[int, str]]:
    """Return {path: (mode, text)}. argv is the launch command of this guest, or None; trainings is {name: text}."""
    words = [f"{name}={value}" for name, value in sorted(environment.items())]
    clean = shlex.join(["env", "-i", *words])
    made = {
        "worker": (PLAIN, WORKER),
        "beat": (PLAIN, "0\n"),
        **{f"trainings/{name}": (PLAIN, text) for name, text in trainings.items()},
    }
    if argv is not None:
        made["start"] = (PLAIN, START)
        # The time limit holds even if the controller dies.
        limited = shlex.join(["timeout", "-k", "10", str(wall_s), *argv])
        made["run"] = (PLAIN, f"#!/bin/sh\nexec {clean} {limited}\n")
        made["check"] = (PLAIN, f"#!/bin/sh\nexec {clean} timeout -k 5 {CHECK_S} horovodrun --check-build\n")
        if HOSTFILE in argv:
            made["hostfile"] = (PLAIN, hostfile(places))
        if DISCOVER in argv:
            made["programs/discover"] = (PROGRAM, _discover(places))
    if keys is not None:
        made.update(_ssh(place, places, clean, keys, port))
    return made


def _ssh(place: Place, places: Sequence[Place], clean: str, keys: Keys, port: int) -> dict[str, tuple[int, str]]:
    known = "".join(f"{other.node} {keys.host_public[other.node]}\n" for other in places)
    return {
        # A command that arrives runs in the same clean environment as one that is started here.
        "session": (
            PLAIN,
            f'#!/bin/sh\n[ -n "$SSH_ORIGINAL_COMMAND" ] || exit 1\nexec {clean} /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n',
        ),
        "programs/bin/ssh": (
            PROGRAM,
            f'#!/bin/sh\nexec /usr/bin/ssh -F {INSIDE}/ssh_config -o StrictHostKeyChecking=yes "$@"\n',
        ),
        "ssh_config": (PLAIN, _client(places, port)),
        "sshd_config": (PLAIN, _server(place, port)),
        "known_hosts": (PLAIN, known),
        "authorized_keys": (PLAIN, f"{keys.public}\n"),
        "key": (SECRET_FILE, keys.private),
        "host_key": (SECRET_FILE, keys.host_private[place.node]),
    }


def _client(places: Sequence[Place], port: int) -> str:
    lines = []
    for other in places:
        lines += [f"Host {other.node} {other.address}", f"  HostName {other.address}", f"  HostKeyAlias {other.node}"]
    lines += [
        "Host *",
        f"  Port {port}",
        "  User root",
        f"  IdentityFile {INSIDE}/key",
        "  IdentitiesOnly yes",
        f"  UserKnownHostsFile {INSIDE}/known_hosts",
        "  GlobalKnownHostsFile /dev/null",
        "  BatchMode yes",
        "  ConnectTimeout 10",
        "  ServerAliveInterval 5",
        "  ServerAliveCountMax 3",
        "  LogLevel ERROR",
    ]
    return "\n".join(lines) + "\n"


def _server(place: Place, port: int) -> str:
    return "\n".join(
        [
            f"Port {port}",
            f"ListenAddress {place.address}",
            f"HostKey {INSIDE}/host_key",
            f"AuthorizedKeysFile {INSIDE}/authorized_keys",
            f"ForceCommand /bin/sh {INSIDE}/session",
            "PermitRootLogin yes",
            "PubkeyAuthentication yes",
            "PasswordAuthentication no",
            # The older of its two names, which all versions know.
            "ChallengeResponseAuthentication no",
            "UsePAM no",
            # The folder belongs to root, and only root reads it; a mount confuses the check.
            "StrictModes no",
            "AllowTcpForwarding no",
            "X11Forwarding no",
            "MaxStartups 100",
            "ClientAliveInterval 5",
            "ClientAliveCountMax 3",
            "PidFile none",
            "",
        ]
    )


def _discover(places: Sequence[Place]) -> str:
    """Print the guests whose container answers, for elastic runs."""
    asked = "".join(
        f"{PROGRAMS}/bin/ssh -o ConnectTimeout=3 {other.node} true 2>/dev/null && echo {other.node}:{other.slots}\n"
        for other in places[1:]
    )
    return f"#!/bin/sh\necho {places[0].node}:{places[0].slots}\n{asked}exit 0\n"
