# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""RoCE QoS on one switch: how roce_qos reads, plans, compares, applies and verifies it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Callable, Iterable, Iterator, Mapping, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric import compare, verify
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.edit import (
    OLD,
    UNCHANGED,
    Guarded,
    not_proved,
    not_saved,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.lines import natural
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.params import QosRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Platform
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Refused, again
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Port
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.transcript import complete, unheard

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import Edit, Effect
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.session import Session
    from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch


# Settings that state absent keeps: other traffic may need them, and they do no harm without RoCE.
LEFT = ("mtu", "pause", "cable_length_m", "bandwidth_percent")
UNSAVED, UNCONFIRMED, OBJECTS = "startup configuration", "confirmation", "objects"


@dataclass
class View:
    """A switch and the RoCE QoS of its ports. For a request: the desired one; `wants` has the requested keys only."""

    switch: Switch
    effects: Mapping[str, Effect]
    wants: Mapping[str, Effect] = None  # type: ignore[assignment]
    saved: bool = True
    objects: list[str] = field(default_factory=list)
    waits: bool = False  # the switch will roll the running change back by itself
    # {object of this collection: (its content, the desired content)}
    strays: dict[str, tuple[str, str]] = field(default_factory=dict)
    # Of a desired state: the commands, and if there are none, the settings that are not effective or not verified.
    edit: Edit | None = None
    gaps: tuple[Sequence[str], Sequence[str]] = ((), ())


def read(platform: Platform, session: Session, ports: Sequence[str]) -> Switch:
    """The Switch before any change."""
    try:
        return again(session, lambda: look(platform, session, ports))
    except Refused as refusal:
        raise OperatorError(
            session.name,
            f"cannot read the RoCE QoS with the commands of {platform.title}",
            str(refusal),
            "Check ansible_network_os, and check that the user may read the configuration",
            "cannot_read",
            command=refusal.command,
            complaint=refusal.complaint,
        ) from refusal


def look(platform: Platform, session: Session, ports: Sequence[str]) -> Switch:
    """The Switch, from the commands of its platform; Refused if the first one fails, as all need it."""
    texts, unread = {}, []
    for position, command in enumerate(platform.reads(ports)):
        try:
            texts[command] = session.run(command)
        except Refused as refusal:
            if position == 0:
                raise
            unread.append(str(refusal))
    switch = complete(platform.parse(texts))
    switch.counted = switch.counted or platform.counted(texts)
    switch.unread = [*switch.unread, *unread, *unheard(platform, texts, switch, live=True)]
    return switch


def check_ports(subject: str, switch: Switch, names: Iterable[str]) -> None:
    """Reject port names that the switch does not have, and name similar ports."""
    unknown = [name for name in names if name not in switch.ports]
    if not unknown:
        return
    near = _near(unknown[0], switch.ports)
    there = near or sorted(switch.ports, key=natural)[:3]
    first = "Ports with similar names are" if near else "The first ports of the switch are"
    raise OperatorError(
        subject,
        f"the ports {compare.ranged(unknown)} do not exist",
        f"{first} {', '.join(there)}" if there else "The switch reports no ports",
        "Name the ports as the switch does",
        "unknown_ports",
        ports=unknown,
    )


def ports_down(switch: Switch, names: Iterable[str]) -> list[dict[str, str]]:
    """[{port, reason}] of ports that are down; a port whose state is not reported is not in the list."""
    found = []
    for name in names:
        port, oper = switch.ports.get(name), switch.oper.get(name)
        if port is not None and port.enabled is False:
            found.append({"port": name, "reason": "administratively down"})
        elif oper is not None and oper.up is False:
            found.append({"port": name, "reason": "no link"})
    return found


def _near(name: str, ports: Iterable[str]) -> list[str]:
    """Ports with the same numbers, as in Eth1/1 for Ethernet1/1, or else with a similar name."""
    numbers = re.findall(r"\d+", name)
    same = [port for port in ports if numbers and re.findall(r"\d+", port) == numbers]
    return same[:3] or difflib.get_close_matches(name, ports, 3, 0.5)


class RoceQos(Noun[QosRequest, View]):
    """One switch."""

    def __init__(
        self,
        request: QosRequest,
        platform: Platform,
        session: Session,
        keep_backup: Callable[[str], object],
        warn: Callable[[str], object],
        looks: bool = False,
    ) -> None:
        # looks: check mode, which changes nothing.
        self._request = request
        self._platform = platform
        self._session = session
        self._keep_backup = keep_backup
        self._warn = warn
        self._looks = looks
        self._intent, self._roles = request.intent, request.roles
        self._about: Mapping[str, Effect] = {}
        self._due = False
        self._after: View | None = None

    def read(self, items: Sequence[Item[QosRequest, View]]) -> None:
        waits = self._looks and again(self._session, lambda: self._platform.waits(self._session))
        if not self._looks:
            again(self._session, lambda: self._platform.tidy(self._session))
        for item in items:
            switch = read(self._platform, self._session, list(self._roles))
            item.ids.update(
                name=self._session.name,
                platform=self._platform.name,
                version=switch.version or "",
                commands=[],
                validated="computed",
                backup=switch.config,
                left=None,
                settings=[],
                outcome="unchanged",
                saved=False,
                not_supported=[],
                not_verified=[],
                ports_down=ports_down(switch, self._roles),
            )
            item.now = replace(self._view(switch), waits=waits)

    def want(self, item: Item[QosRequest, View]) -> View:
        switch = item.now.switch
        self._check(switch)
        wants = {name: self._wanted(switch, name, role) for name, role in self._roles.items()}
        unused = sorted(name for name, users in switch.own.items() if self._request.gone and {*users} <= {*wants})
        effects = {name: {**item.now.effects[name], **wants[name]} for name in wants}
        strays = {} if self._request.gone else self._platform.strays(switch, wants, self._intent, self._request.exact)
        wanted = View(switch, effects, wants, self._request.save != "never", unused, strays=strays)
        if compare.changes(item.now.effects, wants, self._request.exact) or unused or strays:
            # Check mode shows the commands too.
            intent = None if self._request.gone else self._intent
            return replace(wanted, edit=self._platform.render(switch, wants, intent, self._request.exact))
        if self._request.gone:
            return wanted
        # A switch without differences must also run its configuration.
        return replace(wanted, gaps=verify.gaps(switch, wants, self._intent, self._request.exact))

    def compare(self, now: View, wanted: View) -> list[Change]:
        if wanted.wants is None:
            return compare.changes(now.effects, wanted.effects)
        found = compare.changes(now.effects, wanted.wants, self._request.exact)
        found += [Change(OBJECTS, wanted.objects, [])] if wanted.objects else []
        found += [Change(name, before, after) for name, (before, after) in sorted(wanted.strays.items())]
        if now.waits:
            found.append(Change(UNCONFIRMED, "pending", "none"))
        if now.switch.unsaved and wanted.saved:
            found.append(Change(UNSAVED, "differs", "same as running"))
        return found

    def explain(self, item: Item[QosRequest, View]) -> None:
        wanted = item.wanted
        self._about, self._due = wanted.wants, bool(item.changes)
        item.ids["not_supported"] = self._not_supported()
        for sentence in (*self._other_classes(item.now.switch), *item.ids["not_supported"]):
            self._warn(f"{self._session.name}: {sentence}")
        left, unknown = wanted.gaps
        if wanted.edit is None and not self._request.gone:
            item.ids["not_verified"] = unknown
        if left:
            item.changes = []
            raise not_proved(self._session.name, "the configured RoCE QoS is not effective", left)
        self._announce(item)

    def validate(self, items: Sequence[Item[QosRequest, View]]) -> None:
        for item in items:
            if item.wanted.edit is None:
                continue
            try:
                on_device = self._platform.validate(self._session, item.wanted.edit)
                item.ids["validated"] = "device" if on_device else "computed"
            except Refused as refusal:
                item.ids.update(outcome=UNCHANGED, saved=False)
                item.error = OperatorError(
                    item.ids["name"],
                    "the switch would reject the change",
                    str(refusal),
                    "Nothing was changed. Check that the switch supports the `commands` of the result",
                    "would_be_refused",
                    command=refusal.command,
                    complaint=refusal.complaint,
                )

    def keep(self, items: Sequence[Item[QosRequest, View]]) -> None:
        for item in items:
            if item.ids["saved"]:
                try:
                    again(self._session, lambda: self._platform.save(self._session))
                except Refused as refusal:
                    item.ids["saved"] = False
                    item.error = not_saved(item.ids["name"], refusal, "Nothing was changed", UNCHANGED)

    def apply(self, items: Sequence[Item[QosRequest, View]]) -> None:
        for item in items:
            item.ids.update(outcome=UNCHANGED, saved=False)
            if self._request.backup_file:
                self._keep_backup(item.ids["backup"])
            item.touched = True
            end = self._guarded().run(item.wanted.edit, item.now, item.wanted, self._intent)
            # The verification is part of the change, since the rollback depends on it.
            self._after = item.proved = end.view
            item.error = end.error
            item.touched = end.outcome not in (OLD, UNCHANGED)
            item.ids.update(outcome=end.outcome, saved=end.saved, not_verified=end.unknown)
            item.ids["left"] = end.view.switch.config if end.view is not None else None
            item.ids["validated"] = "device"

    def prove(self, items: Sequence[Item[QosRequest, View]]) -> None:
        """Done by apply."""

    def project(self, state: View) -> dict[str, object]:
        """For each port, the settings of the task, so that before and after can be compared."""
        return {
            "ports": {
                name: {key: what for key, what in one.items() if key in self._about.get(name, one)}
                for name, one in state.effects.items()
            }
        }

    def pending(self, state: View) -> list[dict[str, object]]:
        unsaved = state.switch.unsaved
        if self._due and state is not self._after:
            unsaved = unsaved is not None and self._request.save == "never"
        return [{"what": UNSAVED, "needs": "save"}] if unsaved else []

    def _guarded(self) -> Guarded:
        return Guarded(self._platform, self._session, self._request, self._look)

    def _look(self) -> View:
        return self._view(look(self._platform, self._session, list(self._roles)))

    def _view(self, switch: Switch) -> View:
        effects = {name: compare.effect(switch.ports.get(name) or Port(), self._intent) for name in self._roles}
        return View(switch, self._reported(effects))

    def _reported(self, effects: Mapping[str, Effect]) -> dict[str, Effect]:
        """Effects without the settings that the platform does not have."""
        missing = self._platform.limits.missing
        return {name: {key: what for key, what in one.items() if key not in missing} for name, one in effects.items()}

    def _wanted(self, switch: Switch, name: str, role: str) -> Effect:
        port = switch.ports[name]
        if not self._request.gone:
            return compare.wanted(self._intent, self._platform, role, port.speed)
        factory = compare.effect(self._platform.blank(switch, name), self._intent)
        return {key: what for key, what in factory.items() if what is not None and key not in LEFT}

    def _announce(self, item: Item[QosRequest, View]) -> None:
        """The commands, and what will be saved."""
        if item.wanted.edit is not None:
            item.ids["commands"] = list(item.wanted.edit.commands)
        if item.changes:
            item.ids.update(outcome="new", saved=item.wanted.saved)
        else:
            item.ids["saved"] = self._saves_anyhow(item.now.switch)

    def _saves_anyhow(self, switch: Switch) -> bool:
        """Return whether to save without a change: not every switch reports that a killed run did not save."""
        return self._request.save == "always" or self._request.save != "never" and switch.unsaved is None

    def _not_supported(self) -> list[str]:
        """Requested settings that this platform does not have, as sentences."""
        if self._request.gone:
            return []
        requested = compare.wanted(self._intent, Platform())
        missing = self._platform.limits.missing
        reported = [f"{key}: {missing[key]}" for key in compare.KEYS if key in requested and missing.get(key)]
        if missing.get(compare.PROBABILITY) and requested["ecn"] and requested["ecn"]["probability"] != 100:
            reported.append(f"ecn.probability: {missing[compare.PROBABILITY]}")
        return reported

    def _check(self, switch: Switch) -> None:
        check_ports(self._session.name, switch, self._roles)
        self._platform.check(None if self._request.gone else self._intent, self._session.name)
        if not self._request.exact:
            self._check_classes(switch)

    def _check_classes(self, switch: Switch) -> None:
        """State merged keeps other lossless priorities; the platform must support all of them together."""
        for name in self._roles:
            there = {*(switch.ports[name].pfc or []), *self._intent.lossless}
            if len(there) > self._platform.limits.lossless:
                raise OperatorError(
                    self._session.name,
                    f"cannot make priority {self._intent.priority} lossless on {name}",
                    f"The port would have the lossless priorities {', '.join(map(str, sorted(there)))}, and "
                    f"{self._platform.title} supports {self._platform.limits.lossless}",
                    "Set state to present, which removes other lossless priorities from the named ports",
                    "too_many_lossless",
                    port=name,
                    priorities=sorted(there),
                )

    def _other_classes(self, switch: Switch) -> Iterator[str]:
        """The lossless priorities that state merged keeps, as sentences."""
        for name in () if self._request.exact else self._roles:
            others = sorted({*(switch.ports[name].pfc or [])}.difference(self._intent.lossless))
            if others:
                yield f"{name} also keeps priority {', '.join(map(str, others))} lossless."
