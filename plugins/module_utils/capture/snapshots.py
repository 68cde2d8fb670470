# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Snapshots of Batfish as sources of a capture: the configuration of each switch in the folder configs."""

from __future__ import annotations

import datetime
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.capture.add import Addition
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.anonymise import Scrubber
from ansible_collections.aiready.vsphere.plugins.module_utils.capture.switch_text import SwitchText

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.pseudonyms import Table

    Maker = Callable[[Table], Addition]

FOLDER = "configs"
# Other parts of a snapshot. A capture has no place for them.
_OTHERS = ("aws_configs", "batfish", "hosts", "iptables", "sonic_configs")
_HOSTNAME = re.compile(
    r"^[ \t]*(?:hostname|switchname|set system host-name|nv set system hostname)[ \t]+\"?([\w.-]+)", re.MULTILINE
)
_NOT_SHOWN = "not read: a snapshot has the configuration alone"
_STRANGE = "not read: it is no text, a link, or too large"
_TWICE = "not read: another file has the same host name"
_NO_USE = "not read: a capture has the folder configs alone"


def makers(
    texts: Mapping[str, str | None], beside: Sequence[str], place: str, keep_names: bool, seen: set[str]
) -> Iterator[Maker]:
    """A maker for each switch, and one that names all files that are left out. texts: None for a file without text.

    seen has the host names of all snapshots of an import, which can have the same switches at two times.
    """
    left: dict[str, str] = {}
    stems = Counter(map(_stem, texts))
    for name, text in texts.items():
        if text is None:
            left[name] = _STRANGE
            continue
        hostname = _HOSTNAME.search(text)
        stem = _stem(name)
        # Files such as running-config.cfg name no switch. Their folders do.
        if stems[stem] > 1:
            stem = os.path.basename(os.path.dirname(name)) or stem
        own = hostname[1] if hostname else stem
        if own.lower() in seen:
            left[name] = _TWICE
            continue
        seen.add(own.lower())
        yield _config(own, stem, text, keep_names)
    left.update({name: _NO_USE for name in beside if name in _OTHERS})
    if left:
        yield _left_out(left, place)


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0]


def _config(hostname: str, stem: str, text: str, keep_names: bool) -> Maker:
    def config(table: Table) -> Addition:
        own = table.learn("switch", hostname)
        table.known.setdefault(stem.lower(), own)
        scrub = Scrubber(table, keep_names)
        source, path = f"switch {own}", f"snapshot/configs/{own}.cfg"
        made = Addition(source, (path,), texts=scrub.counts, dropped=scrub.dropped)
        made.files[path] = SwitchText(scrub, [], []).output(text)
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        read = {"answered": True, "refused": {}, "time": None, "imported": now}
        made.coverage[f"{source}/configuration"] = read
        made.coverage[f"{source}/state"] = {**read, "answered": False, "refused": {"": _NOT_SHOWN}}
        return made

    return config


def _left_out(left: Mapping[str, str], place: str) -> Maker:
    def config(table: Table) -> Addition:
        source = f"snapshot {table.name('path', place)}"
        made = Addition(source, ())
        for name, reason in left.items():
            label = name if name in _OTHERS else table.name("path", name)
            row: dict[str, Any] = {"answered": False, "refused": {"": reason}, "time": None}
            made.coverage[f"{source}/{label}"] = row
        return made

    return config
