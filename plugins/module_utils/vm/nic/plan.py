# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Required adapters of a VM, and their differences from the present ones. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Callable, Iterable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import Adapter, canonical_mac, is_reserved

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.networks import Fabric, Portgroup
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.params import AdapterRequest, NicRequest
    from ansible_collections.aiready.vsphere.plugins.module_utils.vm.nic.state import HostView, NicState

# Settings that a running VM accepts for every kind of adapter.
_CONNECTION = ("start_connected", "connected")
# (part of a change's path, compared field)
_FIELDS = (
    ("mac", "fixed_mac"),
    ("protocol", "protocol"),
    ("physical_function", "physical_function"),
    ("guest_mtu_change", "guest_mtu_change"),
    ("start_connected", "start_connected"),
    ("connected", "connected"),
)


def want(
    now: NicState,
    requested: NicRequest,
    fabric: Fabric,
    exact: bool,
    details: Callable[[Adapter, AdapterRequest, NicState], Adapter],
) -> NicState:
    """Return the state with the requested adapters.

    exact: every adapter of the kind is managed, and not only those on the requested port groups. details(adapter,
    entry, now) sets the fields of the kind. An entry with an ambiguous port group keeps an empty one; the rules refuse
    it.
    """
    entries = requested.adapters
    groups = [fabric.find(entry.portgroup, entry.switch, now.host) for entry in entries]
    if requested.state == "absent":
        gone = now.adapters if exact else _meant(now.adapters, entries, groups)
        return replace(now, adapters=tuple(one for one in now.adapters if one not in gone))
    functions = [details(Adapter(), entry, now).physical_function for entry in entries]
    matched = _match(now.adapters, list(zip(entries, groups, functions)), exact)
    kept = {}
    added: list[Adapter] = []
    for number, (entry, group) in enumerate(zip(entries, groups)):
        before = matched.get(number)
        adapter = before or Adapter(key=-1 - len(added))
        adapter = details(_requested_settings(adapter, entry, group, now.vm.power == "on"), entry, now)
        if before is None:
            added.append(adapter)
        else:
            kept[before.key] = adapter
    managed = now.adapters if exact else _on(now.adapters, groups)
    stay = [
        kept.get(one.key, one) for one in now.adapters if one.key in kept or all(one is not other for other in managed)
    ]
    return replace(now, adapters=tuple(stay + added))


def setting_changes(now: NicState, wanted: NicState, fabric: Fabric) -> list[Change]:
    """The changes between two states; adapters that vSphere has given another key are the same ones all the same."""
    changes = []
    new = 0
    for before, after in pairs(now, wanted):
        if before is None:
            new += 1
            changes.append(Change(f"new adapter {new}", None, spoken(cast("Adapter", after), fabric, wanted.host)))
        elif after is None:
            changes.append(Change(before.label, spoken(before, fabric, now.host), None))
        else:
            changes += _edits(before, after, fabric, now.host)
    return changes


def pairs(now: NicState, wanted: NicState) -> list[tuple[Adapter | None, Adapter | None]]:
    """Return [(adapter before, adapter after)], None for a new or removed one."""
    by_key = {one.key: one for one in wanted.adapters}
    found = [(one, by_key.get(one.key)) for one in now.adapters]
    lost = [before for before, after in found if after is None]
    taken = {after.key for dummy, after in found if after is not None}
    result: list[tuple[Adapter | None, Adapter | None]] = [pair for pair in found if pair[1] is not None]
    for after in wanted.adapters:
        if after.key in taken:
            continue
        twin = next((one for one in lost if not _differing(one, after)), None)
        if twin is not None:
            lost = [one for one in lost if one is not twin]
        result.append((twin, after))
    return result + [(before, None) for before in lost]


def hot(now: NicState, wanted: NicState, pluggable: bool) -> bool:
    """Return whether a running VM accepts the changes. pluggable: adapters of this kind can be added, removed and moved
    while it runs."""
    for before, after in pairs(now, wanted):
        if before is None or after is None:
            if not pluggable:
                return False
            continue
        cold = set(_differing(before, after)) - set(_CONNECTION)
        if cold - ({"network"} if pluggable else set()):
            return False
    return True


def spoken(adapter: Adapter, fabric: Fabric, host: HostView | None) -> str:
    """An adapter in a few words."""
    words = [_place(adapter, fabric, host), adapter.protocol, adapter.physical_function, adapter.fixed_mac]
    if not adapter.start_connected:
        words.append("disconnected")
    return ", ".join(word for word in words if word)


def settings(state: NicState, fabric: Fabric, keys: Iterable[str]) -> dict[str, object]:
    """Return the adapters in the user's terms; keys are the fields of this kind."""
    return {"adapters": sorted((_reported(one, fabric, state.host, keys) for one in state.adapters), key=_order)}


