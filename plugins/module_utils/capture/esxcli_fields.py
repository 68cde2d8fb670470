# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Answers of esxcli without the texts of the site: by command and field. Unknown text never stays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.host_commands import (
    IMAGE,
    OPTION,
    SERIALS,
    Command,
    plain,
)

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber

# A longer text is no value that a host has.
LONGEST = 1024
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,60}")
_VERSION = re.compile(r"(?:version|build|patch|update)$")
# Fields that count or limit. The text of a command has their numbers as texts; a number in another field can be a name.
_COUNTED = re.compile(r"packets|bytes|memory|frequency|(?:int|min|max)value$|^(?:configured|runtime|default)$")
_AMOUNT = re.compile(r"\d{7,20}(?: Bytes)?")
# A UUID as bytes, as some hosts print that of the platform.
_BYTES = re.compile(r"(?:0x)?[0-9a-fA-F]{2}(?:[ -](?:0x)?[0-9a-fA-F]{2}){15}")


def answer(scrub: Scrubber, command: Command, value: Any, field: str = "") -> Any:
    """The answer of a command, or one part of it, as the capture has it."""
    if isinstance(value, dict):
        return {_name(scrub, key): answer(scrub, command, one, plain(key)) for key, one in value.items()}
    if isinstance(value, list):
        return [answer(scrub, command, one, field) for one in value]
    if field in SERIALS and value not in ("", None):
        return scrub.text("serialNumber", str(value))
    return _text(scrub, command, field, value) if isinstance(value, str) else value


def _text(scrub: Scrubber, command: Command, field: str, value: str) -> str:
    if command.drops(field) or len(value) > LONGEST:
        return scrub.text("text", value)
    if _BYTES.fullmatch(value):
        digits = re.sub(r"0x|[ -]", "", value)
        return scrub.text("uuid", "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))
    if command.name == "system.settings.advanced.list" and field == "path":
        return scrub.text("path", value, stays=bool(OPTION.fullmatch(value)))
    if command.name == "software.profile.get" and field == "name":
        return scrub.text("image", value, stays=bool(IMAGE.fullmatch(value)))
    if command.keeps(field):
        return scrub.text("version" if _VERSION.search(field) else "model", value, stays=True)
    if _AMOUNT.fullmatch(value) and _COUNTED.search(field):
        return scrub.text("model", value, stays=True)
    # The names of other fields mean other things in the API of vSphere.
    return scrub.text("name" if field == "name" else f"esxcli {field}", value)


def _name(scrub: Scrubber, key: str) -> str:
    """The name of a field; a text that is no such name is replaced."""
    return key if _FIELD.fullmatch(key) and not scrub.is_named(key) else scrub.text("key", key)
