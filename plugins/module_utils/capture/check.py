# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The check after the replacements: what has the form of an identity, and which collected original is still there."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import _FIXED, UUID, _address, swapped
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.redfish_words import WORDS as REDFISH
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_words import WORDS as SWITCHES

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

_FORMS = {
    "IPv4 address": re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]|-\w)"),
    "MAC address": re.compile(r"(?<![\w:-])[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}(?![\w:-])"),
    "UUID": re.compile(rf"(?<![\w-]){UUID.pattern}(?![\w-])"),
    "mail address": re.compile(r"[\w.+-]+@(?!odata\.|Redfish\.|Message\.)[\w-]+\.[A-Za-z][\w.-]+"),
    "licence key": re.compile(r"(?<![\w-])[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}(?![\w-])"),
    "PEM": re.compile(r"-----BEGIN [A-Z ]+-----"),
    "password hash": re.compile(r"\$(?:1|5|6|8|9|2[aby]|y)\$[./A-Za-z0-9$]{8,}|password 7 [0-9A-Fa-f]{6,}"),
}
# With names kept, addresses are expected; these are never.
_SECRETS = ("licence key", "PEM", "password hash")
# Numbers with four parts on such a line are versions.
_VERSIONS = re.compile(r"version|release|firmware|build|driver|bios", re.IGNORECASE)
_LEAST = 4
_MOST_FILES = 5
# Kinds of pseudonyms whose originals are names. Those of other kinds can be words of everyday language.
_TEXTS = ("text", "word", "name", "path", "key")


def check(files: Mapping[str, str | bytes], table: Table, keep_names: bool) -> dict[str, Any]:
    """What is left, by form and as a collected original: the number of places, and the first files."""
    issued = set(table.addresses.values())
    names = set() if keep_names else set(_names(table))
    found: dict[str, dict[str, Any]] = {}
    for file, content in files.items():
        text = content if isinstance(content, str) else content.decode("utf-8", "replace")
        for kind in _left(text, issued, names, keep_names):
            one = found.setdefault(kind, {"places": 0, "files": []})
            one["places"] += 1
            if file not in one["files"] and len(one["files"]) < _MOST_FILES:
                one["files"].append(file)
    return {"searched": {"files": len(files), "originals": len(names)}, "left": found}


def _names(table: Table) -> Iterator[str]:
    """Originals that identify the site: names of objects, addresses, MAC addresses and UUIDs."""
    for kind, names in table.names.items():
        if kind not in _TEXTS:
            yield from filter(_identifies, names)
    yield from filter(_identifies, table.known)
    issued = set(table.addresses.values())
    for original in table.addresses:
        # An address can be the pseudonym of another one of the same network.
        if original not in issued and _identifies(original):
            yield original
            if UUID.fullmatch(original):
                yield swapped(original)


def _identifies(text: str) -> bool:
    common = text in fields.WORDS or text in fields.GIVEN or text in REDFISH or text in SWITCHES
    option = "." not in text and fields.OPTION.fullmatch(text)
    plain = common or option or fields.HARMLESS.fullmatch(text) or not re.search(r"[a-z0-9]", text)
    return len(text) >= _LEAST and not plain


def _left(text: str, issued: set[str], names: set[str], keep_names: bool) -> Iterator[str]:
    for kind, form in _FORMS.items():
        if keep_names and kind not in _SECRETS:
            continue
        for one in form.finditer(text):
            if one[0].lower() not in issued and not _is_harmless(kind, one[0], text, one.start()):
                yield kind
    if names:
        for word in _words(text):
            if word in names:
                yield "collected original"


def _is_harmless(kind: str, value: str, text: str, at: int) -> bool:
    if kind == "UUID":
        return not value.strip("0-")
    if kind != "IPv4 address":
        return False
    address = _address(value)
    if address is None or any(address in network for network in _FIXED if network.version == 4):
        return True
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return bool(_VERSIONS.search(line)) or _is_mask(int(address))


def _is_mask(number: int) -> bool:
    inverted = number ^ 0xFFFFFFFF
    return not inverted & (inverted + 1) or not number & (number + 1)


def _words(text: str) -> Iterator[str]:
    """The values of elements and strings, their words, and the parts of these, in lower case."""
    plain = html.unescape(text).casefold()
    for value in {one.strip() for one in re.findall(r"[^<>\"\n]+", plain)}:
        yield value
        parts = {*re.split(r"[\s,;=()\[\]{}|]+", value), *re.split(r"[^\w.-]+", value), *re.split(r"[^\w-]+", value)}
        yield from parts - {value, ""}