def _reported(adapter: Adapter, fabric: Fabric, host: HostView | None, keys: Iterable[str]) -> dict[str, object]:
    group = fabric.named(adapter.network)
    return dict(
        {
            "portgroup": group.name if group is not None else adapter.network or None,
            "switch": (fabric.switch_of(group, host) or None) if group is not None else None,
            # A MAC address that vSphere chose is known only afterwards, and may change when the VM is copied.
            "mac": adapter.fixed_mac,
            "connected": adapter.start_connected and adapter.connected is not False,
        },
        **{key: getattr(adapter, key) for key in keys},
    )


def _order(reported: Mapping[str, object]) -> list[str]:
    return [str(value) for value in reported.values()]


def _match(
    adapters: Sequence[Adapter], requests: Sequence[tuple[AdapterRequest, Portgroup | None, str | None]], exact: bool
) -> dict[int, Adapter]:
    """Return {number of the request: adapter}; the closest pairs first, so that as little as possible changes."""
    left, found = list(adapters), {}
    tests = [_same_mac, _same_function, _same_group]
    if exact:
        tests.append(lambda adapter, entry, group, function: True)
    for test in tests:
        for number, requested in enumerate(requests):
            if number in found:
                continue
            adapter = next((one for one in left if test(one, *requested)), None)
            if adapter is not None:
                found[number] = adapter
                left = [one for one in left if one is not adapter]
    return found


def _same_mac(adapter: Adapter, entry: AdapterRequest, group: Portgroup | None, function: str | None) -> bool:
    return bool(entry.mac) and adapter.mac == canonical_mac(entry.mac)


def _same_function(adapter: Adapter, entry: AdapterRequest, group: Portgroup | None, function: str | None) -> bool:
    same = function is not None and adapter.physical_function == function
    return same and _same_group(adapter, entry, group, function)


def _same_group(adapter: Adapter, entry: AdapterRequest, group: Portgroup | None, function: str | None) -> bool:
    return group is not None and adapter.network == group.key


def _on(adapters: Sequence[Adapter], groups: Sequence[Portgroup | None]) -> list[Adapter]:
    keys = {group.key for group in groups if group is not None}
    return [one for one in adapters if one.network in keys]


def _meant(
    adapters: Sequence[Adapter], entries: Sequence[AdapterRequest], groups: Sequence[Portgroup | None]
) -> list[Adapter]:
    """The adapters on the port groups that the entries name; of those, one alone where an entry has its address."""
    return [
        one
        for one in adapters
        if any(
            one in _on(adapters, [group]) and (not entry.mac or _same_mac(one, entry, group, None))
            for entry, group in zip(entries, groups)
        )
    ]


def _requested_settings(adapter: Adapter, entry: AdapterRequest, group: Portgroup | None, running: bool) -> Adapter:
    mac = canonical_mac(entry.mac)
    return replace(
        adapter,
        network=group.key if group is not None else "",
        switch_uuid=group.switch_uuid if group is not None else "",
        mac=mac or adapter.mac,
        # A present address that vSphere itself has chosen is not valid as a fixed one.
        mac_fixed=adapter.mac_fixed or bool(mac) and not (mac == adapter.mac and is_reserved(mac)),
        start_connected=entry.connected,
        connected=entry.connected if running else None,
    )


def _edits(before: Adapter, after: Adapter, fabric: Fabric, host: HostView | None) -> list[Change]:
    changes = []
    if before.network != after.network:
        changes.append(Change(f"{before.label}.portgroup", _place(before, fabric, host), _place(after, fabric, host)))
    for name, attribute in _FIELDS:
        if _differs(before, after, attribute):
            ours, theirs = getattr(before, attribute), getattr(after, attribute)
            changes.append(Change(f"{before.label}.{name}", ours, theirs))
    return changes


def _place(adapter: Adapter, fabric: Fabric, host: HostView | None) -> str:
    group = fabric.named(adapter.network)
    if group is None:
        return adapter.network or "nothing"
    switch = fabric.switch_of(group, host)
    return f"{group.name} on {switch}" if switch else group.name


def _differing(before: Adapter, after: Adapter) -> list[str]:
    """The attributes in which two adapters differ."""
    names = ("network",) + tuple(attribute for dummy, attribute in _FIELDS)
    return [name for name in names if _differs(before, after, name)]


def _differs(before: Adapter, after: Adapter, name: str) -> bool:
    ours, theirs = getattr(before, name), getattr(after, name)
    # The connection state is unknown while the VM is off: it has to be off to get its old adapters back.
    return ours != theirs and not (name == "connected" and None in (ours, theirs))
