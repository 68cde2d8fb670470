# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse short outputs of Linux: show_gids, ethtool, and sysfs files as `path:value`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, List, Mapping, Union

from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.hosts import words

if TYPE_CHECKING:
    # {path: value}; a list for a file with several lines.
    Values = Mapping[str, Union[str, List[str]]]


def pause(text: str | None) -> bool | None:
    """Return whether `ethtool -a` shows link-level pause in either direction; None if it reports neither."""
    reported = words.from_json(text)
    if isinstance(reported, list) and reported and isinstance(reported[0], dict):
        said = {words.key(name): value for name, value in reported[0].items()}
    else:
        said = words.fields(text)
    known = [words.truth(said[name]) for name in ("rx", "tx") if name in said]
    # Negotiated values take precedence: autonegotiation can turn off a configured pause.
    agreed = [words.truth(said[name]) for name in ("rxnegotiated", "txnegotiated") if name in said]
    known = agreed if agreed and words.truth(said.get("autonegotiate")) else known
    return any(known) if known and None not in known else None


def files(text: str | None) -> dict[str, str | list[str]]:
    """{path: value} of `grep -s . <files>`; a list for a file with several lines."""
    found: dict[str, str | list[str]] = {}
    for line in (text or "").replace("\r", "").split("\n"):
        path, colon, value = line.partition(":")
        if not colon or not path.startswith("/"):
            continue
        value = value.strip()
        if path in found:
            found[path] = [*(found[path] if isinstance(found[path], list) else [found[path]]), value]
        else:
            found[path] = value
    return found


def matching(values: Values, pattern: str) -> list[tuple[tuple[str, ...], str | list[str]]]:
    """[(parts, value)] of paths that match a pattern, with * for single names."""
    fit = re.compile(re.escape(pattern).replace(r"\*", "([^/]+)"))
    found = ((fit.fullmatch(path), value) for path, value in values.items())
    return [(match.groups(), value) for match, value in found if match]


def traffic_class(value: str | list[str] | None) -> int | None:
    """106 of '106', '0x6a', 'tclass=106' or 'Global tclass=106'; None if nothing is set."""
    text = "\n".join(value) if isinstance(value, list) else str(value or "")
    # Match the whole line: entries for some addresses are longer, and an error may end with the device number.
    found = re.search(r"(?m)^\s*(?:Global\s+)?(?:tclass\s*=\s*)?(-?(?:0x[0-9a-fA-F]+|\d+))\s*$", text)
    number = words.whole(found.group(1)) if found else None
    return number if number is not None and 0 <= number <= 255 else None
