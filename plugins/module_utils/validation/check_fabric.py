# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""What is looked for in where guests are, and in the settings and counters of adapters and of the fabric. Pure."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation import counters
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.found import Found, listing, mapping
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.spread import where

# Less than this says nothing of a class.
MANY_BYTES = 10**9


def hosts(values, about):
    """Whether no two VMs share a host: between such, nothing goes over the network."""
    told = {guest: host for guest, host in mapping(values.get("hosts")).items() if host}
    wanted = about.intent["guests"]
    missing = [guest for guest in wanted if guest not in told]
    if not told or missing:
        return Found(None, expected="a host for each")
    shared = {}
    for guest in wanted:
        shared.setdefault(told[guest], []).append(guest)
    shared = {host: guests for host, guests in shared.items() if len(guests) > 1}
    answer = Found(f"{len({told[guest] for guest in wanted})} hosts for {len(wanted)} VMs", expected="a host for each")
    answer.source = "the site"
    for host, guests in sorted(shared.items()):
        why = f"{' and '.join(guests)} run on {host}: what is measured between them never leaves it."
        cause = f"the host {host}, on which {' and '.join(guests)} run"
        if about.intent["share_hosts"]:
            answer.warn(why, cause, "shared_host")
        else:
            answer.fail(why, cause, "shared_host")
    return answer


def settings(values, about):
    """What the comparison of all ends of the fabric found."""
    if not isinstance(values.get("disagreements"), (list, tuple)):
        return Found(None, expected="no disagreement")
    wrong = [mapping(one) for one in values["disagreements"]]
    errors = [one for one in wrong if one.get("severity") == "error"]
    answer = Found(len(errors), expected="no disagreement", source="the intent of the site", high=0, compared=False)
    for one in wrong:
        tell = answer.fail if one.get("severity") == "error" else answer.warn
        # An MTU that is configured and does not act explains as much as one that is not configured.
        code = "mtu" if one.get("key") == "mtu" else str(one.get("code") or "settings")
        tell(str(one.get("msg") or one.get("code")), _port(one.get("a")), code)
    if not listing(values.get("paths")) and "paths" in values:
        return Found(None, expected="no disagreement")
    unknown = listing(values.get("not_known"))
    if unknown:
        answer.note = f"{len(unknown)} settings are not told by their equipment."
    return answer


def counted(values, about):
    """What changed in counters during the timed runs: nothing may be dropped, marks may rise."""
    text = "nothing dropped, nothing sent again"
    if not isinstance(values.get("changed"), dict):
        note = "There is only one look at the counters." if "counters" in values else ""
        return Found(None, expected=text, note=note)
    changed, place = values["changed"], _subject(about)
    kinds = counters.sorted_out(changed)
    drops, resent = (sum(kinds.get(kind, {}).values()) for kind in (counters.DROPS, counters.RESENT))
    answer = Found(drops + resent, expected=text, source="what lossless networks are for", high=0, compared=False)
    lossless = about.intent["lossless"]
    if drops:
        tell = answer.fail if lossless else answer.warn
        tell(f"Packets were dropped: {_names(kinds[counters.DROPS])}.", f"{place}, where packets are dropped", "drops")
    if resent:
        cause = f"packets on their way to or from {place} were lost"
        answer.warn(f"RDMA sent again what was lost or late: {_names(kinds[counters.RESENT])}.", cause, "resent")
    if kinds.get(counters.ERRORS):
        answer.warn(f"Its link had errors: {_names(kinds[counters.ERRORS])}.", f"the cable of {place}", "link")
    if lossless:
        _classes(changed, about.intent["priority"], answer, place)
    if listing(values.get("lost")) and not changed:
        answer.warn("All counters began anew during the runs, so that they say nothing.", place, "restarted")
    if kinds.get(counters.PERHAPS):
        answer.note = f"Of RoCE or of TCP, which is not told: {_names(kinds[counters.PERHAPS])}."
    return answer


def _classes(changed, priority, answer, place):
    """RoCE that leaves in another class than the one with flow control, and pauses of classes that have none."""
    pauses = counters.by_priority(changed, r"(?:rx|tx)_prio(\d)_pause")
    wrong = sorted(one for one, count in pauses.items() if one != priority and count)
    if wrong:
        why = f"Pauses came for priority {', '.join(map(str, wrong))}, and RoCE has priority {priority}."
        answer.warn(why, f"flow control of {place}", "pfc_class")
    sent = counters.by_priority(changed, r"tx_prio(\d)_bytes")
    octets = changed.get("tx_vport_rdma_unicast_bytes", 0)
    if sent and octets > MANY_BYTES and sent.get(priority, 0) < octets / 2:
        most = max(sent, key=sent.get)
        why = f"RoCE left with priority {most} instead of {priority}, which has no flow control."
        answer.fail(why, f"the class of RoCE's DSCP at {place}", "pfc_class")


def _names(changes):
    most = sorted(changes.items(), key=lambda one: (-one[1], one[0]))[:3]
    return ", ".join(f"{name} +{count}" for name, count in most)


def _subject(about):
    subject = about.subject
    if "guest" in subject:
        return where(subject["guest"], about.places)
    return " ".join(str(subject[key]) for key in ("switch", "host", "port") if subject.get(key)) or "the fabric"


def _port(end):
    end = mapping(end)
    return " ".join(str(end[key]) for key in ("name", "port") if end.get(key))
