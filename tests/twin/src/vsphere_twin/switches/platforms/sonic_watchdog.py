"""`config pfcwd` and `pfcwd` of SONiC: the PFC watchdog's settings, written straight into CONFIG_DB."""

from __future__ import annotations

import copy

from .linux_text import natural
from .sonic_click import Command, Failed, Misused, choice, integer

TABLE = "PFC_WD"


def _start(call, arguments, given):
    *ports, detection = arguments
    detection = integer(call.path, "detection-time", detection, 100, 5000)
    entry = {}
    if given.get("action"):
        entry["action"] = choice(call.path, "action", given["action"], ("drop", "forward", "alert"))
    entry["detection_time"] = str(detection)
    reported = ""
    if given.get("restoration"):
        entry["restoration_time"] = str(integer(call.path, "restoration-time", given["restoration"], 100, 60000))
    else:
        entry["restoration_time"] = str(2 * detection)
        reported = f"restoration time not defined; default to 2 times detection time: {2 * detection} ms\n"
    if not ports:
        raise Misused(call.path, "Missing argument.")
    known = call.device.tables.get("PORT", {})
    strange = sorted({port for port in ports if port not in known and port != "all"})
    if strange:
        raise Failed("Failed to run command, invalid options:\n" + "".join(f"{port}\n" for port in strange))
    tables = copy.deepcopy(call.device.tables)
    for port in sorted(known, key=natural) if "all" in ports else ports:
        if "pfc_enable" not in tables.get("PORT_QOS_MAP", {}).get(port, {}):
            reported += f"SKIPPED: PFC is not enabled on port: {port}\n"
            continue
        history = tables.get(TABLE, {}).get(port, {}).get("pfc_stat_history", "disable")
        history = "enable" if given.get("history") else history
        tables.setdefault(TABLE, {})[port] = {**entry, "pfc_stat_history": history}
    call.device.change(tables)
    return reported


def _start_default(call, arguments, given):
    device = call.device
    tables = copy.deepcopy(device.tables)
    if tables["DEVICE_METADATA"]["localhost"].get("default_pfcwd_status") != "enable":
        return ""
    factor = max(1, (len(tables["PORT"]) - 1) // 32 + 1)
    time, reported = str(200 * factor), ""
    for port in sorted(tables.get("DEVICE_NEIGHBOR", {}), key=natural):
        if "pfc_enable" not in tables.get("PORT_QOS_MAP", {}).get(port, {}):
            reported += f"SKIPPED: PFC is not enabled on port: {port}\n"
            continue
        entry = {"action": "drop", "detection_time": time, "restoration_time": time, "pfc_stat_history": "disable"}
        tables.setdefault(TABLE, {})[port] = entry
    tables.setdefault(TABLE, {})["GLOBAL"] = {"POLL_INTERVAL": str(min(1000, 200 * factor))}
    device.change(tables)
    return reported


def _stop(call, arguments, given):
    tables = copy.deepcopy(call.device.tables)
    entries = tables.get(TABLE, {})
    for port in arguments or list(tables.get("PORT", {})):
        if port != "GLOBAL":
            entries.pop(port, None)
    if TABLE in tables and not entries:
        tables.pop(TABLE)
    call.device.change(tables)


def _interval(call, arguments, given):
    wanted = integer(call.path, "poll_interval", arguments[0], 100, 1000)
    tables = copy.deepcopy(call.device.tables)
    for port, entry in tables.get(TABLE, {}).items():
        for field in ("detection_time", "restoration_time"):
            if port != "GLOBAL" and int(entry.get(field, 10**6)) < wanted:
                raise Failed(
                    "",
                    f"unable to use polling interval = {wanted}ms, value is bigger than one of the configured "
                    f"{field.replace('_', ' ')} values, please choose a smaller polling_interval\n",
                )
    entry = tables.setdefault(TABLE, {}).setdefault("GLOBAL", {})
    entry["POLL_INTERVAL"] = str(wanted)
    call.device.change(tables)


def _big_red_switch(call, arguments, given):
    tables = copy.deepcopy(call.device.tables)
    state = choice(call.path, "big_red_switch", arguments[0], ("enable", "disable"))
    tables.setdefault(TABLE, {}).setdefault("GLOBAL", {})["BIG_RED_SWITCH"] = state
    call.device.change(tables)


def _counter_poll(call, arguments, given):
    tables = copy.deepcopy(call.device.tables)
    state = choice(call.path, "counter_poll", arguments[0], ("enable", "disable"))
    tables.setdefault("FLEX_COUNTER_TABLE", {})["PFCWD"] = {"FLEX_COUNTER_STATUS": state}
    call.device.change(tables)


_VALUED = {"-a": "action", "--action": "action", "-r": "restoration", "--restoration-time": "restoration"}
TREE = {
    "start": Command(_start, _VALUED, {"--pfc-stat-history": "history", "--verbose": "verbose"}, 1, 10**4),
    "start_default": Command(_start_default, {}, {"--verbose": "verbose"}),
    "stop": Command(_stop, {}, {"--verbose": "verbose"}, 0, 10**4),
    "interval": Command(_interval, {}, {"--verbose": "verbose"}, 1, 1),
    "big_red_switch": Command(_big_red_switch, {}, {"--verbose": "verbose"}, 1, 1),
    "counter_poll": Command(_counter_poll, {}, {"--verbose": "verbose"}, 1, 1),
}
