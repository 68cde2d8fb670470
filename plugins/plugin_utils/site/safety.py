# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parts of a site that other checks must not show or process: credentials, control characters, endless parts.

Pure, except that the line of a number is read from its file.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import plain_text
from ansible_collections.aiready.vsphere.plugins.module_utils.training.params import SECRET, SECRET_VALUE
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Replaces such a part for the other checks. Their problems about it are dropped.
HIDDEN = "********"
DEEPEST, MOST_PARTS = 40, 100_000
# Longest path of Linux in bytes; names and addresses are shorter.
LONGEST, LONGEST_KEY = 4096, 256
# Numbers that set the length of lists, with their largest sensible values. A VM supports 10 adapters and 16 vGPUs.
LARGEST = {
    "site.vms[].count": 1000,
    "site.vms[].digits": 40,
    "site.vms[].first": 10**9,
    "site.gpu.per_vm": 64,
    "site.network.adapters": 10,
    "site.training.slots": 1024,
}
LARGEST_NUMBER = 2**53
# Text may have several lines here: scripts, metadata, notes.
_LINES = re.compile(
    r"site\.(machine\.metadata|training\.(command|arguments|environment)|validation\.(arguments|nccl_command|osu|notes|skip))\b"
)
# Keys outside the specification, whose names may indicate a secret.
_FREE = {
    "site.machine.metadata": "Set it in site_userdata, in a vault.",
    "site.machine.advanced": "Remove it.",
    "site.bios.attributes": "Set it in the BIOS itself; this collection sets no passwords there.",
    "site.validation": "Remove it.",
}
# A user without a password is no credential for ssh.
_USER_IN_URL = re.compile(
    r"(?<!ssh)(?<!sftp)://[^/?#\s]*@|://[^/?#\s]*:[^/?#\s]*@|://[^\s/@:]*:(?!\d{1,5}(/|$))[^\s@]*@"
)
_USER_BEFORE_HOST = re.compile(r"[^\s/@:]+:(?!//)\S+@\S+")
_DIGEST = re.compile(r"@sha(256|512):[0-9a-f]+")
# A vendor device group has a number where a password would be, such as Nvidia:2@grid_a100-40c%NVLink.
_DEVICE_GROUP = re.compile(r"[A-Za-z]+:\d{1,2}@[^\s@%]+%[^@]+")
_IN_QUERY = re.compile(
    r"://\S*[?&;]([\w.-]*(password|passwd|pwd|token|secret|signature|credential|api_?key)|sig|auth)=[^&\s]", re.I
)
_INDEX = re.compile(r"\[\d+\]")
# Octal, hexadecimal, binary and base-60 numbers of YAML.
_OTHER_NUMBER = re.compile(r"[-+]?(0[0-9a-fA-FxX_]+|[0-9][0-9_]*(:[0-5]?[0-9])+)")
_TODO = {
    "site.runtime.proxy.http": "Remove them; set site.runtime.proxy.username and site_proxy_password.",
    "site.runtime.proxy.https": "Remove them; set site.runtime.proxy.username and site_proxy_password.",
    "site.runtime.registries[].address": "Remove them; set username beside it and site_registry_passwords.",
    "site.training.image": "Remove them; set site.runtime.registries and site_registry_passwords.",
    "site.vcenter.hostname": "Remove them; set site.vcenter.username and site_vcenter_password.",
    "site.driver.url": "Remove them and let the server serve the hosts without a login, or use site.driver.file.",
    "site.guests.driver.package": "Remove them, or download the package and name the file on the controller.",
}


def guarded(check: Callable[[Any], Iterable[str]]) -> Callable[[Any], list[str]]:
    """A check of a site that sees only the parts that may be shown; each hidden part is a problem of its own."""

    @functools.wraps(check)
    def checked(site: Any) -> list[str]:
        walk = _Walk()
        safe = walk.part("site", site, ())
        if walk.endless:
            return walk.problems
        return walk.problems + [one for one in check(safe) if HIDDEN not in one]

    return checked


def is_endless(name: str, value: Any) -> bool:
    """Whether a value contains itself or too much, through anchors of YAML."""
    walk = _Walk()
    walk.part(name, value, ())
    return walk.endless


