"""The databases of SONiC and the tools that read them: sonic-cfggen, sonic-db-cli, sonic-db-dump, redis-cli."""

from __future__ import annotations

import copy
import fnmatch
import json

from vsphere_twin.shell.interpreter import Output

from . import sonic_chain
from .linux_text import natural, text

NUMBERS = {"APPL_DB": 0, "ASIC_DB": 1, "COUNTERS_DB": 2, "CONFIG_DB": 4, "STATE_DB": 6}
PORT_OBJECT = "oid:0x10000000003{:02x}"
FRAME = 22  # the ASIC's MTU counts these bytes beyond that of the port


def ordered(tables):
    """Tables, keys and fields in the order that sonic-cfggen prints."""
    if not isinstance(tables, dict):
        return tables
    return {key: ordered(tables[key]) for key in sorted(tables, key=natural)}


def cfggen(device, shell, argv, stdin):
    """sonic-cfggen: CONFIG_DB or files as JSON, a table, a variable; or written to the database."""
    words, given = argv[1:], {"json": []}
    while words:
        word = words.pop(0)
        if word in ("-d", "--print-data", "--write-to-db", "-H"):
            given[word] = True
        elif word in ("-v", "--var", "--var-json", "-j", "--json", "-n", "-K", "--key") and words:
            name = {"--var": "-v", "--json": "-j", "--key": "-K"}.get(word, word)
            value = words.pop(0)
            given["json" if name == "-j" else name] = [*given["json"], value] if name == "-j" else value
        else:
            return _misused(f"sonic-cfggen: error: unrecognized arguments: {word}")
    tables = copy.deepcopy(device.tables) if given.get("-d") else {}
    for path in given["json"]:
        try:
            document = json.loads(stdin() if path in ("-", "/dev/stdin") else shell.files()[path])
        except (KeyError, ValueError):
            return _misused(f"sonic-cfggen: cannot read {path}")
        for table, entries in document.items():
            for key, entry in entries.items():
                tables.setdefault(table, {}).setdefault(key, {}).update(entry)
    if given.get("--write-to-db"):
        merged = copy.deepcopy(device.tables)
        for table, entries in tables.items():
            for key, entry in entries.items():
                merged.setdefault(table, {}).setdefault(key, {}).update(entry)
        device.change(merged)
        return Output()
    if "--var-json" in given:
        part = tables.get(given["--var-json"])
        part = part if part is None or "-K" not in given else part.get(given["-K"])
        return Output("" if part is None else json.dumps(ordered(part), indent=4) + "\n")
    if "-v" in given:
        value = tables
        for part in given["-v"].split("."):
            value = value.get(part, "") if isinstance(value, dict) else ""
        return Output(f"{value}\n" if value != "" else "\n")
    if given.get("--print-data"):
        return Output(json.dumps(ordered(tables), indent=4) + "\n")
    return Output()


def _misused(said):
    return Output("", 2, f"usage: sonic-cfggen [-h] [-d] [-j JSON] [-v VAR | --var-json NAME | --print-data]\n{said}\n")


# -- databases -----------------------------------------------------------------------------------------------------


def databases(device):
    """Return {database: {key: fields}}; all but the configuration contain the running state."""
    config = {f"{table}|{key}": fields for table, entries in device.tables.items() for key, fields in entries.items()}
    application, asic, counters, names = {}, {}, {}, {}
    for number, port in enumerate(device.ports()):
        own, one = device.treatment(port), device.switch.ports[port]
        entry = device.tables.get("PORT", {}).get(port, {})
        oid = PORT_OBJECT.format(number)
        names[port] = oid
        application[f"PORT_TABLE:{port}"] = {
            **entry,
            "mtu": str(own.mtu),
            "oper_status": "up" if one.up and entry.get("admin_status") == "up" else "down",
        }
        asic[f"ASIC_STATE:SAI_OBJECT_TYPE_PORT:{oid}"] = {
            "SAI_PORT_ATTR_ADMIN_STATE": "true" if entry.get("admin_status") == "up" else "false",
            "SAI_PORT_ATTR_MTU": str(own.mtu + FRAME),
            "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": str(_bitmap(device, port)),
            "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP": "oid:0x14000000000591" if own.trust == "dscp" else "oid:0x0",
        }
        counters[f"COUNTERS:{oid}"] = {
            f"SAI_PORT_STAT_PFC_{priority}_{way.upper()}_PKTS": str(one.counters[f"{way}_pause_{priority}"])
            for way in ("rx", "tx")
            for priority in range(8)
        }
    counters["COUNTERS_PORT_NAME_MAP"] = names
    state = {f"PORT_TABLE|{port}": {"state": "ok"} for port in device.ports()}
    return {"CONFIG_DB": config, "APPL_DB": application, "ASIC_DB": asic, "COUNTERS_DB": counters, "STATE_DB": state}


