# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parts of a site that no other check may show or work with: credentials, control characters, endless parts.

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

# Stands in the place of such a part for the other checks, whose problems about it are left out.
HIDDEN = "********"
DEEPEST, MOST_PARTS = 40, 100_000
# Linux takes paths of so many bytes; no name and no address is longer.
LONGEST, LONGEST_KEY = 4096, 256
# Numbers by which lists grow, with their largest sensible values. A VM takes 10 network adapters and 16 vGPUs.
LARGEST = {
    "site.vms[].count": 1000,
    "site.vms[].digits": 40,
    "site.vms[].first": 10**9,
    "site.gpu.per_vm": 64,
    "site.network.adapters": 10,
    "site.training.slots": 1024,
}
LARGEST_NUMBER = 2**53
# Text may have several lines here: scripts, metadata, remarks.
_LINES = re.compile(
    r"site\.(machine\.metadata|training\.(command|arguments|environment)|validation\.(arguments|nccl_command|osu|notes|skip))\b"
)
# Keys that the specification does not list, whose names may say that they hold a secret.
_FREE = {
    "site.machine.metadata": "Put it into site_userdata, in a vault.",
    "site.machine.advanced": "Remove it.",
    "site.bios.attributes": "Set it in the BIOS itself; this collection sets no passwords there.",
    "site.validation": "Remove it.",
}
# A user alone is no credential for ssh.
_USER_IN_URL = re.compile(
    r"(?<!ssh)(?<!sftp)://[^/?#\s]*@|://[^/?#\s]*:[^/?#\s]*@|://[^\s/@:]*:(?!\d{1,5}(/|$))[^\s@]*@"
)
_USER_BEFORE_HOST = re.compile(r"[^\s/@:]+:(?!//)\S+@\S+")
_DIGEST = re.compile(r"@sha(256|512):[0-9a-f]+")
_IN_QUERY = re.compile(
    r"://\S*[?&;]([\w.-]*(password|passwd|pwd|token|secret|signature|credential|api_?key)|sig|auth)=[^&\s]", re.I
)
_INDEX = re.compile(r"\[\d+\]")
# Octal, hexadecimal and binary numbers of YAML, and those to the base 60.
_OTHER_NUMBER = re.compile(r"[-+]?(0[0-9a-fA-FxX_]+|[0-9][0-9_]*(:[0-5]?[0-9])+)")
_TODO = {
    "site.runtime.proxy.http": "Take them out; they are site.runtime.proxy.username and site_proxy_password.",
    "site.runtime.proxy.https": "Take them out; they are site.runtime.proxy.username and site_proxy_password.",
    "site.runtime.registries[].address": "Take them out; they are username beside it and site_registry_passwords.",
    "site.training.image": "Take them out; they are site.runtime.registries and site_registry_passwords.",
    "site.vcenter.hostname": "Take them out; they are site.vcenter.username and site_vcenter_password.",
    "site.driver.url": "Take them out and let the server serve the hosts without a login, or use site.driver.file.",
    "site.guests.driver.package": "Take them out, or download the package and name the file on the controller.",
}


def guarded(check: Callable[[Any], Iterable[str]]) -> Callable[[Any], list[str]]:
    """A check of a site that sees only what it may show; what it does not see is a problem of its own."""

    @functools.wraps(check)
    def checked(site: Any) -> list[str]:
        walk = _Walk()
        safe = walk.part("site", site, ())
        if walk.endless:
            return walk.problems
        return walk.problems + [one for one in check(safe) if HIDDEN not in one]

    return checked


