# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Output of switches without the texts of the site. A word stays only if it is in the list of QoS and link words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Iterable

from ansible_collections.aiready.vsphere.plugins.module_utils.capture import switch_blocks
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import (
    ADDRESS,
    DROPPED,
    KEPT,
    NAME,
    TEXT,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.long_numbers import DIGITS, LEAST, LongNumbers
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import MAC, UUID
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_systems import KEY, Systems
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_words import WORDS

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber

REMOVED = "removed"
# The rest of such a line is free text. The words before it are those of other lines.
_FREE = re.compile(
    r"^(?:(?P<before>[\s|*]*|[^\"']*[{;]\s?)(?:(?:(?:system|port|interface) )?descr(?:iption)?|alias|remark|banner)|"
    r"(?P<words>\s*(?:nv set|set|interface)\s(?:.*?\s)?)(?:description|message|announcement|pre-login|post-login))\b"
    r"\s*(?:[:=]\s*)?(?P<free>\S.*)$",
    re.IGNORECASE,
)
# Such a line has a secret, a user or a serial number. It is dropped, and the table never learns its words.
_SECRET = re.compile(
    r"password|passwd|passphrase|secret|community|snmp|tacacs|radius|ldap|\baaa\b|\busername\b|\buser\b|ssh-|sshkey|"
    r"key-string|private-key|\bkey\b|certificate|credential|authentication|license|token|serial|asset|"
    r"processor board|\bs/?n\b|service (?:tag|code)|\bcontact\b|\blocation\b|\belin\b|circuit-id|\bphone\b|"
    r"uuid|\bntp\b|\blogging\b|syslog|\bpsk\b|\bcak\b|pre-?shared|\$[0-9][a-z]?\$",
    re.IGNORECASE,
)
# The same for the keys and tables of JSON.
_SECRET_KEY = re.compile(
    r"password|passwd|passkey|secret|community|snmp|tacplus|tacacs|radius|ldap|^aaa|user|sshkey|private|certificate|"
    r"credential|license|token|serial|proc_board_id|asset|uuid|^ntp|syslog|^bgp|^key|psk$|cak$|pre.?shared",
    re.IGNORECASE,
)
_FREE_KEY = re.compile(
    r"desc(?:r|ription)?$|^alias$|banner|contact|location|comment|remark|management.?address", re.IGNORECASE
)
_VERSION_KEY = re.compile(r"version$|_ver(?:_str)?$", re.IGNORECASE)
_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|\w(?:[\w.:/@+~=-]*\w)?", re.DOTALL)
# A MAC address in another spelling: 0011.2233.4455, 001122334455.
_DOTTED = re.compile(r"[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}")
_BARE = re.compile(r"0\d{11}|(?=\d*[a-fA-F])(?=[a-fA-F]*\d)[0-9a-fA-F]{12}")
_PLAIN = re.compile(r"-?\d{1,20}(?:\.\d{1,6})?|0x[0-9a-fA-F]{1,8}|oid:0x[0-9a-fA-F]{1,16}")
_VERSION = re.compile(r"v?\d{1,5}(?:\.\d{1,5}){1,4}(?:\(\d{1,3}[a-z]?\))?[A-Za-z]{0,2}\d{0,4}")
_AFTER_VERSION = re.compile(r"(?:version|release)\W*$", re.IGNORECASE)
# A comment, in which a long number can be that of a phone or of a ticket.
_COMMENT = re.compile(r"\s*(?:[!#]+\s|//)")
_LONG_NUMBER = re.compile(r"(?<![\w.])\d{7,}(?![\w.])")
# A name made of the number of an autonomous system: AS3356-IN, as_3356.
_SYSTEM = re.compile(r"(?<![a-z0-9])asn?[-_]?\d", re.IGNORECASE)
# The number in the name of a switch, and one that continues an unknown text.
_AFTER_HOSTNAME = re.compile(r"(?:hostname|host-name|switchname)\s+\"?$", re.IGNORECASE)
_SIGN = re.compile(r"\S")
# Between a word and its number. Columns of a table have more blanks between them.
_LABELLED = (" ", ": ", "=", " = ", ":")
# What a word needs of the line before it. All of it makes the time for a long line quadratic.
_BEFORE = 40
# A part of a longer word has the form of an address.
_PART = re.compile(
    r"\d\.\d+\.\d+\.\d|::|:[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:|[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}"
)
_CLOCK = re.compile(r"\d{1,4}(?:[-:/]\d{1,2}){1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d{1,6})?)?")
_PORT = re.compile(
    r"(?:ethernet|eth|et|port-?channel|po|mpo|management|mgmt|ma|swp|bond|lag|loopback|lo|vlan|vl|bridge|br|xe-|et-|ge-|ae|"
    r"vmnic|vmk|ens|eno|enp|vxlan|nve|veth|null|irb|em|fxp|pg|tc|queue|uc|mc|q|tos|cos|dscp|pfc|rx|tx|prio|priority|p)"
    r"\d{1,4}(?:[/:.sp-]\d{1,4}){0,4}(?:n\d{1,3}|f\d{1,2}|np\d{1,2}){0,3}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,4}(?P<after>[A-Za-z]+)|(?P<before>[A-Za-z]+)\d{1,4}")


class SwitchText:
    """Replaces the texts of one switch. stays: texts such as its model and release."""

    TOKEN = _TOKEN

    def __init__(
        self,
        scrub: Scrubber,
        stays: Iterable[str | None],
        commands: Iterable[str],
        vocabulary: frozenset[str] = WORDS,
    ) -> None:
        self._scrub = scrub
        self._vocabulary = vocabulary
        self._table = scrub.table
        self._systems = Systems(scrub.table)
        self._numbers = LongNumbers(self._harmless)
        words = {word.lower() for one in stays if one for word in one.split()}
        self._stays = {word for word in words if re.search(r"\d", word)}
        self._commands = {piece for command in commands for piece in re.findall(r"[a-z]+", command.lower())}

    def output(self, text: str) -> str:
        """The output of a command: JSON, lines, or one after the other."""
        self._start()
        made: list[str] = []
        place = _begin(text)
        while text[place : place + 1] in ("{", "["):
            try:
                found, end = json.JSONDecoder().raw_decode(text, place)
                made.append(json.dumps(self._data(found), indent=1))
            except (ValueError, RecursionError):
                break
            place = _begin(text, end)
        rest = text[place:] if made else text
        return "\n".join([*made, *map(self._shown, *zip(*switch_blocks.inside(rest.split("\n"))))])

    def _start(self) -> None:
        self._systems.start()
        self._numbers.start()

    def _shown(self, line: str, in_block: bool) -> str:
        return self._count(DROPPED, "block") if in_block else self._line(line)

    def _line(self, line: str) -> str:
        # Before a header of a table is dropped for its word "description".
        if not self._scrub.keep_names:
            line = self._systems.line(line)
        if _SECRET.search(line):
            # It can be the header of a table.
            self._numbers.line(line)
            self._count(DROPPED, "secret line")
            return ""
        if _COMMENT.match(line):
            line = _LONG_NUMBER.sub("0", line)
        free = _FREE.match(line)
        if free:
            self._count(DROPPED, "description")
            before = free["before"] or free["words"] or ""
            return f"{self._words(before)}{line[len(before) : free.start('free')]}{REMOVED}"
        return self._words(line)

    def _words(self, line: str, stays: bool | None = None) -> str:
        """The words of a line. stays: whether its long numbers stay, if something else than the line decides."""
        if self._scrub.keep_names:
            return line
        stays = self._numbers.line(line) if stays is None else stays
        made: list[str] = []
        place, label = 0, ""
        for one in self.TOKEN.finditer(line):
            between, token = line[place : one.start()], one.group()
            # Behind +49 or another number, the word before them is the label.
            label = label if between in _LABELLED else ""
            if DIGITS.fullmatch(token) and not self._labelled(stays, label):
                made += [_signs(between), self._count(TEXT, made="0")]
            else:
                made += [_signs(between), self._token(token, line[max(0, one.start() - _BEFORE) : one.start()])]
            place, label = one.end(), label if token.isdecimal() else token
        return "".join([*made, _signs(line[place:])])

    def _labelled(self, stays: bool | None, label: str) -> bool:
        """Whether a long number stays behind a word: that of a phone or of a ticket does not."""
        return bool(stays) if stays is False or not label else self._numbers.of_key(label)

    def _data(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {self._words(name, stays=False): self._field(name, one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._data(one, key) for one in value]
        if KEY.fullmatch(key) and isinstance(value, (int, str)) and not self._scrub.keep_names:
            made = self._systems.number(str(value))
            value = made if isinstance(value, str) else int(made) if made.isdecimal() else value
        if isinstance(value, (int, float)) and abs(value) >= LEAST and not self._scrub.keep_names:
            return value if KEY.fullmatch(key) or self._numbers.of_key(key) else 0
        if not isinstance(value, str) or not value:
            return value
        if DIGITS.fullmatch(value):
            return self._words(value, stays=bool(KEY.fullmatch(key)) or self._numbers.of_key(key))
        if _FREE_KEY.search(key):
            self._count(DROPPED, "description")
            return REMOVED
        if _VERSION_KEY.search(key) and _VERSION.fullmatch(value):
            return self._count(KEPT, made=value)
        self._start()
        return "\n".join(map(self._line, value.split("\n")))

    def _field(self, name: str, value: Any) -> Any:
        if _SECRET_KEY.search(name):
            self._count(DROPPED, "secret field")
            return {} if isinstance(value, dict) else [] if isinstance(value, list) else ""
        return self._data(value, name)

    def _token(self, token: str, before: str = "") -> str:
        """The text for one word of an output."""
        if token.startswith("\\"):
            return "" if token[1] == "u" else token if token[1] in 'nrt"\\/bf' else "\\\\"
        address = self._address(token)
        if address is not None and not (_AFTER_VERSION.search(before) and _VERSION.fullmatch(token)):
            return self._count(ADDRESS, made=address)
        if token.isdecimal() and _AFTER_HOSTNAME.search(before):
            return self._count(NAME, made=self._table.known.get(token) or self._table.name("word", token))
        # A name of the site that is also a word of every switch reveals nothing.
        if self._stay(token.lower()) or _PLAIN.fullmatch(token):
            return self._count(KEPT, made=token)
        known = self._table.known.get(token.lower())
        if known is not None:
            return self._count(NAME, made=known)
        if _AFTER_VERSION.search(before) and _VERSION.fullmatch(token):
            return self._count(KEPT, made=token)
        known = self._table.known.get(token.lower().partition(".")[0])
        if known is not None:
            return self._count(NAME, made=known)
        if self._harmless(token):
            return self._count(KEPT, made=token)
        return self._count(TEXT, made=self._table.name("word", token))

    def _stay(self, word: str) -> bool:
        first, _dot, rest = word.partition(".")
        # SONiC writes its name before its release.
        return word in self._vocabulary or word in self._stays or (first in self._vocabulary and rest in self._stays)

    def _address(self, token: str) -> str | None:
        if MAC.fullmatch(token):
            return self._table.mac(token)
        if _DOTTED.fullmatch(token) or _BARE.fullmatch(token):
            plain = re.sub(r"\.", "", token)
            made = self._table.mac(":".join(plain[place : place + 2] for place in range(0, 12, 2))).replace(":", "")
            return ".".join((made[:4], made[4:8], made[8:])) if "." in token else made
        return self._table.uuid(token) if UUID.fullmatch(token) else self._table.address(token)

    def _harmless(self, token: str) -> bool:
        if any(form.fullmatch(token) for form in (_PLAIN, _CLOCK, _PORT)):
            return True
        if _PART.search(token) or _SYSTEM.search(token):
            return False
        named = re.sub(r":oid:0x[0-9a-fA-F]{1,16}$", "", token)
        return named.isascii() and all(self._is_word(part) for part in re.split(r"[^A-Za-z0-9]+", named) if part)

    def _is_word(self, part: str) -> bool:
        """A word, with a short number before or after it: 8q, nq3, 100G. Or the name of a field: rxPfcFrames."""
        if part.lower() in self._vocabulary or part.lower() in self._commands or part.isdecimal() or len(part) == 1:
            return True
        if part.lower() in ("dot1p", "dot1q", "x86"):
            return True
        number = _NUMBERED.fullmatch(part)
        if number:
            word = number["before"] or number["after"]
            return len(word) == 1 or word.lower() in self._vocabulary
        humps = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", part)
        return len(humps) > 1 and "".join(humps) == part and all(one.lower() in self._vocabulary for one in humps)

    def _count(self, kind: str, field: str = "", made: str = "") -> str:
        self._scrub.counts[kind] += 1
        if kind == DROPPED:
            self._scrub.dropped[field] += 1
        return made


def _begin(text: str, place: int = 0) -> int:
    """The place of the first sign that is no blank."""
    found = _SIGN.search(text, place)
    return found.start() if found else len(text)


def _signs(text: str) -> str:
    """Punctuation, without signs outside of ASCII and control characters."""
    return "".join(sign if " " <= sign <= "~" or sign == "\t" else " " for sign in text)
