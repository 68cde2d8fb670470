# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A Redfish tree without the texts of the site, as a mockup in the layout of DMTF's tools."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import (
    ADDRESS,
    DROPPED,
    FILE,
    KEPT,
    NAME,
    TEXT,
    Scrubber,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import MAC, UUID
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.redfish_tree import ROOT
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.redfish_words import (
    ALWAYS,
    CURRENT,
    IDENTIFIERS,
    NAMES,
    WORDS,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.redfish_words import KEPT as KEPT_FIELDS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.redfish_tree import Tree

_SECRET = re.compile(
    r"password|passwd|passphrase|secret|community|token|privatekey|private_key|authkey|sshkey|certificate|credential|"
    r"licen[cs]ekey",
    re.IGNORECASE,
)
# Free text, and texts that differ at each read.
_FREE = re.compile(
    r"^(?:Description|LongDescription|Message|Messages|MessageArgs|Resolution|@Message\.ExtendedInfo|@Redfish\.Copyright|"
    r"@odata\.etag|@odata\.context|UefiDevicePath|MessageOfTheDay)$|ExtendedInfo$|Deprecated$"
)
# Attributes of a BIOS that are texts of the site, if no registry says which values they take. Profiles, NUMA clusters
# and security settings are none.
_OWN = re.compile(
    r"name|tag|serial|contact|mail|phone|message|string|(?<!sec)ur[il]|path|address|ipv|password|iscsi|iqn|uuid|guid|(?<!nu)mac|dns|host|"
    r"gateway|netmask|user|owner|location|banner|domain|(?<!pro)file|server|label|comment|otherinfo",
    re.IGNORECASE,
)
# Attributes of a BIOS that describe a product.
PRODUCT = re.compile(r"version|model|manufacturer|cpuid|brand|revision|date", re.IGNORECASE)
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+%/-]{0,60}")
_PRODUCT = re.compile(r"[\w .,:;()/+@®™\[\]&'*#=-]{0,160}")
_VERSION = re.compile(r"v?\d{1,6}(?:[._]\d{1,6}){1,4}")
_TYPE = re.compile(r"#?[A-Za-z0-9_]{1,60}(?:\.[A-Za-z0-9_]{1,60}){0,3}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})?|[+-]\d{2}:\d{2}")
_KEY = re.compile(r"[A-Za-z@#][\w.@#:$-]{0,120}")
# Names of BIOS attributes can be sentences.
_ATTRIBUTE = re.compile(r"[A-Za-z0-9@#][\w.@#:$ ()/+,-]{0,120}")
_BARE = re.compile(r"(?=\d*[A-Fa-f])(?=[A-Fa-f]*\d)[0-9A-Fa-f]{12}")
# Identifiers of devices on an iLO, of boot options, of jobs on an iDRAC.
_DEVICE = re.compile(r"DE[0-9A-F]{6}|Boot[0-9A-F]{4}|JID_\d{12}|[A-Za-z]|v?\d{1,5}|x\d{1,3}")
_NUMBERED = re.compile(r"(?:[A-Za-z]+\d{1,4})+[A-Za-z]?")
# Words that mix cases.
_MIXED = ("pcie", "ipv4", "ipv6", "nvme", "idrac")
_LEAST = 4
_SHORT = 5
# Resources whose Name comes from the part itself, and not from an administrator.
_PARTS = re.compile(r"#(?:SoftwareInventory|PCIeDevice|PCIeFunction|NetworkAdapter|Processor|Memory|PCIeSlots)\.")
_ASSET = re.compile(r"asset|serialnumber|service_?tag", re.IGNORECASE)


