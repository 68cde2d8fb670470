# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The step that restores a switch, from the configurations that the journal has of each run. Pure.

The step has each setting of the switch separately, so it keeps the changes of others on the same switch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.journal import LEFT
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import facts
from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import (
    PLANNED,
    Step,
    cannot,
    net,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.restore.steps import Cannot, Entry, Inverse

STAGE, MODULE = "fabric", "roce_qos"
# Platforms whose commands have the lines of the configuration, so that those of a killed run explain its changes.
BY_LINES = ("eos", "nxos")
# The path of a change that concerns no setting of a run, such as one that was not saved.
_PASSING = ("startup configuration", "confirmation")
_UNKNOWN = (
    "The journal has no configuration of the switch after the run, because the switch did not answer any more or an "
    "earlier release wrote the journal. Compare the switch with the file in backup_file."
)
_KILLED = (
    "The run was killed while it changed the switch, and the commands of this platform do not show which changes it "
    "made. Run the stage fabric again, and restore the rest from the file in backup_file."
)
_UNREADABLE = (
    "This release does not read the configurations that the journal has of the switch: {why} Use the release that "
    "wrote the journal, or restore from the file in backup_file."
)
_REPLACED = "The switch had the platform {} during this run, and another one during later runs."
_RELOADED = "`config qos reload` wrote all QoS tables of the switch. Load a backup of config_db.json instead."


def _switch(entries: Sequence[Entry]) -> list[Step | Cannot]:
    forward = [entry for entry in entries if not (entry.state == PLANNED and _restores(entry))]
    readable = [str(entry.ids.get("platform") or "") for entry in forward]
    readable = [name for name, entry in zip(readable, forward) if not _unreadable(entry, name)]
    now = readable[-1] if readable else ""
    found: list[Step | Cannot] = []
    runs: list[Sequence[facts.Setting]] = []
    killed: list[dict[str, Any]] = []
    for position, entry in enumerate(forward):
        platform = str(entry.ids.get("platform") or "")
        commands = [str(command) for command in entry.ids.get("commands") or ()]
        # The settings of a switch that was replaced went with it.
        unreadable = _unreadable(entry, platform) or (_REPLACED.format(platform) if platform != now else "")
        if unreadable:
            found += [cannot([entry], path, unreadable) for path in net([entry]) if path not in _PASSING]
        elif any(command.startswith("config qos reload") for command in commands):
            found.append(cannot([entry], "config qos reload", _RELOADED))
        elif LEFT in entry.ids and isinstance(entry.ids[LEFT], str):
            reader = platform_of(platform, None)
            runs.append(facts.settings(reader.facts(_text(entry, "backup")), reader.facts(_text(entry, LEFT))))
        elif entry.state != PLANNED:
            found += [cannot([entry], path, _UNKNOWN) for path in net([entry]) if path not in _PASSING]
        elif platform not in BY_LINES:
            found += [cannot([entry], path, _KILLED) for path in net([entry]) if path not in _PASSING]
        else:
            later = next((_text(one, "backup") for one in forward[position + 1 :]), None)
            before = _text(entry, "backup")
            if later is None:
                killed.append({"before": before, "commands": commands})
            else:
                reader = platform_of(platform, None)
                changed = facts.settings(reader.facts(before), reader.facts(later))
                runs.append([one for one in changed if facts.said(one, commands)])
    settings = facts.combined(runs)
    if not settings and not killed:
        return found
    return [*found, _step(entries, settings, killed, now)]


def _step(
    entries: Sequence[Entry], settings: Sequence[facts.Setting], killed: Sequence[Mapping[str, Any]], platform: str
) -> Step:
    last = entries[-1]
    rows = [{"path": list(one.path), "before": one.before, "left": one.left} for one in settings]
    args = {"state": "restored", "settings": rows, "settings_platform": platform, "killed": list(killed)}
    return Step(
        stage=STAGE,
        host=last.host,
        object=last.label,
        module=MODULE,
        args={**args, **_connection(last)},
        back={facts.named(one.path): one.before for one in settings},
        left={facts.named(one.path): one.left for one in settings},
    )


def _unreadable(entry: Entry, platform: str) -> str:
    """Why the configurations of an entry cannot be read; empty if they can. Other switches are restored anyway."""
    try:
        reader = platform_of(platform, None)
        for name in ("backup", LEFT):
            if isinstance(entry.ids.get(name), str):
                reader.facts(_text(entry, name))
    except OperatorError as error:
        return _UNREADABLE.format(why=f"The platform {platform or 'without a name'} is unknown ({error.code}).")
    except (AttributeError, KeyError, TypeError, ValueError):
        return _UNREADABLE.format(why=f"They are not in the format of the platform {platform}.")
    return ""


def _connection(entry: Entry) -> dict[str, Any]:
    """The options of the run for the connection to the switch and for the saved configuration.

    Not allow: a run that was allowed to restart the switch does not allow a second restart.
    """
    names = ("platform", "save", "transaction", "confirm_timeout_s", "verify_timeout_s", "reconnect_timeout_s")
    return {name: entry.request[name] for name in names if entry.request.get(name)}


def _restores(entry: Entry) -> bool:
    return entry.request.get("state") == "restored"


def _text(entry: Entry, name: str) -> str:
    return str(entry.ids.get(name) or "")


INVERSE: Mapping[str, Inverse] = {MODULE: _switch}
