"""SONiC's generic config updater: JSON patches, its rules, and its output.

Read in sonic-utilities (generic_config_updater, 2026): it judges the difference of the two configurations, and not the
patch. So no patch can create a table PFC_WD, or its GLOBAL, because its validator accepts neither as a field; it can
create entries of ports.
"""

from __future__ import annotations

import copy
import json
import re

from . import sonic_rules
from .sonic_tables import HEADROOM_SINCE, MAPS, SKUS, UNKNOWN, WATCHDOG_SINCE

VALIDATORS = "generic_config_updater.field_operation_validators"
NEVER_REMOVED = ("/PFC_WD/GLOBAL/POLL_INTERVAL", "/PFC_WD/GLOBAL", "/LOOPBACK_INTERFACE/Loopback0")
WATCHDOG_FIELDS = ("restoration_time", "detection_time", "action", "global/poll_interval", "pfc_stat_history", "")
# Until this release WRED profiles had a validator as well (sonic-net/sonic-mgmt #13379, sonic-utilities #4172).
WRED_FREE_SINCE = "202605"
WRED_FIELDS = tuple(f"azure_lossless/green_{one}" for one in ("min_threshold", "max_threshold", "drop_probability"))
# Tables whose entries others name.
NAMED = (
    *MAPS,
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "SCHEDULER",
    "WRED_PROFILE",
    "BUFFER_PROFILE",
    "BUFFER_POOL",
    "PORT",
)


class Refused(Exception):
    """Reason why a patch is not applied."""


def simulate(tables, operations):
    """A copy of the tables after a patch by RFC 6902."""
    tables = copy.deepcopy(tables)
    if not isinstance(operations, list):
        raise Refused("'dict' object is not a patch: a list of operations is wanted")
    for operation in operations:
        if not isinstance(operation, dict) or operation.get("op") not in _OPERATIONS or "path" not in operation:
            raise Refused(f"Operation {json.dumps(operation)} does not contain a known 'op' and a 'path' member")
        _OPERATIONS[operation["op"]](tables, operation)
    return tables


def tokens(path):
    """The parts of a JSON pointer."""
    if not path.startswith("/"):
        raise Refused("Wrong patch with empty path." if not path else "Location must start with /")
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    return parts[1:] if parts[0] == "localhost" else parts


def _parent(tables, path):
    parts = tokens(path)
    for part in parts[:-1]:
        if not isinstance(tables, dict) or part not in tables:
            raise Refused(f"member '{part}' not found in {_short(tables)}")
        tables = tables[part]
    if not isinstance(tables, dict):
        raise Refused(f"Couldn't resolve pointer, match '{parts[-1]}' not found in {_short(tables)}")
    return tables, parts[-1]


def _short(value):
    words = str(value)
    return words if len(words) < 200 else f"{words[:200]}..."


def _value(operation):
    if "value" not in operation:
        raise Refused("The operation does not contain a 'value' member")
    return copy.deepcopy(operation["value"])


def _add(tables, operation):
    parent, key = _parent(tables, operation["path"])
    parent[key] = _value(operation)


def _remove(tables, operation):
    parent, key = _parent(tables, operation["path"])
    if key not in parent:
        raise Refused(f"can't remove a non-existent object '{key}'")
    return parent.pop(key)


def _replace(tables, operation):
    parent, key = _parent(tables, operation["path"])
    if key not in parent:
        raise Refused(f"can't replace a non-existent object '{key}'")
    parent[key] = _value(operation)


def _test(tables, operation):
    parent, key = _parent(tables, operation["path"])
    if key not in parent or parent[key] != _value(operation):
        raise Refused(f"{_short(parent.get(key))} is not equal to tested value {_short(operation['value'])}")


def _move(tables, operation):
    value = _remove(tables, {"path": operation.get("from", "")})
    _add(tables, {"path": operation["path"], "value": value})


def _copy(tables, operation):
    parent, key = _parent(tables, operation.get("from", ""))
    if key not in parent:
        raise Refused(f"member '{key}' not found in {_short(parent)}")
    _add(tables, {"path": operation["path"], "value": parent[key]})


_OPERATIONS = {"add": _add, "remove": _remove, "replace": _replace, "test": _test, "move": _move, "copy": _copy}


def difference(before, after):
    """Return the patch between two configurations in jsonpatch's form: a value removed here and added there has
    moved.
    """
    found = list(_difference(before, after, ""))
    gone = [one for one in found if one["op"] == "remove"]
    for one in found:
        if one["op"] != "add":
            continue
        source = next((old for old in gone if old["was"] == one["value"]), None)
        if source is not None:
            gone.remove(source)
            found.remove(source)
            one["op"], one["from"] = "move", source["path"]
    for one in found:
        one.pop("was", None)
    return found


