# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Outputs of programs on hosts and guests without the texts of the site: nvidia-smi, mlxconfig, lspci, ibv_devinfo."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import fields
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import DROPPED, KEPT
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_words import FORMS, TAGS, WORDS
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.shell_commands import OPTIONS, XML
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber

_SECRET = re.compile(r"password|passwd|passphrase|secret|private|credential|token|licen[cs]e server", re.IGNORECASE)
# Keys whose whole value identifies a part, or is a name.
_SERIAL = re.compile(r"serial|asset|\bhost.?id\b|chassis", re.IGNORECASE)
_NAMED = re.compile(r"(?:vm|process|guest|user|node)[ _]?(?:name|desc)|hostname", re.IGNORECASE)
_PAIR = re.compile(r"(?P<kept>\s*(?P<key>[^:\t]{1,60}?)\s*:\s+)(?P<value>\S.*)", re.DOTALL)
# A row of mlxconfig: marks, the name of a parameter, and its values.
_PARAMETER = re.compile(
    r"(?P<kept>[*\s]*(?:\*?RO\s+)?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?:\[[\d.]{1,8}\])?)(?P<rest>\s{2,}.*|)"
)
_OPTIONS = re.compile(r"(?P<kept>\w{1,40} enabled = [01] options = ')(?P<options>[^']*)'\s*")
_OPTION = re.compile(r"(?P<name>[A-Za-z]\w{0,40})=(?P<value>.*)")
# Distributions whose names have words that a site can use too.
_DISTRIBUTION = re.compile(
    r"(?P<kept>PRETTY_NAME=\"?(?:Oracle Linux Server|Fedora Linux|openSUSE (?:Leap|Tumbleweed)|Amazon Linux|"
    r"VMware Photon OS|Flatcar Container Linux by Kinvolk|openEuler|Anolis OS|Kylin Linux|Alpine Linux))(?P<rest>\W.*|)"
)
_NUMBERS = re.compile(r"(?:-?\d{1,10}|0x[0-9a-fA-F]{1,8})(?:,(?:-?\d{1,10}|0x[0-9a-fA-F]{1,8})){0,15}")
_GUID = re.compile(r"[0-9a-fA-F]{4}(?::[0-9a-fA-F]{4}){3}|(?:0x)?[0-9a-fA-F]{16}")
_GPU = re.compile(
    r"((?:MIG-)?(?:GPU|MIG|VGPU)-)([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})((?:/\d{1,2}){0,2})"
)
_VALUE = re.compile(r"[\w .,:;()/+@-]{0,120}", re.ASCII)
# One line of hostile output.
LONGEST = 4096


class HostText(SwitchText):
    """Replaces the texts of one host or guest."""

    # As for switches, and addresses of IPv6 that begin with zeros.
    TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|(?:(?<!\S)::)?\w(?:[\w.:/@+~=-]*\w)?", re.DOTALL)

    def __init__(self, scrub: Scrubber) -> None:
        super().__init__(scrub, (), (), WORDS)

    def reported(self, form: str, text: str) -> str:
        """An output in the form that the command has."""
        if self._scrub.keep_names:
            return _printable(text)
        if form == XML:
            return self._xml(text)
        if form == OPTIONS:
            return "\n".join(map(self._options, text.split("\n")))
        return self.output(text)

    def _line(self, line: str) -> str:
        if _SECRET.search(line) or len(line) > LONGEST:
            self._count(DROPPED, "secret line")
            return ""
        pair = _PAIR.fullmatch(line)
        if pair and _SERIAL.search(pair["key"]):
            return self._words(pair["kept"]) + self._scrub.text("serialNumber", pair["value"].strip())
        if pair and _NAMED.search(pair["key"]):
            return self._words(pair["kept"]) + self._scrub.text("name", pair["value"].strip())
        named = _DISTRIBUTION.fullmatch(line)
        if named:
            return named["kept"] + self._words(named["rest"])
        row = _PARAMETER.fullmatch(line)
        # The name of a parameter of firmware says what its number is.
        return row["kept"] + self._words(row["rest"], stays=True) if row else self._words(line)

    def _options(self, line: str) -> str:
        """The options of a kernel module. A value that is no number is replaced."""
        found = _OPTIONS.fullmatch(line)
        if not found or found["kept"].split()[0].lower() in self._table.known:
            return self._line(line)
        return f"{found['kept']}{' '.join(map(self._option, found['options'].split()))}'"

    def _option(self, text: str) -> str:
        found = _OPTION.fullmatch(text)
        if not found:
            return self._scrub.text("option", text)
        value = found["value"]
        return f"{found['name']}={value if _NUMBERS.fullmatch(value) else self._scrub.text('option', value)}"

    def _xml(self, text: str) -> str:
        start = text.find("<nvidia_smi_log>")
        try:
            # Without the declaration of the document type, no entity has a meaning.
            root = ElementTree.fromstring(text[start:]) if start >= 0 else None
        except (ElementTree.ParseError, ValueError):
            root = None
        if root is None:
            return self.output(text)
        for element in root.iter():
            element.text = self._leaf(element.tag, element.text)
            element.tail = element.tail if element.tail and not element.tail.strip() else None
            element.attrib = {key: self._words(value) for key, value in element.attrib.items()}
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def _leaf(self, tag: str, text: str | None) -> str | None:
        if not text or not text.strip():
            return text
        if _SECRET.search(tag) or len(text) > LONGEST:
            self._count(DROPPED, "secret field")
            return ""
        if _SERIAL.search(tag) and text not in ("N/A", "0"):
            return self._scrub.text("serialNumber", text)
        if _NAMED.search(tag):
            return self._scrub.text("name", text)
        if tag in TAGS and _VALUE.fullmatch(text) and not self._scrub.is_named(text):
            return self._count(KEPT, made=text)
        return self._words(text, stays=self._numbers.of_key(tag))

    def _address(self, token: str) -> str | None:
        gpu = _GPU.fullmatch(token)
        if gpu:
            return gpu[1] + self._table.uuid(gpu[2]) + gpu[3]
        if _GUID.fullmatch(token):
            return f"0x{self._table.guid(token[2:])}" if token.startswith("0x") else self._table.guid(token)
        return super()._address(token)

    def _harmless(self, token: str) -> bool:
        return bool(FORMS.fullmatch(token) or fields.HARMLESS.fullmatch(token)) or super()._harmless(token)


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() or sign in "\n\t" else " " for sign in text)
