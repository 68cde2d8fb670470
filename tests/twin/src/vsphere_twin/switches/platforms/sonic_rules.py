"""Rules of SONiC's YANG models for CONFIG_DB, as far as the fabric's tables need them."""

from __future__ import annotations

import re

NAME = r"[a-zA-Z0-9]{1}([-a-zA-Z0-9_.]{0,31})"
LIST = r"([0-7](,[0-7])*)?"
COLOURS = ("green", "yellow", "red")
ECN = (
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
)
# By table: the field and the table that it refers to.
REFERENCES = {
    "PORT_QOS_MAP": {
        "dscp_to_tc_map": "DSCP_TO_TC_MAP",
        "tc_to_queue_map": "TC_TO_QUEUE_MAP",
        "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
        "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
        "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        "dot1p_to_tc_map": "DOT1P_TO_TC_MAP",
        "scheduler": "SCHEDULER",
    },
    "QUEUE": {"scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"},
    "BUFFER_PG": {"profile": "BUFFER_PROFILE"},
    "BUFFER_QUEUE": {"profile": "BUFFER_PROFILE"},
    "BUFFER_PROFILE": {"pool": "BUFFER_POOL"},
}
# By table: the field and its valid values, as a pattern, a range or words.
FIELDS = {
    "PORT_QOS_MAP": {"pfc_enable": LIST, "pfcwd_sw_enable": LIST},
    "SCHEDULER": {
        "type": ("DWRR", "WRR", "STRICT"),
        "weight": (1, 100),
        "meter_type": ("packets", "bytes"),
        "cir": (0, 10**12),
        "cbs": (0, 10**12),
        "pir": (0, 10**12),
        "pbs": (0, 10**12),
    },
    "WRED_PROFILE": {
        "ecn": ECN,
        **{f"wred_{colour}_enable": ("true", "false") for colour in COLOURS},
        **{f"{colour}_{end}_threshold": (0, 2**32) for colour in COLOURS for end in ("min", "max")},
        **{f"{colour}_drop_probability": (0, 100) for colour in COLOURS},
    },
    "BUFFER_PROFILE": {
        "dynamic_th": (-8, 8),
        "static_th": (0, 2**32),
        "size": (0, 2**32),
        "xon": (0, 2**32),
        "xoff": (0, 2**32),
        "xon_offset": (0, 2**32),
        "headroom_type": ("static", "dynamic"),
        "packet_discard_action": ("drop", "trim"),
    },
    "BUFFER_POOL": {
        "type": ("ingress", "egress", "both"),
        "mode": ("static", "dynamic"),
        "size": (0, 2**32),
        "xoff": (0, 2**32),
        "percentage": (0, 100),
    },
    "PFC_WD": {
        "POLL_INTERVAL": (100, 1000),
        "BIG_RED_SWITCH": ("enable", "disable"),
        "action": ("drop", "forward", "alert"),
        "detection_time": (100, 5000),
        "restoration_time": (100, 60000),
        "pfc_stat_history": ("enable", "disable"),
    },
    "PORT": {
        "admin_status": ("up", "down"),
        "mtu": (68, 9216),
        "pfc_asym": ("on", "off"),
        "speed": (1, 1600000),
        "fec": ("rs", "fc", "none", "auto"),
        "autoneg": ("on", "off"),
        **dict.fromkeys(("alias", "description", "index", "lanes", "adv_speeds", "role", "tpid"), r".+"),
    },
}
MAP_RANGES = {
    "DSCP_TO_TC_MAP": (63, 15),
    "DOT1P_TO_TC_MAP": (7, 15),
    "TC_TO_QUEUE_MAP": (15, 15),
    "TC_TO_PRIORITY_GROUP_MAP": (15, 7),
    "MAP_PFC_PRIORITY_TO_QUEUE": (7, 7),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": (7, 7),
    "MPLS_TC_TO_TC_MAP": (7, 15),
}
# Tables whose keys are ports, or a port and numbers.
BY_PORT = {
    "PORT_QOS_MAP": ("global",),
    "PFC_WD": ("GLOBAL",),
    "BUFFER_PORT_INGRESS_PROFILE_LIST": (),
    "BUFFER_PORT_EGRESS_PROFILE_LIST": (),
}
BY_PORT_AND_NUMBER = {"QUEUE": 19, "BUFFER_PG": 7, "BUFFER_QUEUE": 19}
FREE = ("DEVICE_METADATA", "FEATURE", "LOSSLESS_TRAFFIC_PATTERN", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LLDP")
FREE += ("FLEX_COUNTER_TABLE", "VLAN", "VLAN_MEMBER", "INTERFACE", "LOOPBACK_INTERFACE", "DEVICE_NEIGHBOR", "MGMT_PORT")


def problem(tables):
    """Return the first refusal of the models, in the words of libyang, or None."""
    return next(_problems(tables), None)


def _problems(tables):
    for table in sorted(tables):
        if table not in {*FIELDS, *REFERENCES, *MAP_RANGES, *BY_PORT, *BY_PORT_AND_NUMBER, "CABLE_LENGTH", *FREE}:
            yield f'All Keys are not parsed in {table}\ndict_keys(["{table}"])'
            continue
        for key, entry in tables[table].items():
            if not isinstance(entry, dict):
                yield f"{table}|{key} is no entry"
                continue
            yield from _key(tables, table, key)
            yield from _entry(tables, table, key, entry)
    yield from _watchdog(tables.get("PFC_WD", {}))


def _key(tables, table, key):
    ports = tables.get("PORT", {})
    if table in BY_PORT and key not in BY_PORT[table] and key not in ports:
        yield _dangling("PORT", key)
    if table in BY_PORT_AND_NUMBER:
        port, _bar, number = key.partition("|")
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", number)
        if port not in ports:
            yield _dangling("PORT", port)
        if match is None or not int(match[1]) <= int(match[2] or match[1]) <= BY_PORT_AND_NUMBER[table]:
            yield _unfit(number, f"0..{BY_PORT_AND_NUMBER[table]}")
    if table in {*MAP_RANGES, "SCHEDULER", "WRED_PROFILE"} and not re.fullmatch(NAME, key):
        yield _unfit(key, NAME)


def _entry(tables, table, key, entry):
    for field, value in entry.items():
        if table in FREE:
            continue
        if not isinstance(value, str):
            yield f"Value {value!r} of {table}|{key} {field} is no text"
        elif table in MAP_RANGES:
            yield from _range(field, 0, MAP_RANGES[table][0])
            yield from _range(value, 0, MAP_RANGES[table][1])
        elif table == "CABLE_LENGTH":
            if field not in tables.get("PORT", {}):
                yield _dangling("PORT", field)
            if not re.fullmatch(r"[0-9]+m", value):
                yield _unfit(value, "[0-9]+(m)")
        elif field in REFERENCES.get(table, {}):
            target = REFERENCES[table][field]
            if value not in tables.get(target, {}) and not (target == "BUFFER_PROFILE" and value == "NULL"):
                yield _dangling(target, value)
        elif field == "profile_list":
            yield from (
                _dangling("BUFFER_PROFILE", one) for one in value.split(",") if one not in tables["BUFFER_PROFILE"]
            )
        elif field in FIELDS.get(table, {}):
            yield from _value(FIELDS[table][field], value)
        else:
            yield f"Invalid JSON data (unexpected value) at {table}|{key}: {field}"
    if table == "WRED_PROFILE":
        for colour in COLOURS:
            low, high = entry.get(f"{colour}_min_threshold"), entry.get(f"{colour}_max_threshold")
            if low is not None and high is not None and low.isdigit() and high.isdigit() and int(low) > int(high):
                yield f"{colour}_min_threshold should be less than or equal to {colour}_max_threshold"
    if table in ("BUFFER_PG", "BUFFER_QUEUE") and "profile" not in entry:
        yield f'Missing required element "profile" in "{table}_LIST".'
    if table == "PORT" and "lanes" not in entry:
        yield 'Missing required element "lanes" in "PORT_LIST".'


def _value(rule, value):
    if isinstance(rule, str):
        if not re.fullmatch(rule, value):
            yield _unfit(value, rule)
    elif isinstance(rule[0], int):
        yield from _range(value, *rule)
    elif value not in rule:
        yield f'Invalid value "{value}" in the element; one of {", ".join(rule)} is wanted.'


def _range(value, least, most):
    if not re.fullmatch(r"-?\d+", value) or not least <= int(value) <= most:
        yield _unfit(value, f"{least}..{most}")


def _watchdog(entries):
    poll = entries.get("GLOBAL", {}).get("POLL_INTERVAL", "")
    for port, one in entries.items():
        for field in ("detection_time", "restoration_time"):
            time = one.get(field, "")
            if poll.isdigit() and time.isdigit() and int(time) < int(poll):
                yield f"{field} must be greater than or equal to POLL_INTERVAL ({port})"


def _dangling(table, value):
    module = f"sonic-{table.lower().replace('_', '-')}"
    return f'Leafref "/{module}:{module}/{module}:{table}" of value "{value}" points to a non-existing leaf.'


def _unfit(value, constraint):
    return f'Value "{value}" does not satisfy the constraint "{constraint}" (range, length, or pattern).'
