"""Treatment of packets by a SONiC switch: the chain from DSCP to traffic class to queue and group to PFC."""

from __future__ import annotations

import re

from ..treatment import Marking, Treatment


def numbers(text):
    """3-4 as {3, 4}."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    return set(range(int(match[1]), int(match[2] or match[1]) + 1)) if match else set()


def members(text):
    """3,4 as {3, 4}."""
    return {int(part) for part in text.split(",") if part.strip().isdigit()}


def per_port(tables, table, port):
    """{number: entry} of a table whose keys are a port and numbers."""
    found = {}
    for key, entry in tables.get(table, {}).items():
        owner, _bar, rest = key.partition("|")
        if owner == port:
            found |= dict.fromkeys(numbers(rest), entry)
    return found


def lossless_groups(tables, port):
    """The priority groups of a port that have headroom."""
    profiles = tables.get("BUFFER_PROFILE", {})
    dynamic = tables.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic"
    found = set()
    for group, entry in per_port(tables, "BUFFER_PG", port).items():
        name = entry.get("profile", "")
        if name == "NULL":
            found |= {group} if dynamic else set()
        elif "xoff" in profiles.get(name, {}) or profiles.get(name, {}).get("headroom_type") == "dynamic":
            found.add(group)
    return found


def mapping(tables, port, field, table, size, default):
    """A map of a port as a tuple, or the default where it has none."""
    own = tables.get("PORT_QOS_MAP", {}).get(port, {})
    chosen = tables.get(table, {}).get(own.get(field, ""))
    if chosen is None:
        return default
    return tuple(int(chosen.get(str(number), 0)) for number in range(size))


def treatment(tables, port, dead):
    """Return the treatment by the hardware of a port now."""
    own = tables.get("PORT_QOS_MAP", {}).get(port, {})
    classes = mapping(tables, port, "dscp_to_tc_map", "DSCP_TO_TC_MAP", 64, None)
    if "trust" in dead:
        classes = None
    queues = mapping(tables, port, "tc_to_queue_map", "TC_TO_QUEUE_MAP", 8, (0,) * 8)
    groups = mapping(tables, port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", 8, (0,) * 8)
    paused = mapping(tables, port, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", 8, None)
    enabled = set() if "pfc" in dead else members(own.get("pfc_enable", ""))
    lossless = lossless_groups(tables, port)
    reached = {groups[one] for one in (classes or (0,))}
    entry = tables.get("PORT", {}).get(port, {})
    asymmetric = entry.get("pfc_asym") == "on" and "pfc" not in dead
    heeded = set(range(8)) if asymmetric else enabled
    return Treatment(
        trust="dscp" if classes else "pcp" if "dot1p_to_tc_map" in own else "none",
        priorities=classes or (0,) * 64,
        queues=queues,
        groups=groups,
        # A group that overflows pauses the priority of its own number, and only where PFC is on for that one.
        pauses_sent=frozenset(one for one in enabled & lossless if one in reached),
        # A pause of a priority stops the queue of the map: it only helps traffic that leaves through this queue.
        pauses_heeded=frozenset(one for one in heeded if paused is not None and paused[one] == queues[one]),
        no_drop=frozenset(one for one in range(8) if groups[one] in lossless and "pfc" not in dead),
        marking={} if "ecn" in dead else _marking(tables, port),
        strict=frozenset(number for number, one in _schedulers(tables, port).items() if one.get("type") == "STRICT"),
        shares=_shares(_schedulers(tables, port)),
        mtu=1500 if "mtu" in dead else int(entry.get("mtu", 9100)),
        watchdog="watchdog" not in dead and watched(tables, port) != set(),
    )


def watched(tables, port):
    """Return the priorities that the PFC watchdog monitors."""
    own = tables.get("PORT_QOS_MAP", {}).get(port, {})
    if "detection_time" not in tables.get("PFC_WD", {}).get(port, {}):
        return set()
    return members(own.get("pfcwd_sw_enable", "")) & members(own.get("pfc_enable", ""))


def _marking(tables, port):
    found = {}
    for queue, entry in per_port(tables, "QUEUE", port).items():
        profile = tables.get("WRED_PROFILE", {}).get(entry.get("wred_profile", ""))
        if profile is None or profile.get("wred_green_enable") != "true" or "green_max_threshold" not in profile:
            continue
        ecn = profile.get("ecn", "ecn_none")
        found[queue] = Marking(
            int(profile.get("green_min_threshold", 0)),
            int(profile["green_max_threshold"]),
            int(profile.get("green_drop_probability", 100)),
            ecn == "ecn_all" or "green" in ecn.split("_"),
        )
    return found


def _schedulers(tables, port):
    queues = per_port(tables, "QUEUE", port)
    known = tables.get("SCHEDULER", {})
    return {number: known[entry["scheduler"]] for number, entry in queues.items() if entry.get("scheduler") in known}


def _shares(schedulers):
    weights = {number: int(one.get("weight", 1)) for number, one in schedulers.items() if one.get("type") != "STRICT"}
    total = sum(weights.values())
    return {number: round(100 * weight / total) for number, weight in weights.items()}