class _Walk:
    """One walk over all parts of a site."""

    def __init__(self) -> None:
        self.problems: list[str]
        self.problems, self.endless, self._parts = [], False, 0

    def part(self, key: str, value: Any, above: tuple[int, ...]) -> Any:
        """The same part without everything that other checks must not see."""
        self._parts += 1
        if self.endless:
            return None
        if isinstance(value, (Mapping, list, tuple)):
            return self._container(key, value, above)
        if isinstance(value, str):
            return self._text(key, value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._number(key, value, value)
        return value

    def _container(self, key: str, value: Any, above: tuple[int, ...]) -> Any:
        if id(value) in above:
            return self._stop(key, "it contains itself through a YAML anchor (& and *). Write the values out.")
        if len(above) >= DEEPEST:
            return self._stop(key, f"it has more than {DEEPEST} nested levels. Remove some.")
        if self._parts + len(value) > MOST_PARTS:
            return self._stop(
                key,
                f"the site has more than {MOST_PARTS} entries. Use entries with prefix and count, and fewer anchors.",
            )
        above = (*above, id(value))
        if not isinstance(value, Mapping):
            parts = [self._as_written(f"{key}[{index}]", None, one, above) for index, one in enumerate(value)]
            return parts if isinstance(value, list) else tuple(parts)
        return {name: self._entry(key, name, one, above) for name, one in value.items() if self._is_key(key, name)}

    def _stop(self, key: str, why: str) -> None:
        self.endless = True
        # A key may be as long as the site is deep.
        shown = key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}..."
        self.problems = [*self.problems, f"{shown}: {why}"]

    def _is_key(self, key: str, name: object) -> bool:
        if not isinstance(name, str):
            hint = "YAML reads yes, no, on and off as true and false. " if isinstance(name, bool) else ""
            self.problems.append(f"{key}: the key {name} is not a text. {hint}Put it into quotes.")
            return False
        if len(name) > LONGEST_KEY or plain_text.acts(name):
            shown = plain_text.shown(name[:60])
            self.problems.append(f"{key}: the key {shown!r} is too long or has control characters. Correct it.")
            return False
        return True

    def _entry(self, key: str, name: str, value: Any, above: tuple[int, ...]) -> Any:
        place = f"{key}.{name}"
        free = next(
            (todo for root, todo in _FREE.items() if key == root or key.startswith((f"{root}.", f"{root}["))), ""
        )
        if free and SECRET.search(name) and value not in (None, "", [], {}) and not isinstance(value, bool):
            self.problems.append(f"{place}: it looks like a secret, and a site is shown and stored. {free}")
            return HIDDEN
        return self._as_written(place, name, value, above)

    def _as_written(self, key: str, name: str | None, value: Any, above: tuple[int, ...]) -> Any:
        """YAML reads 010 as 8 and 1:30 as 90, in numbers and in names."""
        if isinstance(value, int) and not isinstance(value, bool):
            text = places.written(name, value)
            if text and _OTHER_NUMBER.fullmatch(text):
                self.problems.append(
                    f"{key}: YAML reads {text} as the number {value}. Write a number in digits, without leading "
                    "zeros or colons, and put a text into quotes."
                )
                return HIDDEN
        return self.part(key, value, above)

    def _text(self, key: str, text: str) -> float | str:
        where = _INDEX.sub("[]", key)
        free = _LINES.match(key)
        # Other checks report secrets of the training and unknown keys, without their values.
        checked = where.startswith("site.training.") or SECRET.search(where.rpartition(".")[2])
        is_secret = SECRET_VALUE.search(text) and not checked
        if (
            is_secret
            or _has_credentials(text)
            or (not free and _USER_BEFORE_HOST.fullmatch(text) and not _names(where, text))
        ):
            todo = _TODO.get(where, "Remove them, and put them into a vault.")
            self.problems.append(f"{key}: it contains credentials, and a site is shown and stored. {todo}")
            return HIDDEN
        if plain_text.acts(text, lines=bool(free)):
            self.problems.append(f"{key}: it contains a line break or another control character. Write it as one line.")
            return HIDDEN
        if len(text) > LONGEST and not free:
            self.problems.append(f"{key}: it has {len(text)} characters, and {LONGEST} is the limit. Shorten it.")
            return HIDDEN
        if not free and text != text.strip():
            why = "it begins or ends with a space, which is part of the name. Remove the space."
            self.problems.append(f"{key}: {why}")
            text = text.strip()
        return self._number(key, _counted(text), text) if where in LARGEST else text

    def _number(self, key: str, number: float, value: float | str) -> float | str:
        most = LARGEST.get(_INDEX.sub("[]", key), LARGEST_NUMBER)
        if isinstance(number, float) and not math.isfinite(number):
            self.problems.append(f"{key}: {number} is not a whole number. Write a whole number.")
        elif abs(number) > most:
            self.problems.append(f"{key}: the number is too large, and {most} is the limit. Lower it.")
        else:
            return value
        return HIDDEN


def _counted(text: str) -> float:
    """The number that Ansible may read from a text, such as 1e9; 0 if the text is not a number."""
    try:
        return float(text)
    except ValueError:
        return 0


def _names(where: str, text: str) -> bool:
    """Whether a text with : and @ is a name: an image with its digest, or a device group."""
    return bool(_DIGEST.search(text) or (where == "site.directpath.group" and _DEVICE_GROUP.fullmatch(text)))


def _has_credentials(text: str) -> bool:
    return bool(_USER_IN_URL.search(text) or _IN_QUERY.search(text))
