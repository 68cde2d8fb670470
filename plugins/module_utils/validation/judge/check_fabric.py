# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of the placement of guests, and of the settings and counters of adapters and the fabric. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import (
    Found,
    listing,
    mapping,
    short,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.spread import where
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import counters

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import About

# Less traffic than this proves nothing about a traffic class.
MANY_BYTES = 10**9
# Keys of the figures of other checks: the least that RDMA sent, {(from, to): bytes}, and the traffic of ports,
# {(switch, port): bytes}; and the checks that send.
SENT, CARRIED = "sent", "carried"
SENDS = ("pair.write_bw", "pair.write_bw_both", "pair.write_bw_gpu")
# Counters may be read before the last packet; less than this share of what was sent is other traffic.
SHARE = 0.5
# Ports that are named in a reason.
SHOWN = 3


def hosts(values: Mapping[str, Any], about: About) -> Found:
    """Whether no two VMs share a host: traffic between such VMs does not use the network."""
    reported = {guest: host for guest, host in mapping(values.get("hosts")).items() if host}
    wanted = about.intent["guests"]
    missing = [guest for guest in wanted if guest not in reported]
    if not reported or missing:
        return Found(None, expected="one VM per host")
    shared: dict[str, list[str]] = {}
    for guest in wanted:
        shared.setdefault(reported[guest], []).append(guest)
    shared = {host: guests for host, guests in shared.items() if len(guests) > 1}
    answer = Found(
        f"{len({reported[guest] for guest in wanted})} hosts for {len(wanted)} VMs", expected="one VM per host"
    )
    answer.source = "the site"
    for host, guests in sorted(shared.items()):
        why = f"{' and '.join(guests)} share the host {host}. Traffic between them does not use the network."
        cause = f"the host {host}, which runs {' and '.join(guests)}"
        if about.intent["share_hosts"]:
            answer.warn(why, cause, "shared_host")
        else:
            answer.fail(why, cause, "shared_host")
    return answer


def settings(values: Mapping[str, Any], about: About) -> Found:
    """The conflicts between the ends of the fabric, and whether every required setting on the paths is known."""
    text = "all required settings on the paths known and consistent"
    if not isinstance(values.get("disagreements"), (list, tuple)):
        return Found(None, expected=text)
    wrong = [mapping(one) for one in values["disagreements"]]
    errors = [one for one in wrong if one.get("severity") == "error"]
    answer = Found(len(errors), expected=text, source="the desired state of the site", high=0, compared=False)
    for one in wrong:
        report = answer.fail if one.get("severity") == "error" else answer.warn
        # An MTU that is configured but not effective explains as much as one that is not configured.
        code = "mtu" if one.get("key") == "mtu" else str(one.get("code") or "settings")
        report(str(one.get("msg") or one.get("code")), _port(one.get("a")), code)
    ends = [mapping(one) for one in listing(values.get("ends")) if _on_path(mapping(one), about)]
    known = sum(len(listing(one.get("known"))) for one in ends)
    unknown = [f"{_port(one)} ({', '.join(listing(one['unknown']))})" for one in ends if one.get("unknown")]
    many = sum(len(listing(one.get("unknown"))) for one in ends)
    said = f"{known} settings of {len(ends)} ports on the paths were compared"
    more = f", and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
    lacking = f"{many} required settings are unknown: {'; '.join(unknown[:SHOWN])}{more}."
    if not known or not listing(values.get("paths")):
        cables = listing(values.get("paths"))
        why = lacking if many and cables else "No setting of a port on the paths was reported."
        why = why if cables else "No cable between the read devices is known."
        nothing = Found(None, expected=text, note=f"Nothing was compared. {why}")
        # The conflicts stay, also for other rows.
        return dataclasses.replace(answer, measured=len(errors) or None) if answer.remarks else nothing
    if many:
        answer.warn(f"{said}. {lacking}", "equipment that does not report these settings", "unknown")
    loose = _without_cable(values, about)
    if loose:
        names = ", ".join(loose)
        why = f"No cable of {names} to a switch is known, so the ports there were not compared."
        answer.warn(why, f"LLDP of {names}, or site.fabric.cables", "unknown")
    unreported = sorted({f"{one.get('name')}: {what}" for one in ends for what in listing(one.get("unreported"))})
    answer.note = f"{said}."
    if unreported:
        answer.note += f" Not compared, because the platform does not report it: {'; '.join(unreported)}."
    return answer


