# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Replacing: the text of one field, by its form and by the name of the field. Unknown text never stays."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import DVS_UUID, MAC, UUID

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

_PLAIN = re.compile(r"[\w .,:;()/+@®™<>#&!\[\]-]{0,160}")
_STORE = re.compile(r"\[([^\]]*)\] ?(.*)", re.DOTALL)
# The key of a virtual switch or port group of a host ends with its name.
_KEY = re.compile(r"(key-vim\.host\.(?:HostProxySwitch|PortGroup|VirtualSwitch)-)(.+)", re.DOTALL)
_GPU = re.compile(rf"((?:GPU|MIG|VGPU)-)({UUID.pattern})")
_SUFFIX = re.compile(r"\.[a-z]{2,5}$")
_LEAST = 3
ADDRESS, DROPPED, FILE, KEPT, NAME, TEXT = "addresses", "dropped", "paths", "kept", "names", "texts"


class Scrubber:
    """Replaces texts by one table, and counts by kind and by field what it replaced, dropped and kept."""

    def __init__(self, table: Table, keep_names: bool = False) -> None:
        self.table = table
        self.keep_names = keep_names
        self.counts: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()

    def text(self, field: str, value: str, owner: str = "", stays: bool = False) -> str:
        """The text that the capture has for a text of this field of this type. stays: a product or a part."""
        made, kind = self._text(field, value, owner, stays)
        if value:
            self.counts[kind] += 1
        if kind == DROPPED and value:
            self.dropped[field] += 1
        return made

    def is_named(self, value: str) -> bool:
        """Whether a text contains a name of the site or an address."""
        return self._names(value)

    def _text(self, field: str, value: str, owner: str, stays: bool) -> tuple[str, str]:
        if field in fields.FAULT_FIELDS and value in fields.FAULT_TEXTS:
            return value, KEPT
        if {field, f"{owner}.{field}"} & fields.DROPPED:
            return "", DROPPED
        if {field, f"{owner}.{field}"} & fields.ENUMS and value in fields.WORDS:
            return value, KEPT
        if not value or self.keep_names or value in fields.GIVEN:
            return value, KEPT
        if field in fields.OPTIONS and self._is_option(field, value):
            return value, KEPT
        known = self.table.known.get(value.lower())
        # A network with the name 192 does not change the numbers of options.
        if known is not None and (field not in fields.OPTIONS or not value.isdecimal()):
            return known, NAME
        number = field not in fields.NUMBERED and fields.LONG.fullmatch(value)
        if field not in fields.ALWAYS and not number and (value in fields.WORDS or fields.HARMLESS.fullmatch(value)):
            return value, KEPT
        if field in fields.VERSIONS and re.fullmatch(r"\d[\w.-]{0,40}", value):
            return value, KEPT
        if MAC.fullmatch(value):
            return self.table.mac(value), ADDRESS
        if DVS_UUID.fullmatch(value):
            return self.table.dvs_uuid(value), ADDRESS
        key = _KEY.fullmatch(value)
        if key:
            return key[1] + self.table.learn("network", key[2]), NAME
        if UUID.fullmatch(value):
            return self.table.uuid(value), ADDRESS
        gpu = _GPU.fullmatch(value)
        if gpu:
            return gpu[1] + self.table.uuid(gpu[2]), ADDRESS
        address = self.table.address(value)
        if address is not None:
            return address, ADDRESS
        known = self.table.known.get(value.lower().partition(".")[0])
        if known is not None:
            return known, NAME
        path = _STORE.fullmatch(value)
        if path:
            return self._path(path[1], path[2]), FILE
        kept = stays or bool({field, f"{owner}.{field}"} & fields.KEPT)
        if kept and f"{owner}.{field}" not in fields.OWN and _PLAIN.fullmatch(value) and not self._names(value):
            return value, KEPT
        if owner == "OptionDef" and fields.OPTION.fullmatch(value) and not self._names(value):
            return value, KEPT
        return self.table.name("name" if field == "name" else "text", value), TEXT

    def _is_option(self, field: str, value: str) -> bool:
        """Whether a key or a value is one of vSphere's own, even if a network is called vmotion or none."""
        if field == "value":
            return value in fields.ANSWERS
        _first, _dot, rest = value.partition(".")
        return bool(fields.OPTION.fullmatch(value)) and not self._names(rest)

    def _path(self, store: str, path: str) -> str:
        known = self.table.known.get(store.lower()) or self.table.name("datastore", store)
        ending = _SUFFIX.search(path)
        return f"[{known}] {self.table.name('path', path)}{ending[0] if ending else ''}" if path else f"[{known}]"

    def _names(self, value: str) -> bool:
        """Whether a text contains a name of the site or an address as a word."""
        words = [word for word in re.split(r"[^\w.:-]+", value.lower()) if len(word) >= _LEAST]
        parts = {*words, *(part for word in words for part in word.split("."))}
        return any(word in self.table.known or MAC.fullmatch(word) or UUID.fullmatch(word) for word in parts) or any(
            self.table.address(word) for word in words
        )

    def data(self, value: Any, field: str = "") -> Any:
        """The same for an answer in JSON. A key that is no word of the interface is a text too."""
        if isinstance(value, dict):
            return {self._key(key): self.data(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return [self.data(one, field) for one in value]
        if not isinstance(value, str):
            return value
        if value in fields.REST_WORDS or (field.endswith("_time") and fields.MOMENT.fullmatch(value)):
            self.counts[KEPT] += 1
            return value
        return self.text(field, value)

    def _key(self, key: str) -> str:
        return key if re.fullmatch(r"[a-z][a-z_]{0,40}|(?:host|domain|vm|group)-c?\d+", key) else self.text("key", key)