def _difference(before, after, path):
    for key in before:
        where = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield {"op": "remove", "path": where, "was": before[key]}
        elif isinstance(before[key], dict) and isinstance(after[key], dict):
            yield from _difference(before[key], after[key], where)
        elif before[key] != after[key]:
            yield {"op": "replace", "path": where, "value": after[key]}
    for key in after:
        if key not in before:
            where = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            yield {"op": "add", "path": where, "value": after[key]}


def states(before, after):
    """Yield the configurations between two, change by change: none refers to a missing object."""
    order = {("add", True): 0, ("replace", True): 0, ("remove", False): 2, ("remove", True): 3}
    changes = _difference(before, after, "")
    tables = before
    for change in sorted(changes, key=lambda one: order.get((one["op"], tokens(one["path"])[0] in NAMED), 1)):
        tables = simulate(tables, [change])
        yield tables


def check(device, before, after):
    """Return the updater's changes from one configuration to the other, or raise Refused."""
    changes = difference(before, after)
    for change in changes:
        if change["op"] == "remove" and change["path"] in NEVER_REMOVED:
            raise Refused(f"Given patch operation is invalid. Operation: remove is illegal on field: {change['path']}")
    for change in changes:
        table = tokens(change["path"])[0]
        name = "buffer_profile" if table == "BUFFER_PROFILE" else "rdma"
        if table in _VALIDATORS and not _VALIDATORS[table](device, change):
            raise Refused(
                f"Modification of {table} table is illegal- validating function "
                f"{VALIDATORS}.{name}_config_update_validator returned False"
            )
    empty = [table for table, entries in after.items() if not entries]
    if empty:
        raise Refused(
            "given patch is not valid because it will result in empty tables which is not allowed in ConfigDb. "
            f"Table{'s' if len(empty) > 1 else ''}: {', '.join(empty)}"
        )
    wrong = sonic_rules.problem(after)
    if wrong:
        raise Refused(f"Given patch will produce invalid config. Error: Data Loading Failed:{wrong}")
    return changes


def _watchdog(device, change):
    return _permitted(device, change, WATCHDOG_FIELDS, ("add", "remove", "replace"), WATCHDOG_SINCE, ports=False)


def _wred(device, change):
    if device.branch >= WRED_FREE_SINCE:
        return True
    return _permitted(device, change, WRED_FIELDS, ("replace",), WATCHDOG_SINCE, ports=True)


def _profile(device, change):
    parts = tokens(change["path"])
    if len(parts) == 2:
        return change["op"] in ("add", "remove", "replace")
    ends = [f"{parts[-1]}"] if not isinstance(change.get("value"), dict) else list(change["value"])
    for field, since in (("dynamic_th", WATCHDOG_SINCE), ("xoff", HEADROOM_SINCE)):
        if ends == [field]:
            return change["op"] == "replace" and _since(device, since)
    return False


def _permitted(device, change, fields, operations, since, ports):
    parts = [part for part in tokens(change["path"])[1:] if ports or not re.search(r"\d", part)]
    field = "/".join(parts).lower()
    named = [field]
    if isinstance(change.get("value"), dict):
        named = [f"{field}/{key}" if field else key for key in change["value"]]
    return all(one in fields for one in named) and change["op"] in operations and _since(device, since)


def _since(device, table):
    asic = SKUS.get(device.model, UNKNOWN).asic
    number = next((part for part in device.build.split(".") if re.fullmatch(r"\d{8}", part)), None)
    return asic in table and (number is None or number >= table[asic])


_VALIDATORS = {
    "PFC_WD": _watchdog,
    "WRED_PROFILE": _wred,
    "BUFFER_PROFILE": _profile,
    "BUFFER_POOL": lambda _device, _change: False,
}


def reported(operations, changes, dry):
    """Return the output during a patch."""
    shown = [f"  * [{json.dumps({key: change[key] for key in change})}]" for change in changes]
    many = f"{len(changes)} change{'' if len(changes) == 1 else 's'}"
    lines = begun(operations)
    lines += ["localhost: validating target config does not have empty tables, since they do not show up in ConfigDb."]
    lines += ["localhost: sorting patch updates.", f"The localhost patch was converted into {many}:"]
    lines += [f"localhost: applying {many} in order:", *shown]
    lines += ["localhost: verifying patch updates are reflected on ConfigDB.", "localhost patch application completed."]
    return [f"{'** DryRun: ' if dry else ''}Patch Applier: {line}" for line in lines]


def begun(operations):
    """The first lines of it."""
    return [
        "localhost: Patch application starting.",
        f"localhost: Patch: {json.dumps(operations)}",
        "localhost getting current config db.",
        "localhost: simulating the target full config after applying the patch.",
        "localhost: validating all JsonPatch operations are permitted on the specified fields",
    ]