def _without_cable(values: Mapping[str, Any], about: About) -> list[str]:
    """Hosts of the run without a known cable, at the adapter of the guest if that is known."""
    sides = [mapping(mapping(path).get(side)) for path in listing(values.get("paths")) for side in "ab"]
    cabled = {(one.get("name"), one.get("port")) for one in sides} | {(one.get("name"), None) for one in sides}
    # A guest has the cable of a port in passthrough mode.
    places = [mapping(about.places.get(one)) for one in about.intent["guests"] if (one, None) not in cabled]
    return sorted({one["host"] for one in places if one.get("host") and (one["host"], one.get("nic")) not in cabled})


def _on_path(end: Mapping[str, Any], about: About) -> bool:
    """Whether an end of a cable is on a path of the run; if no path is known, all ends count.

    A port in passthrough mode belongs to the guest, and other adapters of its host are on no path.
    """
    hops = [(one["switch"], one["port"]) for hop in about.intent["hops"] for one in hop["ports"]]
    whole = about.intent["data_path"] == "passthrough"
    hosts = set(about.intent["guests"]) if whole else {mapping(place).get("host") for place in about.places.values()}
    at = end.get("name"), end.get("port")
    return not hops or at in hops or (not end.get("switch") and end.get("name") in hosts)


def counted(values: Mapping[str, Any], about: About) -> Found:
    """Counter changes during the timed runs: no drops are allowed, ECN marks may rise."""
    text = "no drops, no retransmissions"
    if not isinstance(values.get("changed"), dict):
        note = "The counters were read only once." if "counters" in values else str(values.get("silent") or "")
        return Found(None, expected=text, note=note)
    changed, known, place = values["changed"], listing(values.get("known")), _subject(about)
    kinds = counters.sorted_out(changed)
    drops, resent = (sum(kinds.get(kind, {}).values()) for kind in (counters.DROPS, counters.RESENT))
    lossless = about.intent["lossless"]
    source = "requirement of a lossless network" if lossless else "drops warn, because the network is not lossless"
    answer = Found(drops + resent, expected=text, source=source, high=0, compared=False)
    if drops:
        report = answer.fail if lossless else answer.warn
        report(f"Packets were dropped: {_names(kinds[counters.DROPS])}.", f"packets are dropped at {place}", "drops")
    if resent:
        cause = f"packets are lost on the path to or from {place}"
        answer.warn(f"RDMA retransmitted packets: {_names(kinds[counters.RESENT])}.", cause, "resent")
    if kinds.get(counters.ERRORS):
        answer.warn(f"Link errors: {_names(kinds[counters.ERRORS])}.", f"the cable of {place}", "link")
    if lossless:
        _classes(changed, about.intent["priority"], answer, place)
    if kinds.get(counters.PERHAPS):
        reported = f"The counters do not separate RoCE from TCP: {_names(kinds[counters.PERHAPS])}."
        # PVRDMA bypasses the queues of the guest adapter.
        beside = "guest" in about.subject and about.intent["data_path"] == "pvrdma"
        if beside or {counters.DROPS, counters.RESENT} & {counters.kind(name) for name in known}:
            answer.note = reported
        else:
            answer.warn(f"Packets were dropped. {reported}", f"packets are dropped at {place}", "perhaps")
    missing = _uncounted(values, about)
    if missing and not answer.remarks:
        return _unproven(missing, about)
    if missing and not drops + resent:
        answer.measured = "not counted"
    elif not missing:
        answer.free = _idle(about)
        answer.note = f"{_bytes(counters.octets(changed))} carried. {answer.note}".strip()
    return answer


def _uncounted(values: Mapping[str, Any], about: About) -> str:
    """Reason for which the counters do not prove that nothing was dropped; an empty text if they do."""
    known, lost = listing(values.get("known")), listing(values.get("lost"))
    if not known and lost:
        return "All counters were reset during the runs, so they prove nothing."
    again = [name for name in lost if counters.kind(name) in counters.LOSSES]
    if again:
        return f"Drop counters disappeared, appeared or were reset: {', '.join(map(str, again[:3]))}."
    if not any(counters.kind(name) in counters.LOSSES for name in known):
        return "No drop counter was read."
    if not counters.reports_of_traffic(known):
        return "No counter reports the RDMA traffic."
    return _unmoved(counters.octets(values["changed"]), about)


