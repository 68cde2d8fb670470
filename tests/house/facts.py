"""Tables of facts as text: python tests/house/facts.py renews tests/data/facts.json, one line for each entry."""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "data" / "facts.json"
UTILS = "ansible_collections.aiready.vsphere.plugins.module_utils"
# Modules whose constants are what vendors, standards and sources say.
TABLES = (
    "host.driver.matrix",
    "host.driver.support",
    "gpu.boards",
    "host.mig.table",
    "host.redfish.function_map",
    "fabric.platforms.cumulus.state",
    "fabric.platforms.onyx.settings",
    "validation.judge.thresholds",
    "validation.judge.reference",
)


def plain(value: object) -> object:
    """A value as JSON has it; what is no data is named."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(entry) for entry in value), key=str)
    if isinstance(value, re.Pattern):
        return value.pattern
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return getattr(value, "__qualname__", type(value).__qualname__)


def facts(name: str) -> dict[str, object]:
    """The constants of a module."""
    module = importlib.import_module(f"{UTILS}.{name}")
    return {
        key: plain(value)
        for key, value in vars(module).items()
        if key.isupper() and key[0] != "_" and key != "TYPE_CHECKING"
    }


def written() -> str:
    """All tables; a change of one entry is a change of one line."""
    return lines({name: facts(name) for name in TABLES}, 3) + "\n"


def lines(value: object, depth: int) -> str:
    if not depth or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(lines(entry, 0) for entry in value) + "\n]"
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {lines(entry, depth - 1)}" for key, entry in value.items()) + "\n}"


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]
    importlib.import_module("conftest")
    FILE.write_text(written())
