# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of an upgrade: its steps in their order, and the reasons to reject it before a host changes. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu import catalogue
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix, support
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.host_checks import SERIAL
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade import moves
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade import order as orders
from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import (
    MOVES,
    SHARED,
    branch,
    fleet,
    newest,
    older,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.upgrade.fleet import Fleet, Host

CLS = "cls"
ROLLBACK = (
    "To roll back, run the playbook restore. It restores the settings that the run changed and installs the earlier "
    "driver again. If it lists that driver as one that it cannot restore, set restore_driver to its package. Downgrade "
    "newer guest drivers before the hosts, see docs/upgrade_driver.md."
)
GIVEN: tuple[tuple[str, ...], ...] = (*orders.ORDERS, (orders.HOSTS,))


class Rejection(NamedTuple):
    """Why the upgrade must not start: a stable name, and failure, cause and fix as one text."""

    name: str
    text: str


def answer(
    variables: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]], options: Mapping[str, Any]
) -> dict[str, Any]:
    """{steps, rejections, waves, notes}; variables are hostvars, options those of the playbook upgrade."""
    return plan(fleet(variables, groups), options)


def plan(there: Fleet, options: Mapping[str, Any]) -> dict[str, Any]:
    requested = _order_of(options)
    given = requested if requested in GIVEN else ()
    good = [one for one in ([given] if given else orders.ORDERS) if orders.broken(there, one) is None]
    order = good[0] if good else given or orders.ORDERS[0]
    size = wave_size(options.get("waves") or "1", len(there.hosts))
    waves = [[host.name for host in there.hosts][at : at + size] for at in range(0, len(there.hosts), size)]
    found = [
        *_invalid(requested, str(options.get("waves") or "1")),
        *_rejections(there, order, bool(good), waves, str(options.get("licence_server") or "")),
        *_guests(there, orders.GUESTS in order and not options.get("hold")),
    ]
    leaving = [moves.of_wave(there.cluster, _due(there, wave)) for wave in waves]
    return {
        "order": list(order),
        "waves": waves,
        "steps": _steps(there, order, waves, leaving),
        "rejections": [f"{one.name}: {one.text}" for one in dict.fromkeys(found)],
        "notes": [*_notes(there), *_holds(str(options.get("hold") or ""))],
        "due": any(host.due for host in there.hosts) or _guests_due(there),
        "evacuations": [[one.as_result() for one in wave] for wave in leaving],
        # {host: text of the report after its wave}
        "reports": {
            name: _report(there, waves, number, leaving[number]) for number, wave in enumerate(waves) for name in wave
        },
        "rollback": ROLLBACK,
        "validates": there.validates,
    }


def _due(there: Fleet, wave: Sequence[str]) -> list[Host]:
    return [host for host in there.hosts if host.name in wave and host.due]


def _report(there: Fleet, waves: Sequence[Sequence[str]], number: int, leaving: Sequence[moves.Evacuation]) -> str:
    """The report after a wave without a failure: each host was verified."""
    due = _due(there, waves[number])
    done = ", ".join(f"{host.name} runs {host.target}" for host in due) or "No driver of its hosts changed"
    return " ".join([f"Wave {number + 1} of {len(waves)} is complete: {done}.", *_left(leaving)])


def _left(leaving: Sequence[moves.Evacuation]) -> Iterator[str]:
    for how in (moves.MOVED, moves.SHUT):
        names = [one.text for one in leaving if one.how == how]
        if names:
            yield f"These VMs are {how}: {', '.join(names)}."


