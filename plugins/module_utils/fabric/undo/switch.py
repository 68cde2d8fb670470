# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Restores the settings of one switch that earlier runs changed, as state restored of roce_qos does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.edit import Guarded
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.qos import UNCONFIRMED, UNSAVED, RoceQos, View
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.undo import facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import QosRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch


@dataclass
class Held(View):
    """A switch with its facts."""

    facts: Mapping[facts.Path, Any] = None  # type: ignore[assignment]


class Undo(RoceQos):
    """One switch whose settings return to the values before earlier runs."""

    # The settings of the request, judged by the reading of the switch.
    _rows: Sequence[facts.Row] = ()

    def read(self, items: Sequence[Item[QosRequest, View]]) -> None:
        super().read(items)
        self._platform.check(None, self._session.name)
        for item in items:
            now = cast("Held", item.now).facts
            was = self._request.settings_platform
            if was and was != self._platform.name:
                why = f"The runs changed a switch of the platform {was}, and this one has {self._platform.name}."
                self._rows = [
                    facts.Row(one.path, facts.CANNOT, one.before, one.left, None, why) for one in self._request.settings
                ]
            else:
                wanted = _wanted(self._request, now, self._platform)
                self._rows = facts.judge(wanted, now, self._platform.object_of, self._platform.lacks)
            item.ids["settings"] = [row.as_result() for row in self._rows]

    def want(self, item: Item[QosRequest, View]) -> View:
        now, switch = cast("Held", item.now).facts, item.now.switch
        then = facts.target(now, self._rows)
        edit = self._platform.undo(switch, then) if then != now else None
        return Held(switch, {}, {}, self._request.save != "never", edit=edit, facts=then)

    def compare(self, now: View, wanted: View) -> list[Change]:
        found = [
            Change(row.setting, _value(now, row), _value(wanted, row))
            for row in self._rows
            if row.state in (facts.DUE, facts.RESTORED) and _value(now, row) != _value(wanted, row)
        ]
        if now.waits:
            found.append(Change(UNCONFIRMED, "pending", "none"))
        if now.switch.unsaved and wanted.saved and wanted.wants is not None:
            found.append(Change(UNSAVED, "differs", "same as running"))
        return found

    def explain(self, item: Item[QosRequest, View]) -> None:
        self._due = bool(item.changes)
        self._announce(item)

    def apply(self, items: Sequence[Item[QosRequest, View]]) -> None:
        super().apply(items)
        for item in items:
            if item.error is None:
                rows = [replace(row, state=facts.RESTORED) if row.state == facts.DUE else row for row in self._rows]
                item.ids["settings"] = [row.as_result() for row in rows]

    def project(self, state: View) -> dict[str, object]:
        return {"settings": {row.setting: _value(state, row) for row in self._rows}}

    def _guarded(self) -> Guarded:
        return _Guarded(self._platform, self._session, self._request, self._look)

    def _view(self, switch: Switch) -> View:
        names = list(switch.ports)
        effects = {name: compare.effect(switch.ports.get(name) or Port(), Intent()) for name in names}
        return Held(switch, self._reported(effects), facts=self._platform.facts(switch.config))


class _Guarded(Guarded):
    """The change is done when the configuration has the desired facts."""

    def _left(self, before: View, view: View, wanted: View, intent: Intent) -> tuple[list[str], list[str]]:
        now, then = cast("Held", view).facts, cast("Held", wanted).facts
        return [
            f"{facts.named(one.path)} is {one.before or 'not set'} instead of {one.left or 'not set'}."
            for one in facts.settings(now, then)
            if not self._platform.late(view.switch, one.path)
        ], []


def _wanted(request: QosRequest, now: Mapping[facts.Path, Any], platform: Platform) -> list[facts.Setting]:
    """The settings of the request, and those that a killed run made."""
    runs = [list(request.settings)]
    for run in request.killed:
        runs.append([one for one in facts.settings(platform.facts(run.before), now) if facts.said(one, run.commands)])
    return facts.combined(runs)


def _value(state: View, row: facts.Row) -> object:
    return cast("Held", state).facts.get(row.path)