def _bitmap(device, port):
    if "pfc" in device.switch.dead_features:
        return 0
    entry = device.tables.get("PORT_QOS_MAP", {}).get(port, {})
    return sum(1 << number for number in sonic_chain.members(entry.get("pfc_enable", "")))


def _act(device, database, words):
    """Return the answer of a database to a command: a dictionary, a list, a text or a number."""
    verb, rest = words[0].upper(), words[1:]
    keys = databases(device)[database]
    if verb == "PING":
        return "PONG"
    if verb == "KEYS" and len(rest) == 1:
        return [key for key in keys if fnmatch.fnmatchcase(key, rest[0])]
    if verb == "EXISTS" and len(rest) == 1:
        return int(rest[0] in keys)
    if verb == "HGETALL" and len(rest) == 1:
        return dict(keys.get(rest[0], {}))
    if verb == "HGET" and len(rest) == 2:
        return keys.get(rest[0], {}).get(rest[1])
    if database == "CONFIG_DB" and verb in ("HSET", "HDEL", "DEL") and rest:
        return _change(device, verb, rest)
    return None


def _change(device, verb, words):
    """Write to the database without validation: no model is asked."""
    table, _bar, key = words[0].partition("|")
    tables = copy.deepcopy(device.tables)
    entries = tables.setdefault(table, {})
    if verb == "HSET":
        entries.setdefault(key, {}).update(zip(words[1::2], words[2::2], strict=False))
    elif verb == "HDEL":
        for field in words[1:]:
            entries.get(key, {}).pop(field, None)
    else:
        entries.pop(key, None)
    device.change(tables)
    return 1


def db_cli(device, argv):
    """sonic-db-cli DATABASE COMMAND ...: dictionaries as Python writes them."""
    words = argv[1:]
    if len(words) < 2 or words[0] not in NUMBERS:
        return Output("", 1, f"Invalid database name input: '{words[0] if words else ''}'\n")
    found = _act(device, words[0], words[1:])
    if isinstance(found, list):
        return Output(text(found))
    return Output(f"{'' if found is None else found}\n")


def redis_cli(device, argv):
    """redis-cli -n NUMBER COMMAND ...: one value in a line, as where no terminal is."""
    words, number = argv[1:], 0
    if words[:1] == ["-n"] and words[1:2] and words[1].isdigit():
        number, words = int(words[1]), words[2:]
    database = next((name for name, one in NUMBERS.items() if one == number), None)
    if not words or database is None:
        return Output("\n")
    found = _act(device, database, words)
    if isinstance(found, dict):
        return Output(text(part for pair in found.items() for part in pair) or "\n")
    if isinstance(found, list):
        return Output(text(found) or "\n")
    if found is None and words[0].upper() not in ("HGET", "HGETALL"):
        return Output(f"ERR unknown command `{words[0]}`, with args beginning with: \n\n")
    return Output(f"{'' if found is None else found}\n")


def dump(device, argv):
    """sonic-db-dump -n DATABASE -k PATTERN -y."""
    words, given = argv[1:], {}
    while words:
        word = words.pop(0)
        if word in ("-n", "-k") and words:
            given[word] = words.pop(0)
        elif word != "-y":
            return Output("", 2, f"sonic-db-dump: error: unrecognized arguments: {word}\n")
    if given.get("-n") not in NUMBERS:
        return Output("", 1, "Invalid database name input\n")
    found = databases(device)[given["-n"]]
    shown = {
        key: {"expireat": 0, "ttl": -1, "type": "hash", "value": fields}
        for key, fields in found.items()
        if fnmatch.fnmatchcase(key, given.get("-k", "*"))
    }
    return Output(json.dumps(shown, indent=2) + "\n")