def wave_size(text: Any, count: int) -> int:
    """The number of hosts of a wave, from a number or a percentage as in `serial` of a play."""
    found = re.fullmatch(r"(\d+)(%?)", str(text).strip())
    size = int(found.group(1)) if found else 1
    return max(1, count * size // 100 if found and found.group(2) else size)


def _order_of(options: Mapping[str, Any]) -> tuple[str, ...]:
    given = options.get("order") or ()
    # A survey of AWX has no lists.
    return tuple(part.strip() for part in given.split(",")) if isinstance(given, str) else tuple(given)


def _invalid(order: Sequence[str], waves: str) -> Iterator[Rejection]:
    """Options that the plan would read in another way than the plays: Ansible takes 0 hosts in a wave as all hosts."""
    if order and order not in GIVEN:
        text = f"Cannot upgrade in the order {', '.join(map(str, order))}. upgrade_order has no such value. "
        yield Rejection("invalid_order", f"{text}Use a list: [hosts, guests], [guests, hosts] or [hosts].")
    if not SERIAL.fullmatch(waves.strip()):
        text = f"Cannot upgrade in waves of {waves}. upgrade_waves is neither a number of hosts nor a percentage. "
        yield Rejection("invalid_waves", f"{text}Use 1, or a percentage such as 25%.")


def _guests_due(there: Fleet) -> bool:
    return any(guest.now and guest.now != there.guest_target for guest in there.guests if there.guest_target)


def _steps(
    there: Fleet,
    order: Sequence[str],
    waves: Sequence[Sequence[str]],
    leaving: Sequence[Sequence[moves.Evacuation]],
) -> list[str]:
    """One sentence for each step that is due."""
    steps = []
    for part in order:
        if part == orders.HOSTS:
            for wave, out in zip(waves, leaving):
                due = _due(there, wave)
                steps += [_host_step(due, out)] if due else []
        elif _guests_due(there):
            due_guests = [guest for guest in there.guests if guest.now != there.guest_target]
            names = ", ".join(f"{one.name} from {one.now or 'an unread driver'}" for one in due_guests)
            steps.append(f"Install the guest driver {there.guest_target}: {names}. Each guest restarts.")
            if there.runtime:
                steps.append("Compare the container toolkit and the images of the guests with the site.")
    return [f"{number}. {step}" for number, step in enumerate(steps, 1)]


def _host_step(due: Sequence[Host], leaving: Sequence[moves.Evacuation]) -> str:
    names = ", ".join(f"{host.name} from {host.now or 'no driver'} to {host.target}" for host in due)
    what = list(_left(leaving))
    if any(host.evacuation in MOVES for host in due):
        what.insert(0, "DRS moves the running VMs, and each stops for a moment at the end of its move.")
    others = sum(host.others for host in due)
    more = [f"{others} other settings of these hosts change too."] if others else []
    return " ".join([f"Upgrade and restart the hosts of a wave: {names}.", *what, *more])


def _notes(there: Fleet) -> Iterator[str]:
    if not there.manages_guests:
        yield "The site has no guest driver (site.guests.driver), so the plan does not compare the drivers of guests."
    for why in there.cluster.unread:
        yield f"The plan has no VMs or no capacity of the cluster. {why}"
    yield f"If a step fails, no further wave starts. Run the upgrade again after the fix. {ROLLBACK}"


def _holds(file: str) -> Iterator[str]:
    if file:
        yield (
            f"The training is held by {file} until the upgrade ends, and continues from its checkpoint. If the upgrade "
            "fails, remove this file to continue the training."
        )


def _rejections(
    there: Fleet, order: Sequence[str], allowed: bool, waves: Sequence[Sequence[str]], server: str
) -> Iterator[Rejection]:
    if there.errors:
        yield Rejection("invalid_site", f"Cannot plan the upgrade. The site is not valid. {' '.join(there.errors)}")
        return
    yield from _targets(there)
    yield from _mixed(there)
    if not allowed:
        yield from _order(there, order)
    yield from _support(there)
    yield from _licences(there, server)
    yield from _evacuation(there, waves)


def _targets(there: Fleet) -> Iterator[Rejection]:
    known = {one.number for one in matrix.BRANCHES}
    for host in there.hosts:
        for name, text in host.refused:
            if name == "downgrade":
                yield Rejection("host_downgrade", text)
            else:
                yield Rejection(name or "host_rejected", f"{host.name}: {text}")
        if not host.target:
            text = f"Cannot upgrade {host.name}. Neither the host nor the site has a host driver. Set site.driver."
            yield Rejection("no_target", text)
        elif branch(host.target) not in known:
            text = f"Cannot upgrade {host.name} to {host.target}. The collection does not know the branch "
            yield Rejection("unknown_branch", f"{text}R{branch(host.target)}. Use a driver of docs/driver.md.")
    for guest in there.guests:
        if older(there.guest_target, guest.now):
            text = f"Cannot install the guest driver {there.guest_target} on {guest.name}. {guest.now} is newer."
            yield Rejection("guest_downgrade", f"{text} Use a newer package in site.guests.driver.")


def _mixed(there: Fleet) -> Iterator[Rejection]:
    """Two branches at once are those of an upgrade that was not finished; its target must be the requested one."""
    now = {branch(host.now) for host in there.hosts if host.now}
    if len(now | {branch(there.target)}) > 2:
        names = ", ".join(f"R{number}" for number in sorted(now))
        text = f"Cannot upgrade the hosts to R{branch(there.target)}. They run {names}, so an earlier upgrade was not "
        yield Rejection("unfinished_upgrade", f"{text}finished. Finish it with its driver in site.driver first.")


def _order(there: Fleet, order: Sequence[str]) -> Iterator[Rejection]:
    pair = orders.broken(there, order)
    if pair is None:
        return
    other = next((one for one in orders.ORDERS if orders.broken(there, one) is None), None)
    what = f"Cannot upgrade in the order {', '.join(order)}. {pair.reason}"
    if pair.after == "now":
        fix = "Correct the driver of this guest or host before the upgrade."
        what = f"Cannot begin with host driver {pair.host} and guest driver {pair.guest}. {pair.reason}"
        yield Rejection("pair_not_allowed_now", f"{what} {fix}")
    elif other is not None:
        name = "guests_before_hosts" if order[0] == orders.GUESTS else "hosts_before_guests"
        name = "guests_left_behind" if orders.GUESTS not in order else name
        yield Rejection(name, f"{what} Use the order {', '.join(other)}, or leave out upgrade_order.")
    elif not matrix.guest_allowed(there.target, there.guest_target or pair.guest).allowed:
        newer = branch(there.guest_target) > branch(there.target)
        name = "guest_target_newer_than_host" if newer else "guest_target_too_old"
        name = name if there.guest_target else "guests_left_behind"
        yield Rejection(name, f"{what} Change site.guests.driver or site.driver.")
    else:
        text = f"{what} {_via(there)}"
        yield Rejection("branch_skipped", text)


def _via(there: Fleet) -> str:
    now = newest([host.now for host in there.hosts])
    guests = sorted({guest.now for guest in there.guests if guest.now}, key=branch)
    steps = orders.route(now, guests[0], there.target, there.guest_target) if now and guests else []
    if not steps:
        return "No sequence of known branches has only allowed pairs. Choose another release in site.driver."
    runs = ", ".join(f"{part} to R{number}" for part, number in steps)
    return f"Upgrade in several runs: {runs}."


def _support(there: Fleet) -> Iterator[Rejection]:
    """Rules that the new driver breaks on a host; the site can accept one that is not sure."""
    for host in there.hosts:
        if there.mode not in SHARED or not host.target:
            continue
        requested = [board for board in map(catalogue.board_of, there.profiles) if board is not None]
        boards = list({one.key: one for one in [*requested, *support.boards_of(list(host.boards))]}.values())
        verdicts = [*support.esx(host.target, host.release), *support.dropped(host.target, boards)]
        if there.mode == "mig":
            verdicts += support.mig(host.target, host.release, boards)
        for verdict in verdicts:
            entry = support.entry(verdict.key)
            if not verdict.blocks or (not entry.sure and verdict.key in there.accepted):
                continue
            accept = "" if entry.sure else f" To continue without this rule, add {verdict.key} to site.accept_unsure."
            yield Rejection(verdict.key, f"Cannot upgrade {host.name}. {verdict.found} {verdict.todo}{accept}")


def _licences(there: Fleet, server: str) -> Iterator[Rejection]:
    if not (there.licensed and there.guests):
        return
    for guest in there.guests:
        if guest.licence and not guest.licence.startswith("Licensed"):
            text = f"Cannot upgrade {guest.name}. Its licence is {guest.licence}, and the upgrade keeps it."
            yield Rejection("guest_unlicensed", f"{text} Correct its licence with the playbook guests first.")
    if branch(there.guest_target) < support.DLS_BRANCH or server.lower() == CLS:
        return
    oldest = ".".join(map(str, support.DLS_OLDEST))
    numbers = tuple(int(part) for part in re.findall(r"\d+", server)[:2])
    crosses = any(branch(guest.now) < support.DLS_BRANCH for guest in there.guests if guest.now)
    what = f"Cannot upgrade the guests to R{branch(there.guest_target)}. They need DLS {oldest} or newer"
    if numbers and numbers < support.DLS_OLDEST:
        yield Rejection("licence_server_too_old", f"{what}, and the site has DLS {server}. Upgrade DLS first.")
    elif not numbers and crosses and "dls_3_4" not in there.accepted:
        fix = "Set upgrade_licence_server to its version, or to cls. Or add dls_3_4 to site.accept_unsure."
        yield Rejection("licence_server_unknown", f"{what}, and the version cannot be read. {fix}")


def _evacuation(there: Fleet, waves: Sequence[Sequence[str]]) -> Iterator[Rejection]:
    due = [host for host in there.hosts if host.due]
    for host in due:
        if host.reboot != "allow":
            text = f"Cannot upgrade {host.name}. The new driver needs a restart. Set site.hosts.reboot to allow."
            yield Rejection("restart_not_allowed", text)
    fix = "Set a smaller upgrade_waves, or site.hosts.evacuation to shutdown."
    if any(host.evacuation in MOVES for host in due) and len(waves) == 1:
        text = f"Cannot move the VMs of a wave of {len(there.hosts)} hosts. The site has only {len(there.hosts)}. "
        yield Rejection("no_capacity", f"{text}{fix}")
        return
    for names, profile, needed, places in moves.shortages(there, waves):
        text = f"Cannot move the VMs of the wave {', '.join(names)}. The cluster runs {needed} vGPUs {profile}, and "
        yield Rejection("no_capacity", f"{text}its other hosts have places for {places}. {fix}")


def _guests(there: Fleet, change: bool) -> Iterator[Rejection]:
    # With a host that runs the target, the plan of the run that began was checked against all guests. It may have been
    # killed while VMs were shut down.
    begun = any(host.now == host.target for host in there.hosts)
    for guest in there.guests:
        if not guest.now and not begun:
            text = f"Cannot plan the upgrade of {guest.name}. Its driver cannot be read. "
            yield Rejection("guest_unread", f"{text}Start the VM, and correct the connection to its guest.")
        if change and guest.users and there.guest_target and guest.now != there.guest_target:
            used = ", ".join(guest.users)
            text = f"Cannot replace the driver of {guest.name}. The GPU is in use by {used}. "
            yield Rejection("gpu_in_use", f"{text}Stop the training, or hold it with upgrade_training_hold.")