class RedfishText:
    """Replaces the texts of one BMC."""

    def __init__(self, scrub: Scrubber) -> None:
        self._scrub = scrub
        self._table = scrub.table
        self._own: set[str] = set()
        self._kinds: dict[str, frozenset[str] | None] = {}

    def learn(self, tree: Tree) -> None:
        """Collect the names and numbers of the server, and what the registry says of attributes."""
        for body in tree.bodies.values():
            self._collect(body)
            entries = body.get("RegistryEntries")
            listed = entries.get("Attributes") if isinstance(entries, dict) else None
            for one in listed if isinstance(listed, list) else ():
                if isinstance(one, dict) and isinstance(one.get("AttributeName"), str):
                    self._kinds[one["AttributeName"]] = _values(one)

    def _collect(self, value: Any, field: str = "") -> None:
        if isinstance(value, dict):
            for key, one in value.items():
                self._collect(one, key)
        elif isinstance(value, list):
            for one in value:
                self._collect(one, field)
        elif isinstance(value, str) and field in ALWAYS and len(value.strip()) >= _LEAST:
            text = value.strip().lower()
            if not self._is_identifier(text):
                self._own.add(text)
            if field in NAMES and self._is_name(text):
                self._table.learn("device", text)

    def _is_name(self, text: str) -> bool:
        return not (self._is_identifier(text) or MAC.fullmatch(text) or self._table.address(text)) and bool(
            re.fullmatch(r"[\w-]+(?:\.[\w-]+)*", text)
        )

    def body(self, value: Any, field: str = "") -> Any:
        """The body of a resource as the capture has it."""
        if isinstance(value, dict):
            part = "Model" if _PARTS.match(str(value.get("@odata.type"))) else "Name"
            return {self._key(key): self._field(part if key == "Name" else key, one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.body(one, field) for one in value]
        if isinstance(value, str):
            return self._text(field, value)
        return 0 if field in ALWAYS and isinstance(value, int) and not isinstance(value, bool) else value

    def path(self, path: str) -> str:
        """The path of a resource. A part that is no identifier of Redfish is replaced."""
        if self._scrub.keep_names:
            return path
        plain, sign, pointer = path.partition("#")
        plain = plain.partition("?")[0]
        parts = [self._part(part) if part else part for part in plain.split("/")]
        return "/".join(parts) + ("#" + "/".join(map(self._part, pointer.split("/"))) if sign else "")

    def _part(self, part: str) -> str:
        if part in ("redfish", "v1", "$metadata", "") or self._is_identifier(part):
            return part
        known = self._table.known.get(part.lower())
        if known is not None:
            return known
        if _BARE.fullmatch(part):
            return self._table.mac(":".join(part[at : at + 2] for at in range(0, 12, 2))).replace(":", "")
        if UUID.fullmatch(part):
            return self._table.uuid(part)
        return self._table.name("id", part)

    def _key(self, key: str, form: re.Pattern[str] = _KEY) -> str:
        if self._scrub.keep_names or (form.fullmatch(key) and key.lower() not in self._table.known):
            return key
        return self._table.name("text", key)

    def _field(self, key: str, value: Any) -> Any:
        if _SECRET.search(key) or _FREE.search(key):
            self._scrub.dropped[key] += 1
            self._scrub.counts[DROPPED] += 1
            return [] if isinstance(value, list) else {} if isinstance(value, dict) else "" if value else value
        if key == "Oem" and isinstance(value, dict):
            return self._oem(value)
        if key == "Attributes" and isinstance(value, dict):
            return {self._key(name, _ATTRIBUTE): self._attribute(name, one) for name, one in value.items()}
        if key == "RegistryEntries":
            return self._vendor(value)
        if key in NAMES and isinstance(value, str):
            return self._count(NAME, self._table.known.get(value.strip().lower()) or self._text(key, value))
        return self.body(value, key)

    def _oem(self, value: Any) -> Any:
        """Of extensions of a vendor only the links: no schema says which of their texts identify the site."""
        if self._scrub.keep_names:
            return self.body(value)
        if isinstance(value, list):
            return [one for one in map(self._oem, value) if one not in ({}, [], None)]
        if not isinstance(value, dict):
            return self.path(value) if isinstance(value, str) and value.startswith(f"{ROOT}/") else None
        made = {self._key(key): self._oem(one) for key, one in value.items() if not _SECRET.search(key)}
        return {key: one for key, one in made.items() if one is not None}

    def _attribute(self, name: str, value: Any) -> Any:
        """The value of a BIOS attribute: it stays if the registry lists it, or if its name says that it is no text."""
        if not isinstance(value, str):
            return self.body(value, name)
        if _SECRET.search(name) or _FREE.search(name):
            self._scrub.dropped["Attributes"] += 1
            return self._count(DROPPED, "")
        if self._scrub.keep_names:
            return value
        allowed = self._kinds.get(name)
        if allowed is not None and value in allowed:
            return self._count(KEPT, value)
        # Without a registry, one word is taken for a value of a list.
        listed = bool(self._kinds)
        product = PRODUCT.search(name)
        text = name in self._kinds and allowed is None
        if not text and self._is_identifier(value) and not _ASSET.search(name):
            return self._count(KEPT, value)
        own = _OWN.search(name) and not product
        if not own and not self._reveals(value):
            if fields.HARMLESS.fullmatch(value) or _VERSION.fullmatch(value):
                return self._count(KEPT, value)
            if (product and _PRODUCT.fullmatch(value)) or (not listed and _VALUE.fullmatch(value)):
                return self._count(KEPT, value)
        return self._text(name, value, attribute=True)

    def _vendor(self, value: Any, field: str = "") -> Any:
        """The registry of BIOS attributes: texts of the vendor, beside current values."""
        if isinstance(value, dict):
            name = value.get("AttributeName")
            return {
                key: self._attribute(str(name), one) if key == CURRENT and name else self._vendor(one, key)
                for key, one in value.items()
            }
        if isinstance(value, list):
            return [self._vendor(one, field) for one in value]
        if isinstance(value, str) and not self._scrub.keep_names and self._reveals(value):
            return self._count(TEXT, self._table.name("text", value))
        return value

    def _text(self, field: str, value: str, attribute: bool = False) -> str:
        if not value.strip() or self._scrub.keep_names:
            return self._count(KEPT, value)
        if value.lower().startswith(ROOT):
            return self._count(FILE, self.path(value))
        if field not in ALWAYS:
            number = field not in KEPT_FIELDS and fields.LONG.fullmatch(value)
            if _TIME.fullmatch(value) or (not attribute and not number and fields.HARMLESS.fullmatch(value)):
                return self._count(KEPT, value)
            if field == "@odata.type" and _TYPE.fullmatch(value):
                return self._count(KEPT, value)
            version = _VERSION.fullmatch(value) and re.search(r"version|registry", field, re.IGNORECASE)
            if version and not attribute:
                return self._count(KEPT, value)
        address = self._address(value)
        if address is not None:
            return self._count(ADDRESS, address)
        if field not in ALWAYS and not attribute:
            kept = field in KEPT_FIELDS or field.endswith("@Redfish.AllowableValues")
            if kept and _PRODUCT.fullmatch(value) and not self._reveals(value):
                return self._count(KEPT, value)
            if self._is_identifier(value):
                return self._count(KEPT, value)
            if field in IDENTIFIERS and " " not in value:
                return self._count(TEXT, self._part(value))
        known = self._table.known.get(value.strip().lower())
        if known is not None:
            return self._count(NAME, known)
        return self._count(TEXT, self._table.name("text", value.strip()))

    def _address(self, value: str) -> str | None:
        if MAC.fullmatch(value):
            return self._table.mac(value)
        if UUID.fullmatch(value):
            return self._table.uuid(value)
        return self._table.address(value)

    def _is_identifier(self, text: str) -> bool:
        """Whether each part is a word of Redfish or a short number: CPU.Socket.1, proc1dimm2, Registry File."""
        if not text.isascii() or not all(_is_known(part) for part in re.split(r"[^A-Za-z0-9_]+", text) if part):
            return False
        # Letters and numbers without a word can be a serial number.
        return len(re.sub(r"[^A-Za-z0-9]", "", text)) <= _SHORT or bool(_DEVICE.fullmatch(text)) or _has_word(text)

    def _reveals(self, text: str) -> bool:
        plain = text.lower()
        return any(one in plain for one in self._own) or self._scrub.is_named(text)

    def _count(self, kind: str, made: str) -> str:
        self._scrub.counts[kind] += 1
        return made


def _is_known(part: str) -> bool:
    if _DEVICE.fullmatch(part):
        return True
    if "_" in part:
        return all(_is_known(one) for one in part.split("_") if one)
    if part.lower() in WORDS:
        return True
    if _NUMBERED.fullmatch(part):
        letters = [one for one in re.split(r"\d+", part) if one]
        return all(len(one) == 1 or one.lower() in WORDS or _humps(one) for one in letters)
    return _humps(part)


def _has_word(text: str) -> bool:
    return any(len(one) > 1 and _plural(one.lower()) for one in _split(text))


def _split(text: str) -> list[str]:
    return re.findall(r"PCIe|IPv\d|NVMe|iDRAC|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d{1,3}", text)


def _humps(part: str) -> bool:
    humps = _split(part)
    letters = sum(1 for one in humps if len(one) == 1 and one.isalpha())
    joined = len(humps) > 1 and "".join(humps) == part and letters <= 1
    return joined and _has_word(part) and all(one.isdecimal() or _plural(one.lower()) for one in humps)


def _plural(word: str) -> bool:
    return len(word) == 1 or word in WORDS or word in _MIXED or (word[-1:] == "s" and word[:-1] in WORDS)


def _values(attribute: dict[str, Any]) -> frozenset[str] | None:
    """The texts that an attribute takes; None if it takes any."""
    listed = attribute.get("Value")
    if attribute.get("Type") == "Enumeration" or isinstance(listed, list):
        return frozenset(
            str(one["ValueName"]) for one in listed or () if isinstance(one, dict) and one.get("ValueName")
        )
    return None


def addition(tree: Tree, name: str, table: Table, keep_names: bool) -> Addition:
    """The files and the coverage of one BMC. name: its address, or the name of the folder with its tree."""
    scrub = Scrubber(table, keep_names)
    text = RedfishText(scrub)
    text.learn(tree)
    own = table.known.get(name.lower()) or table.name("bmc", name)
    source, folder = f"bmc {own}", f"bmcs/{own}/"
    made = Addition(source, (folder,), texts=scrub.counts, dropped=scrub.dropped)
    for path, body in tree.bodies.items():
        shown = text.path(path)
        made.files[f"{folder}{shown.strip('/')}/index.json"] = (
            json.dumps(text.body(body), indent=1, sort_keys=True) + "\n"
        )
        made.coverage[f"{source}{shown}"] = {"answered": True, "refused": {}, "time": tree.times.get(path)}
    for path, reason in tree.refused.items():
        plain, _blank, page = path.partition(" ")
        shown = text.path(plain) + (f" {page}" if page else "")
        refusal = {"answered": False, "refused": {"": reason}, "time": tree.times.get(path)}
        made.coverage[f"{source}{shown}"] = refusal
    if tree.lost:
        made.coverage[source] = {"answered": False, "refused": {"": tree.lost}, "time": None}
    return made
