"""`config qos` and `config ecn` of SONiC: the stock QoS anew, and thresholds of profiles."""

from __future__ import annotations

import copy
import json

from .linux_text import text
from .sonic_click import Command, Failed, Misused
from .sonic_tables import QOS_TABLES, stock_buffers, stock_qos

GENERATOR = "Running command: /usr/local/bin/sonic-cfggen"
WRED = {
    f"-{colour[0]}{end}": f"{colour}_{end}_threshold" for colour in ("green", "yellow", "red") for end in ("min", "max")
}
WRED |= {f"-{colour[0]}drop": f"{colour}_drop_probability" for colour in ("green", "yellow", "red")}


def edit(call, table, key, entry):
    """Put one entry into CONFIG_DB."""
    tables = copy.deepcopy(call.device.tables)
    tables.setdefault(table, {})[key] = entry
    call.device.change(tables)


def _clear(call, arguments, given):
    call.device.change({name: one for name, one in call.device.tables.items() if name not in QOS_TABLES})


def _reload(call, arguments, given):
    device = call.device
    tables = copy.deepcopy(device.tables)
    ports = given["ports"].split(",") if given.get("ports") else list(device.switch.ports)
    whole = not given.get("ports")
    dynamic = device.sku.kind == "mellanox" and not given.get("static")
    if not whole:
        dynamic = device.dynamic()
    fresh = {**stock_buffers(ports, dynamic), **stock_qos(ports, device.sku)}
    if given.get("file"):
        call.write(given["file"], json.dumps(fresh, indent=4, sort_keys=True))
        return f"{GENERATOR} -j /tmp/cfg_buffer.json -j /tmp/cfg_qos.json --print-data\n"
    reported = []
    for table in QOS_TABLES:
        if whole:
            tables.pop(table, None)
        elif table in ("PORT_QOS_MAP", "QUEUE", "BUFFER_PG", "BUFFER_QUEUE"):
            kept = {key: one for key, one in tables.get(table, {}).items() if key.partition("|")[0] not in ports}
            tables[table] = {**kept, **fresh.get(table, {})}
    if whole:
        tables |= fresh
        reported += [f"{GENERATOR} -d -t buffers.json.j2,/tmp/cfg_buffer.json -t qos.json.j2,/tmp/cfg_qos.json"]
        reported += [f"{GENERATOR} -j /tmp/cfg_buffer.json -j /tmp/cfg_qos.json --write-to-db"]
        model = "dynamic" if dynamic else "traditional"
        own = tables["DEVICE_METADATA"]["localhost"]
        if own.get("buffer_model") != model:
            own["buffer_model"] = model
            reported.append("Buffer calculation model updated, restarting swss is required to take effect")
    device.change(tables)
    return text(reported)


def _ecn(call, arguments, given):
    name = given.get("profile")
    if name is None:
        raise Misused(call.path, 'Missing option "-profile".')
    entry = call.device.tables.get("WRED_PROFILE", {}).get(name)
    reported = (
        f"Running command: ecnconfig -p {name} "
        + " ".join(f"{one} {given[one]}" for one in WRED if one in given)
        + "\n"
    )
    if entry is None:
        raise Failed(reported, f"Profile {name} is not found\n")
    wanted = {**entry, **{WRED[one]: given[one] for one in WRED if one in given}}
    for one, key in WRED.items():
        value, most = wanted.get(key, "0"), 100 if "drop" in one else 2**32
        if not value.isdigit() or int(value) > most:
            kind = "an integer between 0 and 100" if "drop" in one else "an non-negative integer"
            raise Failed(f"{reported}Invalid {one[1:]} ({value}). {one[1:]} should be {kind}.\n")
    for colour in "gyr":
        low, high = wanted.get(WRED[f"-{colour}min"], "0"), wanted.get(WRED[f"-{colour}max"], str(2**32))
        if int(low) > int(high):
            why = (
                f"Invalid {colour}min ({low}) and {colour}max ({high}). {colour}min should be smaller than {colour}max"
            )
            raise Failed(f"{reported}{why}\n")
    edit(call, "WRED_PROFILE", name, wanted)
    return reported


_OPTIONS = {"--no-dynamic-buffer": "static", "--no-delay": "hurry", "--verbose": "verbose"}
TREE = {
    "clear": Command(_clear, {}, {"--verbose": "verbose"}),
    "reload": Command(_reload, {"--ports": "ports", "--dry_run": "file", "--json-data": "data"}, _OPTIONS),
}
ECN = Command(_ecn, {"-profile": "profile", **{one: one for one in WRED}}, {"-v": "verbose"})
