"""A SONiC switch of the twin, and its patches (RFC 6902)."""

from __future__ import annotations

import json

from .linux_switch_lab import Console, seed

PATCH = "sudo config apply-patch /dev/stdin"
WATCHDOG = "sudo config pfcwd start --action drop all 600 --restoration-time 600"


def sonic(**switch):
    return Console(seed("sonic", **{"ports": 3, **switch}))


def patch(console, *operations):
    return console(PATCH, stdin=json.dumps(operations))


def table(console, name):
    return json.loads(console(f"sonic-cfggen -d --var-json {name}") or "null")


def add(path, value):
    return {"op": "add", "path": path, "value": value}


def replace(path, value):
    return {"op": "replace", "path": path, "value": value}


def remove(path):
    return {"op": "remove", "path": path}