def _unmoved(carried: int, about: About) -> str:
    """Reason for which the counted traffic does not match the sent traffic."""
    sent, subject = mapping(about.below.get(SENT)), about.subject
    if "guest" in subject:
        wanted = sum(octets for pair, octets in sent.items() if subject["guest"] in pair)
        return "" if carried > wanted * SHARE else _too_little(carried, wanted)
    others, hops = mapping(about.below.get(CARRIED)), _hops(about)
    for hop in hops:
        # Traffic of another port of the same hop did not use this port.
        passed = sum(others.get(port, 0) for port in hop["ports"])
        wanted = sum(sent.get(pair, 0) for pair in (hop["between"], hop["between"][::-1]))
        if passed <= wanted * SHARE:
            return _too_little(passed, wanted)
    return "" if hops or carried else _too_little(0, 0)


def _too_little(carried: float, wanted: float) -> str:
    least = f", but RDMA sent at least {_bytes(wanted)}" if wanted else ""
    return f"The counters show {_bytes(carried) if carried else 'no traffic'}{least}."


def _hops(about: About) -> list[dict[str, Any]]:
    """The hops of the paths through a port, with pairs and ports as keys."""
    mine = about.subject.get("switch"), about.subject.get("port")
    reported = [
        {"between": tuple(hop["between"]), "ports": [(one["switch"], one["port"]) for one in hop["ports"]]}
        for hop in about.intent["hops"]
    ]
    return [hop for hop in reported if mine in hop["ports"]]


def _unproven(missing: str, about: About) -> Found:
    """The row of counters that prove nothing and show no problem."""
    if "guest" in about.subject and about.intent["data_path"] == "pvrdma":
        why = "The PVRDMA driver has no drop counter. Switch ports count drops, see fabric.counters."
        return Found("no drop counter", free=why, compared=False)
    return Found(None, note=missing)


def _idle(about: About) -> str:
    """Reason for which a port is not required: other ports of its hops carried the traffic."""
    others: Mapping[Any, int] = mapping(about.below.get(CARRIED))
    mine = about.subject.get("switch"), about.subject.get("port")
    hops = _hops(about)
    if others.get(mine) or not hops:
        return ""
    busy = sorted({port for hop in hops for port in hop["ports"] if others.get(port)})
    return f"No traffic of this run used this port: {', '.join(map(' '.join, busy))} carried it." if busy else ""


def _bytes(octets: float) -> str:
    """Bytes with a readable unit."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if octets >= size:
            return f"{short(octets / size)} {unit}"
    return f"{octets} bytes"


def _classes(changed: Mapping[str, int], priority: int, answer: Found, place: str) -> None:
    """RoCE in another traffic class than the one with PFC, and pause frames of other classes."""
    pauses = counters.by_priority(changed, r"(?:rx|tx)_prio(\d)_pause")
    wrong = sorted(one for one, count in pauses.items() if one != priority and count)
    if wrong:
        why = f"PFC pause frames have priority {', '.join(map(str, wrong))}, but RoCE uses priority {priority}."
        answer.warn(why, f"the PFC configuration of {place}", "pfc_class")
    sent = counters.by_priority(changed, r"tx_prio(\d)_bytes")
    octets = changed.get("tx_vport_rdma_unicast_bytes", 0)
    if sent and octets > MANY_BYTES and sent.get(priority, 0) < octets / 2:
        most = max(sent, key=sent.get)  # type: ignore[arg-type]
        why = f"RoCE was sent with priority {most}, which has no PFC, instead of {priority}."
        answer.fail(why, f"the DSCP of the RoCE traffic class at {place}", "pfc_class")


def _names(changes: Mapping[str, int]) -> str:
    most = sorted(changes.items(), key=lambda one: (-one[1], one[0]))[:3]
    return ", ".join(f"{name} +{count}" for name, count in most)


def _subject(about: About) -> str:
    subject = about.subject
    if "guest" in subject:
        return where(subject["guest"], about.places)
    return " ".join(str(subject[key]) for key in ("switch", "host", "port") if subject.get(key)) or "the fabric"


def _port(end: Any) -> str:
    end = mapping(end)
    return " ".join(str(end[key]) for key in ("name", "port") if end.get(key))


# The function that reads the values of each check.
LOOKS = {
    "guest.counters": counted,
    "placement.hosts": hosts,
    "fabric.settings": settings,
    "fabric.counters": counted,
}