class _Walk:
    """One walk over all parts of a site."""

    def __init__(self) -> None:
        self.problems: list[str]
        self.problems, self.endless, self._parts = [], False, 0

    def part(self, key: str, value: Any, above: tuple[int, ...]) -> Any:
        """The same part without what no other check may see."""
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
            return self._stop(key, "It contains itself by an anchor (& and *). Write its values out.")
        if len(above) >= DEEPEST:
            return self._stop(key, f"More than {DEEPEST} levels are below each other. Remove some.")
        if self._parts + len(value) > MOST_PARTS:
            return self._stop(key, f"The site has more than {MOST_PARTS} parts. Use rows of VMs, and fewer anchors.")
        above = (*above, id(value))
        if not isinstance(value, Mapping):
            parts = [self._as_written(f"{key}[{index}]", None, one, above) for index, one in enumerate(value)]
            return parts if isinstance(value, list) else tuple(parts)
        return {name: self._entry(key, name, one, above) for name, one in value.items() if self._is_key(key, name)}

    def _stop(self, key: str, why: str) -> None:
        self.endless = True
        # A key is as deep as the site.
        shown = key if len(key) <= LONGEST_KEY else f"{key[:LONGEST_KEY]}..."
        self.problems = [*self.problems, f"{shown}: {why}"]

    def _is_key(self, key: str, name: object) -> bool:
        if not isinstance(name, str):
            hint = "YAML makes true and false of yes, no, on and off. " if isinstance(name, bool) else ""
            self.problems.append(f"{key}: The key {name} is not a text. {hint}Put it into quotes.")
            return False
        if len(name) > LONGEST_KEY or plain_text.acts(name):
            shown = plain_text.shown(name[:60])
            self.problems.append(f"{key}: The key {shown!r} is too long or has control characters. Correct it.")
            return False
        return True

    def _entry(self, key: str, name: str, value: Any, above: tuple[int, ...]) -> Any:
        place = f"{key}.{name}"
        free = next(
            (todo for root, todo in _FREE.items() if key == root or key.startswith((f"{root}.", f"{root}["))), ""
        )
        if free and SECRET.search(name) and value not in (None, "", [], {}) and not isinstance(value, bool):
            self.problems.append(f"{place}: It looks like a secret, and a site is shown and stored. {free}")
            return HIDDEN
        return self._as_written(place, name, value, above)

    def _as_written(self, key: str, name: str | None, value: Any, above: tuple[int, ...]) -> Any:
        """YAML makes 8 of 010 and 90 of 1:30, in numbers and in names."""
        if isinstance(value, int) and not isinstance(value, bool):
            text = places.written(name, value)
            if text and _OTHER_NUMBER.fullmatch(text):
                self.problems.append(
                    f"{key}: YAML reads {text} as the number {value}. Write a number without zeros before it, without "
                    "colons and in digits alone, and put a text into quotes."
                )
                return HIDDEN
        return self.part(key, value, above)

    def _text(self, key: str, text: str) -> float | str:
        where = _INDEX.sub("[]", key)
        free = _LINES.match(key)
        # Checks of their own report secrets of the training, and keys that a site does not have, without the value.
        checked = where.startswith("site.training.") or SECRET.search(where.rpartition(".")[2])
        is_secret = SECRET_VALUE.search(text) and not checked
        if (
            is_secret
            or _has_credentials(text)
            or (not free and _USER_BEFORE_HOST.fullmatch(text) and not _DIGEST.search(text))
        ):
            todo = _TODO.get(where, "Take them out, and put them into a vault.")
            self.problems.append(f"{key}: it holds credentials, and would be shown. {todo}")
            return HIDDEN
        if plain_text.acts(text, lines=bool(free)):
            self.problems.append(f"{key}: It has a line break or another control character. Write it as one line.")
            return HIDDEN
        if len(text) > LONGEST and not free:
            self.problems.append(f"{key}: It has {len(text)} characters, and {LONGEST} are the most. Shorten it.")
            return HIDDEN
        if not free and text != text.strip():
            why = "It begins or ends with a space, which makes it another name. Remove the space."
            self.problems.append(f"{key}: {why}")
            text = text.strip()
        return self._number(key, _counted(text), text) if where in LARGEST else text

    def _number(self, key: str, number: float, value: float | str) -> float | str:
        most = LARGEST.get(_INDEX.sub("[]", key), LARGEST_NUMBER)
        if isinstance(number, float) and not math.isfinite(number):
            self.problems.append(f"{key}: {number} is no number to count with. Write a whole number.")
        elif abs(number) > most:
            self.problems.append(f"{key}: The number is too large, {most} is the most. Lower it.")
        else:
            return value
        return HIDDEN


def _counted(text: str) -> float:
    """The number that Ansible may make of a text, such as 1e9; 0 where it is none."""
    try:
        return float(text)
    except ValueError:
        return 0


def _has_credentials(text: str) -> bool:
    return bool(_USER_IN_URL.search(text) or _IN_QUERY.search(text))
